"""Which variant a sitting launches next: the time that is left goes where it buys most. Pure: values in, a choice out.

A row of the table is worth ±10 % if its rank is decided, and ±5 % if it is among the first five or if a neighbour may
change places with it. How many more rounds that takes is predicted from the interval so far. Every variant moves
forward by the same share of what it needs, so that its rounds are spread over the whole sitting and drift hits all
alike; of those that are equally far, who takes seconds to start comes last; no variant is launched twice in a row while
another waits. Where the time does not suffice for all, ±10 % comes
before ±5 %, and the cheaper before the dearer.
"""

import itertools
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tefflab.analysis.crossing import widening
from tefflab.analysis.statistics import LEAST_ROUNDS, NEVER, rounds_to_tell
from tefflab.measure.time_budget import ENOUGH

WIDE, NARROW = 0.10, 0.05  # half-widths: of a row whose rank is decided, and of one that is looked at closely
FIRST = 5  # rows of a table that are always looked at closely
_MOST_ROUNDS = 1000  # that are foretold,
_FORESIGHT = 4  # and so many for each that was measured: the spread of few rounds may be twice what it is of many


@dataclass(frozen=True, slots=True)
class Estimate:
    """What is known of one value of a variant. Without any rounds, value and ends mean nothing."""

    value: float
    low: float
    high: float
    half_width: float  # relative; of an open interval as far as it is foreseen, else infinite
    rounds: int


@dataclass(frozen=True, slots=True)
class Standing:
    """A variant that may be launched: what it has had and what it lacks, in rounds and seconds."""

    id: str
    rounds: int
    seconds_a_launch: float
    to_wide: int  # rounds until every row of it is within WIDE,
    to_wanted: int  # and until each is within what is wanted of it; never fewer
    starts_slowly: bool = False


def wanted_half_widths(estimates: Mapping[str, Estimate | None]) -> dict[str, float]:
    """What is asked of each row of one table: NARROW of the first and of those that a neighbour may overtake.

    A neighbour is taken for as well known as WIDE: where only its own rounds are missing, this row's are no help.
    """
    known = {name: each for name, each in estimates.items() if each is not None}
    order = sorted(known, key=lambda name: known[name].value)
    wanted = dict.fromkeys(estimates, WIDE) | dict.fromkeys(order[:FIRST], NARROW)
    for name, after in itertools.pairwise(order):
        if _narrowed(known[name])[1] >= _narrowed(known[after])[0]:
            wanted[name] = wanted[after] = NARROW
    return wanted


def _narrowed(estimate: Estimate) -> tuple[float, float]:
    return max(estimate.low, estimate.value * (1 - WIDE)), min(estimate.high, estimate.value * (1 + WIDE))


def rounds_missing(estimate: Estimate | None, wanted: float, rounds: int) -> int:
    """How many more rounds will make the half-width what is wanted, as Student's t shrinks it with each; of one of
    whom nothing is known, LEAST_ROUNDS with the `rounds` it has had, and then one by one; of one whose half-width is
    not known after these, as many again as it has had: another round or two will not tell. A row that rounds will
    never make known lacks more than any sitting has; no other lacks more than few rounds can foretell."""
    if estimate is None or estimate.rounds < 2:
        return max(LEAST_ROUNDS - (estimate.rounds if estimate else rounds), 1)
    rounds = estimate.rounds
    if not math.isfinite(estimate.half_width):
        return rounds_to_tell(rounds)
    spread = estimate.half_width / _arm(rounds)
    while rounds < LEAST_ROUNDS or (spread * _arm(rounds) > wanted and rounds < _MOST_ROUNDS):
        rounds += 1
    missing = rounds - estimate.rounds
    return missing if estimate.half_width >= NEVER else min(missing, _FORESIGHT * estimate.rounds)


def _arm(rounds: int) -> float:
    return widening(rounds, 0.95) / math.sqrt(rounds)


def next_launch(standings: Sequence[Standing], seconds_left: float, latest: str | None = None) -> str | None:
    """Whom to launch next; None when nothing is missing. `latest` is who was launched before. Nobody narrows an
    interval while another, whose rounds may be a hundred times as long, has too few rounds for one."""
    targets = _affordable([each for each in standings if each.to_wanted > 0], seconds_left)
    waiting = {name: rounds for name, rounds in targets.items() if name != latest} or targets
    had = {each.id: each.rounds for each in standings}

    slow = {each.id: each.starts_slowly for each in standings}

    def progress(name: str) -> tuple[bool, float, bool, float]:
        return had[name] >= ENOUGH, had[name] / (had[name] + waiting[name]), slow[name], _lot(name, had[name])

    return min(waiting, key=progress, default=None)


def _affordable(missing: Sequence[Standing], seconds_left: float) -> dict[str, int]:
    """The rounds that each may have of those it lacks: WIDE for all before more for anyone, the cheapest first; where
    nothing can be brought to its end any more, whatever still fits."""
    wide = [(each.seconds_a_launch * each.to_wide, each, each.to_wide) for each in missing if each.to_wide]
    more = [
        (each.seconds_a_launch * (each.to_wanted - each.to_wide), each, each.to_wanted)
        for each in missing
        if each.to_wanted > each.to_wide
    ]
    targets: dict[str, int] = {}
    for steps in (wide, more):
        for cost, each, rounds in sorted(steps, key=lambda step: step[0]):
            if cost <= seconds_left and (rounds == each.to_wide or not each.to_wide or each.id in targets):
                seconds_left -= cost
                targets[each.id] = rounds
    if not targets:
        fitting = [each for each in missing if each.seconds_a_launch <= seconds_left] or missing
        targets = {each.id: each.to_wanted for each in fitting}
    return targets


def least_served(candidates: Mapping[str, tuple[float, float]]) -> str | None:
    """Whom to launch where nothing is at stake: by (seconds had, seconds a launch), who has had least after it."""
    return min(candidates, key=lambda name: (sum(candidates[name]), _lot(name, 0)), default=None)


def _lot(name: str, rounds: int) -> float:
    """Another order in each round, and the same when a sitting is resumed."""
    return random.Random(f"{name} {rounds}").random()
