"""The scout and the grid against simulated systems, and a whole sitting: scout, rounds, METG."""

import math
import statistics
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulated import QUIET, SECONDS_PER_ITERATION, Noise, SimulatedSystem
from tefflab.analysis.search import Bracket, MetgSearch, measurement_grid
from tefflab.analysis.statistics import LEAST_ROUNDS, Observation, metg

OVERHEADS = [20e-9, 50e-9, 1e-6, 10e-6, 2e-3, 50e-3]
SEEDS = 100


def scouted(
    run: Callable[[int, int], Observation], threshold: float = 0.5, **limits: float
) -> tuple[Bracket, list[Observation]]:
    """The scout's bracket, and the runs it took."""
    search = MetgSearch(threshold, SECONDS_PER_ITERATION, **limits)  # type: ignore[arg-type]
    runs: list[Observation] = []
    while (iterations := search.next_iterations()) is not None:
        assert search.bracket is None
        assert search.next_iterations() == iterations
        runs.append(run(0, iterations))
        search.add(runs[-1])
        assert len(runs) < 60, f"the scout does not end: {[each.iterations for each in runs]}"
    assert search.bracket is not None
    return search.bracket, runs


class Spiked:
    """A system some of whose runs, by number, take `factor` times as long."""

    def __init__(self, system: SimulatedSystem, spikes: Sequence[int], factor: float) -> None:
        self._system, self._spikes, self._factor, self._runs = system, spikes, factor, 0

    def run(self, launch: int, iterations: int) -> Observation:
        seen = self._system.run(launch, iterations)
        self._runs += 1
        if self._runs - 1 not in self._spikes:
            return seen
        return Observation(launch, iterations, seen.granularity * self._factor, seen.efficiency / self._factor)


@settings(max_examples=200, deadline=None)
@given(st.floats(math.log(20e-9), math.log(50e-3)).map(math.exp), st.floats(0.3, 0.7))
def test_calm_scout_needs_three_runs(overhead: float, threshold: float) -> None:
    system = SimulatedSystem(overhead, (0,), QUIET)
    bracket, runs = scouted(system.run, threshold)
    assert len(runs) <= 3
    assert bracket.relation == "="
    assert bracket.lower <= system.crossing(threshold) <= bracket.upper
    assert bracket.iterations == pytest.approx(system.crossing(threshold), rel=0.25)


@pytest.mark.parametrize("overhead", OVERHEADS)
def test_noisy_scout_finds_the_crossing_with_few_runs(overhead: float) -> None:
    counts, strayed = [], []
    for seed in range(SEEDS):
        system = SimulatedSystem(overhead, (seed,))
        bracket, runs = scouted(system.run)
        counts.append(len(runs))
        if bracket.relation != "=" or not 0.5 < bracket.iterations / system.crossing() < 2:
            strayed.append(seed)
    assert statistics.median(counts) <= 3
    assert np.percentile(counts, 90) <= 12
    assert len(strayed) <= 2, f"far from the crossing with the seeds {strayed}"


@pytest.mark.parametrize("factor", [2, 5, 100])
@pytest.mark.parametrize("spiked", [0, 1, 2, 3])
@pytest.mark.parametrize("overhead", OVERHEADS)
def test_lone_spike_does_not_fake_a_crossing(overhead: float, spiked: int, factor: float) -> None:
    system = SimulatedSystem(overhead, (0,), QUIET)
    bracket, _runs = scouted(Spiked(system, [spiked], factor).run)
    assert bracket.relation == "="
    assert bracket.lower <= system.crossing() <= bracket.upper


@pytest.mark.parametrize("spiked", [0, 1, 2, 3])
def test_lone_spike_does_not_fake_a_bound(spiked: int) -> None:
    efficient = SimulatedSystem(1e-9, (0,), QUIET)
    assert scouted(Spiked(efficient, [spiked], 50).run)[0].relation == "<"
    noisy_ceiling = Spiked(SimulatedSystem(1e-6, (0,), QUIET), [spiked], 1 / 500)
    assert scouted(noisy_ceiling.run)[0].relation == "="


def test_efficient_at_the_fewest_iterations_is_an_upper_bound_found_with_two_runs() -> None:
    bracket, runs = scouted(SimulatedSystem(1e-9, (0,), QUIET).run)
    assert bracket == Bracket("<", 1, 1, 1.0)
    assert len(runs) == 2


@pytest.mark.parametrize(("overhead", "slowdown"), [(1e-3, 2.0), (1e-6, 2.5), (1e-6, 100.0), (50e-9, 2.001)])
def test_efficiency_never_reached_is_a_lower_bound_at_the_limit(overhead: float, slowdown: float) -> None:
    system = SimulatedSystem(overhead, (0,), QUIET, slowdown=slowdown)
    bracket, runs = scouted(system.run, maximum=100_000)
    assert bracket == Bracket(">", 100_000, 100_000, 100_000.0)
    assert len(runs) <= 12
    assert len(scouted(system.run)[1]) <= 13
    bracket, runs = scouted(system.run, longest_task=1e-4)
    assert bracket.relation == ">"
    assert max(each.iterations for each in runs) == round(1e-4 / SECONDS_PER_ITERATION)


def test_crossing_between_the_first_two_integers_is_bracketed_by_them() -> None:
    system = SimulatedSystem(9.5e-9, (0,), QUIET)
    bracket, _runs = scouted(system.run)
    assert 1 < system.crossing() < 2
    assert bracket.relation == "="
    assert (bracket.lower, bracket.upper) == (1, 2) or bracket.upper <= 6


def test_of_two_crossings_among_the_points_measured_the_upper_is_taken() -> None:
    search = MetgSearch(0.5, SECONDS_PER_ITERATION)
    for iterations, efficiency in ((1, 0.01), (100, 0.35), (400, 0.7), (1600, 0.35), (6400, 0.7)):
        for _ in range(5):
            search.add(Observation(0, iterations, 1e-6, efficiency))
    assert search.next_iterations() is None
    assert search.bracket is not None
    assert (search.bracket.lower, search.bracket.upper) == (1600, 6400)
    assert 1600 < search.bracket.iterations < 6400


@pytest.mark.parametrize("plateau", [1.9, 2.01, 2.5])
def test_curve_unlike_the_model_is_bracketed_all_the_same(plateau: float) -> None:
    def shape(iterations: int) -> float:
        """Seconds: a tenth at first, then in proportion to the work, which is a plateau under the threshold, then
        none."""
        return 0.1 if iterations < 10 else plateau * 5e-9 * (iterations + 0.5) if iterations < 10**6 else 0.0

    bracket, runs = scouted(SimulatedSystem(1.0, (0,), QUIET, shape=shape).run)
    assert bracket.lower < 10**6 <= bracket.upper <= 6 * bracket.lower
    assert len(runs) <= 15


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32), st.floats(0.1, 0.95))
def test_scout_ends_even_where_efficiency_is_mere_chance(seed: int, threshold: float) -> None:
    generator = np.random.default_rng(seed)
    bracket, _runs = scouted(
        lambda launch, iterations: Observation(launch, iterations, 1e-6, generator.uniform(0.01, 1.5)), threshold
    )
    assert bracket.lower <= bracket.iterations <= bracket.upper


def test_limits_that_cannot_be_are_refused_with_their_reason() -> None:
    with pytest.raises(ValueError, match=r"threshold 0 must lie between"):
        MetgSearch(0, 1e-9)
    with pytest.raises(ValueError, match=r"seconds per iteration 0\.0 must be positive"):
        MetgSearch(0.5, 0.0)
    with pytest.raises(ValueError, match="efficiency 0 of a run must be positive"):
        MetgSearch(0.5, 1e-9).add(Observation(0, 1, 1e-6, 0))
    with pytest.raises(ValueError, match="points 1 must be at least 2"):
        measurement_grid(100, points=1)


@settings(max_examples=300, deadline=None)
@given(st.floats(0.1, 1e9), st.integers(2, 12), st.floats(1.3, 4), st.integers(0, 2**26))
def test_grid_is_ascending_within_the_limits_and_on_both_sides_of_the_crossing(
    crossing: float, points: int, spread: float, room: int
) -> None:
    maximum = 1 + room
    grid = measurement_grid(crossing, points, spread, maximum)
    assert list(grid) == sorted(set(grid))
    assert 1 <= grid[0] <= grid[-1] <= maximum
    assert len(grid) <= points
    if 1 < crossing < maximum:
        assert grid[0] <= crossing <= grid[-1]
    if room >= 8 * points:
        assert len(grid) >= min(points, 3)


def test_grid_is_even_in_log_and_takes_all_integers_where_there_are_few() -> None:
    assert measurement_grid(1000) == (500, 660, 871, 1149, 1516, 2000)
    assert measurement_grid(2.3) == (1, 2, 3, 4, 5, 6)
    assert measurement_grid(1) == (1, 2, 3, 4)
    assert measurement_grid(1000, maximum=1000) == (500, 574, 660, 758, 871, 1000)


@pytest.mark.slow
@pytest.mark.parametrize("overhead", [20e-9, 1e-6, 2e-3])
def test_whole_sitting_holds_the_true_metg_in_95_of_100(overhead: float) -> None:
    missed, widths = [], []
    for seed in range(SEEDS):
        system = SimulatedSystem(overhead, (seed, 3), Noise(drift=0.1))
        bracket, runs = scouted(system.run)
        around = bracket.iterations
        for launch in range(1, 6):
            runs += [system.run(launch, iterations) for iterations in measurement_grid(around)]
            around = metg(runs).iterations
        estimate = metg(runs)
        if not estimate.low <= system.metg() * system.mean_speed <= estimate.high:
            missed.append(seed)
        widths.append(estimate.relative_half_width)
    assert len(missed) <= 5, f"the truth lay outside the interval with the seeds {missed}"
    assert np.median(widths) < 0.09


def test_sitting_that_ends_when_the_interval_is_narrow_holds_the_true_metg_where_launches_differ() -> None:
    missed = []
    for seed in range(SEEDS):
        system = SimulatedSystem(1e-6, (seed, 5), Noise(drift=0.02, launch=0, launch_overhead=0.05))
        bracket, runs = scouted(system.run)
        for launch in range(1, 25):
            runs += [system.run(launch, iterations) for iterations in measurement_grid(bracket.iterations)]
            if launch + 1 >= LEAST_ROUNDS and metg(runs).relative_half_width <= 0.05:
                break
        estimate = metg(runs)
        if not estimate.low <= system.metg() * system.mean_speed <= estimate.high:
            missed.append(seed)
    assert len(missed) <= 5, f"the truth lay outside the interval with the seeds {missed}"
