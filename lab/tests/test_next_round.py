"""The choice of the next round: values in, a choice out."""

import math
import random
from collections import Counter

import pytest

from tefflab.analysis.statistics import LEAST_ROUNDS, NEVER, Interval, Progress
from tefflab.measure.next_round import (
    NARROW,
    WIDE,
    Standing,
    least_served,
    next_round,
    rounds_missing,
    wanted_half_widths,
)


def estimate(value: float, half_width: float, rounds: int = 5) -> Progress:
    ends = Interval(value, value * (1 - half_width), value * (1 + half_width))
    return Progress("one", ends, half_width, rounds)


def test_the_first_five_rows_and_neighbours_that_may_change_places_are_wanted_narrow() -> None:
    values = {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0, "e": 5.0, "f": 10.0, "g": 20.0, "h": 21.0, "i": 50.0}
    wanted = wanted_half_widths({name: estimate(value, 0.08) for name, value in values.items()} | {"new": None})
    assert {name for name, each in wanted.items() if each == NARROW} == {"a", "b", "c", "d", "e", "g", "h"}
    assert {wanted[name] for name in ("f", "i", "new")} == {WIDE}


def test_a_neighbour_of_whom_little_is_known_asks_no_more_of_a_row() -> None:
    table = {f"first_{i}": estimate(1e-3 * (i + 1), 0.05) for i in range(5)}
    wanted = wanted_half_widths(table | {"known": estimate(1.0, 0.08), "vague": estimate(2.0, 0.9)})
    assert wanted["known"] == wanted["vague"] == WIDE


@pytest.mark.parametrize(("had", "missing"), [(0, LEAST_ROUNDS), (1, LEAST_ROUNDS - 1), (9, 1)])
def test_who_is_unknown_lacks_the_least_rounds_and_then_one_at_a_time(had: int, missing: int) -> None:
    assert rounds_missing(None, WIDE, had) == missing


def test_rounds_are_foretold_as_many_as_it_takes() -> None:
    assert rounds_missing(estimate(1.0, 0.04, 5), NARROW, 5) == 0
    assert rounds_missing(estimate(1.0, 0.01, 3), NARROW, 3) == LEAST_ROUNDS - 3
    assert rounds_missing(estimate(1.0, math.inf, 3), WIDE, 3) == LEAST_ROUNDS - 3
    assert rounds_missing(estimate(1.0, math.inf, 8), WIDE, 8) == 8, "one more would not tell"
    # Student's t with 4 degrees of freedom is 2.776, with 8 it is 2.306. Half-widths of a spread s are 2.776 s sqrt(5 /
    # 4) / sqrt(5) = 1.388 s with five rounds, and 2.306 s sqrt(9 / 8) / sqrt(9) = 0.815 s with nine
    assert rounds_missing(estimate(1.0, 0.05 * 1.388 / 0.816, 5), NARROW, 5) == 4


def test_few_rounds_foretell_no_more_than_four_times_their_number() -> None:
    assert rounds_missing(estimate(1.0, 0.9, 4), WIDE, 4) == 16
    assert rounds_missing(estimate(1.0, 0.9, 20), WIDE, 20) == 80


def test_a_row_that_no_rounds_can_make_known_leaves_the_time_to_those_that_can() -> None:
    """As curves that run along the threshold: such a row had a third of five minutes, and was not known after it."""
    lacks = rounds_missing(estimate(1.0, NEVER, 4), WIDE, 4)
    flat, other = Standing("flat", 4, 4.0, lacks, lacks), Standing("other", 20, 1.0, 40, 80)
    assert next_round([flat, other], 200.0) == "other"
    assert next_round([flat, other], 200.0, latest="other") == "other"
    assert next_round([flat], 200.0) == "flat", "what is left is its"


def test_nobody_narrows_while_another_has_too_few_rounds_for_an_interval() -> None:
    """In a sitting of 23 systems one whose rounds take 11 s had one, and others 40."""
    quick, slow = Standing("quick", 9, 1.0, 20, 20), Standing("slow", 1, 11.0, 3, 3, starts_slowly=True)
    assert next_round([quick, slow], 400.0) == "slow"
    assert next_round([quick, slow], 400.0, latest="slow") == "quick"
    assert next_round([quick, slow], 23.0) == "slow"
    assert next_round([quick, slow], 21.0) == "quick", "it would get no interval"


def test_a_sitting_that_goes_on_for_a_short_time_serves_those_of_the_fewest_rounds() -> None:
    """Also if no round of them fits: the next time goes on amid it."""
    quick, slow, new = (
        Standing("quick", 9, 1.0, 20, 20),
        Standing("slow", 1, 11.0, 3, 3),
        Standing("new", 0, 30.0, 4, 4),
    )
    assert next_round([quick, slow], 5.0) == "quick"
    assert next_round([quick, slow], 5.0, goes_on=True) == "slow"
    assert next_round([quick, slow, new], 5.0, goes_on=True) == "new"
    assert next_round([quick], 5.0, goes_on=True) == "quick"


def test_where_time_is_short_one_that_has_begun_gets_its_interval_before_another_begins() -> None:
    begun, new = Standing("begun", 1, 10.0, 3, 3), Standing("new", 0, 10.0, 4, 4)
    assert next_round([begun, new], 60.0) == "new", "there is time for three rounds of both"
    assert next_round([begun, new], 45.0) == "begun"
    assert next_round([begun, new], 25.0, latest="begun") == "begun"
    assert next_round([begun, new], 35.0, latest="begun") == "new", "there is time for a first value"


def test_a_dear_one_waits_for_three_rounds_of_the_others_and_comes_before_they_are_narrowed() -> None:
    quick, dear = Standing("quick", 2, 1.0, 9, 9), Standing("dear", 0, 20.0, 4, 4, is_dear=True)
    assert next_round([quick, dear], 100.0, latest="quick") == "quick"
    quick = Standing("quick", 3, 1.0, 9, 9)
    assert next_round([quick, dear], 100.0, latest="quick") == "dear"
    assert next_round([quick, dear], 15.0, latest="quick") == "quick", "no round of the other fits"


def test_who_takes_seconds_to_start_is_launched_last_of_those_that_are_equally_far() -> None:
    for seed in range(20):
        names = [f"{seed}_{i}" for i in range(5)]
        had: Counter[str] = Counter()
        for _ in range(2 * len(names)):
            standings = [
                Standing(name, had[name], 1.0, 4 - had[name], 4 - had[name], name == names[2]) for name in names
            ]
            chosen = next_round(standings, 1e9)
            assert chosen is not None
            had[chosen] += 1
            if chosen == names[2]:
                assert set(had.values()) == {had[chosen]}, "the others have had this round"
        assert set(had.values()) == {2}


def test_everybody_moves_forward_by_the_same_share_of_what_it_needs_and_nobody_twice_in_a_row() -> None:
    needs = {"few": 4, "more": 8, "many": 12}
    had: Counter[str] = Counter()
    latest = None
    for _ in range(sum(needs.values())):
        missing = {name: needs[name] - had[name] for name in needs}
        standings = [Standing(name, had[name], 1.0, missing[name], missing[name]) for name in needs]
        chosen = next_round(standings, 1e9, latest)
        assert chosen is not None
        others_wait = any(missing[name] for name in needs if name != latest)
        assert chosen != latest or not others_wait
        had[chosen] += 1
        latest = chosen
        shares = [had[name] / needs[name] for name in needs if had[name] < needs[name]]
        assert not shares or max(shares) - min(shares) <= 0.45
    assert had == needs


def test_the_order_of_a_round_is_drawn_anew() -> None:
    names = [f"system_{i}" for i in range(6)]
    had: Counter[str] = Counter()
    orders = []
    for _ in range(4):
        order = []
        for _ in names:
            chosen = next_round([Standing(name, had[name], 1.0, 4, 4) for name in names], 1e9)
            assert chosen is not None
            had[chosen] += 1
            order.append(chosen)
        assert sorted(order) == names
        orders.append(tuple(order))
    assert len(set(orders)) == 4


def test_all_is_wide_before_anything_is_narrow_and_the_cheap_before_the_dear_where_time_is_short() -> None:
    cheap, dear = Standing("cheap", 4, 1.0, 0, 10), Standing("dear", 4, 20.0, 2, 2)
    assert next_round([cheap, dear], 45.0) == "dear"
    assert next_round([cheap, dear], 39.0) == "cheap"
    assert {next_round([cheap, dear], 60.0, latest) for latest in (None, "cheap", "dear")} == {"cheap", "dear"}
    out_of_reach, others = Standing("out_of_reach", 3, 30.0, 9, 9), Standing("others", 4, 1.0, 3, 3)
    assert next_round([out_of_reach, others], 200.0) == "others"


def test_time_in_which_nothing_can_be_finished_goes_to_what_still_fits() -> None:
    dear, dearer = Standing("dear", 3, 5.0, 4, 4), Standing("dearer", 2, 50.0, 4, 4)
    assert next_round([dear, dearer], 12.0) == "dear"
    assert next_round([dearer], 12.0) == "dearer"


def test_when_nothing_is_missing_nobody_add_round() -> None:
    assert next_round([Standing("one", 5, 1.0, 0, 0)], 100.0) is None
    assert next_round([], 100.0) is None


def test_where_nothing_is_at_stake_who_has_had_least_add_round() -> None:
    assert least_served({"cheap": (10.0, 1.0), "dear": (9.0, 13.0)}) == "cheap"
    assert least_served({"cheap": (30.0, 1.0), "dear": (9.0, 13.0)}) == "dear"
    assert least_served({}) is None


def test_any_standings_whatever_end() -> None:
    for seed in range(50):
        generator = random.Random(seed)
        costs = {f"system_{i}": math.exp(generator.uniform(-1, 3)) for i in range(10)}
        needs = {name: generator.randint(LEAST_ROUNDS, 20) for name in costs}
        had: Counter[str] = Counter()
        left, latest = generator.uniform(50, 500), None
        while left > 0:
            standings = []
            for name, cost in costs.items():
                missing = needs[name] - had[name]
                standings.append(Standing(name, had[name], cost, min(missing, 5), missing))
            latest = next_round(standings, left, latest)
            if latest is None:
                break
            assert had[latest] < needs[latest], f"seed {seed}"
            had[latest] += 1
            left -= costs[latest]
        assert left <= 0 or had == needs, f"seed {seed}"
