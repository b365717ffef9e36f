"""Curves of task graphs: efficiency and rate by the size of a task, and the line that pictures draw through them.
Nothing here measures or draws."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from tefflab.analysis.crossing import find_crossing
from tefflab.analysis.statistics import Interval, Observation, as_runs
from tefflab.records.plan import Variant

_FITTED = 49  # places on the fitted part of a line
_APART = 1.4  # medians nearer than by this factor to an end of the fitted part are left to the fit
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
    """A place on the line that is drawn through a system's points (`trace`)."""

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


def trace(
    observations: Iterable[Observation], points: Sequence[CurvePoint], threshold: float
) -> tuple[TracePoint, ...]:
    """The line that pictures draw, from left to right; empty without a point that has an efficiency. Near the crossing
    it is the line that METG is read from, with its band; beyond the fitted runs it joins the `points`, the medians of
    the observations."""
    known = [each for each in points if each.efficiency.value > 0]
    medians = [TracePoint(each.granularity.value * each.efficiency.value, each.efficiency.value) for each in known]
    medians.sort(key=lambda each: each.ideal)
    if not medians:
        return ()
    crossing = find_crossing(as_runs(observations), threshold)
    if crossing.undecided or crossing.line.slope <= 0:
        return tuple(medians)
    ideal, slowdown, arm = crossing.band(_FITTED)
    fitted = [
        TracePoint(float(at), float(1 / height), (float(np.exp(-half) / height), float(np.exp(half) / height)))
        for at, height, half in zip(ideal, slowdown, np.minimum(arm, 700.0), strict=True)
    ]
    left = [each for each in medians if _APART * each.ideal < fitted[0].ideal]
    right = [each for each in medians if each.ideal > _APART * fitted[-1].ideal]
    return (*left, *fitted, *right)
