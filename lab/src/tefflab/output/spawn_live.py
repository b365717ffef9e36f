"""How a sitting of spawn patterns goes, for people: redrawn between launches, never during one."""

from collections.abc import Iterable

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from tefflab.benchmarks.spawn_judge import SpawnCell
from tefflab.output.live import Redrawn
from tefflab.output.quantities import duration


class SpawnLive(Redrawn):
    """An audience. On a terminal a table of what is known, a column a pattern; elsewhere a line a round."""

    def __init__(self, console: Console, budget: float) -> None:
        super().__init__(console, budget)
        self._known: dict[str, dict[str, str]] = {}
        self._turn = -1
        self._now = ""

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

    def _body(self) -> Iterable[RenderableType]:
        return [self._table(), Text(self._now)]

    def _table(self) -> Table:
        table = Table(box=None, pad_edge=False, header_style="bold")
        table.add_column("a task takes")
        columns = list(dict.fromkeys(name for known in self._known.values() for name in known))
        for name in columns:
            table.add_column(Text(name), justify="right")
        for title, known in self._known.items():
            table.add_row(Text(title), *(known.get(name, "") for name in columns))
        return table


def _column(cell: SpawnCell) -> str:
    return f"{cell.question}/{cell.workers}"
