"""Where one system's efficiency crosses the threshold: a robust line through the runs near it, and a band around it.

docs/explanation/metg.md has the method, its formulas and reasons; callers use it through `tefflab.analysis.statistics`.
Names: ideal = efficiency * granularity, a task's time at the ceiling's rate; slowdown = 1 / efficiency. Near the
crossing slowdown = level + slope / ideal, where slope is the overhead of a task and level the kernel's own slowdown.
"""

from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from tefflab.analysis.robust_line import Floats, Line, robust_line

Integers = NDArray[np.int64]
Relation = Literal["=", "<", ">"]

RESAMPLES = 1000
CONFIDENCE = 0.95  # of every interval
SEED = 0  # of every resampling: the same runs give the same estimates
_WINDOW = float(np.log(4.0))  # a run further than this from the crossing, in log ideal, is not used
_NARROW = float(np.log(2.0))  # the window if many rounds surely saw the crossing: curves are not all straight
_MANY_ROUNDS = 6.0
_SPIKE_SHARE = 0.15  # how often noise puts a run on the wrong side of the threshold, at worst
_DOUBT = 0.002  # the largest probability of noise alone with which a point's side is believed
_ENOUGH = 4  # the fewest runs with which it is believed
_MAJORITY = 0.75  # the share of its runs that must lie on that side: at the crossing both sides have many
_FEW_ROUNDS = 4  # they may agree by chance, so the spread of their runs counts as well; the less, the more rounds


@dataclass(frozen=True, slots=True)
class Runs:
    """Runs of one system as arrays of one length: slowdown = 1 / efficiency, granularity in seconds."""

    round: Integers
    iterations: Floats
    granularity: Floats
    slowdown: Floats

    def where(self, mask: NDArray[np.bool_]) -> "Runs":
        return Runs(self.round[mask], self.iterations[mask], self.granularity[mask], self.slowdown[mask])

    def beside(self, other: "Runs") -> "Runs":
        """These runs and the runs of another system, as if of one."""
        pairs = ((getattr(self, each.name), getattr(other, each.name)) for each in fields(self))
        return Runs(*map(np.concatenate, pairs))

    @property
    def ideal(self) -> Floats:
        return self.granularity / self.slowdown


@lru_cache(maxsize=4096)  # a sitting asks for the same few numbers again and again
def widening(samples: float) -> float:
    """How many standard errors an interval's arm is long: Student's quantile, times what resampling so few lacks."""
    if samples <= 1.001:
        return float("inf")
    student = float(special.stdtrit(samples - 1, 0.5 + CONFIDENCE / 2))
    return student * float(np.sqrt(samples / (samples - 1)))


@lru_cache(maxsize=32)  # a sitting asks again and again for as many as its rounds and its runs are
def draw(clusters: int) -> Floats:
    """How often each cluster comes in a resample, a row a resample. Not to be written to."""
    generator = np.random.default_rng(SEED)
    drawn = generator.multinomial(clusters, np.full(clusters, 1 / clusters), RESAMPLES).astype(np.float64)
    drawn.flags.writeable = False
    return drawn


@dataclass(frozen=True, slots=True)
class Crossing:
    """The line near the crossing, over x = unit / ideal; `x` is the crossing, or the end that bounds it."""

    runs: Runs
    line: Line
    work: Line  # ideal / iterations over 1 / iterations
    unit: float
    threshold: float
    relation: Relation
    x: float
    near: float  # x of the largest ideal in the window
    far: float  # x of the smallest

    @property
    def ideal(self) -> float:
        return self.unit / self.x

    @property
    def granularity(self) -> float:
        slowdown = 1 / self.threshold if self.relation == "=" else float(self.line.at(np.array(self.x)))
        return self.ideal * slowdown

    @property
    def iterations(self) -> float:
        """Of the crossing: the inverse of ideal = per * iterations + fixed."""
        lowest, highest = float(self.runs.iterations.min()), float(self.runs.iterations.max())
        if self.relation == "<" or self.work.level <= 0:
            return lowest
        if self.relation == ">":
            return highest
        return float(np.clip((self.ideal - self.work.slope) / self.work.level, lowest, highest))

    @property
    def undecided(self) -> bool:
        """Runs on both sides of the threshold, yet no line through them that crosses it: nothing is known yet."""
        return self.relation == "=" and self.line.slope <= 0

    @property
    def effective_rounds(self) -> float:
        """Rounds, where one that has few trusted runs counts for less (Kish)."""
        return self._effective(self.runs.round)

    def _effective(self, cluster: Integers) -> float:
        share = np.bincount(np.unique(cluster, return_inverse=True)[1], self.line.trust)
        return float(share.sum() ** 2 / (share**2).sum())

    def band(self, places: int) -> tuple[Floats, Floats, Floats]:
        """The line over the window: ideals, rising, and at each the slowdown and the band's half height, in its log."""
        x = np.geomspace(self.far, self.near, places)
        return self.unit / x, self.line.at(x), self._arm(x)

    def interval(self) -> tuple[float, float]:
        """Granularities between which the band around the line meets the threshold; 0 or infinite where unmeasured."""
        x = np.geomspace(self.far, self.near, 257)
        middle = np.log(self.line.at(x))
        arm = self._arm(x)
        target = -np.log(self.threshold)
        under, over = middle - arm - target, middle + arm - target  # both fall along x
        first = {"<": 0, ">": len(x), "=": int(np.searchsorted(-x, -self.x))}[self.relation]
        low, high = 0.0, float("inf")
        slower, faster = np.flatnonzero(under[:first] > 0), first + np.flatnonzero(over[first:] < 0)
        if len(slower):
            low = self._granularity_after(x, under, int(slower[-1]), arm)
        if len(faster):
            high = self._granularity_after(x, over, int(faster[0]) - 1, arm)
        return min(low, self.granularity), max(high, self.granularity)

    def _granularity_after(self, x: Floats, height: Floats, i: int, arm: Floats) -> float:
        """Where `height` passes 0 between the points i and i + 1; past either end, the bound itself and its error."""
        if i < 0:
            return self.granularity * float(np.exp(arm[0]))
        if i + 1 >= len(x):
            return self.granularity * float(np.exp(-arm[-1]))
        share = np.clip(height[i] / (height[i] - height[i + 1]), 0, 1)
        return float(self.unit / (x[i] ** (1 - share) * x[i + 1] ** share) / self.threshold)

    def _arm(self, x: Floats) -> Floats:
        """Half the band's height, in log slowdown: from drawing rounds, and from drawing single runs as far as few
        rounds may agree by chance. Infinite after one round, which knows nothing of other rounds."""
        rounds, index = np.unique(self.runs.round, return_inverse=True)
        if len(rounds) < 2:
            return np.full(len(x), np.inf)
        by_run = self._arm_by(np.arange(len(index)), 2, x)
        return np.hypot(self._share_of_runs * by_run, self._arm_by(index, 1, x))

    @property
    def _share_of_runs(self) -> float:
        """The share of the spread of single runs that is added to the spread of rounds, which contains it."""
        rounds = len(np.unique(self.runs.round))
        return float(np.sqrt(_FEW_ROUNDS / max(rounds, _FEW_ROUNDS)))

    def _arm_by(self, cluster: Integers, lost: int, x: Floats) -> Floats:
        counts = draw(int(cluster.max()) + 1)[:, cluster]
        level, slope, kept = self.line.refitted(counts)
        factor = widening(self._effective(cluster) - lost + 1)
        if np.count_nonzero(kept) < 2 or self.undecided or np.isinf(factor):
            return np.full(len(x), np.inf)
        spread = np.cov(level[kept], slope[kept])
        variance = spread[0, 0] + 2 * x * spread[0, 1] + x**2 * spread[1, 1]
        error: Floats = np.sqrt(np.maximum(variance, 0)) / self.line.at(x) * self.line.inflation
        return error * factor

    def drift(self) -> float | None:
        """Half-width, in log time, of the machine's mean speed over the rounds; None where there is but one."""
        rounds, index = np.unique(self.runs.round, return_inverse=True)
        if len(rounds) < 2:
            return None
        speeds = self.work.shifted(draw(len(rounds))[:, index])
        return float(np.std(speeds)) * widening(self.effective_rounds)

    @property
    def leverage(self) -> float:
        """By how many per cent METG moves where all efficiencies move by one."""
        return 1 / max(1 - self.threshold * self.line.level, 1e-9)

    def shifts(self, counts: Floats) -> Floats:
        """How far resampled runs move log METG, to first order (so that no resample lacks a crossing)."""
        level, slope, kept = self.line.refitted(counts)
        height = (level + slope * self.x) * self.threshold - 1
        return np.where(kept, height * self.line.inflation * self.leverage, np.nan)

    def error(self) -> float:
        """Half-width of log METG, to first order, also of an interval that is open because the band leaves the measured
        part. Infinite where nothing is known."""
        rounds, index = np.unique(self.runs.round, return_inverse=True)
        factor = widening(self.effective_rounds)
        if np.isinf(factor) or self.relation != "=" or self.undecided:
            return float("inf")
        by_round = float(np.nanstd(self.shifts(draw(len(rounds))[:, index]))) * factor
        return float(np.hypot(by_round, self.run_error()))

    def run_error(self) -> float:
        """The part of `error` that comes from drawing single runs."""
        runs = len(self.runs.round)
        spread = float(np.nanstd(self.shifts(draw(runs))))
        return self._share_of_runs * spread * widening(runs - 1)


def find_crossing(runs: Runs, threshold: float) -> Crossing:
    """The crossing above which efficiency stays at or above the threshold, as far as the runs let one believe."""
    iterations = np.unique(runs.iterations)  # the points of the curve, and of each its median ideal
    members = [runs.iterations == each for each in iterations]
    work = robust_line(1 / runs.iterations, runs.ideal / runs.iterations, np.ones(len(runs.round)))
    ideal = np.maximum.accumulate(work.at(1 / iterations) * iterations)
    total = np.array([np.count_nonzero(each) for each in members])
    below = np.array([np.count_nonzero(runs.slowdown[each] > 1 / threshold) for each in members])
    sure_below, sure_above = _believed(below, total), _believed(total - below, total)
    split, start = _split(below, total - below, sure_below, sure_above)
    iterations, ideal, after = iterations[start:], ideal[start:], split - start
    centre = float(np.sqrt(ideal[max(after - 1, 0)] * ideal[min(after, len(ideal) - 1)]))
    crossing = _follow(runs, iterations, ideal, centre, threshold)
    if not 0 < split < len(total):
        return crossing
    strayed = crossing.relation != "=" or abs(np.log(crossing.ideal / centre)) > _WINDOW / 2
    if strayed and sure_below[split - 1] and sure_above[split]:
        pair = slice(after - 1, after + 1)  # a step in the curve, which no line over more points follows
        crossing = _follow(runs, iterations[pair], ideal[pair], centre, threshold)
    if crossing.line.slope <= 0:  # both sides were seen, yet no line tells them apart
        return replace(crossing, relation="=", x=crossing.unit / centre)
    if crossing.relation == "=" and crossing.effective_rounds >= _MANY_ROUNDS:
        closer = _follow(runs, iterations, ideal, crossing.ideal, threshold, _NARROW)
        return closer if closer.relation == "=" else crossing
    return crossing


def _split(
    below: Integers, above: Integers, sure_below: NDArray[np.bool_], sure_above: NDArray[np.bool_]
) -> tuple[int, int]:
    """(points under the crossing, the first point to be used), by the runs of each point on either side. The split
    contradicts the fewest runs of those above the last point that surely lies below. Points under the crossing that
    surely lie above (left of a dip in the curve) belong to another crossing."""
    lowest = int(np.max(np.flatnonzero(sure_below) + 1, initial=0))
    contradicted = [int(above[:i].sum() + below[i:].sum()) for i in range(lowest, len(below) + 1)]
    split = lowest + int(np.argmin(contradicted))
    strange = sure_above
    if split > 0 and sure_below[split - 1]:
        strange = strange | ((below + above >= _ENOUGH) & (above > below))
    return split, int(np.max(np.flatnonzero(strange[: max(split - 1, 0)]) + 1, initial=0))


def _follow(
    runs: Runs, iterations: Floats, ideal: Floats, centre: float, threshold: float, window: float = _WINDOW
) -> Crossing:
    """The fit, to the runs of these points, in a window that follows the crossing until it stays."""
    runs = runs.where(np.isin(runs.iterations, iterations))
    position = np.searchsorted(iterations, runs.iterations)
    for _ in range(5):
        distance = np.abs(np.log(ideal / centre))
        after = int(np.clip(np.searchsorted(ideal, centre), 1, max(len(ideal) - 1, 1)))
        reach = max(window, 1.25 * float(distance[after - 1 : after + 1].max()))
        nearness = (1 - np.minimum(distance / reach, 1.0) ** 3) ** 3
        inside = nearness[position] > 0
        crossing = _fit(runs.where(inside), nearness[position][inside], centre, threshold)
        if abs(np.log(crossing.ideal / centre)) < 0.02:
            break
        centre = crossing.ideal
    return crossing


def _fit(runs: Runs, nearness: Floats, unit: float, threshold: float) -> Crossing:
    work = robust_line(1 / runs.iterations, runs.ideal / runs.iterations, nearness)
    per = work.at(1 / runs.iterations)
    # Through few and noisy runs the line may come to nothing at some of them: those stay where they were seen.
    x = unit / np.where(per > work.least, per * runs.iterations, runs.ideal)
    line = robust_line(x, runs.slowdown, nearness)
    near, far, target = float(x.min()), float(x.max()), 1 / threshold
    relation: Relation = "="
    if line.slope <= 0:  # flat or upside down: all on one side, as far as these runs can tell
        relation = ">" if line.at(np.array((near + far) / 2)) > target else "<"
    elif line.at(np.array(far)) < target:
        relation = "<"
    elif line.at(np.array(near)) > target:
        relation = ">"
    at = far if relation == "<" else near if relation == ">" else (target - line.level) / line.slope
    return Crossing(runs, line, work, unit, threshold, relation, at, near, far)


def _believed(votes: Integers, runs: Integers) -> NDArray[np.bool_]:
    """Whether a point's runs on one side are too many to be noise (it takes _ENOUGH runs at least)."""
    return np.asarray((special.bdtrc(votes - 1, runs, _SPIKE_SHARE) < _DOUBT) & (votes >= _MAJORITY * runs))
