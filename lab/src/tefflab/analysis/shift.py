"""The common part of two sittings: how far the machine itself moved all rows, and which rows moved beside it. Pure.

The moves y = log(A / B) of the rows are a random-effects meta-analysis:

    y = shift + u + e,    u ~ N(0, spread^2) from row to row,    e ~ N(0, s^2), s from the row's own two intervals.

`spread` is Paule and Mandel's (Consensus values and weighting factors, J. Res. NBS 87, 1982), `shift` the mean with
weights 1 / (s^2 + spread^2). Its error is clustered by system, since the ways of one system move together. A row is
judged by the rows of all *other* systems: if it did not change, it lies within

    shift +- t(k - 2) * sqrt(s^2 + spread^2 + error^2)    of k other systems, at 95 %,

the prediction interval of Higgins, Thompson and Spiegelhalter (A re-evaluation of random-effects meta-analysis, JRSS A
172, 2009).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

from tefflab.analysis.statistics import Interval

FEWEST_OTHERS = 4  # systems that can tell the machine's effect: with two degrees of freedom, t is 4.3; with one, 12.7
_LEAST_ERROR = 1e-6  # of a row: none is known exactly
_LONGEST = 700.0  # the longest arm, in log, whose exponential is a number
_CHANCE = 0.05  # that any unchanged row is taken for changed
_NORMAL = float(special.ndtri(0.975))  # by which an interval's arm is divided for a standard error

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Move:
    """How far one row moved from one sitting to the other."""

    system: str
    ratio: Interval  # of the row in A to the row in B, by their rounds
    is_witness: bool  # whether it can tell the machine's effect: it is known, and its program's version did not change

    @property
    def size(self) -> float:
        return math.log(self.ratio.value)

    @property
    def error(self) -> float:
        """The standard error of its size; of a witness, whose ends are known."""
        return max(math.log(self.ratio.high / self.ratio.low) / 2 / _NORMAL, _LEAST_ERROR)


@dataclass(frozen=True, slots=True)
class Shift:
    """The machine's effect on all rows: A / B with its 95 % interval, and the spread of rows beside it."""

    ratio: Interval
    spread: float  # the standard deviation of the logarithm
    rows: int


def own_changes(moves: Sequence[Move], confidence: float = 0.95) -> list[Interval | None]:
    """Each row's move without the machine's, and around it the interval that holds 1 with this confidence if its
    program did not change. None if too few other systems were seen, or if the move is unknown."""
    return [_own(move, moves, confidence) for move in moves]


def machine(moves: Sequence[Move]) -> Shift | None:
    """By the rows that did not surely change, which moved no farther than any of so many rows would by chance. None if
    too few systems remain."""
    surely = own_changes(moves, 1 - _CHANCE / max(len(moves), 1))
    calm = [
        move
        for move, own in zip(moves, surely, strict=True)
        if move.is_witness and (own is None or not own.significant)
    ]
    systems = len({move.system for move in calm})
    if systems < FEWEST_OTHERS:
        return None
    shift, error, spread = _pooled(calm)
    arm = float(special.stdtrit(systems - 1, 0.975)) * error
    around = Interval(math.exp(shift), math.exp(shift - arm), math.exp(shift + arm))
    return Shift(around, spread, len(calm))


def _own(move: Move, moves: Sequence[Move], confidence: float) -> Interval | None:
    """An end that is open stays open."""
    others = [each for each in moves if each.is_witness and each.system != move.system]
    systems = len({each.system for each in others})
    if systems < FEWEST_OTHERS or not move.ratio.is_told:
        return None
    shift, error, spread = _pooled(others)
    student = float(special.stdtrit(systems - 2, 0.5 + confidence / 2))
    ends = (move.ratio.low or math.nan, move.ratio.value), (move.ratio.value, move.ratio.high)
    below, above = (math.log(upper / lower) / _NORMAL for lower, upper in ends)
    low, high = (student * math.hypot(arm, spread, error) for arm in (below, above))
    value = math.exp(move.size - shift)
    return Interval(
        value,
        value * math.exp(-low) if low < _LONGEST else 0.0,
        value * math.exp(high) if high < _LONGEST else math.inf,
    )


def _pooled(moves: Sequence[Move]) -> tuple[float, float, float]:
    """Shift, its standard error, and the spread of rows beside it."""
    size, variance = np.array([each.size for each in moves]), np.array([each.error**2 for each in moves])
    spread = _paule_mandel(size, variance)
    weight = 1 / (variance + spread)
    total = float(weight.sum())
    shift = float(weight @ size) / total
    pulls: dict[str, float] = {}
    for move, pull in zip(moves, (weight * (size - shift)).tolist(), strict=True):
        pulls[move.system] = pulls.get(move.system, 0.0) + pull / total
    clustered = sum(pull**2 for pull in pulls.values()) * len(pulls) / (len(pulls) - 1)
    return shift, math.sqrt(max(clustered, 1 / total)), math.sqrt(spread)


def _paule_mandel(size: Floats, variance: Floats) -> float:
    """The variance between rows with which their squared distances from the mean have the expected sum."""

    def excess(between: float) -> float:
        weight = 1 / (variance + between)
        distance = size - (weight @ size) / weight.sum()
        return float(weight @ (distance * distance)) - (len(size) - 1)

    if excess(0.0) <= 0:
        return 0.0
    return float(optimize.brentq(excess, 0.0, float(np.sum((size - size.mean()) ** 2)) + 1e-9))
