"""Two rows as a ratio with its interval: two systems of a sitting, or a system in two sittings. Pure.

docs/how-to/compare.md says how each is compared. It holds for any quantity, METG or a task's time in a spawn pattern.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

from tefflab.analysis.crossing import Relation
from tefflab.analysis.distance import alike
from tefflab.analysis.rows import Row, Samples
from tefflab.analysis.shift import Move, Shift, machine, own_changes
from tefflab.analysis.statistics import FEWEST_ROUNDS, Interval

RatioRelation = Literal["=", "<", ">", "?"]

_TURNED: Mapping[Relation, RatioRelation] = {"=": "=", "<": ">", ">": "<"}


@dataclass(frozen=True, slots=True)
class Comparison:
    """The value of `a` / the value of `b`. Of two sittings, `own` is the ratio without the machine's effect on all
    rows, if other systems' rows tell it."""

    a: Row
    b: Row
    ratio: Interval
    relation: RatioRelation  # of the ratio to its value; '?' where both are bounds of one kind
    own: Interval | None = None

    @property
    def significant(self) -> bool | None:
        """Whether the two sides differ, of two sittings beside the other rows where that is known; None where it can't
        be known yet."""
        return _known(self.told, self.a, self.b)

    @property
    def told(self) -> Interval:
        """The ratio that says whether a program changed: the own one, where that is known."""
        return self.own or self.ratio

    @property
    def agrees(self) -> bool | None:
        """Whether the intervals of the two estimates overlap. None if an interval is so wide that it would overlap with
        any."""
        a, b = _value(self.a), _value(self.b)
        if _too_few(self.a, self.b) or not (a.is_told and b.is_told):
            return None
        return a.low <= b.high and b.low <= a.high


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

    def to_json(self) -> list[dict[str, Any]]:
        """An object for each comparison; each says what it is a part of."""
        shift = self.machine and self.machine.ratio.to_json() | {
            "row_spread": self.machine.spread,
            "rows": self.machine.rows,
        }
        return [
            {
                "kind": self.kind,
                "one_sitting": self.one_sitting,
                "against": self.against,
                "place": each.a.place,
                "quantity": each.a.quantity,
                "a": each.a.to_json() | {"source": self.a},
                "b": each.b.to_json() | {"source": self.b},
                "ratio": each.ratio.to_json() | {"relation": each.relation},
                "own_ratio": each.own and each.own.to_json(),
                "significant": each.significant,
                "agrees": each.agrees,
                "machine": shift,
                "machines": self.machines and list(self.machines),
            }
            for each in self.comparisons
        ]


def compare(a: Row, b: Row, *, one_sitting: bool) -> Comparison:
    if one_sitting:
        assert a.samples is not None
        assert b.samples is not None
        ratio = a.samples.over(b.samples)
    else:
        ratio = _between_sittings(a, b)
    return Comparison(a, b, ratio, _quotient(a, b))


def _quotient(a: Row, b: Row) -> RatioRelation:
    """The relation of the quotient of two bounds; of two bounds of one kind it is unknown."""
    bounds: set[RatioRelation] = {a.relation, _TURNED[b.relation]} - {"="}
    return "?" if len(bounds) == 2 else next(iter(bounds), "=")


def compare_systems(rows: Sequence[Row], a: str, b: str) -> list[Comparison]:
    """Two systems of one sitting, wherever it knows both."""
    one, other = ([row for row in rows if row.id == id_] for id_ in (a, b))
    return [compare(row, counterpart, one_sitting=True) for row, counterpart in _pairs(one, other)]


def compare_sittings(a: Sequence[Row], b: Sequence[Row], *, one_sitting: bool) -> list[Comparison]:
    """Every system that both sittings have, wherever both have it. If they are one sitting, its runs pair up."""
    pairs = _pairs(a, b, of_one_system=True)
    return [compare(row, other, one_sitting=one_sitting) for row, other in pairs]


def _pairs(rows: Sequence[Row], others: Sequence[Row], *, of_one_system: bool = False) -> Iterator[tuple[Row, Row]]:
    """Each row with the one that answers the same question; where cores were at several distances, at the nearest."""
    known: dict[object, list[Row]] = {}
    for each in comparable(others):
        known.setdefault((each.question, of_one_system and each.id), []).append(each)
    for row in comparable(rows):
        same = known.get((row.question, of_one_system and row.id), [])
        if same := [each for each in same if alike(each.round_trip, row.round_trip)]:
            yield row, min(same, key=lambda each: abs((each.round_trip or 0) - (row.round_trip or 0)))


def comparable(rows: Sequence[Row]) -> list[Row]:
    """Those with a value, and with what it was estimated from."""
    return [row for row in rows if row.value and row.samples]


def beside_others(found: Sequence[Comparison]) -> tuple[list[Comparison], Shift | None]:
    """Comparisons of two sittings, each judged by the rows of other systems; and the machine's effect on all rows that
    the cases are about."""
    own: dict[int, Interval | None] = {}
    moves = [_move(each) for each in found]
    for quantity in dict.fromkeys(each.a.quantity for each in found):
        places = [place for place, each in enumerate(found) if each.a.quantity == quantity]
        own |= zip(places, own_changes([moves[place] for place in places]), strict=True)
    judged = [replace(each, own=own[place] if each.relation == "=" else None) for place, each in enumerate(found)]
    return judged, machine([move for move, each in zip(moves, found, strict=True) if not each.a.is_beside])


def _move(of: Comparison) -> Move:
    """By the rounds of either side. A program whose version changed tells nothing about the machine."""
    a, b = (replace(row, facts={**row.facts, "drift": None}) for row in (of.a, of.b))
    ratio = _between_sittings(a, b)
    is_known = (a.relation, b.relation) == ("=", "=") and _known(ratio, a, b) is not None and ratio.is_bounded
    return Move(a.variant.system, ratio, is_known and a.variant.version == b.variant.version)


def relative(rows: Sequence[Row], to: str) -> list[Row]:
    """Every system but `to` in relation to it, if the sitting knows both: the machine's effect on both cancels."""
    found = []
    for row, stick in _pairs([row for row in rows if row.id != to], [row for row in rows if row.id == to]):
        relation = _quotient(row, stick)
        if relation == "?" or row.samples is None or stick.samples is None:
            continue
        value = replace(row.samples.over(stick.samples), relation=relation)
        ratio = replace(row, value=value, unit="1", facts={**row.facts, "drift": None}, samples=None)
        fewer = min(row.samples.rounds, stick.samples.rounds)
        found.append(replace(ratio, samples=_Quotient(ratio, fewer)))
    return found


@dataclass(frozen=True, slots=True)
class _Quotient(Samples):
    """Of two systems of a sitting, by what is known of each round."""

    row: Row
    behind: int  # rounds, of whichever had fewer

    @property
    def rounds(self) -> int:
        return self.behind

    def over(self, other: Self) -> Interval:
        return _between_sittings(self.row, other.row)


def _too_few(a: Row, b: Row) -> bool:
    return min(a.number_of_rounds, b.number_of_rounds) < FEWEST_ROUNDS


def _known(ratio: Interval, a: Row, b: Row) -> bool | None:
    """Whether a ratio is significant; None where too few rounds are behind it, or its interval says nothing."""
    return None if _too_few(a, b) or not ratio.is_told else ratio.significant


def _value(row: Row) -> Interval:
    assert row.value is not None
    return row.value


def _between_sittings(a: Row, b: Row) -> Interval:
    """Of independent values: their arms, as logarithms, add as the roots of squares do, and each sitting's drift."""
    drift = math.hypot(*(math.log1p(known) for row in (a, b) if (known := row.facts.get("drift"))))
    above, below = _value(a), _value(b)
    value = above.value / below.value
    shorter = math.hypot(_arm(above.value, above.low), _arm(below.high, below.value), drift)
    longer = math.hypot(_arm(above.high, above.value), _arm(below.value, below.low), drift)
    return Interval(value, value * math.exp(-shorter), value * math.exp(min(longer, 700)) if longer < 700 else math.inf)


def _arm(upper: float, lower: float) -> float:
    return math.log(upper / lower) if lower > 0 and upper < math.inf else math.inf
