"""METG, overheads and ratios out of observations, each with an interval: arrays in, values out, no side effects.

docs/explanation/metg.md has the method, its formulas and its reasons.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from tefflab.analysis.crossing import (
    CONFIDENCE,
    RESAMPLES,
    SEED,
    Relation,
    Runs,
    draw,
    find_crossing,
    widening,
)
from tefflab.analysis.robust_line import Floats

FEWEST_ROUNDS = 3  # for an interval, and for a difference of two systems: two rounds may agree by chance
LEAST_ROUNDS = 4  # for a narrow interval
NEVER = 1e6  # a relative half-width that no number of rounds will narrow
_CEILING_ERROR = 0.005  # the common error of a sitting's efficiencies, from their ceilings
_CEILING_SHARE = 0.10  # the largest effect of that error on METG
_SLOWEST = 16.0  # the median slowdown beyond which tasks tell nothing of the crossing
_OFTEN = 0.5  # the share of the rounds that have a point of which the mean is taken
_ABOUT_ONE_LINE = math.log(1.2)  # the largest distance of METG of two systems whose runs lie about one line
_VAGUE = 100.0  # an interval whose ends differ by this factor says nothing


def is_told(low: float, high: float) -> bool:
    """Whether an interval of positive values says anything."""
    if low <= 0:
        return math.isfinite(high)
    return not math.isfinite(high) or high <= _VAGUE * low


def rounds_to_tell(rounds: int) -> int:
    """How many rounds more may tell, where an interval says nothing after so many: after LEAST_ROUNDS as many again,
    for another or two will not do."""
    return rounds if rounds >= LEAST_ROUNDS else LEAST_ROUNDS - rounds


@dataclass(frozen=True, slots=True)
class Observation:
    """One run: granularity in seconds (wall * cores / tasks); efficiency = rate / adjacent ceiling's rate. A round is
    one start of the program."""

    round: int
    iterations: int
    granularity: float
    efficiency: float


@dataclass(frozen=True, slots=True)
class Interval:
    """A value and the interval that holds it with the wanted confidence, in the unit of the samples."""

    value: float
    low: float
    high: float
    relation: Relation = "="  # "<" and ">": the value is a bound

    @property
    def relative_half_width(self) -> float:
        """Half the interval's width as a share of the value, infinite where an end is open; of a bound, its uncertain
        side."""
        if self.relation == "<":
            return self.high / self.value - 1
        if self.relation == ">":
            return 1 - self.low / self.value
        return (self.high - self.low) / (2 * self.value) if self.value > 0 else math.inf

    @property
    def is_told(self) -> bool:
        """Whether it says anything."""
        return is_told(self.low, self.high)

    def is_within(self, factor: float) -> bool:
        """Whether neither end is further from the value than by `factor`."""
        return self.value <= factor * self.low and self.high <= factor * self.value

    @property
    def is_bounded(self) -> bool:
        """Whether both ends are known."""
        return self.low > 0 and math.isfinite(self.high)

    @property
    def significant(self) -> bool:
        """For a ratio: the interval excludes 1, so the two sides differ."""
        return not self.low <= 1.0 <= self.high

    @property
    def extent(self) -> tuple[float, float]:
        """From where to where a line is drawn: of a bound only its uncertain side; 0 or infinite where it is open."""
        return self.value if self.relation == "<" else self.low, self.value if self.relation == ">" else self.high

    def after(self, rounds: int) -> "Interval":
        """As it is, or open where it is of fewer than FEWEST_ROUNDS: they say nothing of the next."""
        return self if rounds >= FEWEST_ROUNDS else Interval(self.value, 0.0, math.inf)

    def to_json(self) -> dict[str, float | None]:
        """Value and ends; an open end is None."""
        return {
            "value": self.value,
            "low": self.low if self.low > 0 else None,
            "high": self.high if math.isfinite(self.high) else None,
        }


@dataclass(frozen=True, slots=True)
class MetgEstimate(Interval):
    """METG in seconds, at the machine's mean speed over the sitting; its interval is for this speed, too.

    `drift` is how far that mean is uncertain, as a relative half-width; None after one round. With relation '=' the
    crossing was measured. With '<' efficiency reaches the threshold at every granularity measured, down to `value`.
    With '>' it does at none, up to `value`. `low` is 0, or `high` infinite, if the interval leaves the measured part.
    """

    iterations: float = 0.0  # of the crossing, or of the end that bounds it
    drift: float | None = None
    rounds: int = 0
    observations: int = 0

    @property
    def is_told(self) -> bool:
        """Whether its interval says anything: an interval of fewer than FEWEST_ROUNDS does not, even if it is
        narrow."""
        return self.rounds >= FEWEST_ROUNDS and is_told(self.low, self.high)


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a variant at one case, from so many rounds. A sitting shows it and chooses rounds by it."""

    case: str
    value: Interval
    foreseen: float  # the half-width that foretells how many more rounds it needs: that of an open interval, too
    rounds: int

    @property
    def half_width(self) -> float:
        """Relative; infinite if the rounds are too few for an interval."""
        return self.value.relative_half_width if self.rounds >= FEWEST_ROUNDS else math.inf


def metg(observations: Iterable[Observation], threshold: float = 0.5) -> MetgEstimate:
    """METG(threshold) with its interval, from all runs of one system and case in one sitting. ValueError without an
    observation with iterations and a positive efficiency."""
    if not 0 < threshold < 1:
        raise ValueError(f"threshold {threshold} must lie between 0 and 1")
    crossing = find_crossing(as_runs(observations), threshold)
    low, high = crossing.interval()
    return MetgEstimate(
        value=crossing.granularity,
        low=low,
        high=high,
        relation=crossing.relation,
        iterations=crossing.iterations,
        drift=crossing.drift(),
        rounds=len(np.unique(crossing.runs.round)),
        observations=len(crossing.runs.round),
    )


def mean_metg(observations: Iterable[Observation], threshold: float = 0.5) -> Interval:
    """METG of the mean run, as published figures have it, however long the system's detours made some of the runs.
    There a straight line over 1 / ideal through all of them crosses the threshold. Rounds are drawn for the interval.
    ValueError as of `metg`."""
    runs = as_runs(observations)
    points, at = np.unique(runs.iterations, return_inverse=True)
    rounds, index = np.unique(runs.round, return_inverse=True)
    often = np.array([len(np.unique(index[at == each])) for each in range(len(points))])
    usual = often >= min(often.max(), _OFTEN * len(rounds))  # the first round looks further than others
    slow = np.array([np.median(runs.slowdown[at == each]) for each in range(len(points))])
    kept = (usual & (slow <= max(_SLOWEST, slow[usual].min())))[at]
    counts = np.vstack([np.ones(len(index)), draw(len(rounds))[:, index]])[:, kept]
    ideal, slowdown = runs.ideal[kept], runs.slowdown[kept]
    least, most = float(ideal.min()), float(ideal.max())
    with np.errstate(divide="ignore"):
        value, *drawn = np.log(_mean_crossings(ideal, slowdown, counts, 1 / threshold))
    relation: Relation = "<" if value == -math.inf else ">" if value == math.inf else "="
    value = float(np.clip(value, math.log(least), math.log(most)))
    if len(rounds) < FEWEST_ROUNDS:
        return Interval(math.exp(value) / threshold, 0.0, math.inf, relation)
    ends = np.nanquantile(drawn, [0.5 - CONFIDENCE / 2, 0.5 + CONFIDENCE / 2], method="nearest")
    stretch = widening(len(rounds)) / float(special.ndtri(0.5 + CONFIDENCE / 2))
    low, high = value + stretch * min(ends[0] - value, 0), value + stretch * max(ends[1] - value, 0)
    value, low, high = (math.exp(each) / threshold for each in (value, low, high))
    return Interval(value, low, high, relation)


def _mean_crossings(ideal: Floats, slowdown: Floats, counts: Floats, target: float) -> Floats:
    """The ideal at which the line slowdown = level + slope / ideal has the target's slowdown; 0 or infinite where that
    lies beyond the runs, and no number without a run. Each row of `counts` says how often each run was drawn, and gives
    a line. Runs of longer tasks scatter less, so they weigh more."""
    weights, x = counts * ideal, 1 / ideal
    total = weights.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):  # a draw of one size of task, or of none
        middle, height = weights @ x / total, weights @ slowdown / total
        slope = (weights @ (x * slowdown) / total - middle * height) / (weights @ x**2 / total - middle**2)
        level = height - slope * middle
        crossing = np.where((slope > 0) & (level < target), slope / (target - level), math.inf)
    crossing[total == 0] = math.nan
    return np.where(crossing < ideal.min(), 0.0, np.where(crossing > ideal.max(), math.inf, crossing))


def metg_error(observations: Iterable[Observation], threshold: float = 0.5) -> float:
    """The half-width that METG's interval would have if the curve went on beyond the measured part as it does at the
    crossing. Infinite if nothing tells it; NEVER if more rounds do not help. ValueError as of `metg`."""
    crossing = find_crossing(as_runs(observations), threshold)
    error = crossing.error()
    if math.isfinite(error) and crossing.leverage * _CEILING_ERROR > _CEILING_SHARE:
        return NEVER
    return math.sinh(error) if error < 50 else math.inf


def metg_ratio(a: Iterable[Observation], b: Iterable[Observation], threshold: float = 0.5) -> Interval:
    """METG of `a` / METG of `b`, two systems of one sitting: rounds are drawn for both together. Where one of them is a
    bound or has but one round, the ends are the quotients of the two intervals' far ends."""
    sides = [find_crossing(as_runs(side), threshold) for side in (a, b)]
    value = sides[0].granularity / sides[1].granularity
    rounds = np.unique(np.concatenate([side.runs.round for side in sides]))
    effective = min(side.effective_rounds for side in sides)
    if effective < 1.5 or any(side.relation != "=" or side.undecided for side in sides):
        (low, high), (least, most) = (side.interval() for side in sides)
        return Interval(value, low / most, high / least if least > 0 else math.inf)
    counts = draw(len(rounds))
    left, right = (side.shifts(counts[:, np.searchsorted(rounds, side.runs.round)]) for side in sides)
    by_round = float(np.nanstd(left - right)) * widening(effective)
    by_run = [side.run_error() for side in sides]
    error = math.hypot(by_round, *by_run)
    if not error < 50:  # too few runs for an error, or one beyond all numbers
        return Interval(value, 0.0, math.inf)
    return Interval(value, value * math.exp(-error), value * math.exp(error))


def metg_ratios(a: Iterable[Observation], b: Iterable[Observation], threshold: float = 0.5) -> list[float]:
    """METG of `a` / METG of `b` in each round that both have, of two systems of one sitting; none where one is a bound.
    Each round's runs are compared with one line through the runs of both. Where these are too far apart for that, the
    tasks of `a` are scaled until both have about the same METG."""
    left, right = as_runs(a), as_runs(b)
    crossings = [find_crossing(side, threshold) for side in (left, right)]
    if any(each.relation != "=" or each.undecided for each in crossings):
        return []
    ratio = crossings[0].granularity / crossings[1].granularity
    ratio = ratio if abs(math.log(ratio)) > _ABOUT_ONE_LINE else 1.0
    apart = 1 + int(left.round.max())
    scaled = replace(left, iterations=left.iterations / ratio, granularity=left.granularity / ratio)
    both = find_crossing(scaled.beside(replace(right, round=right.round + apart)), threshold)
    rounds, index = np.unique(both.runs.round, return_inverse=True)
    moved = both.shifts(np.eye(len(rounds))[:, index])  # by each round's own runs near the crossing, as a share of METG
    shifts = {number: each for number, each in zip(rounds.tolist(), moved.tolist(), strict=True) if each > -1}
    common = sorted(each for each in shifts if each < apart and each + apart in shifts)
    return [ratio * (1 + shifts[each]) / (1 + shifts[each + apart]) for each in common]


def empty_tasks(observations: Iterable[Observation]) -> dict[int, list[float]]:
    """The granularities of empty tasks, by round."""
    rounds: dict[int, list[float]] = {}
    for each in observations:
        if each.iterations == 0:
            rounds.setdefault(each.round, []).append(each.granularity)
    return rounds


def median_interval(samples: ArrayLike) -> Interval:
    """The median of positive, independent samples and its bootstrap interval, corrected for few samples; one sample
    alone has the interval 0 to infinity. ValueError for none, or for one that is not positive."""
    logs = _logs(samples)
    return _interval(float(np.median(logs)), _medians(logs, np.random.default_rng(SEED)), len(logs))


def ratio_interval(a: Mapping[int, ArrayLike], b: Mapping[int, ArrayLike]) -> Interval:
    """Median of `a` / median of `b`, each the samples of a round by its number. Both are paired by the rounds they
    share, where a round's effect on both cancels; if they share none, they are drawn apart. ValueError as of
    `median_interval`."""
    generator = np.random.default_rng(SEED)
    common = sorted(a.keys() & b.keys())
    if len(common) > 1:
        ratios = np.array([np.median(_logs(a[each])) - np.median(_logs(b[each])) for each in common])
        return _interval(float(np.median(ratios)), _medians(ratios, generator), len(common))
    left, right = (_logs(np.concatenate([*side.values()])) for side in (a, b))
    value = float(np.median(left) - np.median(right))
    draws = _medians(left, generator) - _medians(right, generator)
    return _interval(value, draws, min(len(left), len(right)))


def geometric_mean(of: Iterable[Interval]) -> Interval:
    """The geometric mean of independent values. As logarithms, its arm is the root of the sum of the
    squares of their arms, divided by their number. ValueError without any."""
    values = list(of)
    if not values:
        raise ValueError("there is no mean of nothing")

    def mean(arms: Iterable[float]) -> float:
        return math.sqrt(sum(arm * arm for arm in arms)) / len(values)

    middle = sum(math.log(each.value) for each in values) / len(values)
    below = mean(math.log(each.value / each.low) if each.low > 0 else math.inf for each in values)
    above = mean(math.log(each.high / each.value) if each.high < math.inf else math.inf for each in values)
    high = math.exp(middle + above) if above < math.inf else math.inf
    return Interval(math.exp(middle), math.exp(middle - below), high)


def _logs(samples: ArrayLike) -> Floats:
    values = np.asarray(samples, dtype=np.float64).ravel()
    if len(values) == 0 or not np.all(values > 0):
        raise ValueError("an interval needs at least one sample, and all of them positive")
    return np.log(values)


def _medians(logs: Floats, generator: np.random.Generator) -> Floats:
    drawn = generator.integers(0, len(logs), (RESAMPLES, len(logs)))
    return np.asarray(np.median(logs[drawn], axis=1), dtype=np.float64)


def _interval(value: float, draws: Floats, samples: int) -> Interval:
    """Percentiles of the draws (logarithms), each arm stretched as a Student interval is against a normal one."""
    if samples < 2:
        return Interval(math.exp(value), 0.0, math.inf)
    normal = float(special.ndtri(0.5 + CONFIDENCE / 2))
    stretch = widening(samples) / normal
    low, high = np.quantile(draws, [0.5 - CONFIDENCE / 2, 0.5 + CONFIDENCE / 2])
    if samples < 4:  # too few different medians for percentiles: held the truth in 90 %, this in 97 %
        low, high = value + normal * float(np.std(draws)) * np.array([-1.0, 1.0])
    ends = value - stretch * (value - low), value + stretch * (high - value)
    return Interval(math.exp(value), math.exp(ends[0]), math.exp(ends[1]))


def as_runs(observations: Iterable[Observation]) -> Runs:
    """As arrays; runs of empty tasks have no efficiency and are left out. ValueError where none is left."""
    kept = [
        each
        for each in observations
        if each.iterations > 0 and 0 < each.efficiency < math.inf and 0 < each.granularity < math.inf
    ]
    if not kept:
        raise ValueError("METG needs at least one run with iterations >= 1 and a positive efficiency")
    return Runs(
        round=np.array([each.round for each in kept], dtype=np.int64),
        iterations=np.array([each.iterations for each in kept], dtype=np.float64),
        granularity=np.array([each.granularity for each in kept], dtype=np.float64),
        slowdown=1 / np.array([each.efficiency for each in kept], dtype=np.float64),
    )
