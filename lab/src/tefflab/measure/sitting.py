"""A sitting: systems in turn, round after round, until all is known or the time is spent.

Systems are launched in turn, in another order each round, so that the machine's drift hits all alike; where the host
moves the cores apart or together, each is measured until it is known at either distance. A system that fails is left
out from then on, with its reason; the others go on, and what was measured stays.
"""

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from tefflab.analysis.distance import alike
from tefflab.analysis.results import MetgRow
from tefflab.benchmarks.inquiry import LEAST_ROUNDS, Inquiry, MetgInquiry
from tefflab.errors import TeffError
from tefflab.measure.allowance import Allowance
from tefflab.measure.batch import LateError
from tefflab.measure.instruments import Instruments
from tefflab.systems.systems import Variant

_LATE = 1  # rounds in which a system may fail to answer in time: the machine may have been busy


class Audience(Protocol):
    """Whoever wants to see how it goes. Called between runs, never during one."""

    def begins(self, turn: int, variant: Variant, part: int, parts: int) -> None:
        """A system is asked the question `part`, from 1, of so many; at the first of them it is launched."""

    def learned(self, variant: Variant, rows: Sequence[MetgRow]) -> None:
        """A round of a system is over; its rows so far (none where only curves are drawn)."""

    def failed(self, variant: Variant, reason: str) -> None:
        """A round of a system is lost, or the system is out."""


@dataclass
class Entrant:
    """A system with all that is asked of it."""

    variant: Variant
    inquiries: Sequence[Inquiry]
    failure: str = ""
    launches: int = 0
    seconds: float = 0.0  # that it has had so far
    late: int = 0  # rounds that were given up because it did not answer in time
    settled: list[float | None] = field(default_factory=list)  # the round trips at which nothing is left to be known

    def is_settled(self, round_trip: float | None) -> bool:
        return any(alike(at, round_trip) for at in self.settled)

    def learn(self, round_trip: float | None) -> list[MetgRow]:
        """Its rows so far, at this distance of the cores, and whether they are good enough."""
        inquiries = [each for each in self.inquiries if isinstance(each, MetgInquiry)]
        rows = [each.row(round_trip) for each in inquiries]
        if rows and all(each.is_settled(row) for each, row in zip(inquiries, rows, strict=True)):
            self.settled.append(round_trip)
        return rows


@dataclass
class Sitting:
    """What is to be measured, with what, and for how long: `budget` in seconds, `rounds` of each system at most."""

    entrants: Sequence[Entrant]
    instruments: Instruments
    audience: Audience
    budget: float
    rounds: int
    _allowance: Allowance = field(init=False)
    _seen: list[float] = field(default_factory=list)  # round trips of different distances of the cores

    def __post_init__(self) -> None:
        self._allowance = Allowance(self.budget)

    def run(self) -> None:
        """Until all is known, the budget is spent, or Ctrl-C, which leaves everything in a state to be judged."""
        while not self._is_over():
            entrant = self._next()
            if entrant is None:
                return
            self._launch(entrant)

    def _next(self) -> Entrant | None:
        """Of those with something to learn where the cores are now, or else elsewhere, the one launched least; from
        LEAST_ROUNDS on those that have had more than their share of the time come last."""
        here = self.instruments.round_trip
        left = [each for each in self.entrants if not each.failure and each.launches < self.rounds]
        open_here = [each for each in left if not each.is_settled(here)]
        open_elsewhere = [each for each in left if not all(each.is_settled(trip) for trip in self._seen)]
        share = sum(each.seconds for each in self.entrants) / len(self.entrants)

        def order(entrant: Entrant) -> tuple[bool, int, float]:
            greedy = entrant.launches >= LEAST_ROUNDS and entrant.seconds > share
            return greedy, entrant.launches, random.Random(f"{entrant.variant.id} {entrant.launches}").random()

        return min(open_here or open_elsewhere, key=order, default=None)

    def _is_over(self) -> bool:
        return self._allowance.is_spent(min((each.launches for each in self.entrants if not each.failure), default=0))

    def _launch(self, entrant: Entrant) -> None:
        began = time.monotonic()
        try:
            with self.instruments.launch(entrant.variant):
                for part, inquiry in enumerate(entrant.inquiries, start=1):
                    if self._is_over():
                        break
                    self.audience.begins(entrant.launches, entrant.variant, part, len(entrant.inquiries))
                    inquiry.measure(self.instruments, entrant.launches)
        except TeffError as failure:
            self._give_up(entrant, failure)
            return
        finally:
            entrant.launches += 1
            entrant.seconds += time.monotonic() - began
        here = self.instruments.round_trip
        if here is not None and not any(alike(trip, here) for trip in self._seen):
            self._seen.append(here)
        self.audience.learned(entrant.variant, entrant.learn(here))

    def _give_up(self, entrant: Entrant, failure: TeffError) -> None:
        """A round is lost; the system is out unless it was merely late, and that for the first time."""
        entrant.late += isinstance(failure, LateError)
        if not isinstance(failure, LateError) or entrant.late > _LATE:
            entrant.failure = str(failure)
            self.instruments.give_up(entrant.variant, entrant.launches, entrant.failure)
        self.audience.failed(entrant.variant, str(failure))
