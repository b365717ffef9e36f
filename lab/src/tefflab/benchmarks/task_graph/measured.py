"""Everything that a sitting says about one case while the cores were so far apart: rows, and curves behind them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tefflab.analysis.curves import Curve, CurvePoint
from tefflab.analysis.distance import Distance
from tefflab.analysis.rows import Row
from tefflab.analysis.statistics import FEWEST_ROUNDS, Interval
from tefflab.benchmarks.closing import is_vague
from tefflab.benchmarks.graphs import GraphCase
from tefflab.output import quantities
from tefflab.output.quantities import percent

OVERHEAD, CEILING = "overhead", "ceiling"  # quantities of rows beside a METG
_ROUGH = 2.0  # METG(50 %) is about twice the overhead: one that may be twice as long may be METG itself


@dataclass(frozen=True)
class Measured:
    case: GraphCase
    threshold: float
    rows: Sequence[Row]  # METG, the smallest first; where only curves were measured, variants without one, and why
    curves: Sequence[Curve]
    beside: Mapping[tuple[str, str], Row] = field(default_factory=dict)  # of METG, by variant's id and quantity
    where: Distance | None = None  # of the cores, if it is known
    others: Sequence[float] = ()  # round trips at which it was measured, too [s]
    minutes: int | None = None  # that variants without a turn need, about; None if there are none, or it is unknown

    @property
    def name(self) -> str:
        """`stencil_1d, cores 52 ns apart`; the case's alone where the distance is not known."""
        return ", ".join([self.case.name, *([apart(self.where.round_trip)] if self.where else [])])

    @property
    def rate_unit(self) -> str:
        """Of the curves."""
        return self.curves[0].rate_unit if self.curves else "FLOP/s"

    @property
    def ceiling(self) -> Interval | None:
        """The median of the ceilings beside the systems, from their lowest end to their highest; None without any. If
        some systems use the cores' ceiling, it is that one."""
        of_cores = [curve for curve in self.curves if not curve.variant.ceiling] or self.curves
        known = [curve.ceiling for curve in of_cores if curve.ceiling]
        if not known:
            return None
        middle = sorted(each.value for each in known)[(len(known) - 1) // 2]
        return Interval(middle, min(each.low for each in known), max(each.high for each in known))

    def overhead(self, row: Row) -> Row | None:
        """Of a METG row, where empty tasks were measured."""
        return self.beside.get((row.id, OVERHEAD))

    def mean(self, row: Row) -> Row | None:
        """Of the mean run, beside a METG row over nodes."""
        return self.beside.get((row.id, mean_name(self.threshold)))

    @property
    def curves_in_order(self) -> list[Curve]:
        """The smallest METG first. Without a table, by the smallest granularity measured that reaches the threshold."""

        def place(curve: Curve) -> tuple[int, float]:
            rank = next((rank for rank, row in enumerate(self.rows) if row.id == curve.variant.id), len(self.rows))
            enough = (each.granularity.value for each in curve.points if each.efficiency.value >= self.threshold)
            return rank, min(enough, default=math.inf)

        return sorted(self.curves, key=place)


def apart(round_trip: float) -> str:
    return f"cores {quantities.duration(round_trip)} apart"


def metg_name(threshold: float) -> str:
    """`METG(50 %)`."""
    return f"METG({percent(threshold)})"


def mean_name(threshold: float) -> str:
    """Of the quantity beside METG over nodes: of the mean run, where METG itself is of the usual one."""
    return f"{metg_name(threshold)} of the mean run"


def is_roughly_known(overhead: Row) -> bool:
    """Whether enough rounds tell it to a factor of two each way."""
    return overhead.rounds >= FEWEST_ROUNDS and overhead.value is not None and overhead.value.is_within(_ROUGH)


def rounds_counted(row: Row) -> int:
    """Those that METG comes from: with runs near the crossing that count."""
    return int(row.facts.get("rounds_counted") or 0)


def why_unknown(row: Row) -> str:
    """Why an interval says nothing, in few words, where there were so many rounds that a few more will not help."""
    if not is_vague(row):
        return ""
    if (counted := rounds_counted(row)) < FEWEST_ROUNDS:
        return f"{counted} of {row.rounds} rounds count"
    return f"{row.rounds} rounds differ too much"


class WorkAxis:
    """The problem size: FLOPs or bytes of a task, or iterations where its kernel counts neither."""

    def __init__(self, curves: Sequence[Curve]) -> None:
        unit = curves[0].rate_unit.removesuffix("/s") if curves else "task"
        self._unit = "" if unit == "task" else unit
        self.title = "work of a task" if self._unit else "iterations of a task"

    def of(self, point: CurvePoint) -> float:
        return point.work_per_task if self._unit else float(point.iterations)

    def tick(self, value: float) -> str:
        """`1 kFLOP`, or `1 k` of iterations."""
        return quantities.brief(quantities.rate(value, self._unit)).strip()
