"""The knowledge of a running sitting about a variant at each distance of the cores."""

import math
from collections.abc import Callable, Generator, Sequence
from pathlib import Path

import pytest

from samples import run
from simulated_program import ROUND_TRIP
from simulated_sitting import Silent, begun, graphs, measured, plan, variant
from tefflab.analysis.statistics import FEWEST_ROUNDS, Interval, Progress
from tefflab.benchmarks.benchmark import Ask, Question, Round
from tefflab.benchmarks.task_graph.record import GraphRecord
from tefflab.measure.runner import Runner
from tefflab.measure.sitting import Entry
from tefflab.records.plan import Case
from tefflab.records.run import Run
from tefflab.systems.systems import Program

NEAR, FAR = 50e-9, 330e-9
PROGRAM = Program(benchmark="task_graph", name="plain", title="Sample", program="sample")


class Counting(Question[GraphRecord]):
    def round(self) -> Generator[Ask, Sequence[Run[GraphRecord]], None]:
        yield Ask("")

    def progress(self, round_trip: float | None) -> Progress | None:
        """Its value is how many runs it is made of."""
        runs = len([each for each in self.runs if each.round_trips == (round_trip, round_trip)])
        return Progress("one", Interval(runs, 0.9 * runs, 1.1 * runs), 0.1, self.rounds) if runs else None


def test_a_launch_in_which_the_cores_are_moved_counts_at_both_distances() -> None:
    question = Counting(Case(name="one", flags="", workers=2))
    entry = Entry(Round(variant("one"), 2, [question], "one"), PROGRAM)
    assert entry.at(None).progress == [None]
    for number, trips in enumerate([(NEAR,), (NEAR, NEAR, FAR), (FAR,)]):
        question.add([run(round=number, round_trips=(each, each)) for each in trips])
        entry.add_round(seconds=1.0)
        known = {each: entry.at(each) for each in (NEAR, FAR)}
        values = [[each.value.value if each else None for each in known[trip].progress] for trip in (NEAR, FAR)]
        assert values == [[[1], [None]], [[3], [1]], [[3], [2]]][number]
        assert [known[trip].rounds for trip in (NEAR, FAR)] == [[1, 0], [2, 1], [2, 2]][number]
    assert entry.rounds == 3


def test_few_rounds_show_no_interval() -> None:
    question = Counting(Case(name="one", flags="", workers=2))
    entry = Entry(Round(variant("one"), 2, [question], "one"), PROGRAM)
    shown = []
    for number in range(FEWEST_ROUNDS):
        question.add([run(round=number, round_trips=(NEAR, NEAR))])
        entry.add_round(seconds=1.0)
        shown += [each.half_width for each in entry.at(NEAR).progress if each]
    assert shown == [math.inf, math.inf, pytest.approx(0.1)]


def test_a_sitting_that_goes_on_knows_from_its_store_where_the_cores_were(laboratory: Callable[..., Path]) -> None:
    root, wanted = laboratory(quick=(1e-6, "fine")), plan("quick")
    store, sitting = begun(root, wanted)
    with store:
        measured(root, store, sitting, Silent(), rounds=1)
        runner = Runner(root, store, sitting.sitting, graphs())
        (one,) = graphs().rounds(wanted, {("", case): runner.calibrate(case) for case in wanted.cases})
        assert runner.round_trip is None
        with runner.begin(one, PROGRAM):
            runner.ask(one.questions[0], 0, lambda _: False)
        runner.close()
    assert runner.round_trip == pytest.approx(ROUND_TRIP)
