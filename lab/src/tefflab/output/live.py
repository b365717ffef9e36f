"""How a sitting goes, for people: a table redrawn between runs - never during one, for that would disturb it."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from tefflab.analysis.results import Contender, MetgRow
from tefflab.measure.allowance import Allowance
from tefflab.output.quantities import bound, duration, percent
from tefflab.output.table import Column, Table
from tefflab.systems.systems import Variant


class Redrawn(ABC):
    """Something on a terminal that is drawn again when it is told to, and gone in the end; nothing elsewhere."""

    def __init__(self, console: Console, budget: float) -> None:
        """`budget` in seconds, from now."""
        self._console = console
        self._allowance = Allowance(budget)
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

    @abstractmethod
    def _body(self) -> Iterable[RenderableType]:
        """What stands above the line that says how much time is left."""

    def _draw(self) -> None:
        if self._live:
            last = Text(f"{self._allowance}; Ctrl-C keeps what is measured")
            self._live.update(Group(*self._body(), last), refresh=True)


class LiveTable(Redrawn):
    """An audience of a sitting. On a terminal a table; elsewhere a line a round of a system."""

    def __init__(
        self, console: Console, contenders: Sequence[Contender], budget: float, first_round: str = "round 1"
    ) -> None:
        """`first_round` says what the first round is for."""
        super().__init__(console, budget)
        self._first_round = first_round
        self._state = dict.fromkeys((each.id for each in contenders), "waits")
        self._values: dict[str, str] = dict.fromkeys(self._state, "")
        self._rounds = dict.fromkeys(self._state, 0)

    def begins(self, turn: int, variant: Variant, part: int, parts: int) -> None:
        what = self._first_round if turn == 0 else f"round {turn + 1}"
        self._state[variant.id] = f"{what}, {part} of {parts}" if parts > 1 else what
        self._draw()

    def learned(self, variant: Variant, rows: Sequence[MetgRow]) -> None:
        self._rounds[variant.id] += 1
        self._state[variant.id] = ""
        if rows and rows[0].metg is not None:
            self._values[variant.id] = _summary(rows)
        if self._live is None:
            self._console.print(
                f"teff: {variant.id}: round {self._rounds[variant.id]} {self._values[variant.id]}".rstrip(),
                soft_wrap=True,
            )
        self._draw()

    def failed(self, variant: Variant, reason: str) -> None:
        self._state[variant.id] = "failed"
        self._console.print(f"teff: {reason}", style="yellow", soft_wrap=True, markup=False)
        self._draw()

    def _body(self) -> Iterable[RenderableType]:
        return [
            Table(
                [
                    Column("system", list(self._state), "left"),
                    Column("so far", list(self._values.values())),
                    Column("rounds", [str(each or "") for each in self._rounds.values()]),
                    Column("", list(self._state.values()), "left", priority=1),
                ]
            )
        ]


def _summary(rows: Sequence[MetgRow]) -> str:
    known = [row.metg for row in rows if row.metg is not None]
    values = ", ".join(bound(each.relation, duration(each.value)) for each in known[:3])
    widest = max(each.relative_half_width for each in known)
    more = f" and {len(known) - 3} more" if len(known) > 3 else ""
    spread = f" ± {percent(widest)}" if widest < 10 else ""
    return f"{values}{more}{spread}"
