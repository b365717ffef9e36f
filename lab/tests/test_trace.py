"""The line that pictures draw: it is the line that METG comes from, and beyond that it never turns."""

from itertools import pairwise

import numpy as np
import pytest

from tefflab.analysis.curves import CurvePoint, TracePoint
from tefflab.analysis.statistics import Interval, MetgEstimate, Observation, median_interval, metg
from tefflab.analysis.trace import trace

OVERHEAD, ITERATION = 2e-6, 1e-9


def observed(seed: int, noise: float, rounds: int = 5) -> list[Observation]:
    """Tasks from a hundredth of the overhead to a hundred times as long."""
    generator = np.random.default_rng(seed)
    found = []
    for round_ in range(rounds):
        for iterations in sorted({round(OVERHEAD / ITERATION * 1.6**step) for step in range(-9, 10)}):
            ideal = ITERATION * iterations
            taken = (OVERHEAD + 1.02 * ideal) * float(np.exp(noise * generator.standard_normal()))
            found.append(Observation(round_, iterations, taken, ideal / taken))
    return found


def medians(runs: list[Observation]) -> list[CurvePoint]:
    points = []
    for iterations in sorted({each.iterations for each in runs}):
        alike = [each for each in runs if each.iterations == iterations]
        granularity = median_interval([each.granularity for each in alike])
        efficiency = median_interval([each.efficiency for each in alike])
        points.append(CurvePoint(iterations, granularity, efficiency, efficiency, 0.0, len(alike), 0))
    return points


def traced(seed: int = 0, noise: float = 0.03, threshold: float = 0.5) -> tuple[tuple[TracePoint, ...], MetgEstimate]:
    runs = observed(seed, noise)
    return trace(runs, medians(runs), threshold), metg(runs, threshold)


def crossed(granularities: list[float], efficiencies: list[float], threshold: float) -> float:
    return float(np.exp(np.interp(threshold, efficiencies, np.log(granularities))))


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.8])
@pytest.mark.parametrize("seed", range(5))
def test_it_crosses_the_threshold_at_metg_and_its_band_does_at_the_ends_of_the_interval(
    seed: int, threshold: float
) -> None:
    line, estimate = traced(seed, threshold=threshold)
    fitted = [(each, each.band) for each in line if each.band]
    middle = crossed([each.granularity for each, _ in fitted], [each.efficiency for each, _ in fitted], threshold)
    assert middle == pytest.approx(estimate.value, rel=1e-3)
    for end, wanted in ((1, estimate.low), (0, estimate.high)):
        edge = [(each.ideal / band[end], band[end]) for each, band in fitted]
        assert crossed(*map(list, zip(*edge, strict=True)), threshold) == pytest.approx(wanted, rel=5e-3)


@pytest.mark.parametrize("noise", [0.0, 0.03, 0.3, 1.0])
@pytest.mark.parametrize("seed", range(5))
def test_beyond_the_fit_neither_granularity_nor_efficiency_ever_falls(seed: int, noise: float) -> None:
    line, _ = traced(seed, noise)
    for one, other in pairwise(line):
        if not (one.band and other.band):
            assert other.granularity >= one.granularity * (1 - 1e-3)
            assert other.efficiency >= one.efficiency * (1 - 1e-3)


def test_it_reaches_from_the_smallest_task_to_the_largest() -> None:
    runs = observed(0, 0.0)
    points = medians(runs)
    line = trace(runs, points, 0.5)
    for end, point in ((line[0], points[0]), (line[-1], points[-1])):
        assert end.granularity == pytest.approx(point.granularity.value, rel=1e-3)
        assert end.efficiency == pytest.approx(point.efficiency.value, rel=1e-3)
    for each in line:
        assert each.efficiency == pytest.approx(each.ideal / (OVERHEAD + 1.02 * each.ideal), rel=0.03)


def test_near_no_efficiency_it_stands_on_the_time_of_an_empty_task_and_passes_each_median() -> None:
    runs = [each for each in observed(0, 0.0) if each.efficiency < 0.12 or each.efficiency > 0.3]
    runs += [Observation(each.round, 1, OVERHEAD, ITERATION / OVERHEAD) for each in runs if each.iterations == 29]
    line = trace(runs, medians(runs), 0.5)
    foot = [each.granularity for each in line if each.efficiency < 0.05]
    assert foot == pytest.approx([OVERHEAD] * len(foot), rel=0.06)
    assert min(foot) > 0.999 * OVERHEAD
    beside = [each.granularity - each.ideal for each in line if each.efficiency < 0.4]
    assert beside == pytest.approx([OVERHEAD] * len(beside), rel=0.03), "no step between points that are far apart"


@pytest.mark.parametrize("seed", range(5))
def test_no_corner_of_it_is_sharp(seed: int) -> None:
    runs = observed(seed, 0.3)
    line = [each for each in trace(runs, medians(runs), 0.5) if not each.band]
    at, height = np.log([each.ideal for each in line]), np.log([each.efficiency for each in line])
    for left in (at < np.log(OVERHEAD), at > np.log(OVERHEAD)):
        slopes = np.diff(height[left]) / np.diff(at[left])
        assert np.abs(np.diff(slopes)).max() < 0.1, "a stair has slopes of 0 and 1 beside each other"


def test_runs_that_no_line_tells_apart_are_joined_by_their_medians_alone() -> None:
    runs = [Observation(round_, 100, 1e-6 * at, 0.5 * at) for round_, at in enumerate((0.9, 1.0, 1.1))]
    line = trace(runs, medians(runs), 0.5)
    assert [each.efficiency for each in line] == [pytest.approx(0.5)]
    assert not any(each.band for each in line)


def test_empty_tasks_have_no_line() -> None:
    point = CurvePoint(0, Interval(1e-6, 1e-6, 1e-6), Interval(0, 0, 0), Interval(0, 0, 0), 0.0, 1, 0)
    assert trace([Observation(0, 0, 1e-6, 0.0)], [point], 0.5) == ()
