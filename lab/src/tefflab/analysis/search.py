"""Finds where to measure METG with few runs: a scout that brackets the crossing, then a grid around it. Pure.

docs/explanation/metg.md says how the scout searches. A noisy run disagrees with the other end of the bracket about the
overhead, and is measured again. If a curve crosses more than once, the highest crossing among the measured points
counts.
"""

import math
from dataclasses import dataclass
from statistics import median

from tefflab.analysis.crossing import Relation
from tefflab.analysis.statistics import Observation

_SPREAD = 2.0  # the bracket's ends lie this factor from the crossing
_WIDEST = 6.0  # a bracket whose ends differ by no more is narrow enough (4, and what rounding adds)
_DISAGREEMENT = 1.2  # a factor between a run's efficiency and the prediction from another run
_REPEATS = 5  # of one point, at most


@dataclass(frozen=True, slots=True)
class Bracket:
    """The scout's result. With '=' `lower` lies below the threshold, `upper` at or above it. With '<' the fewest
    iterations reach the threshold already. With '>' the most that were allowed do not."""

    relation: Relation
    lower: int
    upper: int
    iterations: float  # of the crossing, or of the end that bounds it


class MetgSearch:
    """The scout. Measure at the iterations that `next_iterations` gives, and `add` the run, until it gives None.

    `seconds_per_iteration`: ideal time of one iteration of one task on one core, from the ceiling's rate.
    `longest_task`: granularity in seconds beyond which no run is asked for. ValueError for impossible limits.
    """

    def __init__(
        self,
        threshold: float,
        seconds_per_iteration: float,
        longest_task: float = math.inf,
        maximum: int = 2**26,
    ) -> None:
        if not 0 < threshold < 1:
            raise ValueError(f"threshold {threshold} must lie between 0 and 1")
        if not seconds_per_iteration > 0:
            raise ValueError(f"seconds per iteration {seconds_per_iteration} must be positive")
        self._threshold = threshold
        self._seconds = seconds_per_iteration
        self._maximum = max(1, int(min(maximum, longest_task / seconds_per_iteration)))
        self._runs: dict[int, list[Observation]] = {}

    def add(self, observation: Observation) -> None:
        """Takes one run into account, asked for or not. ValueError where its efficiency is not positive."""
        if not observation.efficiency > 0:
            raise ValueError(f"efficiency {observation.efficiency} of a run must be positive")
        self._runs.setdefault(observation.iterations, []).append(observation)

    def next_iterations(self) -> int | None:
        """Iterations of the next run, or None when the bracket is known. Asking again gives the same answer."""
        if 1 not in self._runs:
            return 1
        lower, upper = self._ends()
        if lower is None:
            return self._doubtful(1, at_least=2)
        if upper is None:
            if lower >= self._maximum:
                return self._doubtful(lower, at_least=3)
            step = _SPREAD ** max(len(self._runs) - 1, 1)  # each time longer than the last
            return min(max(math.ceil(_SPREAD * self._predicted()), math.ceil(step * lower)), self._maximum)
        if upper <= lower + 1 or upper <= _WIDEST * lower:
            return self._disputed(lower, upper)
        return self._between(lower, upper)

    @property
    def bracket(self) -> Bracket | None:
        """The result, once `next_iterations` is None."""
        if self.next_iterations() is not None:
            return None
        lower, upper = self._ends()
        if lower is None:
            return Bracket("<", 1, 1, 1.0)
        if upper is None:
            return Bracket(">", lower, lower, float(lower))
        # Between the ends, where log odds over log iterations is nearly a straight line.
        ends = [self._odds(self._efficiency(each)) for each in (lower, upper)]
        share = (self._odds(self._threshold) - ends[0]) / max(ends[1] - ends[0], 1e-9)
        return Bracket("=", lower, upper, float(lower * (upper / lower) ** min(max(share, 0.0), 1.0)))

    def _efficiency(self, iterations: int) -> float:
        return median(each.efficiency for each in self._runs[iterations])

    def _ideal(self, iterations: int) -> float:
        return median(each.efficiency * each.granularity for each in self._runs[iterations])

    def _overhead(self, iterations: int) -> float:
        """Seconds that a task of these many iterations takes beyond the ideal."""
        return max(self._ideal(iterations) * (1 / self._efficiency(iterations) - 1), 0.0)

    def _ends(self) -> tuple[int | None, int | None]:
        """The most iterations that lie below the threshold, and the fewest above those."""
        measured = sorted(self._runs)
        below = [each for each in measured if self._efficiency(each) < self._threshold]
        lower = below[-1] if below else None
        above = [each for each in measured if lower is None or each > lower]
        return lower, (above[0] if above else None)

    def _odds(self, efficiency: float) -> float:
        """log(w / o) of a run: where it lies against the crossing, on the model's own scale."""
        bounded = min(max(efficiency, 1e-9), 1 - 1e-3)
        return math.log(bounded / (1 - bounded))

    def _predicted(self) -> float:
        """Iterations of the crossing, by the overhead that the run nearest to it shows."""
        target = self._odds(self._threshold)
        nearest = min(self._runs, key=lambda each: abs(self._odds(self._efficiency(each)) - target))
        return self._overhead(nearest) * self._threshold / (1 - self._threshold) / self._seconds

    def _between(self, lower: int, upper: int) -> int:
        """A point inside a wide bracket: half or twice the predicted crossing, or else the middle."""
        crossing = self._predicted()
        for candidate in (math.floor(crossing / _SPREAD), math.ceil(crossing * _SPREAD)):
            if lower < candidate < upper:
                return candidate
        return min(max(round(math.sqrt(lower * upper)), lower + 1), upper - 1)

    def _disputed(self, lower: int, upper: int) -> int | None:
        """The end to be measured again where the two disagree about the overhead, or None."""
        ends = sorted((lower, upper), key=lambda each: len(self._runs[each]))
        predicted = self._ideal(upper) / (self._ideal(upper) + self._overhead(lower))
        ratio = self._efficiency(upper) / predicted
        agreed = 1 / _DISAGREEMENT < ratio < _DISAGREEMENT
        for end in ends:
            again = self._doubtful(end, at_least=1 if agreed else 3)
            if again is not None:
                return again
        return None

    def _doubtful(self, iterations: int, at_least: int) -> int | None:
        """`iterations` if it has not been measured often enough to be sure on which side it lies."""
        runs = self._runs[iterations]
        if len(runs) >= _REPEATS:
            return None
        below = sum(each.efficiency < self._threshold for each in runs)
        split = 0 < below < len(runs) and abs(2 * below - len(runs)) < 2
        return iterations if len(runs) < at_least or split else None


def measurement_grid(
    iterations: float, points: int = 6, spread: float = _SPREAD, maximum: int = 2**26
) -> tuple[int, ...]:
    """Iteration counts to be measured in every round, ascending: evenly in log from crossing / spread to * spread,
    within the allowed range. With too few integers there it takes all and goes on upwards, to at most twice as far.
    ValueError for fewer than two points."""
    if points < 2:
        raise ValueError(f"points {points} must be at least 2, one on each side of the crossing")
    centre = min(max(iterations, 1), maximum)
    low, high = max(centre / spread, 1), min(centre * spread, maximum)
    steps = (low * (high / low) ** (i / (points - 1)) for i in range(points))
    grid = {min(max(round(each), 1), maximum) for each in steps}
    farthest = min(math.ceil(2 * centre * spread), maximum)
    while len(grid) < points and (free := set(range(min(grid), farthest + 1)) - grid):
        grid.add(min(free))
    return tuple(sorted(grid))
