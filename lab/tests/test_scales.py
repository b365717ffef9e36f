"""Log axes hold their values and have few, round ticks."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tefflab.output.scales import log_axis

VALUES = st.lists(st.floats(1e-12, 1e12), min_size=1, max_size=5)


@given(VALUES, st.integers(3, 9))
def test_an_axis_holds_its_values_and_has_at_least_two_labels_and_not_too_many(values: list[float], most: int) -> None:
    axis = log_axis(values, most)
    assert all(axis.low < value < axis.high for value in values)
    assert 2 <= len(axis.majors) <= most
    assert all(axis.low <= tick <= axis.high for tick in (*axis.majors, *axis.minors))
    assert not set(axis.majors) & set(axis.minors)


@given(VALUES)
def test_a_value_is_placed_where_its_logarithm_lies(values: list[float]) -> None:
    axis = log_axis(values)
    for value in values:
        assert math.isclose(axis.low * (axis.high / axis.low) ** axis.place(value), value, rel_tol=1e-9)


def test_what_lies_beyond_is_placed_at_the_end() -> None:
    axis = log_axis([1, 100])
    assert [axis.place(value) for value in (0.0, 1e-9, 1e9, math.inf)] == [0, 0, 1, 1]


@pytest.mark.parametrize("values", [[], [0.0], [math.inf]])
def test_nothing_to_show_is_shown_on_an_axis_all_the_same(values: list[float]) -> None:
    assert len(log_axis(values).majors) >= 2


def test_short_axes_have_more_labels_in_a_decade_than_long_ones() -> None:
    assert log_axis([1e-6, 2e-6], padding=0).majors == (1e-6, 1.5e-6, 2e-6)
    assert log_axis([1e-7, 1e-3], padding=0).majors == (1e-7, 1e-6, 1e-5, 1e-4, 1e-3)
