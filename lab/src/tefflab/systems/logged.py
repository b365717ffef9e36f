"""Commands whose whole output goes to a log, while the user sees one line of progress."""

import os
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from tefflab.host.processes import end
from tefflab.host.waiting import StatusLine

TAIL_LINES = 20
_LOOK = 0.1  # seconds between two looks at what a command has said


class Step(StatusLine):
    """One line about the current work, which stays with its time when done.

    Nothing is shown before the first `show`, so a step that finds nothing to do is not seen at all.
    """

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
    """Runs a command that says all into `log`, of which `on_line` is given each line; returns its exit code.

    A command that is not there counts as one that failed with 127, as in a shell. Ctrl-C ends the command and all it
    started. A command that must not be broken off runs `apart`: in a process group of its own, which a terminal does
    not interrupt. After Ctrl-C it goes on by itself.
    """
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


def run_step(
    console: Console, text: str, command: Sequence[str], log: Path, telling: re.Pattern[str], *, apart: bool = False
) -> int:
    """As `run_logged`, in a step that shows the groups of the lines that match."""
    with Step(console, text) as step:

        def on_line(line: str) -> None:
            if found := telling.match(line):
                step.show(" ".join(filter(None, found.groups())))

        step.show()
        return run_logged(command, log, on_line=on_line, append=True, apart=apart)


def tail(log: Path, lines: int = TAIL_LINES) -> str:
    """The last lines of a log, as they are."""
    return "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])
