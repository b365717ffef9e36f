"""Whether one of two sides is slower than the other, from rounds that were made in pairs. Pure.

The ratios of all rounds are put together as Hodges and Lehmann do, with the interval of Wilcoxon's signed-rank test
(docs/how-to/watch.md). It only assumes that noise strikes both sides alike.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import special

from tefflab.analysis.comparison import compare_systems
from tefflab.analysis.crossing import CONFIDENCE
from tefflab.analysis.rows import Row
from tefflab.analysis.statistics import Interval

Verdict = Literal["slower", "not slower", "unknown"]

FEWEST_PAIRS = 10  # without which nothing is said
_EXACT = 60  # pairs up to which the signed ranks are counted; beyond, their sum is as good as normal


@dataclass(frozen=True, slots=True)
class Pair:
    """Two systems at one place: the ratio of the first to the second, and the number of its rounds. `threshold`: the
    slowdown that counts, 0.05 for one of 5 %."""

    a: Row
    b: Row
    ratio: Interval
    pairs: int
    threshold: float

    @property
    def verdict(self) -> Verdict:
        return "unknown" if self.pairs < FEWEST_PAIRS else judged(self.ratio, self.threshold)

    @property
    def is_clear(self) -> bool:
        """Whether more rounds are in vain: all of the interval lies on one side of the threshold."""
        return self.pairs >= FEWEST_PAIRS and not self.ratio.low <= 1 + self.threshold <= self.ratio.high

    @property
    def rounds_wanted(self) -> int | None:
        """About the number of rounds after which to expect a verdict if there is none, since the interval narrows as
        the root of their number. None if one side is a bound."""
        if (self.a.relation, self.b.relation) != ("=", "="):
            return None
        if self.pairs < FEWEST_PAIRS:
            return FEWEST_PAIRS
        value, low, high = (math.log(each) for each in (self.ratio.value, self.ratio.low, self.ratio.high))
        counts, excluded = math.log1p(self.threshold), math.log1p(2 * self.threshold)
        too_wide = [(high - value) / (excluded - value)] if value < excluded else []
        too_wide += [(value - low) / value] if value > counts else []
        return max(self.pairs + 1, math.ceil(self.pairs * min(too_wide) ** 2))

    def to_json(self) -> dict[str, Any]:
        return {
            "place": self.a.place,
            "a": self.a.to_json(),
            "b": self.b.to_json(),
            "ratio": self.ratio.to_json() if self.pairs else None,
            "rounds": self.pairs,
            "threshold": self.threshold,
            "verdict": self.verdict,
        }


def judged(ratio: Interval, threshold: float) -> Verdict:
    """*Slower*: the interval excludes 1, and the ratio is beyond the threshold. *Not slower*: not so, and the interval
    excludes a slowdown twice the threshold. Else the verdict is unknown."""
    if ratio.low > 1 and ratio.value > 1 + threshold:
        return "slower"
    return "not slower" if ratio.high < 1 + 2 * threshold else "unknown"


def pairs_of(rows: Sequence[Row], a: str, b: str, threshold: float) -> list[Pair]:
    """Two systems of a sitting, wherever it knows both. If the host moved the cores, each place is compared at the
    distance at which most rounds were made."""
    most: dict[object, Pair] = {}
    for each in compare_systems([row for row in rows if not row.is_beside], a, b):
        assert each.a.samples is not None
        assert each.b.samples is not None
        ratios = each.a.samples.ratios_to(each.b.samples)
        pair = Pair(each.a, each.b, paired_ratio(ratios), len(ratios), threshold)
        known = most.get(each.a.question)
        if known is None or known.pairs < pair.pairs:
            most[each.a.question] = pair
    return list(most.values())


def verdict(of: Iterable[Verdict]) -> Verdict:
    """Of all places together: slower if one is; not slower if every one is not."""
    found = set(of)
    if "slower" in found:
        return "slower"
    return "not slower" if found == {"not slower"} else "unknown"


def are_clear(pairs: Sequence[Pair]) -> bool:
    return bool(pairs) and all(each.is_clear for each in pairs)


def paired_ratio(ratios: Sequence[float]) -> Interval:
    """The ratio that is behind the ratios of so many pairs. Open at both ends if they are too few: under six."""
    if not ratios:
        return Interval(1.0, 0.0, math.inf)
    logs = np.log(np.asarray(ratios, dtype=np.float64))
    first, second = np.triu_indices(len(logs))
    means = np.sort((logs[first] + logs[second]) / 2)
    value = math.exp(float(np.median(means)))
    cut = _ranks_cut(len(logs), (1 - CONFIDENCE) / 2)
    if cut < 1:
        return Interval(value, 0.0, math.inf)
    return Interval(value, math.exp(float(means[cut - 1])), math.exp(float(means[-cut])))


def _ranks_cut(pairs: int, tail: float) -> int:
    """How many of the means are cut off at either end. It is the most for which the sum of signed ranks, of values that
    lie evenly about 0, is smaller with at most this probability."""
    if pairs > _EXACT:
        middle = pairs * (pairs + 1) / 4
        spread = math.sqrt(pairs * (pairs + 1) * (2 * pairs + 1) / 24)
        return math.floor(middle + float(special.ndtri(tail)) * spread)
    chances = np.zeros(pairs * (pairs + 1) // 2 + 1)
    chances[0] = 1.0
    for rank in range(1, pairs + 1):
        shifted = np.concatenate([np.zeros(rank), chances[:-rank]])
        chances = (chances + shifted) / 2
    return int(np.searchsorted(np.cumsum(chances), tail, side="right"))
