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
        ({"near": 40, "far": 60}, [FAR, NEAR]),
        ({"near": 30, "far": 34, "farther": 36}, [FARTHER, NEAR, FAR]),
        ({"near": 4, "far": 96}, [FAR]),
        ({"near": 1, "far": 1}, [NEAR, FAR]),
    ],
)
def test_tables_are_about_the_distance_of_most_runs_and_then_the_others(
    counts: dict[str, int], order: list[float]
) -> None:
    found = places(runs_at(**counts))
    assert [each.round_trip for each in found if each] == [pytest.approx(1.05 * each) for each in order]


def test_there_is_one_distance_where_none_was_measured_or_none_stayed() -> None:
    assert places([]) == places([None, None]) == [None]
    assert places([(NEAR, FAR), (FAR, NEAR)]) == [None]
    assert places([(NEAR, NEAR), (NEAR, FAR), None]) == [Distance(NEAR, 1.0)]
