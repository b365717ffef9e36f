"""The published flags, as they are, become the lines that programs are fed."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from pictures import data, words
from tefflab.benchmarks import graphs
from tefflab.benchmarks.graph_drawing import Graph, draw
from tefflab.benchmarks.graphs import parse
from tefflab.benchmarks.task_graph.plan import GraphPlan
from tefflab.errors import TeffError


def test_what_is_not_said_is_a_stencil_of_a_column_a_worker() -> None:
    assert parse([], 2).flags == "-type stencil_1d -width 2 -kernel compute_bound"
    assert parse(["-kernel", "memory_bound"], 4).line(10, 3) == (
        "-kernel memory_bound -type stencil_1d -width 4 -steps 10 -iter 3"
    )


def test_graphs_that_run_at_once_each_get_steps_and_iterations() -> None:
    two = parse(["-type", "nearest", "-radix", "5", "-and", "-type", "fft", "-width", "8"], 2)
    assert two.width == 10
    assert two.line(7, 9) == (
        "-type nearest -radix 5 -width 2 -kernel compute_bound -steps 7 -iter 9"
        " -and -type fft -width 8 -kernel compute_bound -steps 7 -iter 9"
    )


def test_an_empty_task_keeps_its_graph_and_loses_its_kernel() -> None:
    line = parse(["--type=fft", "-output", "4096"], 2).line(5, 0)
    assert line == "-type fft -output 4096 -width 2 -kernel empty -steps 5 -iter 0"


def test_the_ceiling_runs_each_kernel_once_without_dependences() -> None:
    four = parse(
        [
            "-type",
            "nearest",
            "-radix",
            "5",
            "-output",
            "65536",
            "-and",
            "-type",
            "nearest",
            "-radix",
            "5",
            "-output",
            "65536",
        ],
        2,
    )
    assert four.ceiling_line(2, 10, 64) == "-type trivial -width 2 -kernel compute_bound -steps 10 -iter 64"
    memory = parse(["-kernel", "memory_bound", "-scratch", "1048576", "-sample", "4"], 2)
    assert memory.ceiling_line(2, 10, 64) == (
        "-type trivial -width 2 -kernel memory_bound -scratch 1048576 -sample 4 -steps 10 -iter 64"
    )


def test_fixed_steps_stand_in_the_title_and_are_warned_of() -> None:
    asked = parse(["-steps", "5"], 2)
    assert asked.name == "stencil_1d, width 2, compute_bound, 5 timesteps"
    assert asked.question == "-type stencil_1d -width 2 -kernel compute_bound -steps 5"
    two = parse(["-steps", "5", "-and", "-type", "fft"], 2).model_copy(update={"load": "spin:50@1"})
    said = "-type {} -width 2 -kernel compute_bound -steps 5"
    assert two.question == f"{said.format('stencil_1d')} -and {said.format('fft')} beside spin:50@1"
    few, many = (
        GraphPlan(asks="metg", title="", variants=(), cases=(parse(["-steps", steps], 2),)) for steps in ("5", "4000")
    )
    assert few.warning.startswith("-steps 5: compare this only with what was measured with the same")
    assert "weigh more" in few.warning
    assert "\n" not in few.warning
    assert "4000 timesteps" in many.warning
    assert "weigh more" not in many.warning
    none = GraphPlan(asks="metg", title="", variants=(), cases=(parse([], 2),))
    assert none.warning == ""


def test_fixed_steps_are_kept() -> None:
    assert parse(["-steps", "50"], 2).steps == 50


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["-iter", "4"], "-iter can't be given here"),
        (["-workers", "4"], "say --workers N"),
        (["-steps", "none"], "-steps none: must be a whole number"),
        (["stencil"], "'stencil' belongs to no flag"),
    ],
)
def test_a_flag_that_is_not_the_users_is_named(words: list[str], says: str) -> None:
    with pytest.raises(TeffError, match=says):
        parse(words, 2)


def test_a_flag_that_there_is_not_is_told_as_it_was_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Path, words: Sequence[str]) -> str:
        raise TeffError(f"there is no flag '{words[1]}'; see --help", exit_code=2)

    monkeypatch.setattr(graphs, "answer_of_core", refuse)
    for typed in (["--bogus", "3"], ["--bogus=3"]):
        with pytest.raises(TeffError, match=r"^there is no flag '--bogus'; see"):
            graphs.check(Path(), parse(typed, 2), typed)
    with pytest.raises(TeffError, match=r"^there is no flag '-bogus'; see"):
        graphs.check(Path(), parse(["-bogus"], 2), ["-bogus"])


def test_a_drawing_has_a_circle_a_task_and_a_line_a_dependence_and_graphs_stand_side_by_side() -> None:
    tasks = [{"timestep": t, "point": p, "dependencies": [p] * t} for t in range(2) for p in range(3)]
    picture = draw([Graph("no_comm", tasks), Graph("fft, radix 5", tasks[:5])])
    circles = [each for each in data(picture, "x", "y", "size") if "text" not in each and "shape" not in each]
    assert len(circles) == 6 + 5
    lines = [each["shape"].count("L") for each in data(picture, "shape")]
    assert lines == [3, 2]
    assert {"no_comm", "fft, radix 5", "timestep ↓", "0", "1", "2"} <= set(words(picture))
    assert max(each["x"] for each in circles[:6]) < min(each["x"] for each in circles[6:])
