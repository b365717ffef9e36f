"""The questions of one round to a system, and the state that it may not pass on to the next round."""

import json

import pytest

from simulated_program import SECONDS_PER_ITERATION, record
from simulated_sitting import CONFIGURATION
from tefflab.analysis.search import Bracket, MetgSearch
from tefflab.benchmarks.benchmark import Ask
from tefflab.benchmarks.graphs import GraphCase
from tefflab.benchmarks.task_graph import questions
from tefflab.benchmarks.task_graph.plan import LEAST_SECONDS, GraphPlan
from tefflab.benchmarks.task_graph.questions import CurveQuestion, GraphQuestion, MetgQuestion
from tefflab.benchmarks.task_graph.record import GraphRecord
from tefflab.records.record import parse_record
from tefflab.records.run import Run

OVERHEAD = 1e-6
CASE = GraphCase(name="one", flags=CONFIGURATION, workers=2)
PLAN = GraphPlan(
    asks="metg", title="", variants=(), cases=(CASE,), longest_task=10_000 * SECONDS_PER_ITERATION, points=4
)


def answered(question: GraphQuestion, number: int, slowness: float = 1, overhead: float = OVERHEAD) -> None:
    """One round, answered by a system that does empty tasks `slowness` times as slowly in the first, and not after."""
    runs: list[Run[GraphRecord]] = []
    asking = question.round()
    try:
        wanted = next(asking)
        while True:
            runs.append(_run(wanted, number, slowness, overhead))
            wanted = asking.send(runs[-1:])
    except StopIteration:
        question.add([run for run in runs if run.role == "system"])


def _run(wanted: Ask, number: int, slowness: float, overhead: float) -> Run[GraphRecord]:
    slow = number == 0 and "-kernel empty" in wanted.line
    answer = record("one", overhead * (slowness if slow else 1), wanted.line, number)
    ceiling = 2 * 128 / SECONDS_PER_ITERATION
    return Run(
        sitting="one",
        round=number,
        system_id="one",
        role=wanted.role,
        attempt=0,
        noisy=False,
        command="one",
        flags=wanted.line,
        record=parse_record(json.dumps(answer), GraphRecord),
        configuration=CASE.flags,
        workers=2,
        ceilings=(ceiling, ceiling),
    )


@pytest.mark.parametrize("slowness", [1, 20])
@pytest.mark.parametrize("kind", ["metg", "curve"])
def test_runs_last_as_long_as_they_should_whatever_an_earlier_round_mistook(kind: str, slowness: float) -> None:
    question: GraphQuestion = MetgQuestion(CASE, SECONDS_PER_ITERATION, PLAN)
    if kind == "curve":
        question = CurveQuestion(CASE, SECONDS_PER_ITERATION, PLAN)
    for number in range(4):
        answered(question, number, slowness)
    later = [run for run in question.runs if run.round > 0]
    assert {run.round for run in later} == {1, 2, 3}
    for run in later:
        assert run.record.elapsed_seconds == pytest.approx(LEAST_SECONDS, rel=0.15), run.flags


def test_where_the_crossing_lies_below_all_that_is_measured_it_is_looked_for_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = questions.measurement_grid
    with monkeypatch.context() as misled:  # as by noise while the first round looked
        misled.setattr(
            questions, "measurement_grid", lambda crossing, *how, **limits: real(5 * crossing, *how, **limits)
        )
        misled.setattr(MetgSearch, "next_iterations", lambda _: None)
        misled.setattr(MetgSearch, "bracket", Bracket("=", 100, 400, 1 / SECONDS_PER_ITERATION * OVERHEAD))
        plan = PLAN.model_copy(update={"charts": ("metg",)})
        question = MetgQuestion(CASE, SECONDS_PER_ITERATION, plan)
        answered(question, 0)
    for number in range(1, 8):
        answered(question, number)
    estimate = question.metg(None)
    assert estimate is not None
    assert estimate.relation == "="
    assert estimate.value == pytest.approx(2 * OVERHEAD, rel=0.1)
