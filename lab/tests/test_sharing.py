"""The ideal time beside a competitor, and the share from which leaving a core is better."""

import math

import pytest

from tefflab.analysis.sharing import break_even, ideal_slowdown
from tefflab.analysis.statistics import Interval


def about(value: float, error: float = 0.0) -> Interval:
    return Interval(value, value * (1 - error), value * (1 + error))


@pytest.mark.parametrize(
    ("cores", "loaded", "share", "slowdown"),
    [(2, 1, 0.0, 1.0), (2, 1, 0.5, 4 / 3), (2, 1, 1.0, 2.0), (12, 1, 0.25, 12 / 11.75), (2, 2, 0.5, 2.0)],
)
def test_the_ideal_uses_all_that_is_left(cores: int, loaded: int, share: float, slowdown: float) -> None:
    assert ideal_slowdown(cores, loaded, share) == pytest.approx(slowdown)


def test_nothing_is_done_on_no_core() -> None:
    assert ideal_slowdown(1, 1, 1.0) == math.inf


def test_the_ideal_never_breaks_even_before_the_whole_core_is_lost() -> None:
    points = [(share / 100, about(ideal_slowdown(2, 1, share / 100))) for share in range(0, 100, 10)]
    assert break_even(points, about(2.0)).value is None


def test_a_curve_breaks_even_where_it_meets_the_time_without_the_core() -> None:
    points = [(0.0, about(1.0)), (0.25, about(1.5)), (0.5, about(3.0))]
    even = break_even(points, about(1.5 * math.sqrt(2)))
    assert even.value == pytest.approx(0.375)


def test_the_interval_of_a_break_even_share_holds_every_line_within_the_curve() -> None:
    points = [(0.0, about(1.0, 0.05)), (0.5, about(2.0, 0.05)), (0.9, about(4.0, 0.05))]
    even = break_even(points, about(2.0, 0.05))
    assert even.value == pytest.approx(0.5)
    assert even.low is not None
    assert even.high is not None
    assert even.low < 0.5 < even.high


def test_a_program_that_is_as_quick_without_the_core_should_leave_it_at_once() -> None:
    assert break_even([(0.0, about(1.0)), (0.5, about(1.1))], about(0.9)).value == 0.0
