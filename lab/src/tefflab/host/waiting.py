"""One line says what the lab does, or waits for. A terminal redraws the line. Elsewhere, as in the log of a job, it is
printed each half minute."""

import time
from contextlib import AbstractContextManager
from typing import Self

from rich.console import Console
from rich.markup import escape
from rich.status import Status

from tefflab.host.terminal import is_redrawn

LOOK = 1.0  # seconds between two calls of `look`
PATIENCE = 2.0  # seconds before it is said
SAY_EVERY = 30.0  # seconds, where no terminal shows them as they pass


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
    """While a silent program runs: how long already, and how to end it. Call `look` now and then, and `hide` before the
    program's own words are shown."""

    def look(self) -> None:
        if self.seconds >= PATIENCE:
            line = f"{self._text} [dim]({self.seconds:.0f} s; Ctrl-C ends it)[/]"
            self._draw(f"teff: {line}", line)
