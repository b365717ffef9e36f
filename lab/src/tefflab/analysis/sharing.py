"""A core that is shared: the ideal time beside a competitor, and the share from which leaving its core is better.

Shares are of each loaded core, 0 to 1. Pure: arrays in, values out.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tefflab.analysis.statistics import Interval

Point = tuple[float, Interval]  # share, and a time or a slowdown


def ideal_slowdown(cores: int, loaded: int, share: float) -> float:
    """n / (n - c): the time on `cores` cores, of which `share` of `loaded` ones is lost, divided by the time on all."""
    left = cores - loaded * share
    return cores / left if left > 0 else math.inf


def exactly(value: float) -> Interval:
    return Interval(value, value, value)


def scaled(interval: Interval, factor: float) -> Interval:
    return Interval(interval.value * factor, interval.low * factor, interval.high * factor)


@dataclass(frozen=True, slots=True)
class BreakEven:
    """The share from which a program is slower with the loaded cores than without them; None: beyond all that were
    measured. `low` and `high` are where the ends of the intervals cross."""

    value: float | None
    low: float | None
    high: float | None


def break_even(points: Sequence[Point], left: Interval) -> BreakEven:
    """From the times at rising shares, and the time on the cores that are `left` without the loaded ones."""
    return BreakEven(
        value=_crossing(points, lambda each: each.value, left.value),
        low=_crossing(points, lambda each: each.high, left.low),
        high=_crossing(points, lambda each: each.low, left.high),
    )


def _crossing(points: Sequence[Point], end: Callable[[Interval], float], level: float) -> float | None:
    """The first share at which a line through the logarithms of one end of the intervals is above `level`."""
    known = [(share, end(each)) for share, each in points]
    if known and known[0][1] > level:
        return known[0][0]
    for (share, below), (after, above) in pairwise(known):
        if below <= level < above:
            if below <= 0 or not math.isfinite(above):
                return share
            return share + (after - share) * math.log(level / below) / math.log(above / below)
    return None
