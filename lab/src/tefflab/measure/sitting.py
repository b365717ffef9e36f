"""A sitting: variants one after another, round after round, until all is known or the time is spent.

Each round launches them in another order, so that the machine's drift hits all alike; where the host moves the cores
apart or together, each is measured until it is known at either distance. A variant that fails is left out from then
on, with its reason; the others go on, and what was measured stays.
"""

import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from tefflab.analysis.distance import alike
from tefflab.benchmarks.benchmark import Launch
from tefflab.errors import TeffError
from tefflab.measure.batch import LateError
from tefflab.measure.runner import Runner
from tefflab.measure.time_budget import TimeBudget
from tefflab.output.live import Progress
from tefflab.systems.systems import Program

_LATE = 1  # rounds in which a system may fail to answer in time: the machine may have been busy
_GREEDY_FROM = 4  # launches from which who has had more than its share of the time comes last


class Observer(Protocol):
    """Whoever wants to see how it goes. Called between runs, never during one."""

    def begins(self, variant_id: str, number: int, case: str, part: int, parts: int) -> None:
        """A variant is asked about a case, the question `part` of so many, from 1, in its launch `number`, from 0; at
        the first of them it is launched."""

    def learned(self, variant_id: str, known: Sequence[Progress]) -> None:
        """A launch is over; what is known of its cases."""

    def failed(self, variant_id: str, case: str, reason: str) -> None:
        """A round is lost, or the variant is out (of that case, where one is named)."""


@dataclass
class Entry:
    """What is launched again and again, and what it has had."""

    launch: Launch[Any]
    program: Program
    failure: str = ""
    launches: int = 0
    seconds: float = 0.0  # that it has had so far
    late: int = 0  # rounds that were given up because it did not answer in time
    settled: list[float | None] = field(default_factory=list)  # the round trips at which nothing is left to be known

    def is_settled(self, round_trip: float | None) -> bool:
        return any(alike(at, round_trip) for at in self.settled)

    def learn(self, round_trip: float | None) -> list[Progress]:
        """What is known at this distance of the cores, and whether that is enough."""
        known = [(each, each.estimate(round_trip)) for each in self.launch.questions]
        if all(each.is_settled(estimate, round_trip) for each, estimate in known):
            self.settled.append(round_trip)
        return [
            Progress(each.case.name, each.text(estimate), estimate.relative_half_width)
            for each, estimate in known
            if estimate is not None
        ]


@dataclass
class Sitting:
    """What is to be measured, with what, and for how long: `budget` in seconds, `rounds` of each at most."""

    entries: Sequence[Entry]
    runner: Runner[Any]
    observer: Observer
    budget: float
    rounds: int
    _time: TimeBudget = field(init=False)
    _seen: list[float] = field(default_factory=list)  # round trips of different distances of the cores
    _companies: Mapping[str, list[Entry]] = field(init=False)

    def __post_init__(self) -> None:
        self._time = TimeBudget(self.budget)
        names = dict.fromkeys(each.launch.company for each in self.entries)
        self._companies = {name: [each for each in self.entries if each.launch.company == name] for name in names}

    def run(self) -> None:
        """Until all is known, the budget is spent, or Ctrl-C, which leaves everything in a state to be estimated."""
        while not self._is_over():
            entry = self._next()
            if entry is None:
                return
            self._launch(entry)

    def _next(self) -> Entry | None:
        """Of the companies with something to learn where the cores are now, or else elsewhere, one that is in the midst
        of a round, or else the one launched least; from _GREEDY_FROM on those that have had more than their share of
        the time come last."""
        here = self.runner.round_trip
        left = {name: [each for each in company if not each.failure] for name, company in self._companies.items()}
        left = {name: alive for name, alive in left.items() if alive and min(map(_launches, alive)) < self.rounds}
        open_here = {name: alive for name, alive in left.items() if not all(each.is_settled(here) for each in alive)}
        open_elsewhere = {
            name: alive
            for name, alive in left.items()
            if not all(each.is_settled(trip) for each in alive for trip in self._seen)
        }
        share = sum(each.seconds for each in self.entries) / len(self._companies)

        def order(name: str) -> tuple[bool, bool, int, float]:
            had = [each.launches for each in left[name]]
            greedy = min(had) >= _GREEDY_FROM and sum(each.seconds for each in self._companies[name]) > share
            return min(had) == max(had), greedy, min(had), _lot(name, min(had))

        chosen = min(open_here or open_elsewhere, key=order, default=None)
        if chosen is None:
            return None
        return min(left[chosen], key=lambda each: (each.launches, _lot(each.launch.variant.id, each.launches)))

    def _is_over(self) -> bool:
        return self._time.is_spent(min((each.launches for each in self.entries if not each.failure), default=0))

    def _launch(self, entry: Entry) -> None:
        began = time.monotonic()
        launch = entry.launch
        try:
            with self.runner.launch(launch, entry.program):
                for part, question in enumerate(launch.questions, start=1):
                    if self._is_over():
                        break
                    self.observer.begins(
                        launch.variant.id, entry.launches, question.case.name, part, len(launch.questions)
                    )
                    self.runner.ask(question, entry.launches)
        except TeffError as failure:
            self._give_up(entry, failure)
            return
        finally:
            entry.launches += 1
            entry.seconds += time.monotonic() - began
        here = self.runner.round_trip
        if here is not None and not any(alike(trip, here) for trip in self._seen):
            self._seen.append(here)
        self.observer.learned(launch.variant.id, entry.learn(here))

    def _give_up(self, entry: Entry, failure: TeffError) -> None:
        """A round is lost; the variant is out unless it was merely late, and that for the first time."""
        launch = entry.launch
        reason = str(failure).removeprefix(f"{launch.variant.id}: ")  # whose it is stands beside it
        entry.late += isinstance(failure, LateError)
        if not isinstance(failure, LateError) or entry.late > _LATE:
            entry.failure = reason
            self.runner.give_up(launch, entry.launches, reason)
        self.observer.failed(launch.variant.id, launch.case.name if launch.case else "", reason)


def _launches(entry: Entry) -> int:
    return entry.launches


def _lot(name: str, launches: int) -> float:
    """Another order in each round, and the same when a sitting is resumed."""
    return random.Random(f"{name} {launches}").random()
