"""How a sitting goes, for people: a table redrawn between runs - never during one, for that would disturb it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from tefflab.output.quantities import percent
from tefflab.records.plan import Variant

_COLUMNS = 6  # cases up to which each has a column
_SHOWN = 3  # values of a variant, where there are more


@dataclass(frozen=True, slots=True)
class Progress:
    """What a variant has shown so far of one case: the value as people read it, and its relative half-width."""

    case: str
    text: str
    half_width: float

    def __str__(self) -> str:
        return f"{self.text} ± {percent(self.half_width)}" if self.half_width < 10 else self.text


class LiveTable:
    """Observes a sitting. On a terminal a table, which is gone in the end; elsewhere a line a launch."""

    def __init__(self, console: Console, variants: Sequence[Variant], time_left: Callable[[], str]) -> None:
        self._console = console
        self._time_left = time_left
        self._live = Live(console=console, auto_refresh=False, transient=True) if console.is_terminal else None
        self._titles = {each.id: each.title for each in variants}
        self._state = dict.fromkeys(self._titles, "waits")
        self._rounds = dict.fromkeys(self._titles, 0)
        self._known: dict[str, dict[str, Progress]] = {id_: {} for id_ in self._titles}

    def __enter__(self) -> Self:
        if self._live:
            self._live.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, failure: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live:
            self._live.__exit__(kind, failure, trace)

    def begins(self, variant_id: str, number: int, case: str, part: int, parts: int) -> None:
        self._rounds[variant_id] = number
        what = f"round {number + 1}"
        self._state[variant_id] = f"{what}, {part} of {parts}" if parts > 1 else f"{what}: {case}"
        self._draw()

    def learned(self, variant_id: str, known: Sequence[Progress]) -> None:
        self._rounds[variant_id] += 1
        self._state[variant_id] = ""
        self._known[variant_id] |= {each.case: each for each in known}
        if self._live is None:
            where = f" of {known[0].case}" if len(known) == 1 else ""
            text = f"teff: {variant_id}: round {self._rounds[variant_id]}{where} {summary(known)}"
            self._console.print(text.rstrip(), soft_wrap=True, markup=False)
        self._draw()

    def failed(self, variant_id: str, case: str, reason: str) -> None:
        self._state[variant_id] = "failed"
        what = f"{self._titles[variant_id]}, {case}" if case else self._titles[variant_id]
        self._console.print(f"teff: {what}: {reason}", style="yellow", soft_wrap=True, markup=False)
        self._draw()

    def _draw(self) -> None:
        if self._live:
            last = Text(f"{self._time_left()}; Ctrl-C keeps what is measured")
            self._live.update(Group(self._table(), last), refresh=True)

    def _table(self) -> Table:
        table = Table(box=None, pad_edge=False, header_style="bold")
        table.add_column("system")
        cases = list(dict.fromkeys(case for known in self._known.values() for case in known))
        each_has_one = 1 < len(cases) <= _COLUMNS
        for title in cases if each_has_one else ("so far",):
            table.add_column(Text(title), justify="right")
        table.add_column("rounds", justify="right")
        table.add_column("")
        for id_, title in self._titles.items():
            known = self._known[id_]
            values = _texts(known, cases) if each_has_one else [summary(list(known.values()))]
            table.add_row(Text(title), *values, str(self._rounds[id_] or ""), Text(self._state[id_]))
        return table


def summary(known: Sequence[Progress]) -> str:
    """`1.23 µs, 4.5 µs ± 4 %`: the first values, and the widest of their intervals."""
    if not known:
        return ""
    more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
    widest = max(each.half_width for each in known)
    spread = f" ± {percent(widest)}" if widest < 10 else ""
    return f"{', '.join(each.text for each in known[:_SHOWN])}{more}{spread}"


def _texts(known: Mapping[str, Progress], cases: Sequence[str]) -> list[str]:
    return [known[case].text if case in known else "" for case in cases]
