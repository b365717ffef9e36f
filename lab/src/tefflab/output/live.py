"""How a sitting goes, for people: a table redrawn between runs - never during one, for that would disturb it."""

from collections.abc import Callable, Sequence
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from tefflab.analysis.statistics import Progress
from tefflab.errors import shortened
from tefflab.host.terminal import is_redrawn
from tefflab.output.quantities import TOO_FEW, bound, duration, interval_text, percent
from tefflab.output.table import Column, Table
from tefflab.records.plan import Variant

_COLUMNS = 6  # cases up to which each has a column
_VAGUE = 10.0  # a half-width, from which on an interval says nothing
_SHOWN = 3  # values of a variant, where there are more


class LiveTable:
    """Observes a sitting, between runs. On a terminal a table, which is gone in the end; elsewhere a line a round, but
    for those that the store has."""

    def __init__(self, console: Console, variants: Sequence[Variant], time_left: Callable[[], str]) -> None:
        self._console = console
        self._time_left = time_left
        self._live = Live(console=console, auto_refresh=False, transient=True) if is_redrawn(console) else None
        self._state = dict.fromkeys((each.id for each in variants), "waits")
        self._asked = dict.fromkeys(self._state, "")  # the case of a round about one alone
        self._rounds = dict.fromkeys(self._state, 0)
        self._known: dict[str, dict[str, Progress]] = {id_: {} for id_ in self._state}

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live:
            self._live.stop()

    def begins(self, variant_id: str, number: int, case: str, part: int, parts: int) -> None:
        """A variant is asked about a case: the question `part` of `parts`, from 1, in its round `number`, from 0."""
        self._rounds[variant_id] = number
        self._asked[variant_id] = case if parts == 1 else ""
        what = f"round {number + 1}"
        self._state[variant_id] = f"{what}, {part} of {parts}" if parts > 1 else f"{what}: {case}"
        self._draw()

    def learned(self, variant_id: str, known: Sequence[Progress], *, is_whole: bool, is_from_store: bool) -> None:
        """A round is over, if not `is_whole` before its end; `known` is the progress of its cases."""
        self._rounds[variant_id] += 1
        self._state[variant_id] = ""
        self._known[variant_id] |= {each.case: each for each in known}
        if self._live is None and not is_from_store:
            case = known[0].case if len(known) == 1 else self._asked[variant_id]
            where = f" of {case}" if case else ""
            so_far = summary(known) or ("is measured" if is_whole else "has no value yet")  # cut off, or set aside
            text = f"teff: {shortened(variant_id)}: round {self._rounds[variant_id]}{where} {so_far}"
            self._console.print(text, soft_wrap=True, markup=False)
        self._draw()

    def failed(self, variant_id: str, case: str, reason: str) -> None:
        """A round is lost, or the variant is out (of that case, where one is named)."""
        self._state[variant_id] = "failed"
        what = shortened(variant_id) + (f", {case}" if case else "")
        self._console.print(f"teff: {what}: {reason}", style="yellow", soft_wrap=True, markup=False)
        self._draw()

    def told(self, text: str) -> None:
        """Something that the user should know."""
        self._console.print(f"teff: {text}", soft_wrap=True, markup=False)

    def _draw(self) -> None:
        if self._live:
            last = Text(f"{self._time_left()}; Ctrl-C keeps what is measured")
            self._live.update(Group(self._table(), last), refresh=True)

    def _table(self) -> Table:
        known = self._known.values()
        cases = list(dict.fromkeys(case for each in known for case in each))
        if 1 < len(cases) <= _COLUMNS:
            values = [Column(case, [_text(each[case]) if case in each else "" for each in known]) for case in cases]
        else:
            values = [Column("so far", [summary(list(each.values())) for each in known])]
        return Table(
            [
                Column("system", list(map(shortened, self._state)), "left"),
                *values,
                Column("rounds", [str(each or "") for each in self._rounds.values()]),
                Column("", list(self._state.values()), "left", priority=1),
            ]
        )


def summary(known: Sequence[Progress]) -> str:
    """`1.23 µs, 4.5 µs ± 4 %`: the first values, and the widest of their intervals."""
    if not known:
        return ""
    more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
    widest = max(known, key=lambda each: each.half_width)
    is_open = widest.half_width >= _VAGUE
    ends = interval_text(widest.value.after(widest.rounds))
    if is_open:
        spread = " (no interval yet)" if ends == TOO_FEW else f" ({ends})"
    else:
        spread = f" ± {percent(widest.half_width)}"
    return f"{', '.join(map(_text, known[:_SHOWN]))}{more}{spread}"


def _text(known: Progress) -> str:
    return bound(known.value.relation, duration(known.value.value))
