"""How a sitting of spawn patterns goes, for people: redrawn between launches, never during one."""

import time
from types import TracebackType
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from tefflab.quantities import duration
from tefflab.spawn_judge import SpawnCell


class SpawnLive:
    """An audience. On a terminal a table of what is known, a column a pattern; elsewhere a line a round."""

    def __init__(self, console: Console, budget: float) -> None:
        self._console = console
        self._budget = budget
        self._started = time.monotonic()
        self._known: dict[str, dict[str, str]] = {}
        self._turn = -1
        self._now = ""
        self._live = Live(console=console, auto_refresh=False, transient=True) if console.is_terminal else None

    def __enter__(self) -> Self:
        if self._live:
            self._live.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, failure: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live:
            self._live.__exit__(kind, failure, trace)

    def begins(self, turn: int, cell: SpawnCell) -> None:
        if turn != self._turn and self._live is None:
            self._console.print(f"teff: round {turn + 1}", soft_wrap=True)
        self._turn = turn
        self._now = f"round {turn + 1}: {cell.contender.title}, {_column(cell)}"
        self._draw()

    def learned(self, cell: SpawnCell) -> None:
        text = "failed" if cell.failure else duration(cell.seconds_per_task().value)
        self._known.setdefault(cell.contender.title, {})[_column(cell)] = text
        if cell.failure:
            self._console.print(
                f"teff: {cell.contender.title}, {_column(cell)}: {cell.failure}", soft_wrap=True, markup=False
            )
        self._draw()

    def _draw(self) -> None:
        if self._live:
            spent = time.monotonic() - self._started
            last = f"{spent:.0f} s of at most {self._budget:.0f} s; Ctrl-C keeps what is measured"
            self._live.update(Group(self._table(), Text(self._now), Text(last)), refresh=True)

    def _table(self) -> Table:
        table = Table(box=None, pad_edge=False, header_style="bold")
        table.add_column("a task takes")
        columns = list(dict.fromkeys(name for known in self._known.values() for name in known))
        for name in columns:
            table.add_column(name, justify="right")
        for title, known in self._known.items():
            table.add_row(title, *(known.get(name, "") for name in columns))
        return table


def _column(cell: SpawnCell) -> str:
    return f"{cell.question}/{cell.workers}"
