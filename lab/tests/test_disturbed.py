"""What makes a run not count, and how long a run is made."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samples import good_record
from tefflab.disturbed import is_disturbed
from tefflab.record import Disturbance
from tefflab.shape import FEWEST_STEPS, LEAST_SECONDS, MOST_SECONDS, STEPS, steps_for

CALM = Disturbance(**good_record()["disturbance"])


def test_a_calm_run_counts() -> None:
    assert not is_disturbed(CALM, 100.0, 103.0, 101.0)


@pytest.mark.parametrize("where", ["gap_share_before", "gap_share_after"])
def test_gaps_beside_a_run_disturb_it(where: str) -> None:
    assert is_disturbed(CALM.model_copy(update={where: 0.2}), 100.0, 100.0, 100.0)


def test_one_low_ceiling_is_its_own_misfortune() -> None:
    assert not is_disturbed(CALM, 100.0, 50.0, 100.0)
    assert not is_disturbed(CALM, 50.0, 100.0, 100.0)


def test_two_ceilings_under_the_usual_disturb_the_run_between_them() -> None:
    assert is_disturbed(CALM, 90.0, 94.0, 100.0)


@given(st.floats(1e-9, 1.0), st.integers(1, 64), st.integers(1, 16))
def test_a_run_lasts_and_is_tall_and_gives_way_only_to_long_tasks(granularity: float, width: int, workers: int) -> None:
    steps = steps_for(granularity, width, workers)
    seconds = steps * granularity * width / workers
    assert steps >= FEWEST_STEPS
    assert seconds >= LEAST_SECONDS * (1 - 1e-9)
    if steps < STEPS:
        assert seconds >= 0.9 * MOST_SECONDS
