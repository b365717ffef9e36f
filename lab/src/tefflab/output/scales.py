"""Log axes: how far they reach and where their ticks stand. Pictures and reports share them."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

# From dense to sparse: the mantissas labelled in each decade, and every how many decades.
_LADDER: tuple[tuple[tuple[float, ...], int], ...] = (
    ((1, 1.5, 2, 3, 5, 7), 1),
    ((1, 2, 5), 1),
    ((1, 3), 1),
    ((1,), 1),
    ((1,), 2),
    ((1,), 3),
    ((1,), 4),
    ((1,), 6),
    ((1,), 9),
    ((1,), 12),
)
_MANY = 3e4  # beyond it, nine hairs a decade would be a hatching
_LEAST_SPAN = 4.0  # a shorter axis would blow noise up to the size of the picture


@dataclass(frozen=True, slots=True)
class LogAxis:
    """From `low` to `high`, both positive; `majors` carry a label, `minors` a hair."""

    low: float
    high: float
    majors: tuple[float, ...]
    minors: tuple[float, ...]

    def place(self, value: float) -> float:
        """Where `value` lies between the ends, 0 to 1; beyond them, or infinite, at the nearer end."""
        if value <= self.low:
            return 0.0
        if value >= self.high:
            return 1.0
        return math.log(value / self.low) / math.log(self.high / self.low)


def log_axis(values: Iterable[float], most: int = 7, padding: float = 0.05) -> LogAxis:
    """The axis that holds all positive, finite `values` with a margin of `padding` of its length at each end.

    It has at most `most` (3 or more) labels and at least two. Without any value it reaches over one decade, from 1.
    """
    kept = [value for value in values if 0 < value < math.inf] or [1.0, 10.0]
    low, high = math.log10(min(kept)), math.log10(max(kept))
    missing = max(math.log10(_LEAST_SPAN) - (high - low), 0.0)
    margin = padding * max(high - low, math.log10(_LEAST_SPAN)) + missing / 2
    return _with_ticks(10 ** (low - margin), 10 ** (high + margin), most)


def _with_ticks(low: float, high: float, most: int) -> LogAxis:
    """The axis from `low` to `high` with its ticks: the densest choice of at most `most` labels."""
    for mantissas, step in _LADDER:
        majors = _ticks(low, high, mantissas, step)
        if len(majors) <= most:
            break
    fine = (1.0,) if step > 1 else (1.0, 2.0, 5.0) if high / low > _MANY else tuple(map(float, range(1, 10)))
    minors = tuple(each for each in _ticks(low, high, fine, 1) if each not in majors)
    return LogAxis(low, high, majors, minors)


def _ticks(low: float, high: float, mantissas: Iterable[float], step: int) -> tuple[float, ...]:
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    at = (float(f"{each}e{decade}") for decade in decades if decade % step == 0 for each in mantissas)
    return tuple(each for each in at if low <= each <= high)
