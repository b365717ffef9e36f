"""Where one system's efficiency crosses the threshold: a robust line through the runs near it, and a band around it.

The method, its formulas and reasons are in docs/explanation/metg.md; `tefflab.statistics` is the door to it.
Names: ideal = efficiency * granularity, a task's time at the ceiling's rate; slowdown = 1 / efficiency. Near the
crossing slowdown = level + slope / ideal, where slope is the overhead of a task and level the kernel's own slowdown.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Relation = Literal["=", "<", ">"]

RESAMPLES = 2000
_WINDOW = float(np.log(4.0))  # a run further than this from the crossing, in log ideal, says nothing about it
_SPIKE_SHARE = 0.15  # so often a disturbance puts a run on the wrong side of the threshold, at worst
_DOUBT = 0.002  # a point is believed to be where its runs say if disturbances alone would do it less often
_MAJORITY = 0.75  # and so many of its runs say it: at the crossing itself both sides have many
_BISQUARE = 4.685  # Tukey's constant: 95 % as efficient as least squares where noise is normal
_LEAST_SCALE = 0.002  # relative noise below which nothing is an outlier
_STEPS = 12  # of reweighting; the weights are still to three digits after about eight


@dataclass(frozen=True, slots=True)
class Runs:
    """Runs of one system as arrays of one length: slowdown = 1 / efficiency, granularity in seconds."""

    round: Integers
    iterations: Floats
    granularity: Floats
    slowdown: Floats

    def where(self, mask: NDArray[np.bool_]) -> "Runs":
        return Runs(self.round[mask], self.iterations[mask], self.granularity[mask], self.slowdown[mask])

    @property
    def ideal(self) -> Floats:
        return self.granularity / self.slowdown


@dataclass(frozen=True, slots=True)
class Line:
    """y = level + slope * x, and what is needed to fit it again to resampled runs with the same weights."""

    level: float
    slope: float
    moments: Floats  # a row a run: weight * (1, x, x*x, y, x*y), y already drawn in by the robust fit
    trust: Floats  # a run's weight, 0 (an outlier, or far away) to 1
    inflation: float  # by which fixed weights understate the spread of the refitted lines

    def at(self, x: Floats) -> Floats:
        """The line's height; kept positive, since a slowdown or a time is."""
        return np.maximum(self.level + self.slope * x, 1e-9)

    def refitted(self, counts: Floats) -> tuple[Floats, Floats]:
        """Level and slope with run i counted counts[:, i] times; resamples with too little to fit are left out."""
        level, slope, solvable = _solve(counts @ self.moments)
        kept = solvable if self.slope != 0 else self.moments[:, 0] @ counts.T > 0
        return level[kept], slope[kept]


def robust_line(x: Floats, y: Floats, kernel: Floats) -> Line:
    """Tukey's bisquare fit of log y, from Siegel's repeated medians (half of the runs may be outliers).

    With one distinct x only the level is fitted. `kernel` weighs each run by its nearness.
    """
    level, slope = _repeated_medians(x, y)
    freedom = max(len(y) - (2 if slope else 1), 1)
    for _ in range(_STEPS):
        fitted = np.maximum(level + slope * x, 1e-9)
        residual = np.log(y / fitted)
        # Rousseeuw and Leroy's small-sample factor: few runs look closer to a line through them than they are
        scale = max(1.4826 * (1 + 5 / freedom) * float(np.median(np.abs(residual))), _LEAST_SCALE)
        distance = np.minimum((residual / (_BISQUARE * scale)) ** 2, 1.0)
        trust = kernel * (1 - distance) ** 2
        weight = trust / fitted**2
        working = fitted * (1 + np.where(distance < 1, residual, 0.0))
        moments = np.stack([weight, weight * x, weight * x * x, weight * working, weight * x * working], axis=1)
        levels, slopes, _solvable = _solve(moments.sum(axis=0, keepdims=True))
        level, slope = float(levels[0]), float(slopes[0])
    bend = float(np.sum(kernel * (1 - distance) * (1 - 5 * distance)))
    total = float(np.sum(trust))
    return Line(level, slope, moments, trust, total / max(bend, total / 2))


def _repeated_medians(x: Floats, y: Floats) -> tuple[float, float]:
    run, rise = np.subtract.outer(x, x), np.subtract.outer(y, y)
    apart = np.abs(run) > 1e-9 * np.abs(x).max()
    if not apart.any():
        return float(np.median(y)), 0.0
    slopes = np.where(apart, rise / np.where(apart, run, 1.0), np.nan)
    slope = float(np.median(np.nanmedian(slopes, axis=1)))
    return float(np.median(y - slope * x)), slope


def _solve(sums: Floats) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Weighted least squares from rows of summed moments; where x hardly varies the slope is 0."""
    weight, x, xx, y, xy = np.moveaxis(sums, -1, 0)
    safe = np.where(weight > 0, weight, 1.0)
    determinant = weight * xx - x * x
    solvable = determinant > 1e-4 * weight * xx
    slope = np.where(solvable, (weight * xy - x * y) / np.where(solvable, determinant, 1.0), 0.0)
    return (y - slope * x) / safe, slope, solvable


def widening(samples: float, confidence: float) -> float:
    """How many standard errors an interval's arm is long: Student's quantile, times what resampling so few lacks."""
    if samples <= 1.001:
        return float("inf")
    student = float(special.stdtrit(samples - 1, 0.5 + confidence / 2))
    return student * float(np.sqrt(samples / (samples - 1)))


def draw(clusters: int, seed: int) -> Floats:
    """How often each cluster comes in a resample, a row a resample."""
    generator = np.random.default_rng(seed)
    return generator.multinomial(clusters, np.full(clusters, 1 / clusters), RESAMPLES).astype(np.float64)


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
        if self.work.level <= 0:
            return lowest
        return float(np.clip((self.ideal - self.work.slope) / self.work.level, lowest, highest))

    @property
    def effective_rounds(self) -> float:
        """Rounds, where one that has few trusted runs counts for less (Kish)."""
        return self._effective(self.runs.round)

    def _effective(self, cluster: Integers) -> float:
        share = np.bincount(np.unique(cluster, return_inverse=True)[1], self.line.trust)
        return float(share.sum() ** 2 / (share**2).sum())

    def interval(self, confidence: float, seed: int) -> tuple[float, float]:
        """Granularities between which the band around the line meets the threshold; 0 or infinite where unmeasured."""
        x = np.geomspace(self.far, self.near, 257)
        middle = np.log(self.line.at(x))
        arm = self._arm(x, confidence, seed)
        target = -np.log(self.threshold)
        under, over = middle - arm - target, middle + arm - target  # both fall along x
        first = int(np.searchsorted(-x, -self.x))
        low, high = 0.0, float("inf")
        if self.relation != "<":
            slower = np.flatnonzero(under[:first] > 0)
            if len(slower) == len(x):
                low = self.granularity * float(np.exp(-arm[-1]))
            elif len(slower):
                low = self._granularity_between(x, under, int(slower[-1]))
        if self.relation != ">":
            faster = first + np.flatnonzero(over[first:] < 0)
            if len(faster) and faster[0] == 0:
                high = self.granularity * float(np.exp(arm[0]))
            elif len(faster):
                high = self._granularity_between(x, over, int(faster[0]) - 1)
        return low, high

    def _granularity_between(self, x: Floats, height: Floats, i: int) -> float:
        """Of the crossing of `height` and 0 between the points i and i + 1."""
        if i + 1 >= len(x):
            return self.granularity
        share = np.clip(height[i] / (height[i] - height[i + 1]), 0, 1)
        return float(self.unit / (x[i] ** (1 - share) * x[i + 1] ** share) / self.threshold)

    def _arm(self, x: Floats, confidence: float, seed: int) -> Floats:
        """Half the band's height, in log slowdown: from drawing rounds, or runs where there is but one round."""
        rounds = np.unique(self.runs.round)
        cluster = self.runs.round if len(rounds) > 1 else np.arange(len(self.runs.round))
        names, index = np.unique(cluster, return_inverse=True)
        effective = self._effective(cluster) - (1 if len(rounds) == 1 and self.line.slope else 0)
        level, slope = self.line.refitted(draw(len(names), seed)[:, index])
        if len(level) < 2 or (self.relation == "=" and self.line.slope <= 0):
            return np.full(len(x), np.inf)
        spread = np.cov(level, slope)
        variance = spread[0, 0] + 2 * x * spread[0, 1] + x**2 * spread[1, 1]
        error = np.sqrt(np.maximum(variance, 0)) / self.line.at(x) * self.line.inflation
        return error * widening(effective, confidence)

    def shifts(self, counts: Floats) -> Floats:
        """How far resampled runs move log METG, to first order (so that no resample lacks a crossing)."""
        level, slope, solvable = _solve(counts @ self.line.moments)
        height = (level + slope * self.x) * self.threshold - 1
        moved = height * self.line.inflation / max(1 - self.threshold * self.line.level, 1e-9)
        return np.where(solvable, moved, np.nan)


def find_crossing(runs: Runs, threshold: float) -> Crossing:
    """The crossing above which efficiency stays at or above the threshold, as far as the runs let one believe."""
    points = _Points.of(runs, threshold)
    split, start = points.split()
    kept = runs.where(runs.iterations >= points.iterations[start])
    ideal = points.ideal[start:]
    at = split - start
    centre = float(np.sqrt(ideal[max(at - 1, 0)] * ideal[min(at, len(ideal) - 1)]))
    for crossing in _fits(kept, points.iterations[start:], ideal, centre, threshold):
        last = crossing
    if last.line.slope <= 0 and 0 < split < len(points.iterations):
        return replace(last, relation="=", x=last.unit / centre)  # both sides were seen, yet no line tells them apart
    return last


def _fits(runs: Runs, iterations: Floats, ideal: Floats, centre: float, threshold: float) -> Iterator[Crossing]:
    """Fits in a window that follows the crossing, until it stays."""
    position = np.searchsorted(iterations, runs.iterations)
    for _ in range(5):
        distance = np.abs(np.log(ideal / centre))
        after = int(np.clip(np.searchsorted(ideal, centre), 1, max(len(ideal) - 1, 1)))
        reach = max(_WINDOW, 1.25 * float(distance[after - 1 : after + 1].max()))
        nearness = (1 - np.minimum(distance / reach, 1.0) ** 3) ** 3
        inside = nearness[position] > 0
        crossing = _fit(runs.where(inside), nearness[position][inside], centre, threshold)
        yield crossing
        moved = abs(float(np.log(crossing.ideal / centre)))
        centre = crossing.ideal
        if moved < 0.02:
            return


def _fit(runs: Runs, nearness: Floats, unit: float, threshold: float) -> Crossing:
    work = robust_line(1 / runs.iterations, runs.ideal / runs.iterations, nearness)
    x = unit / (work.at(1 / runs.iterations) * runs.iterations)
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


@dataclass(frozen=True, slots=True)
class _Points:
    """The curve, point by point, from the fewest iterations to the most: its median ideal, its runs on each side."""

    iterations: Floats
    ideal: Floats
    below: Integers  # runs whose efficiency is under the threshold
    above: Integers

    @staticmethod
    def of(runs: Runs, threshold: float) -> "_Points":
        iterations = np.unique(runs.iterations)
        members = [runs.iterations == each for each in iterations]
        work = robust_line(1 / runs.iterations, runs.ideal / runs.iterations, np.ones(len(runs.round)))
        ideal = work.at(1 / iterations) * iterations
        below = np.array([np.count_nonzero(runs.slowdown[each] > 1 / threshold) for each in members])
        total = np.array([np.count_nonzero(each) for each in members])
        return _Points(iterations, np.maximum.accumulate(ideal), below, total - below)

    def split(self) -> tuple[int, int]:
        """(points under the crossing, the first point to be used).

        Above the last point that is believed to lie below, the split that contradicts the fewest runs. Points under
        the crossing that are believed to lie above (a dip in the curve) belong to another crossing: left out.
        """
        runs = self.below + self.above
        lowest = int(np.max(np.flatnonzero(_believed(self.below, runs)) + 1, initial=0))
        splits = range(lowest, len(runs) + 1)
        contradicted = [int(self.above[:i].sum() + self.below[i:].sum()) for i in splits]
        split = lowest + int(np.argmin(contradicted))
        strangers = np.flatnonzero(_believed(self.above, runs)[: max(split - 1, 0)])
        return split, int(np.max(strangers + 1, initial=0))


def _believed(votes: Integers, runs: Integers) -> NDArray[np.bool_]:
    """Whether a point's runs on one side are too many to be disturbances (it takes four runs at least)."""
    return np.asarray((special.bdtrc(votes - 1, runs, _SPIKE_SHARE) < _DOUBT) & (votes >= _MAJORITY * runs))
