"""The display while a silent program runs: that the lab waits for it, how long already, and how to end it."""

import time
from contextlib import AbstractContextManager

from rich.console import Console
from rich.markup import escape
from rich.status import Status

from tefflab.host.terminal import is_redrawn

LOOK = 1.0  # seconds between two calls of `look`
PATIENCE = 2.0  # seconds before it is said
SAY_EVERY = 30.0  # seconds, where no terminal shows them as they pass


class Waiting(AbstractContextManager["Waiting"]):
    """Call `look` now and then, and `hide` before the program's own words are shown. On a terminal nothing is left of
    it; elsewhere, as in the log of a job, it is a line each half minute."""

    def __init__(self, console: Console, text: str) -> None:
        self._console = console
        self._text = text
        self._status: Status | None = None
        self._started = time.monotonic()
        self._next = PATIENCE

    def __exit__(self, *_: object) -> None:
        self.hide()

    def look(self) -> None:
        """Says how long it is by now, where it has become long."""
        seconds = time.monotonic() - self._started
        if seconds < self._next:
            return
        line = f"teff: {escape(self._text)} [dim]({seconds:.0f} s; Ctrl-C ends it)[/]"
        if not is_redrawn(self._console):
            self._next = seconds + SAY_EVERY
            self._console.print(line, soft_wrap=True)
        elif self._status is None:
            self._status = self._console.status(line)
            self._status.start()
        else:
            self._status.update(line)

    def hide(self) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None
