"""The small picture in each row of a report's table: METG, interval and overhead on one time axis for all rows."""

from collections.abc import Sequence
from dataclasses import dataclass

from tefflab.analysis.results import MetgRow
from tefflab.output.plots.intervals import ends
from tefflab.output.quantities import time_tick
from tefflab.output.scales import LogAxis, log_axis

_LABELS = 3


@dataclass(frozen=True, slots=True)
class Strip:
    """Places in per cent of the width, None where there is nothing; an interval that is open reaches to 0 or 100.
    `arrow` is "left" or "right" of a bound."""

    metg: float | None
    low: float
    high: float
    overhead: float | None
    arrow: str


@dataclass(frozen=True, slots=True)
class Strips:
    """The strips of a table's rows, and the ticks of their axis: (place, label)."""

    ticks: tuple[tuple[float, str], ...]
    rows: tuple[Strip, ...]


def strips(rows: Sequence[MetgRow]) -> Strips:
    """One strip a row, all on one axis."""
    values = [end for row in rows if row.metg for end in ends(row.metg)]
    overheads = [row.known_overhead.value for row in rows if row.known_overhead]
    axis = log_axis(values + overheads, _LABELS, padding=0.12)
    ticks = tuple((_percent(axis, each), time_tick(each)) for each in axis.majors)
    return Strips(ticks, tuple(_strip(row, axis) for row in rows))


def _strip(row: MetgRow, axis: LogAxis) -> Strip:
    overhead = _percent(axis, row.known_overhead.value) if row.known_overhead else None
    if row.metg is None:
        return Strip(None, 0, 0, overhead, "")
    own = row.metg.extent if row.metg.is_told else (row.metg.value, row.metg.value)
    low, high = (_percent(axis, each) for each in own)
    arrow = {"=": "", "<": "left", ">": "right"}[row.metg.relation]
    return Strip(_percent(axis, row.metg.value), low, high, overhead, arrow)


def _percent(axis: LogAxis, value: float) -> float:
    return round(100 * axis.place(value), 2)
