"""The time that a sitting may measure for: the user's limit, and a little more for the minimum that every result needs.
No round goes on after that: its runs so far are kept, and count."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from tefflab.analysis.statistics import FEWEST_ROUNDS

GRACE = 1.25  # times the time asked for: until then everybody gets FEWEST_ROUNDS


@dataclass
class TimeBudget:
    """So many seconds, from the moment it is made."""

    seconds: float
    _clock: Callable[[], float] = time.monotonic
    _started: float = field(init=False)

    def __post_init__(self) -> None:
        self._started = self._clock()

    def give_back(self, seconds: float) -> None:
        """Gives back seconds that were lost to a variant that never answered, while others have had no turn yet."""
        self._started += seconds

    @property
    def spent(self) -> float:
        """Seconds."""
        return self._clock() - self._started

    def is_spent(self, rounds: int) -> bool:
        """Whether measuring ends now; `rounds` is the number of rounds of the system with the fewest."""
        return self.spent > self.seconds * (1 if rounds >= FEWEST_ROUNDS else GRACE)

    def lacks(self, seconds: float = 0.0) -> bool:
        """Whether measuring ends at once, however much of a round is missing; or would, before so many seconds."""
        return self.spent + seconds > self.seconds * GRACE

    def __str__(self) -> str:
        if self.spent <= self.seconds:
            return f"{self.spent:.0f} s of at most {self.seconds:.0f} s"
        return f"{self.spent:.0f} s; ends with {FEWEST_ROUNDS} rounds of each, or after {self.seconds * GRACE:.0f} s"
