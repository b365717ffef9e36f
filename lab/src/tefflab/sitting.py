"""A sitting: systems in turn, round after round, until all is known or the time is spent.

Each round launches every system once, in another order, so that the machine's drift hits all alike. A system that
fails is left out from then on, with its reason; the others go on, and what was measured stays.
"""

import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from tefflab.batch import LateError
from tefflab.errors import TeffError
from tefflab.inquiry import LEAST_ROUNDS, Inquiry, MetgInquiry
from tefflab.instruments import Instruments
from tefflab.results import MetgRow
from tefflab.systems import Variant

_LATE = 1  # rounds in which a system may fail to answer in time: the machine may have been busy


class Audience(Protocol):
    """Whoever wants to see how it goes. Called between runs, never during one."""

    def begins(self, turn: int, variant: Variant) -> None:
        """A system is launched."""

    def learned(self, variant: Variant, rows: Sequence[MetgRow]) -> None:
        """A round of a system is over; its rows so far (none where only curves are drawn)."""

    def failed(self, variant: Variant, reason: str) -> None:
        """A round of a system is lost, or the system is out."""


@dataclass
class Entrant:
    """A system with all that is asked of it."""

    variant: Variant
    inquiries: Sequence[Inquiry]
    settled: bool = False
    failure: str = ""
    seconds: float = 0.0  # that it has had so far
    late: int = 0  # rounds that were given up because it did not answer in time

    def rows(self) -> list[MetgRow]:
        return [each.row(self.failure) for each in self.inquiries if isinstance(each, MetgInquiry)]


@dataclass
class Sitting:
    """What is to be measured, with what, and for how long (`budget` in seconds, `rounds` at most, each where given)."""

    entrants: Sequence[Entrant]
    instruments: Instruments
    audience: Audience
    budget: float
    rounds: int
    _started: float = field(default_factory=time.monotonic)

    def run(self) -> None:
        """Until all is known, the budget is spent, or Ctrl-C, which leaves everything in a state to be judged."""
        for turn in range(self.rounds):
            order = self._to_be_launched(turn)
            random.Random(turn).shuffle(order)
            if not order:
                return
            for entrant in order:
                if self._is_over(turn):
                    return
                self._launch(entrant, turn)

    def _to_be_launched(self, turn: int) -> list[Entrant]:
        """Who is left, but for those that have had more than their share of the time - unless there are no others."""
        left = [entrant for entrant in self.entrants if not entrant.settled and not entrant.failure]
        if turn < LEAST_ROUNDS:
            return left
        share = sum(entrant.seconds for entrant in self.entrants) / len(self.entrants)
        return [entrant for entrant in left if entrant.seconds <= share] or left

    def _is_over(self, turn: int) -> bool:
        """Two rounds are made in any case: without them there is no interval."""
        return turn > 1 and time.monotonic() - self._started > self.budget

    def _launch(self, entrant: Entrant, turn: int) -> None:
        self.audience.begins(turn, entrant.variant)
        began = time.monotonic()
        try:
            with self.instruments.launch(entrant.variant):
                for inquiry in entrant.inquiries:
                    inquiry.measure(self.instruments, turn)
        except TeffError as failure:
            self._give_up(entrant, failure)
            return
        finally:
            entrant.seconds += time.monotonic() - began
        rows = entrant.rows()
        inquiries = [each for each in entrant.inquiries if isinstance(each, MetgInquiry)]
        entrant.settled = bool(rows) and all(
            inquiry.is_settled(row) for inquiry, row in zip(inquiries, rows, strict=True)
        )
        self.audience.learned(entrant.variant, rows)

    def _give_up(self, entrant: Entrant, failure: TeffError) -> None:
        """A round is lost; the system is out unless it was merely late, and that for the first time."""
        entrant.late += isinstance(failure, LateError)
        if not isinstance(failure, LateError) or entrant.late > _LATE:
            entrant.failure = str(failure)
        self.audience.failed(entrant.variant, str(failure))


def notes(entrants: Sequence[Entrant]) -> Mapping[str, str]:
    """What went wrong, by system's id."""
    return {entrant.variant.id: entrant.failure for entrant in entrants if entrant.failure}
