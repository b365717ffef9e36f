"""The common part of two sittings: the machine moves all rows, a program moves only its rows."""

import math
import random

import pytest

from tefflab.analysis.shift import FEWEST_OTHERS, Move, machine, own_changes
from tefflab.analysis.statistics import Interval

SEEDS = 300
ERROR = 0.03  # of a row's own intervals


def moves(
    seed: int, systems: int, *, shift: float = 1.10, spread: float = 0.02, first: float = 1.0, ways: int = 1
) -> list[Move]:
    """Rows of so many systems, the first of which changed by a factor."""
    drawn = random.Random(seed)
    found = []
    for system in range(systems):
        for _ in range(ways):
            size = math.log(shift) + drawn.gauss(0, spread) + drawn.gauss(0, ERROR)
            size += math.log(first) if system == 0 else 0.0
            ends = (math.exp(size + sign * 1.96 * ERROR) for sign in (0, -1, 1))
            found.append(Move(f"system_{system}", Interval(*ends), is_witness=True))
    return found


def changed(found: list[Move]) -> list[bool | None]:
    return [None if own is None else own.significant for own in own_changes(found)]


@pytest.mark.parametrize("spread", [0.0, 0.02, 0.05, 0.10])
@pytest.mark.parametrize("systems", [6, 10, 15])
def test_where_all_rows_move_together_by_a_tenth_one_of_twenty_is_said_to_have_changed(
    systems: int, spread: float
) -> None:
    rows = [each for seed in range(SEEDS) for each in changed(moves(seed, systems, spread=spread))]
    assert None not in rows
    assert sum(map(bool, rows)) <= 0.055 * len(rows)


def test_a_change_of_15_per_cent_of_one_of_ten_rows_is_found() -> None:
    assert sum(bool(changed(moves(seed, 10, first=1.15))[0]) for seed in range(SEEDS)) >= 0.8 * SEEDS


def test_the_machine_is_found_though_one_row_changed() -> None:
    held = close = 0
    for seed in range(SEEDS):
        found = machine(moves(seed, 12, first=2.0))
        assert found is not None
        held += found.ratio.low <= 1.10 <= found.ratio.high
        close += abs(found.ratio.value / 1.10 - 1) < 0.03
    assert held >= 0.92 * SEEDS
    assert close >= 0.9 * SEEDS


def test_a_row_is_not_judged_by_the_other_ways_of_its_own_system() -> None:
    """A change of a system moves all of them alike."""
    found = moves(1, 8, first=1.5, ways=3)
    assert changed(found)[:3] == [True] * 3
    assert own_changes(found[:9]) == [None] * 9, "three systems are too few"


def test_few_systems_and_rows_of_other_versions_say_nothing_of_the_machine() -> None:
    enough = moves(2, FEWEST_OTHERS + 1)
    assert None not in own_changes(enough)
    assert machine(enough) is not None
    others = [Move(each.system, each.ratio, is_witness=number > 1) for number, each in enumerate(enough)]
    assert own_changes(others)[2:] == [None] * 3
    assert machine(enough[:-2]) is None
    assert own_changes([]) == []
    assert machine([]) is None


def test_an_open_end_stays_open_and_the_other_is_judged() -> None:
    found = moves(3, 8)
    wide = Move("wide", Interval(2.2, 2.0, math.inf), is_witness=False)
    (own,) = own_changes([wide, *found])[:1]
    assert own is not None
    assert own.high == math.inf
    assert 1.5 < own.low < own.value < 2.2
    below = own_changes([Move("wide", Interval(0.5, 0.0, 0.6), is_witness=False), *found])[0]
    assert below is not None
    assert below.low == 0.0
    assert below.significant
    assert own_changes([Move("unknown", Interval(1.0, 0.0, math.inf), is_witness=False), *found])[0] is None


def test_rows_that_moved_exactly_alike_have_no_spread() -> None:
    alike = [Move(str(each), Interval(1.1, 1.1, 1.1), is_witness=True) for each in range(6)]
    found = machine(alike)
    assert found is not None
    assert found.spread == 0.0
    assert found.ratio.value == pytest.approx(1.1)
    assert not any(changed(alike))
