"""The reasons why a run does not count, and the length of a run."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samples import good_record
from tefflab.benchmarks.task_graph.plan import FEWEST_STEPS, LEAST_SECONDS, MOST_SECONDS, STEPS, steps_for
from tefflab.benchmarks.task_graph.record import GraphRecord
from tefflab.measure.noise import is_noisy
from tefflab.records.record import parse_record


def record(rate: float = 100.0, **noise: float) -> GraphRecord:
    """With this rate [FLOP/s], over a second."""
    changes = {"elapsed_seconds": 1.0, "flops": int(rate * 1e6)}
    seen = good_record()["noise"] | {"round_trip_seconds": 100e-9} | noise
    return parse_record(json.dumps(good_record(**changes, noise=seen)), GraphRecord)


def noisy(run: GraphRecord, before: GraphRecord, after: GraphRecord) -> bool:
    return is_noisy(run, before, after, 100e6)


def test_a_calm_run_counts() -> None:
    assert not noisy(record(), record(100), record(103))


@pytest.mark.parametrize("where", ["gap_share_before", "gap_share_after"])
def test_gaps_beside_a_run_disturb_it(where: str) -> None:
    assert noisy(record(**{where: 0.2}), record(), record())


def test_one_low_ceiling_is_its_own_misfortune() -> None:
    assert not noisy(record(), record(100), record(50))
    assert not noisy(record(), record(50), record(100))


def test_two_ceilings_under_the_usual_disturb_the_run_between_them() -> None:
    assert noisy(record(), record(90), record(94))


def test_a_run_beyond_both_ceilings_says_that_they_were_disturbed() -> None:
    assert noisy(record(130), record(100), record(101))
    assert not noisy(record(120), record(100), record(101))
    assert not noisy(record(130), record(50), record(110))


def test_a_core_that_is_moved_meanwhile_disturbs_the_run() -> None:
    assert noisy(record(), record(round_trip_seconds=50e-9), record(round_trip_seconds=200e-9))
    assert noisy(record(), record(round_trip_seconds=200e-9), record(round_trip_seconds=50e-9))


@given(st.floats(1e-9, 1.0), st.integers(1, 64), st.integers(1, 16))
def test_a_run_lasts_and_is_tall_and_gives_way_only_to_long_tasks(granularity: float, width: int, workers: int) -> None:
    steps = steps_for(granularity, width, workers)
    seconds = steps * granularity * width / workers
    assert steps >= FEWEST_STEPS
    assert seconds >= LEAST_SECONDS * (1 - 1e-9)
    if steps < STEPS:
        assert seconds >= 0.9 * MOST_SECONDS
