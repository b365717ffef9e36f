"""How far apart the cores were: the distances of a sitting's runs, and which of them its tables are about."""

import pytest

from tefflab.analysis.distance import Distance, places

NEAR, FAR, FARTHER = 50e-9, 330e-9, 900e-9


def runs_at(**counts: int) -> list[tuple[float, float]]:
    round_trips = {"near": NEAR, "far": FAR, "farther": FARTHER}
    return [(round_trips[name], 1.1 * round_trips[name]) for name, count in counts.items() for _ in range(count)]


@pytest.mark.parametrize(
    ("counts", "order"),
    [
        ({"near": 60, "far": 40}, [NEAR, FAR]),
        ({"near": 40, "far": 60}, [NEAR, FAR]),
        ({"far": 40, "near": 60}, [FAR, NEAR]),
        ({"far": 30, "near": 60}, [NEAR, FAR]),
        ({"farther": 30, "near": 34, "far": 36}, [FARTHER, NEAR, FAR]),
        ({"near": 20, "far": 80}, [FAR, NEAR]),
        ({"near": 4, "far": 96}, [FAR]),
        ({"near": 1, "far": 1}, [NEAR, FAR]),
    ],
)
def test_the_table_is_about_the_first_frequent_distance_until_another_has_twice_the_runs(
    counts: dict[str, int], order: list[float]
) -> None:
    found = places(runs_at(**counts))
    assert [each.round_trip for each in found if each] == [pytest.approx(1.05 * each) for each in order]


def test_going_on_with_a_sitting_leaves_its_table_at_its_distance() -> None:
    runs = runs_at(far=30, near=28)
    for more in (runs_at(near=20), runs_at(far=20), runs_at(farther=25)):
        first = places([*runs, *more])[0]
        assert first is not None
        assert first.round_trip == pytest.approx(1.05 * FAR)


def test_there_is_one_distance_where_none_was_measured_or_none_stayed() -> None:
    assert places([]) == places([None, None]) == [None]
    assert places([(NEAR, FAR), (FAR, NEAR)]) == [None]
    assert places([(NEAR, NEAR), (NEAR, FAR), None]) == [Distance(NEAR, 1.0)]
