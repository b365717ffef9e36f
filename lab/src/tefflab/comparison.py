"""Two sides' METG and overheads as ratios with intervals: two systems of a sitting, or a system in two sittings. Pure.

Sides of one sitting are compared round by round, so what the machine did to both cancels. Between sittings nothing
cancels: the intervals are combined, and widened by what is known of each sitting's own drift.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from tefflab.crossing import Relation
from tefflab.distance import alike, at_distance
from tefflab.judge import observations
from tefflab.readings import placed_name
from tefflab.results import Judgement, MetgRow
from tefflab.statistics import Interval, MetgEstimate, Observation, metg_ratio, ratio_interval
from tefflab.store import Envelope

RatioRelation = Literal["=", "<", ">", "?"]

# What the quotient of two bounds is; of two of a kind nothing is known.
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


@dataclass(frozen=True, slots=True)
class Side:
    """One system under one configuration in one sitting."""

    row: MetgRow
    seen: Sequence[Observation]

    @classmethod
    def of(cls, row: MetgRow, judgement: Judgement, runs: Iterable[Envelope]) -> "Side":
        own = [
            run
            for run in runs
            if (run.role, run.system_id, run.configuration) == ("system", row.contender.id, judgement.configuration)
        ]
        return cls(row, observations(at_distance(own, judgement.round_trip)))


@dataclass(frozen=True, slots=True)
class Comparison:
    """METG of `a` / METG of `b`, and the same of the overheads where both were measured."""

    configuration: str  # its name
    a: MetgRow
    b: MetgRow
    ratio: Interval
    relation: RatioRelation  # of the ratio to its value; '?' where both are bounds of one kind
    overhead: Interval | None

    @property
    def agrees(self) -> bool:
        """Whether the intervals of the two estimates overlap: what two sittings of one system should do."""
        assert self.a.metg is not None
        assert self.b.metg is not None
        return self.a.metg.low <= self.b.metg.high and self.b.metg.low <= self.a.metg.high

    def to_json(self) -> dict[str, Any]:
        return {
            "configuration": self.configuration,
            "a": self.a.to_json(),
            "b": self.b.to_json(),
            "ratio": _plain(self.ratio) | {"relation": self.relation},
            "significant": self.ratio.significant,
            "overhead_ratio": None
            if self.overhead is None
            else _plain(self.overhead) | {"significant": self.overhead.significant},
            "agrees": self.agrees,
        }


def compare(configuration: str, a: Side, b: Side, *, one_sitting: bool) -> Comparison | None:
    """None where a side has no METG."""
    if a.row.metg is None or b.row.metg is None:
        return None
    drift = _drift(a.row.metg, b.row.metg)
    if one_sitting:
        ratio = metg_ratio(a.seen, b.seen, a.row.threshold)
    else:
        ratio = _quotient(_ends(a.row.metg), _ends(b.row.metg), drift)
    overhead = None
    if a.row.overhead and b.row.overhead:
        overhead = (
            ratio_interval(_empty(a.seen), _empty(b.seen))
            if one_sitting
            else _quotient(a.row.overhead, b.row.overhead, drift)
        )
    relation = _QUOTIENT[a.row.metg.relation, b.row.metg.relation]
    return Comparison(configuration, a.row, b.row, ratio, relation, overhead)


def compare_systems(judgements: Sequence[Judgement], runs: Sequence[Envelope], a: str, b: str) -> list[Comparison]:
    """Two systems of one sitting, in every configuration and at every distance of the cores with METG of both."""
    found = []
    for judgement in everywhere(judgements):
        rows = {row.contender.id: row for row in judgement.rows}
        if a in rows and b in rows:
            sides = (Side.of(rows[each], judgement, runs) for each in (a, b))
            found.append(compare(placed_name(judgement), *sides, one_sitting=True))
    return [each for each in found if each is not None]


def compare_sittings(
    a: Sequence[Judgement], runs_of_a: Sequence[Envelope], b: Sequence[Judgement], runs_of_b: Sequence[Envelope]
) -> list[Comparison]:
    """Every system that both sittings have, in every configuration, at every threshold and at every distance of the
    cores that both have.

    A sitting may be compared with itself; then its runs pair up.
    """
    one_sitting = {run.sitting for run in runs_of_a} == {run.sitting for run in runs_of_b}
    found = []
    for judgement in everywhere(a):
        other = next((each for each in everywhere(b) if _same_question(judgement, each)), None)
        rows = {row.contender.id: row for row in other.rows} if other else {}
        for row in judgement.rows:
            if other and row.contender.id in rows:
                left = Side.of(row, judgement, runs_of_a)
                right = Side.of(rows[row.contender.id], other, runs_of_b)
                found.append(compare(placed_name(judgement), left, right, one_sitting=one_sitting))
    return [each for each in found if each is not None]


def everywhere(judgements: Iterable[Judgement]) -> list[Judgement]:
    """Each judgement and its others at further distances of the cores."""
    return [placed for judgement in judgements for placed in (judgement, *judgement.others)]


def _same_question(a: Judgement, b: Judgement) -> bool:
    return (a.configuration, a.threshold) == (b.configuration, b.threshold) and alike(a.round_trip, b.round_trip)


def _quotient(a: Interval, b: Interval, drift: float) -> Interval:
    """Of independent values: their arms, as logarithms, add as the roots of squares do."""
    value = a.value / b.value
    shorter = math.hypot(_arm(a.value, a.low), _arm(b.high, b.value), drift)
    longer = math.hypot(_arm(a.high, a.value), _arm(b.value, b.low), drift)
    return Interval(value, value * math.exp(-shorter), value * math.exp(min(longer, 700)) if longer < 700 else math.inf)


def _arm(upper: float, lower: float) -> float:
    return math.log(upper / lower) if lower > 0 and upper < math.inf else math.inf


def _ends(metg: MetgEstimate) -> Interval:
    return Interval(metg.value, metg.low, metg.high)


def _drift(a: MetgEstimate, b: MetgEstimate) -> float:
    """How far the two sittings' speeds are uncertain against each other, as a logarithm."""
    return math.hypot(*(math.log1p(each.drift) for each in (a, b) if each.drift))


def _empty(seen: Iterable[Observation]) -> dict[int, list[float]]:
    rounds: dict[int, list[float]] = {}
    for each in seen:
        if each.iterations == 0:
            rounds.setdefault(each.round, []).append(each.granularity)
    return rounds


def _plain(interval: Interval) -> dict[str, float | None]:
    return {name: value if math.isfinite(value) else None for name, value in asdict(interval).items()}
