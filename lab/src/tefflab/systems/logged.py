"""One line says what the lab does, or waits for: redrawn on a terminal, elsewhere printed each half minute. The output
of a command that it runs meanwhile goes to a log."""

import os
import re
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Self

from rich.console import Console
from rich.markup import escape
from rich.status import Status

from tefflab.host.processes import end
from tefflab.host.terminal import is_redrawn

LOOK = 1.0  # seconds between two calls of `look`
PATIENCE = 2.0  # seconds before it is said
SAY_EVERY = 30.0  # seconds, where no terminal shows them as they pass
TAIL_LINES = 20
_OF_PACKAGE = re.compile(
    r"^(?:(Get):\d+(?: \S+){3}|(Unpacking|Setting up|Collecting|Building wheel for|Installing collected)) (\S+)"
)
_LOOK = 0.1  # seconds between two looks at what a command has said


class StatusLine(AbstractContextManager["StatusLine"]):
    """On a terminal the line goes when the work is done."""

    def __init__(self, console: Console, text: str) -> None:
        self._console = console
        self._text = escape(text)
        self._status: Status | None = None
        self._started = time.monotonic()
        self._said = -SAY_EVERY

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.hide()

    @property
    def seconds(self) -> float:
        """Seconds since it began."""
        return time.monotonic() - self._started

    def hide(self) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None

    def _draw(self, redrawn: str, printed: str) -> None:
        if not is_redrawn(self._console):
            if self.seconds - self._said >= SAY_EVERY:
                self._said = self.seconds
                self._console.print(f"teff: {printed}", soft_wrap=True)
        elif self._status is None:
            self._status = self._console.status(redrawn)
            self._status.start()
        else:
            self._status.update(redrawn)


class Waiting(StatusLine):
    """While a silent program runs: for how long. Call `look` now and then, and `hide` before others print."""

    def look(self, detail: str = "") -> None:
        """The detail, which may change, stands behind the text."""
        if self.seconds >= PATIENCE:
            line = f"{self._text}{escape(detail)} [dim]({self.seconds:.0f} s; Ctrl-C ends it)[/]"
            self._draw(f"teff: {line}", line)


class Step(StatusLine):
    """One line about the current work, which stays with its time when done. It is not seen before the first `show`."""

    _is_shown = False

    def __exit__(self, *raised: object) -> None:
        self.hide()
        if not self._is_shown:
            return
        outcome = f"{self.seconds:.0f} s"
        if raised[0] is KeyboardInterrupt:
            outcome = f"stopped after {outcome}; the same command goes on from there"
        elif raised[0]:
            outcome = "not finished"
        self._console.print(f"[dim]teff:[/] {self._text} [dim]({outcome})[/]", soft_wrap=True)

    def show(self, detail: str = "") -> None:
        """Shows the step, with a detail behind it that changes as it goes on."""
        line = f"{self._text} [dim]{escape(detail)}[/]"
        self._draw(line, f"{line} … ({self.seconds:.0f} s)" if self._is_shown else f"{self._text} …")
        self._is_shown = True


def run_logged(
    command: Sequence[str],
    log: Path,
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    on_line: Callable[[str], None] | None = None,
    append: bool = False,
    apart: bool = False,
) -> int:
    """Runs a command that says all into `log`, of which `on_line` is given each line; returns its exit code, or 127 for
    a command that is not there. Ctrl-C ends the command and all it started. A command that must not be broken off runs
    `apart`: in a process group that a terminal does not interrupt. After Ctrl-C it goes on by itself."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with (
        log.open("a" if append else "w", encoding="utf-8") as out,
        log.open(encoding="utf-8", errors="replace") as said,
    ):
        out.write(f"$ {' '.join(command)}\n")
        out.flush()
        said.seek(0, os.SEEK_END)
        try:
            process = subprocess.Popen(
                command,
                cwd=folder,
                env={**os.environ, **(environment or {})},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                process_group=0 if apart else None,
            )
        except OSError as error:
            out.write(f"{command[0]}: {error.strerror}\n")
            return 127
        code = None
        try:
            while code is None:
                with suppress(subprocess.TimeoutExpired):
                    code = process.wait(_LOOK)
                for line in said:
                    if on_line:
                        on_line(line.rstrip("\n"))
        finally:
            if not apart:
                end(process)
        return code


def run_step(console: Console, text: str, command: Sequence[str], log: Path, *, apart: bool = False) -> int:
    """As `run_logged`, of a command of apt's or pip's, in a step that shows which package it is at."""
    with Step(console, text) as step:

        def on_line(line: str) -> None:
            if found := _OF_PACKAGE.match(line):
                step.show(" ".join(filter(None, found.groups())))

        step.show()
        return run_logged(command, log, on_line=on_line, append=True, apart=apart)


def tail(log: Path, lines: int = TAIL_LINES) -> str:
    """The last lines of a log, as they are."""
    return "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])
