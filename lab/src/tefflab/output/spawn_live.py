"""How a sitting of spawn patterns goes, for people: redrawn between launches, never during one."""

from collections.abc import Iterable

from rich.console import Console, RenderableType
from rich.text import Text

from tefflab.benchmarks.spawn_judge import SpawnCell
from tefflab.output.live import Redrawn
from tefflab.output.quantities import duration
from tefflab.output.table import Column, Table


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
        self._now = f"round {turn + 1}: {cell.contender.id}, {_column(cell)}"
        self._draw()

    def learned(self, cell: SpawnCell) -> None:
        text = "failed" if cell.failure else duration(cell.seconds_per_task().value)
        self._known.setdefault(cell.contender.id, {})[_column(cell)] = text
        if cell.failure:
            self._console.print(
                f"teff: {cell.contender.id}, {_column(cell)}: {cell.failure}", soft_wrap=True, markup=False
            )
        self._draw()

    def _body(self) -> Iterable[RenderableType]:
        return [self._table(), Text(self._now)]

    def _table(self) -> Table:
        names = list(dict.fromkeys(name for known in self._known.values() for name in known))
        columns = [Column(name, [known.get(name, "") for known in self._known.values()]) for name in names]
        return Table([Column("a task takes", list(self._known), "left"), *columns])


def _column(cell: SpawnCell) -> str:
    return f"{cell.question}/{cell.workers}"
