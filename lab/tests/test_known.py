"""The knowledge of a running sitting about a variant at each distance of the cores."""

import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from samples import run
from simulated_program import ROUND_TRIP
from simulated_sitting import Silent, begun, graphs, measured, plan, variant
from tefflab.analysis.statistics import FEWEST_ROUNDS
from tefflab.benchmarks.benchmark import Ask, Launch, Question
from tefflab.benchmarks.task_graph.record import GraphRecord
from tefflab.measure.runner import Runner
from tefflab.measure.sitting import Entry
from tefflab.records.plan import Case
from tefflab.records.run import Run
from tefflab.systems.systems import Program

NEAR, FAR = 50e-9, 330e-9
PROGRAM = Program(benchmark="task_graph", name="plain", title="Sample", program="sample")


@dataclass(frozen=True)
class Counted:
    """An estimate that says how many runs it is made of."""

    value: float
    low: float = 0.0
    high: float = 1.0
    relative_half_width: float = 0.1


class Counting(Question[GraphRecord]):
    def round(self) -> Generator[Ask, Sequence[Run[GraphRecord]], None]:
        yield Ask("")

    def estimate(self, round_trip: float | None) -> Counted | None:
        known = [each for each in self.runs if each.round_trips == (round_trip, round_trip)]
        return Counted(len(known)) if known else None


def test_a_launch_in_which_the_cores_are_moved_counts_at_both_distances() -> None:
    question = Counting(Case(name="one", flags="", workers=2))
    entry = Entry(Launch(variant("one"), 2, [question], "one"), PROGRAM)
    assert entry.at(None).estimates == [None]
    for number, trips in enumerate([(NEAR,), (NEAR, NEAR, FAR), (FAR,)]):
        question.add([run(round=number, round_trips=(each, each)) for each in trips])
        entry.is_launched(seconds=1.0)
        known = {each: entry.at(each) for each in (NEAR, FAR)}
        values = [[each.value if each else None for each in known[trip].estimates] for trip in (NEAR, FAR)]
        assert values == [[[1], [None]], [[3], [1]], [[3], [2]]][number]
        assert [known[trip].rounds for trip in (NEAR, FAR)] == [[1, 0], [2, 1], [2, 2]][number]
    assert entry.launches == 3


def test_few_rounds_show_no_interval() -> None:
    question = Counting(Case(name="one", flags="", workers=2))
    entry = Entry(Launch(variant("one"), 2, [question], "one"), PROGRAM)
    shown = []
    for number in range(FEWEST_ROUNDS):
        question.add([run(round=number, round_trips=(NEAR, NEAR))])
        entry.is_launched(seconds=1.0)
        shown += [each.half_width for each in entry.at(NEAR).progress]
    assert shown == [math.inf, math.inf, 0.1]


def test_a_sitting_that_goes_on_knows_from_its_store_where_the_cores_were(laboratory: Callable[..., Path]) -> None:
    root, wanted = laboratory(quick=(1e-6, "fine")), plan("quick")
    store, sitting = begun(root, wanted)
    with store:
        measured(root, store, sitting, Silent(), rounds=1)
        runner = Runner(root, store, sitting.sitting, graphs())
        (launch,) = graphs().launches(wanted, {("", case): runner.calibrate(case) for case in wanted.cases})
        assert runner.round_trip is None
        with runner.launch(launch, PROGRAM):
            runner.ask(launch.questions[0], 0, lambda _: False)
        runner.close()
    assert runner.round_trip == pytest.approx(ROUND_TRIP)
