"""Two sides of a measurement as ratios with intervals: two systems of a sitting, or a system in two sittings. Pure.

Sides of one sitting are compared round by round, so the machine's effect on both cancels. Between sittings nothing
cancels: the intervals are combined, and widened by each sitting's known drift. If enough other systems were measured in
both, their rows tell the machine's effect (`shift`). This holds for any quantity, METG or a task's time in a spawn
pattern: a kind of benchmark gives the quantities of a sitting.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, Self

import numpy as np

from tefflab.analysis.crossing import Relation
from tefflab.analysis.distance import alike
from tefflab.analysis.shift import Move, Shift, machine, own_changes
from tefflab.analysis.statistics import FEWEST_ROUNDS, Interval, ratio_interval
from tefflab.json_lines import finite
from tefflab.records.plan import Variant

RatioRelation = Literal["=", "<", ">", "?"]

# The relation of the quotient of two bounds; of two bounds of one kind it is unknown.
_QUOTIENT: Mapping[tuple[Relation, Relation], RatioRelation] = {
    ("=", "="): "=",
    ("=", "<"): ">",
    ("=", ">"): "<",
    ("<", "="): "<",
    ("<", ">"): "<",
    (">", "="): ">",
    (">", "<"): ">",
    ("<", "<"): "?",
    (">", ">"): "?",
}


class Row(Protocol):
    """A line of the table that the sitting printed."""

    @property
    def variant(self) -> Variant: ...

    @property
    def noisy_share(self) -> float: ...

    def to_json(self) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Quantity(ABC):
    """One quantity of a system in a sitting, of which less is better. `drift` is the uncertainty of the sitting's speed
    if `interval` does not contain it (`MetgEstimate`)."""

    name: str
    interval: Interval
    relation: Relation
    drift: float | None

    @abstractmethod
    def number_of_rounds(self) -> int:
        """How many it is known from."""

    @abstractmethod
    def over(self, other: Self) -> Interval:
        """Its ratio to another system's quantity in the same sitting, round by round."""

    def ratios_to(self, other: Self) -> Sequence[float]:
        """Its ratio to the other in each round that both have; none if it is not known by rounds."""
        del other
        return []


@dataclass(frozen=True, slots=True)
class ByRound(Quantity):
    """A quantity that is measured directly, and its measurements, by round."""

    rounds: Mapping[int, Sequence[float]]

    def number_of_rounds(self) -> int:
        return len(self.rounds)

    def over(self, other: Self) -> Interval:
        return ratio_interval(self.rounds, other.rounds)

    def ratios_to(self, other: Self) -> Sequence[float]:
        common = sorted(self.rounds.keys() & other.rounds.keys())
        return [float(np.median(self.rounds[each]) / np.median(other.rounds[each])) for each in common]


@dataclass(frozen=True, slots=True)
class Relative(Quantity):
    """A quantity divided by another system's quantity in the same sitting."""

    behind: int  # rounds, of whichever had fewer

    def number_of_rounds(self) -> int:
        return self.behind

    def over(self, other: Self) -> Interval:
        return _between_sittings(self, other)


@dataclass(frozen=True, slots=True)
class Side:
    """One system at one place in one sitting."""

    place: str  # a case, with its workers where there are several numbers, as people read it
    question: tuple[Hashable, ...]  # the place as a key: sides may be compared if their keys are equal
    round_trip: float | None  # the distance of the cores [s]: it must be alike, too
    row: Row
    quantity: Quantity
    overhead: Quantity | None = None  # the other that is compared beside it
    case: str = ""  # the place without what differs from sitting to sitting, if anything does

    @property
    def system(self) -> str:
        return self.row.variant.id


@dataclass(frozen=True, slots=True)
class Comparison:
    """The quantity of `a` / the quantity of `b`, and the ratio of the overheads if both were measured. Of two sittings,
    `own` is the ratio without the machine's effect on all rows, if other systems' rows tell it."""

    a: Side
    b: Side
    ratio: Interval
    relation: RatioRelation  # of the ratio to its value; '?' where both are bounds of one kind
    overhead: Interval | None
    own: Interval | None = None
    own_overhead: Interval | None = None

    @property
    def place(self) -> str:
        return self.a.place

    @property
    def significant(self) -> bool | None:
        """Whether the two sides differ, of two sittings beside the other rows where that is known; None where it can't
        be known yet."""
        return _known(self.own or self.ratio, self.a.quantity, self.b.quantity)

    @property
    def overhead_significant(self) -> bool | None:
        """Whether the overheads differ, by the same rules."""
        if self.overhead is None or self.a.overhead is None or self.b.overhead is None:
            return None
        return _known(self.own_overhead or self.overhead, self.a.overhead, self.b.overhead)

    @property
    def agrees(self) -> bool | None:
        """Whether the intervals of the two estimates overlap, as of two sittings of one system they should. None if an
        interval is so wide that it would overlap with any."""
        a, b = self.a.quantity.interval, self.b.quantity.interval
        if _too_few(self.a.quantity, self.b.quantity) or not (a.is_told and b.is_told):
            return None
        return a.low <= b.high and b.low <= a.high

    def to_json(self) -> dict[str, Any]:
        return {
            "configuration": self.place,
            "a": self.a.row.to_json(),
            "b": self.b.row.to_json(),
            "ratio": finite(self.ratio) | {"relation": self.relation},
            "own_ratio": finite(self.own),
            "significant": self.significant,
            "overhead_ratio": None
            if self.overhead is None
            else finite(self.overhead) | {"significant": self.overhead_significant},
            "own_overhead_ratio": finite(self.own_overhead),
            "agrees": self.agrees,
        }


@dataclass(frozen=True, slots=True)
class Answer:
    """The comparisons, and their kind. `is_repeat`: the same systems, measured twice; with `against` each in relation
    to that system. `machine`: its effect on all rows of two sittings, if they tell it."""

    kind: str  # the command that measures it
    row_word: str  # what a line is about, besides a system
    a: str
    b: str
    comparisons: tuple[Comparison, ...]
    is_repeat: bool
    one_sitting: bool
    against: str | None = None
    machine: Shift | None = None
    machines: tuple[str, str] | None = None  # of A and B, if these were measured on two

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "a": self.a,
            "b": self.b,
            "one_sitting": self.one_sitting,
            "against": self.against,
            "machine": None
            if self.machine is None
            else finite(self.machine.ratio) | {"row_spread": self.machine.spread, "rows": self.machine.rows},
            "machines": self.machines and list(self.machines),
            "comparisons": [each.to_json() for each in self.comparisons],
            "agreeing": sum(each.agrees is True for each in self.comparisons),
            "compared": len(self.comparisons),
        }


def compare(a: Side, b: Side, *, one_sitting: bool) -> Comparison:
    ratio = _between_rounds if one_sitting else _between_sittings
    return Comparison(
        a,
        b,
        ratio(a.quantity, b.quantity),
        _QUOTIENT[a.quantity.relation, b.quantity.relation],
        ratio(a.overhead, b.overhead) if a.overhead and b.overhead else None,
    )


def compare_systems(sides: Sequence[Side], a: str, b: str) -> list[Comparison]:
    """Two systems of one sitting, wherever it knows both."""
    others = [side for side in sides if side.system == b]
    return [
        compare(side, other, one_sitting=True)
        for side in sides
        if side.system == a and (other := _counterpart(side, others))
    ]


def compare_sittings(a: Sequence[Side], b: Sequence[Side], *, one_sitting: bool) -> list[Comparison]:
    """Every system that both sittings have, wherever both have it. A sitting may be compared with itself; then its
    runs pair up."""
    return [
        compare(side, other, one_sitting=one_sitting)
        for side in a
        if (other := _counterpart(side, [each for each in b if each.system == side.system]))
    ]


def beside_others(found: Sequence[Comparison]) -> tuple[list[Comparison], Shift | None]:
    """Comparisons of two sittings, each judged by the rows of other systems; and the machine's effect on all rows."""
    moves = [_move(each, each.a.quantity, each.b.quantity) for each in found]
    overheads = [
        _move(each, each.a.overhead, each.b.overhead) if each.a.overhead and each.b.overhead else None for each in found
    ]
    known = iter(own_changes([each for each in overheads if each]))
    judged = [
        replace(each, own=own if each.relation == "=" else None, own_overhead=next(known) if overhead else None)
        for each, own, overhead in zip(found, own_changes(moves), overheads, strict=True)
    ]
    return judged, machine(moves)


def _move(of: Comparison, a: Quantity, b: Quantity) -> Move:
    """By the rounds of either side: the other rows tell the drift of the sittings' speeds. A program whose version
    changed tells nothing about the machine."""
    ratio = _between_sittings(replace(a, drift=None), replace(b, drift=None))
    is_known = (a.relation, b.relation) == ("=", "=") and _known(ratio, a, b) is not None and ratio.is_bounded
    same = of.a.row.variant.version == of.b.row.variant.version
    return Move(of.a.row.variant.system, ratio, is_known and same)


def relative(sides: Sequence[Side], to: str) -> list[Side]:
    """Every system but `to` in relation to it, if the sitting knows both: the machine's effect on both cancels."""
    yardsticks = [side for side in sides if side.system == to]
    found = []
    for side in sides:
        if side.system != to and (stick := _counterpart(side, yardsticks)):
            quantity, overhead = _relative(side.quantity, stick.quantity), _relative(side.overhead, stick.overhead)
            found += [replace(side, quantity=quantity, overhead=overhead)] if quantity else []
    return found


def _relative(quantity: Quantity | None, stick: Quantity | None) -> Relative | None:
    """None if a quantity is missing, or if the ratio of the two is unknown."""
    if quantity is None or stick is None:
        return None
    relation = _QUOTIENT[quantity.relation, stick.relation]
    behind = min(quantity.number_of_rounds(), stick.number_of_rounds())
    return None if relation == "?" else Relative(quantity.name, quantity.over(stick), relation, None, behind)


def _too_few(a: Quantity, b: Quantity) -> bool:
    return min(a.number_of_rounds(), b.number_of_rounds()) < FEWEST_ROUNDS


def _known(ratio: Interval, a: Quantity, b: Quantity) -> bool | None:
    """Whether a ratio is significant; None where too few rounds are behind it, or its interval says nothing."""
    return None if _too_few(a, b) or not ratio.is_told else ratio.significant


def _counterpart(side: Side, others: Sequence[Side]) -> Side | None:
    """The side that answers the same question; where cores were at several distances, at the nearest to its own."""
    same = [each for each in others if each.question == side.question and alike(each.round_trip, side.round_trip)]
    return min(same, key=lambda each: abs((each.round_trip or 0) - (side.round_trip or 0)), default=None)


def _between_rounds(a: Quantity, b: Quantity) -> Interval:
    return a.over(b)


def _between_sittings(a: Quantity, b: Quantity) -> Interval:
    """Of independent values: their arms, as logarithms, add as the roots of squares do, and each sitting's drift."""
    drift = math.hypot(*(math.log1p(each.drift) for each in (a, b) if each.drift))
    above, below = a.interval, b.interval
    value = above.value / below.value
    shorter = math.hypot(_arm(above.value, above.low), _arm(below.high, below.value), drift)
    longer = math.hypot(_arm(above.high, above.value), _arm(below.value, below.low), drift)
    return Interval(value, value * math.exp(-shorter), value * math.exp(min(longer, 700)) if longer < 700 else math.inf)


def _arm(upper: float, lower: float) -> float:
    return math.log(upper / lower) if lower > 0 and upper < math.inf else math.inf
