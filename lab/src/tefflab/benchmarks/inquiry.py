"""What is known of one system under one configuration, and what a round is to measure of it."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from tefflab.analysis.crossing import Relation
from tefflab.analysis.distance import alike, at_distance, round_trip_of
from tefflab.analysis.results import Contender, MetgRow
from tefflab.analysis.search import MetgSearch, measurement_grid
from tefflab.analysis.statistics import is_known
from tefflab.benchmarks.configuration import Configuration
from tefflab.benchmarks.judge import judge_row, observations
from tefflab.benchmarks.shape import PROBE_STEPS, steps_for
from tefflab.measure.instruments import Instruments
from tefflab.records.store import Envelope

LONGEST_TASK = 0.05  # seconds of granularity beyond which no crossing is searched for
_CENTRED = 2  # rounds at a place after which it is known well enough to be measured around its middle
LEAST_ROUNDS = 4  # before an interval is believed to be narrow
_WIDE = (1 / 8, 4.0, 16.0)  # times the crossing: points that only draw the curve,
_WIDE_ROUNDS = 3  # in so many rounds,
_WIDE_TASK = 0.01  # and no longer than so many seconds


class Inquiry(ABC):
    """One system under one configuration. A round is one launch of the system.

    `seconds_per_iteration`: ideal time of one iteration of one task on one core.
    """

    def __init__(self, contender: Contender, configuration: Configuration, seconds_per_iteration: float) -> None:
        self.contender = contender
        self.configuration = configuration
        self.runs: list[Envelope] = []
        self._seconds = seconds_per_iteration
        self._overhead = 0.0  # seconds a task, about, in this round: to choose the number of timesteps

    @abstractmethod
    def measure(self, instruments: Instruments, turn: int) -> None:
        """One round."""

    def _warm_up(self, instruments: Instruments, turn: int) -> None:
        """A run that is cold says how long one must be that is not, and that one what an empty task takes.

        Each round finds out for itself: systems cost more a task in longer runs, and rounds whose runs are as long as
        one of them said would share its mistake, which no interval made of rounds can see.
        """
        self._overhead = self._probed(instruments, turn, self.configuration.steps or PROBE_STEPS)
        if self.configuration.steps is None:
            self._overhead = self._probed(instruments, turn, self._steps(instruments, 0))

    def _probed(self, instruments: Instruments, turn: int, steps: int) -> float:
        return instruments.probe(self.configuration, turn, self.configuration.line(steps, 0)).granularity

    def _run(self, instruments: Instruments, turn: int, iterations: int) -> Sequence[Envelope]:
        line = self.configuration.line(self._steps(instruments, iterations), iterations)
        attempts = instruments.measure(self.configuration, turn, line)
        self.runs += attempts
        return attempts

    def _steps(self, instruments: Instruments, iterations: int) -> int:
        granularity = self._overhead + iterations * self._seconds
        return self.configuration.steps or steps_for(granularity, self.configuration.width, instruments.workers)


@dataclass
class _Place:
    """What is to be measured while the cores are so far apart."""

    round_trip: float | None
    relation: Relation
    grid: tuple[int, ...]
    wide: tuple[int, ...]
    rounds: int = 0


class MetgInquiry(Inquiry):
    """A line of a METG table while it is made: its first round at a distance of the cores looks for the crossing, the
    others measure around it. `is_drawn`: its curve will be, so that a few points far from the crossing are wanted."""

    def __init__(
        self,
        contender: Contender,
        configuration: Configuration,
        seconds_per_iteration: float,
        threshold: float,
        *,
        is_drawn: bool = True,
    ) -> None:
        super().__init__(contender, configuration, seconds_per_iteration)
        self.threshold = threshold
        self._is_drawn = is_drawn
        self._longest = max(1, int(LONGEST_TASK / seconds_per_iteration))  # iterations
        self._places: list[_Place] = []

    def measure(self, instruments: Instruments, turn: int) -> None:
        self._warm_up(instruments, turn)
        empty = self._run(instruments, turn, 0)
        here = round_trip_of(empty[-1])
        place = next((each for each in self._places if alike(each.round_trip, here)), None)
        if place is None:
            self._places.append(self._scout(instruments, turn, here))
            return
        place.rounds += 1
        for iterations in (*place.grid, *(place.wide if self._is_drawn and place.rounds <= _WIDE_ROUNDS else ())):
            self._run(instruments, turn, iterations)
        seen = self.row(place.round_trip).metg
        if seen is None or place.relation != "=":
            return
        if not place.grid[0] <= round(seen.iterations) <= place.grid[-1]:
            self._places.remove(place)  # the scout was disturbed: the next round here looks for the crossing again
        elif place.rounds == _CENTRED:
            place.grid = measurement_grid(seen.iterations, maximum=self._longest)

    def row(self, round_trip: float | None, note: str = "") -> MetgRow:
        """What is known at a distance of the cores; of all runs where it is None."""
        return judge_row(self.contender, self.threshold, at_distance(self.runs, round_trip), note)

    @staticmethod
    def is_settled(row: MetgRow) -> bool:
        """Whether another round would tell nothing that matters."""
        return row.metg is not None and row.rounds >= LEAST_ROUNDS and is_known(row.metg)

    def _scout(self, instruments: Instruments, turn: int, round_trip: float | None) -> _Place:
        search = MetgSearch(self.threshold, self._seconds, longest_task=LONGEST_TASK)
        while (iterations := search.next_iterations()) is not None:
            for each in observations(self._run(instruments, turn, iterations)):
                search.add(each)
        assert search.bracket is not None
        crossing = search.bracket.iterations
        grid = measurement_grid(crossing, maximum=self._longest)
        wide = {max(round(crossing * factor), 1) for factor in _WIDE if crossing * factor * self._seconds < _WIDE_TASK}
        return _Place(round_trip, search.bracket.relation, grid, tuple(sorted(wide - set(grid))))


class CurveInquiry(Inquiry):
    """A curve while it is made: the same iterations in every round."""

    def __init__(
        self,
        contender: Contender,
        configuration: Configuration,
        seconds_per_iteration: float,
        iterations: Sequence[int],
    ) -> None:
        super().__init__(contender, configuration, seconds_per_iteration)
        self._iterations = iterations

    def measure(self, instruments: Instruments, turn: int) -> None:
        self._warm_up(instruments, turn)
        for iterations in self._iterations:
            self._run(instruments, turn, iterations)


def curve_iterations(seconds_per_iteration: float, longest_task: float, points: int) -> tuple[int, ...]:
    """So many iteration counts, evenly in log, from 1 to tasks of `longest_task` seconds."""
    most = math.log(max(2.0, longest_task / seconds_per_iteration))
    return tuple(sorted({round(math.exp(most * i / (points - 1))) for i in range(points)}))
