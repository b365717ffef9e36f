"""What is known of a variant at one case while a sitting goes on."""

import math
from dataclasses import dataclass

from tefflab.analysis.statistics import FEWEST_ROUNDS, Interval


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a variant at one case, from so many rounds. A sitting shows it and chooses rounds by it."""

    case: str
    value: Interval
    foreseen: float  # the half-width that foretells how many more rounds it needs: that of an open interval, too
    rounds: int

    @property
    def half_width(self) -> float:
        """Relative; infinite if the rounds are too few for an interval."""
        return self.value.relative_half_width if self.rounds >= FEWEST_ROUNDS else math.inf
