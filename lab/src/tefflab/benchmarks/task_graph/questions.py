"""The state of one system at one case, and the next runs of a round."""

import math
from abc import abstractmethod
from collections.abc import Generator, Sequence
from dataclasses import dataclass

from tefflab.analysis.crossing import Relation
from tefflab.analysis.distance import alike, round_trip_of
from tefflab.analysis.search import MetgSearch, measurement_grid
from tefflab.analysis.statistics import MetgEstimate, Progress, metg_error
from tefflab.benchmarks.benchmark import Ask, Question
from tefflab.benchmarks.graphs import GraphCase
from tefflab.benchmarks.task_graph.estimates import SIMULATED_ROUNDS, GraphRun, at_distance, metg_of, observations
from tefflab.benchmarks.task_graph.plan import PROBE_STEPS, GraphPlan, steps_for
from tefflab.benchmarks.task_graph.record import GraphRecord

LONGEST_TASK = 0.05  # seconds of granularity beyond which no crossing is searched for
ATTEMPTS = 3  # at one point, if it is noisy
_WARM = 0.1  # seconds of a run that tells a task's time, though it began cold
_EMPTY_ROUNDS = 8  # rounds that measure empty tasks too: their time is only a column of the table
_POINTS = 4  # of a round
_CENTRED = 2  # rounds at a place after which only the part around its middle is measured
_CLOSE = 1.6  # that part, from the middle divided by this factor to the middle times it
_MEAN, _MEAN_SPREAD, _MEAN_POINTS = 2.0, 4.0, 7  # over nodes the mean run crosses above the median one
_WIDE = (1 / 8, 4.0, 16.0)  # times the crossing: points that only draw the curve
_WIDE_ROUNDS = 2  # rounds that measure these points
_WIDE_TASK = 0.01  # the longest of these tasks [s]

_Round = Generator[Ask, Sequence[GraphRun], None]
_Runs = Generator[Ask, Sequence[GraphRun], Sequence[GraphRun]]


class GraphQuestion(Question[GraphRecord]):
    """One system at one case, whose iterations take `seconds_per_iteration` at best. A round is one start of its
    program."""

    def __init__(self, case: GraphCase, seconds_per_iteration: float, plan: GraphPlan) -> None:
        super().__init__(case)
        self._graphs = case
        self._plan = plan
        self._seconds = seconds_per_iteration
        self._overhead = 0.0  # seconds a task, about, in this round: to choose the number of timesteps

    def round(self) -> _Round:
        """A cold run tells how long a warm one must be, and the warm one tells the time of an empty task.

        Each round finds it out for itself, because systems cost more a task in longer runs. If all rounds took the
        length from one of them, they would share its mistake, which no interval made of rounds can see. Nothing is cold
        where it is simulated.
        """
        if self._plan.simulated:
            yield from self._measured()
            return
        (probe,) = yield Ask(self._graphs.line(self._graphs.steps or PROBE_STEPS, 0), role="probe")
        self._overhead = probe.record.granularity
        if self._graphs.steps is None and probe.record.wall_seconds < _WARM:
            (probe,) = yield Ask(self._graphs.line(self._steps(0), 0), role="probe")
            self._overhead = probe.record.granularity
        yield from self._measured()

    @abstractmethod
    def _measured(self) -> _Round:
        """The runs of a round, once the program is warm."""

    def _run(self, iterations: int) -> _Runs:
        return (yield Ask(self._graphs.line(self._steps(iterations), iterations), attempts=ATTEMPTS))

    def _steps(self, iterations: int) -> int:
        granularity = self._overhead + iterations * self._seconds
        return self._graphs.steps or steps_for(granularity, self._graphs.width, self.case.workers)


@dataclass
class _Place:
    """The runs to measure at one distance of the cores."""

    round_trip: float | None
    relation: Relation
    grid: tuple[int, ...]
    wide: tuple[int, ...]
    rounds: int = 0


class MetgQuestion(GraphQuestion):
    """A line of a METG table while it is made: its first round at a distance of the cores looks for the crossing, and
    all measure around it; and a few points far from it, if its curve will be drawn."""

    def __init__(self, case: GraphCase, seconds_per_iteration: float, plan: GraphPlan) -> None:
        super().__init__(case, seconds_per_iteration, plan)
        self._longest = max(1, int(LONGEST_TASK / seconds_per_iteration))  # iterations
        self._places: list[_Place] = []
        self._place: _Place | None = None  # that this round measures

    def _measured(self) -> _Round:
        """Its first run says how far apart the cores are. It is of empty tasks until their time is known well, and
        then one of those that are measured where most rounds were."""
        usual = max(self._places, key=lambda place: place.rounds, default=None)
        start = usual.grid[0] if usual and self.rounds >= _EMPTY_ROUNDS else 0
        first = yield from self._run(start)
        here = round_trip_of(first[-1].round_trips)
        self._place = next((each for each in self._places if alike(each.round_trip, here)), None)
        if self._place is None:
            self._place = yield from self._scout(here)
            self._places.append(self._place)
        place = self._place
        place.rounds += 1
        is_drawn = not self._plan.charts or {"efficiency", "rate"} & set(self._plan.charts)
        wide = place.wide if is_drawn and place.rounds <= _WIDE_ROUNDS else ()
        for iterations in (*place.grid, *wide):
            if iterations != start:
                yield from self._run(iterations)

    def add(self, runs: Sequence[GraphRun]) -> None:
        super().add(runs)
        place, self._place = self._place, None
        if place is None or place.relation != "=" or (seen := self.metg(place.round_trip)) is None:
            return
        if seen.relation != "=" or not place.grid[0] <= round(seen.iterations) <= place.grid[-1]:
            self._places.remove(place)  # the scout was misled: the next round here looks for the crossing again
        elif place.rounds == _CENTRED and not self.case.is_distributed:
            place.grid = measurement_grid(seen.iterations, _POINTS, _CLOSE, maximum=self._longest)

    def metg(self, round_trip: float | None) -> MetgEstimate | None:
        """At a distance of the cores; of all runs if it is None."""
        return metg_of(observations(at_distance(self.runs, round_trip)), self._plan.threshold)

    def progress(self, round_trip: float | None) -> Progress | None:
        seen = self.metg(round_trip)
        if seen is None:
            return None
        foreseen = seen.relative_half_width
        if not math.isfinite(foreseen):
            foreseen = metg_error(observations(at_distance(self.runs, round_trip)), self._plan.threshold)
        if self.runs[0].system_id in self._plan.disturbed and seen.rounds < SIMULATED_ROUNDS:
            foreseen = math.inf
        return Progress(self.case.place, seen, foreseen, seen.rounds)

    def _scout(self, round_trip: float | None) -> Generator[Ask, Sequence[GraphRun], _Place]:
        search = MetgSearch(self._plan.threshold, self._seconds, longest_task=LONGEST_TASK)
        while (iterations := search.next_iterations()) is not None:
            attempts = yield from self._run(iterations)
            for each in observations(attempts):
                search.add(each)
        assert search.bracket is not None
        crossing = search.bracket.iterations
        if self.case.is_distributed:
            grid = measurement_grid(_MEAN * crossing, _MEAN_POINTS, _MEAN_SPREAD, maximum=self._longest)
            return _Place(round_trip, search.bracket.relation, grid, ())
        grid = measurement_grid(crossing, _POINTS, maximum=self._longest)
        wide = {max(round(crossing * factor), 1) for factor in _WIDE if crossing * factor * self._seconds < _WIDE_TASK}
        return _Place(round_trip, search.bracket.relation, grid, tuple(sorted(wide - set(grid))))


class CurveQuestion(GraphQuestion):
    """A curve while it is made: in every round the same iterations, evenly in log, from 1 to the longest task."""

    def _measured(self) -> _Round:
        parts = self._plan.points - 1
        most = math.log(max(2.0, self._plan.longest_task / self._seconds))
        for iterations in sorted({round(math.exp(most * part / parts)) for part in range(parts + 1)}):
            yield from self._run(iterations)
