"""Five minutes of simulated time: the estimates of a sitting at their end, and whether they are true.

Of eight seeds seven do as well as this one on either of the first two hosts; one has 17 and one 16 rows within 10 %.
Where the cores are far apart for half of the time, ten seeds have 15 to 18. Intervals hold the truth in 96 % of rows.
"""

import pytest

from simulated_host import OFTEN_MOVED, PROGRAMS, RARELY_MOVED, STILL, Weather, sit

SEED = 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("weather", "wide", "narrow"),
    [(STILL, len(PROGRAMS), 5), (RARELY_MOVED, len(PROGRAMS), 5), (OFTEN_MOVED, 15, 4)],
    ids=["still", "rarely_moved", "often_moved"],
)
def test_five_minutes_suffice_for_eighteen_systems(
    weather: Weather, wide: int, narrow: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = sit(weather, SEED, monkeypatch)
    assert len(outcome.rows) == len(PROGRAMS)
    assert outcome.within(0.05, first=5) >= narrow, f"seed {SEED}: {outcome.rows[:5]}"
    assert outcome.within(0.10) >= wide, f"seed {SEED}: {outcome.rows}"
    assert len(outcome.missed()) <= 3, f"seed {SEED}: {outcome.missed()}"
