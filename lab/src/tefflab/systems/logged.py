"""Commands whose whole output goes to a log, while the user sees one line of progress."""

import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.status import Status

from tefflab.host.processes import end
from tefflab.host.terminal import is_redrawn

TAIL_LINES = 20
SAY_EVERY = 30.0  # seconds, where no terminal shows the detail as it changes
_LOOK = 0.1  # seconds between two looks at what a command that writes to the log itself has said


class Step(AbstractContextManager["Step"]):
    """One line about the current work: it spins on a terminal, and stays with its time when done. Elsewhere, as in the
    log of a job, the detail is printed every half minute.

    Nothing is shown before the first `show`, so a step that finds nothing to do is not seen at all.
    """

    def __init__(self, console: Console, text: str) -> None:
        self._console = console
        self._text = text
        self._status: Status | None = None
        self._started = time.monotonic()
        self._said = self._started

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._status is None:
            return
        self._status.stop()
        outcome = f"{self.seconds:.0f} s"
        if kind is KeyboardInterrupt:
            outcome = f"stopped after {outcome}; the same command goes on from there"
        elif kind:
            outcome = "not finished"
        self._console.print(f"[dim]teff:[/] {escape(self._text)} [dim]({outcome})[/]", soft_wrap=True)

    @property
    def seconds(self) -> float:
        """Seconds since the step began."""
        return time.monotonic() - self._started

    def show(self, detail: str = "") -> None:
        """Shows the step, with a detail behind it that changes as it goes on."""
        line = f"{escape(self._text)} [dim]{escape(detail)}[/]"
        if self._status is None:
            self._status = self._console.status(line)
            self._status.start()
            if not is_redrawn(self._console):
                self._console.print(f"teff: {escape(self._text)} …", soft_wrap=True)
        elif not is_redrawn(self._console) and detail and time.monotonic() - self._said >= SAY_EVERY:
            self._said = time.monotonic()
            self._console.print(f"teff: {line} … ({self.seconds:.0f} s)", soft_wrap=True)
        self._status.update(line)


def run_logged(
    command: Sequence[str],
    log: Path,
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    on_line: Callable[[str], None] | None = None,
    append: bool = False,
) -> int:
    """Runs a command with all it says in `log`, line by line also given to `on_line`; returns its exit code.

    A command that is not there counts as one that failed with 127, as in a shell. Ctrl-C ends the command and
    all it started.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a" if append else "w", encoding="utf-8", buffering=1) as out:  # to be read as it grows
        out.write(f"$ {' '.join(command)}\n")
        try:
            process = subprocess.Popen(
                command,
                cwd=folder,
                env={**os.environ, **(environment or {})},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                errors="replace",
            )
        except OSError as error:
            out.write(f"{command[0]}: {error.strerror}\n")
            return 127
        try:
            for line in process.stdout or ():
                out.write(line)
                if on_line:
                    on_line(line.rstrip("\n"))
            process.wait()
        finally:
            end(process)
        return process.returncode


def run_apart(command: Sequence[str], log: Path, on_line: Callable[[str], None]) -> int:
    """As `run_logged`, for what must not be broken off: after Ctrl-C the command goes on by itself.

    It stands in a separate process group, which a terminal does not interrupt, and writes to the log itself.
    """
    with log.open("a", encoding="utf-8") as out, log.open(encoding="utf-8", errors="replace") as said:
        out.write(f"$ {' '.join(command)}\n")
        out.flush()
        said.seek(0, os.SEEK_END)
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, process_group=0
        )
        code = None
        while code is None:
            with suppress(subprocess.TimeoutExpired):
                code = process.wait(_LOOK)
            for line in said:
                on_line(line.rstrip("\n"))
        return code


def tail(log: Path, lines: int = TAIL_LINES) -> str:
    """The last lines of a log, as they are."""
    return "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])
