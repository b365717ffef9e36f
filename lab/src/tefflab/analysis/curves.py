"""Curves of task graphs: efficiency and rate by the size of a task. Nothing here measures or draws."""

from dataclasses import dataclass

from tefflab.analysis.statistics import Interval
from tefflab.records.plan import Variant

BEYOND = 1.25  # times the ceiling beside it, from which a run says that the ceiling was disturbed, and nothing else


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One size of task on one system: medians over the rounds, with their 95 % intervals."""

    iterations: int
    granularity: Interval  # seconds
    efficiency: Interval  # share of the adjacent ceiling; value 0 where the kernel has no rate (empty tasks)
    rate: Interval  # in the curve's rate_unit
    work_per_task: float  # FLOPs or bytes of a task, by rate_unit: the published figures' problem size
    runs: int
    noisy: int  # runs among them that stayed noisy after all repeats
    rounds: int = 0


@dataclass(frozen=True, slots=True)
class TracePoint:
    """A place on the line that is drawn through a system's points (`trace.py`)."""

    ideal: float  # seconds that the task takes at the ceiling's rate
    efficiency: float
    band: tuple[float, float] | None = None  # efficiencies; None where METG was not read from this part of the line

    @property
    def granularity(self) -> float:
        return self.ideal / self.efficiency


@dataclass(frozen=True, slots=True)
class Curve:
    """A system's points, by rising iterations."""

    variant: Variant
    rate_unit: str  # "FLOP/s", "B/s" or "task/s"
    points: tuple[CurvePoint, ...]
    ceiling: Interval | None = None  # in rate_unit, over the ceiling runs beside its own
    trace: tuple[TracePoint, ...] = ()  # from left to right
