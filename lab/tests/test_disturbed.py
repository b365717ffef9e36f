"""What makes a run not count, and how long a run is made."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samples import good_record
from tefflab.benchmarks.shape import FEWEST_STEPS, LEAST_SECONDS, MOST_SECONDS, STEPS, steps_for
from tefflab.measure.noisy import is_disturbed
from tefflab.records.record import Record, parse_line


def record(rate: float = 100.0, **disturbance: float) -> Record:
    """With this rate [FLOP/s], over a second."""
    changes = {"elapsed_seconds": 1.0, "flops": int(rate * 1e6)}
    seen = good_record()["disturbance"] | {"round_trip_seconds": 100e-9} | disturbance
    return parse_line(json.dumps(good_record(**changes, disturbance=seen)))


def disturbed(run: Record, before: Record, after: Record) -> bool:
    return is_disturbed(run, before, after, 100e6)


def test_a_calm_run_counts() -> None:
    assert not disturbed(record(), record(100), record(103))


@pytest.mark.parametrize("where", ["gap_share_before", "gap_share_after"])
def test_gaps_beside_a_run_disturb_it(where: str) -> None:
    assert disturbed(record(**{where: 0.2}), record(), record())


def test_one_low_ceiling_is_its_own_misfortune() -> None:
    assert not disturbed(record(), record(100), record(50))
    assert not disturbed(record(), record(50), record(100))


def test_two_ceilings_under_the_usual_disturb_the_run_between_them() -> None:
    assert disturbed(record(), record(90), record(94))


def test_a_core_that_is_moved_meanwhile_disturbs_the_run() -> None:
    assert disturbed(record(), record(round_trip_seconds=50e-9), record(round_trip_seconds=200e-9))
    assert disturbed(record(), record(round_trip_seconds=200e-9), record(round_trip_seconds=50e-9))


@given(st.floats(1e-9, 1.0), st.integers(1, 64), st.integers(1, 16))
def test_a_run_lasts_and_is_tall_and_gives_way_only_to_long_tasks(granularity: float, width: int, workers: int) -> None:
    steps = steps_for(granularity, width, workers)
    seconds = steps * granularity * width / workers
    assert steps >= FEWEST_STEPS
    assert seconds >= LEAST_SECONDS * (1 - 1e-9)
    if steps < STEPS:
        assert seconds >= 0.9 * MOST_SECONDS
