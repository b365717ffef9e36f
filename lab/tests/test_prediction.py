"""Where a program's tasks become as short as METG: the arithmetic, the command, its pictures and its errors."""

import math
from itertools import pairwise

import pytest

from tefflab.analysis.prediction import Limit, Program, limit
from tefflab.analysis.statistics import Interval

NODES = (1, 2, 4, 8, 16, 32, 64, 128, 256)


def exactly(value: float) -> Interval:
    return Interval(value, value, value)


def growing(power: float, first: float = 5e-6) -> dict[int, Interval]:
    """METG that grows with the nodes by a power law, known exactly."""
    return {nodes: exactly(first * nodes**power) for nodes in NODES}


@pytest.mark.parametrize("power", [0.0, 0.2, 0.5, 1.0])
@pytest.mark.parametrize("share", [1.0, 0.5, 0.8])
def test_a_power_law_is_met_where_its_closed_form_says(power: float, share: float) -> None:
    """S N METG(N) = T / p, with METG(N) = first * N ** power."""
    program = Program(seconds=3.0, tasks=5000)
    found = limit(program, growing(power), share)
    nodes = (program.task_on(1, share) / 5e-6) ** (1 / (1 + power))
    assert found.nodes.value == pytest.approx(nodes, rel=1e-9)
    assert found.nodes.relation == "="
    assert found.seconds.value == pytest.approx(3.0 / share / nodes, rel=1e-9)


def factors(metg: dict[int, Interval], program: Program, share: float = 0.5) -> tuple[float, float]:
    """Of the paper's table 6: the program's own limit over the ideal one, in nodes and in time."""
    own, ideal = limit(program, metg, share), limit(program, metg)
    return own.nodes.value / ideal.nodes.value, own.seconds.value / ideal.seconds.value


# Nodes and time of the four rows of the paper's table 6.
TABLE_6 = [(1.64, 1.26), (1.75, 1.15), (1.43, 1.29), (1.96, 1.26)]


@pytest.mark.parametrize(("nodes", "time"), TABLE_6)
def test_table_6_tells_how_steep_metg_is_between_the_two_limits(nodes: float, time: float) -> None:
    """The factors are 2 ** (1 / (1 + a)) and 2 ** (a / (1 + a)) if METG grows as nodes ** a. The paper's two factors of
    a row, whose product is 1.84 to 2.47, give an a of which ours are within 18 %."""
    power = math.log(time) / math.log(nodes)
    got = factors(growing(power), Program(seconds=1.0, tasks=2000))
    assert math.prod(got) == pytest.approx(2.0)
    assert got == pytest.approx((nodes, time), rel=0.18)


@pytest.mark.parametrize("share", [0.5, 0.8, 0.9])
def test_the_two_factors_multiply_to_one_over_the_threshold_whatever_metg_is(share: float) -> None:
    bumpy = {nodes: exactly(5e-6 * nodes**0.3 * (1.3 if nodes in (4, 32) else 1.0)) for nodes in NODES}
    for seconds in (0.2, 0.5, 1.0):
        assert math.prod(factors(bumpy, Program(seconds=seconds, tasks=2000), share)) == pytest.approx(1 / share)


def test_the_paper_s_charm_is_found_again_from_two_limits() -> None:
    """The paper says limit-ideal at 55 nodes and 0.068 s, limit-actual at 67 nodes and 0.086 s, of 1000 tasks a core.
    Its limits are where METG * 1000 crosses: two points of METG."""
    metg = {55: exactly(0.068 / 1000), 67: exactly(0.086 / 1000)}
    found = limit(Program(seconds=67 * 0.086 / 2, tasks=1000), metg, 0.5)
    assert found.nodes.value == pytest.approx(67, rel=1e-9)
    assert found.seconds.value == pytest.approx(0.086, rel=1e-9)


def test_an_interval_of_metg_gives_that_of_nodes_and_the_other_way_round_that_of_time() -> None:
    """Longer tasks on fewer nodes: each end is the limit of the other end of METG."""
    metg = {nodes: Interval(each.value, each.value / 1.2, each.value * 1.3) for nodes, each in growing(0.5).items()}
    program = Program(seconds=3.0, tasks=5000)
    found = limit(program, metg, 0.5)
    ends = [
        limit(program, {at: exactly(value) for at, value in of.items()}, 0.5)
        for of in (
            {at: each.high for at, each in metg.items()},
            {at: each.low for at, each in metg.items()},
        )
    ]
    assert (found.nodes.low, found.nodes.high) == tuple(each.nodes.value for each in ends)
    assert (found.seconds.high, found.seconds.low) == tuple(each.seconds.value for each in ends)
    assert found.nodes.low < found.nodes.value < found.nodes.high


def test_beyond_what_was_measured_the_limit_is_a_bound() -> None:
    metg = growing(0.5)
    far = limit(Program(seconds=1000.0, tasks=1000), metg, 0.5)
    assert (far.nodes.value, far.nodes.relation, far.nodes.high) == (256, ">", math.inf)
    assert (far.seconds.value, far.seconds.relation, far.seconds.low) == (2 * 1000 / 256, "<", 0)
    near = limit(Program(seconds=1e-3, tasks=1000), metg, 0.5)
    assert (near.nodes.value, near.nodes.relation, near.nodes.low) == (1, "<", 0)
    assert (near.seconds.relation, near.seconds.high) == (">", math.inf)


def test_an_interval_that_leaves_what_was_measured_is_open_there() -> None:
    metg = {nodes: Interval(each.value, each.value / 3, each.value * 3) for nodes, each in growing(0.0).items()}
    found = limit(Program(seconds=200 * 5e-6, tasks=2), metg, 0.5)
    assert found.nodes.value == pytest.approx(200)
    assert found.nodes.relation == "="
    assert found.nodes.low == pytest.approx(200 / 3)
    assert found.nodes.high == math.inf


def test_a_metg_that_is_a_bound_makes_the_limit_a_bound() -> None:
    """METG is at most so long: then at least so many nodes keep busy."""
    metg = growing(0.5) | {64: Interval(4e-5, 0.0, 4.4e-5, "<")}
    program = Program(seconds=60 * 3.9e-5, tasks=2)
    found = limit(program, metg, 0.5)
    assert found.nodes.relation == ">"
    assert found.seconds.relation == "<"
    assert 32 < found.nodes.value < 64 < found.nodes.high
    open_above = metg | {64: Interval(4e-5, 3.9e-5, math.inf, ">")}
    found = limit(program, open_above, 0.5)
    assert found.nodes.relation == "<"
    assert found.nodes.low == 32, "METG may be any time at 64 nodes"


def test_more_time_or_fewer_tasks_use_more_nodes() -> None:
    def nodes(seconds: float, tasks: float) -> float:
        return limit(Program(seconds=seconds, tasks=tasks), growing(0.4), 0.5).nodes.value

    assert all(nodes(less, 1000) < nodes(more, 1000) for less, more in pairwise([0.01, 0.1, 0.5, 1.0]))
    assert all(nodes(0.5, less) > nodes(0.5, more) for less, more in pairwise([1000, 2000, 9000]))


@pytest.mark.parametrize("share", [0.5, 0.8])
@pytest.mark.parametrize("power", [0.0, 0.5, 1.0])
def test_a_graph_of_fixed_work_has_its_limit_where_it_is_predicted_but_for_its_overhead_on_one_node(
    power: float, share: float
) -> None:
    """Overhead grows with the nodes. Efficiency is the share of all nodes' time that one node would need, whose own
    overhead of a per cent is all that the prediction does not know."""
    work, overhead = 500e-6, 5e-6

    def efficiency(nodes: float) -> float:
        return (work + overhead) / nodes / (work / nodes + overhead * nodes**power)

    metg = {nodes: exactly(overhead * nodes**power / (1 - share)) for nodes in NODES}
    found = limit(Program(seconds=1000 * (work + overhead), tasks=1000), metg, share).nodes.value
    low, high = 1.0, 256.0
    while high / low > 1 + 1e-6:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if efficiency(middle) > share else (low, middle)
    assert found == pytest.approx(low, rel=overhead / work / (1 - share))
    assert found != pytest.approx(low, rel=1e-4)


def test_one_number_of_nodes_tells_no_limit() -> None:
    with pytest.raises(ValueError, match="METG at 1 number of nodes tells no limit; it takes two"):
        limit(Program(seconds=1.0, tasks=1000), {1: exactly(5e-6)})


def test_the_first_crossing_counts_if_metg_falls_again() -> None:
    metg = growing(0.0) | {8: exactly(5e-5)}
    found: Limit = limit(Program(seconds=5e-5, tasks=1), metg, 0.5)
    assert 4 < found.nodes.value < 8
