"""The line that pictures draw: it is the line that METG comes from, and beyond that it joins the medians."""

import numpy as np
import pytest

from tefflab.analysis.curves import CurvePoint, TracePoint, trace
from tefflab.analysis.statistics import Interval, MetgEstimate, Observation, median_interval, metg

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


def test_it_reaches_from_the_smallest_task_to_the_largest() -> None:
    runs = observed(0, 0.0)
    points = medians(runs)
    line = trace(runs, points, 0.5)
    for end, point in ((line[0], points[0]), (line[-1], points[-1])):
        assert end.granularity == pytest.approx(point.granularity.value, rel=1e-3)
        assert end.efficiency == pytest.approx(point.efficiency.value, rel=1e-3)
    for each in line:
        assert each.efficiency == pytest.approx(each.ideal / (OVERHEAD + 1.02 * each.ideal), rel=0.03)


def test_beyond_the_fit_it_passes_each_median() -> None:
    points = medians(observed(0, 0.3))
    line = trace(observed(0, 0.3), points, 0.5)
    beyond = {each.efficiency for each in line if not each.band}
    assert len(beyond) > 5
    assert beyond < {each.efficiency.value for each in points}
    assert [each.ideal for each in line] == sorted(each.ideal for each in line)


def test_runs_that_no_line_tells_apart_are_joined_by_their_medians_alone() -> None:
    runs = [Observation(round_, 100, 1e-6 * at, 0.5 * at) for round_, at in enumerate((0.9, 1.0, 1.1))]
    line = trace(runs, medians(runs), 0.5)
    assert [each.efficiency for each in line] == [pytest.approx(0.5)]
    assert not any(each.band for each in line)


def test_empty_tasks_have_no_line() -> None:
    point = CurvePoint(0, Interval(1e-6, 1e-6, 1e-6), Interval(0, 0, 0), Interval(0, 0, 0), 0.0, 1, 0)
    assert trace([Observation(0, 0, 1e-6, 0.0)], [point], 0.5) == ()
