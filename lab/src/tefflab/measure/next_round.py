"""Which variant has the next round of a sitting: the time that is left goes where it buys most. Pure: values in, a
choice out. docs/explanation/sitting.md has the rules and their reasons.

Every variant moves forward by the same share of the rounds that it needs. Of variants that are equally far, one that
takes seconds to start comes last, and a dear one comes after all others have three rounds.
"""

import itertools
import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tefflab.analysis.crossing import widening
from tefflab.analysis.statistics import FEWEST_ROUNDS, LEAST_ROUNDS, NEVER, Interval, Progress, rounds_to_tell

WIDE, NARROW = 0.10, 0.05  # wanted half-widths: of a row whose rank is decided, and of the other rows
FIRST = 5  # rows of a table for which NARROW is always wanted
_MOST_ROUNDS = 1000  # that are foretold
_FORESIGHT = 4  # rounds foretold for each measured one, at most: few rounds may show twice the spread of many


@dataclass(frozen=True, slots=True)
class Standing:
    """A variant that may have a round: the rounds and seconds that it has had and lacks."""

    id: str
    rounds: int
    seconds_a_round: float
    to_wide: int  # rounds until every row of it is within WIDE,
    to_wanted: int  # and until each is within what is wanted of it; never fewer
    starts_slowly: bool = False
    is_dear: bool = False  # a round takes more than its share of the sitting


def wanted_half_widths(estimates: Mapping[str, Progress | None]) -> dict[str, float]:
    """The wanted half-width of each row of one table: NARROW for the first rows and for rows that a neighbour may
    overtake. A neighbour is taken for as well known as WIDE: if only the neighbour lacks rounds, rounds of this row do
    not help."""
    known = {name: each.value for name, each in estimates.items() if each is not None}
    order = sorted(known, key=lambda name: known[name].value)
    wanted = dict.fromkeys(estimates, WIDE) | dict.fromkeys(order[:FIRST], NARROW)
    for name, after in itertools.pairwise(order):
        if _narrowed(known[name])[1] >= _narrowed(known[after])[0]:
            wanted[name] = wanted[after] = NARROW
    return wanted


def _narrowed(estimate: Interval) -> tuple[float, float]:
    return max(estimate.low, estimate.value * (1 - WIDE)), min(estimate.high, estimate.value * (1 + WIDE))


def rounds_missing(known: Progress | None, wanted: float, rounds: int) -> int:
    """How many more rounds will narrow the half-width to the wanted one, as Student's t shrinks it with each round. A
    row without an estimate lacks LEAST_ROUNDS less the `rounds` it has had, and then one at a time. A row that rounds
    will never make known lacks more than any sitting has; no other lacks more than few rounds can foretell."""
    if known is None or known.rounds < 2:
        return max(LEAST_ROUNDS - (known.rounds if known else rounds), 1)
    rounds = known.rounds
    if not math.isfinite(known.foreseen):
        return rounds_to_tell(rounds)
    spread = known.foreseen / _arm(rounds)
    while rounds < LEAST_ROUNDS or (spread * _arm(rounds) > wanted and rounds < _MOST_ROUNDS):
        rounds += 1
    missing = rounds - known.rounds
    return missing if known.foreseen >= NEVER else min(missing, _FORESIGHT * known.rounds)


def _arm(rounds: int) -> float:
    return widening(rounds) / math.sqrt(rounds)


def next_round(
    standings: Sequence[Standing], seconds_left: float, latest: str | None = None, *, goes_on: bool = False
) -> str | None:
    """The variant that has the next round; None when nothing is missing. `latest` is the variant that had the round
    before. No variant narrows an interval while another has too few rounds for one, and time for them. A sitting that
    `goes_on` gives the time to the variants with the fewest rounds, even if it ends amid a round: the next sitting ends
    the round."""
    if goes_on and (short := [each for each in standings if each.to_wanted > 0 and each.rounds < FEWEST_ROUNDS]):
        fewest = min(each.rounds for each in short)
        standings = [each for each in short if each.rounds == fewest]
    targets = _affordable([each for each in standings if each.to_wanted > 0], seconds_left)
    known = {each.id: each for each in standings}
    others = {name: rounds for name, rounds in targets.items() if name != latest}
    lacking = [each for each in standings if each.to_wanted > 0 and each.rounds < FEWEST_ROUNDS]
    is_short = any(targets.get(each.id, 0) < FEWEST_ROUNDS - each.rounds for each in lacking)
    waiting = others if any(not known[name].is_dear for name in others) else targets

    def progress(name: str) -> tuple[bool, bool, bool, float, bool, float]:
        each = known[name]
        has_interval = each.rounds >= FEWEST_ROUNDS
        moved = each.rounds / (each.rounds + waiting[name])
        if is_short and not has_interval:
            moved = -moved
        return has_interval, each.is_dear, name == latest, moved, each.starts_slowly, lot(name, each.rounds)

    return min(waiting, key=progress, default=None)


def _affordable(missing: Sequence[Standing], seconds_left: float) -> dict[str, int]:
    """The rounds that each variant may have of those it lacks: an interval for all before a first value for any, then
    WIDE for all before more for any, the cheapest first. If no variant can reach its end any more, the rounds that
    still fit."""
    targets: dict[str, int] = {}

    def give(candidates: Sequence[Standing], rounds: Callable[[Standing], int]) -> list[Standing]:
        """Those that can have so many rounds in all."""
        nonlocal seconds_left
        costs = {each.id: each.seconds_a_round * max(rounds(each) - targets.get(each.id, 0), 0) for each in candidates}
        given = []
        for each in sorted(candidates, key=lambda each: costs[each.id]):
            if costs[each.id] <= seconds_left:
                seconds_left -= costs[each.id]
                targets[each.id] = max(rounds(each), targets.get(each.id, 0))
                given.append(each)
        return given

    told = give(missing, lambda each: FEWEST_ROUNDS - each.rounds)
    give([each for each in missing if not each.rounds], lambda _: 1)
    give(give(told, lambda each: each.to_wide), lambda each: each.to_wanted)
    if targets := {name: rounds for name, rounds in targets.items() if rounds}:
        return targets
    fitting = [each for each in missing if each.seconds_a_round <= seconds_left] or missing
    return {each.id: each.to_wanted for each in fitting}


def least_served(candidates: Mapping[str, tuple[float, float]]) -> str | None:
    """The variant that has the next round if nothing is at stake, by (seconds had, seconds a round): the one with the
    least time after it."""
    return min(candidates, key=lambda name: (sum(candidates[name]), lot(name, 0)), default=None)


def lot(name: str, rounds: int) -> float:
    """Another order in each round, and the same when a sitting is resumed."""
    return random.Random(f"{name} {rounds}").random()
