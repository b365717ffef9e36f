"""The experiments of the checkout are right, and a fault in one is told with file, key and rule."""

import io
import json
import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from samples import MACHINE
from simulated_sitting import Silent, sat, variant
from tefflab import project_root
from tefflab.benchmarks.benchmark import Request, experiment_list, find_experiment, load_experiment, load_experiments
from tefflab.benchmarks.graphs import check, core_program
from tefflab.benchmarks.task_graph import BENCHMARK
from tefflab.benchmarks.task_graph.plan import GraphExperiment
from tefflab.cli import measuring, publishing
from tefflab.cli.session import Options
from tefflab.errors import BAD_INPUT, TeffError
from tefflab.measure import presence
from tefflab.systems.registry import Registry

ROOT = project_root()
EXPERIMENTS = load_experiments(ROOT)
OF_GRAPHS = [each for each in EXPERIMENTS if isinstance(each, GraphExperiment)]
NEEDED = (
    "fig2 fig3 fig4 fig5 fig6 fig7 fig8 fig9 costs fig10 fig11 fig12 fig13 fig14 fig9a fig9b fig9c fig9d grain micro "
    "spawn table6 apps_weak hpccg_weak apps_blocks apps_random apps_strong lulesh_weak multi_graph hpccg_strong "
    "lulesh_grain lulesh_strong apps_concurrency contention_primes contention_compile contention_patterns"
)

ONE = """
title = "One"
description = "One experiment"
kind = "metg"
charts = ["metg_lines"]
rounds = 3
minutes = 1
[[vary]]
name = "radix"
values = [1, 5]
flags = "-type nearest -radix {value}"
"""


def test_the_list_of_experiments_fits_80_columns_a_line_each() -> None:
    console = Console(file=io.StringIO(), width=80)
    console.print(experiment_list(ROOT))
    assert isinstance(console.file, io.StringIO)
    _, *lines, hidden = console.file.getvalue().splitlines()
    assert hidden == "in a wider terminal also: paper, minutes"
    assert [line.split()[0] for line in lines] == [each.name for each in EXPERIMENTS]
    assert max(map(cell_len, lines)) <= 80
    assert all(each.description in line for each, line in zip(EXPERIMENTS, lines, strict=True))


def written(folder: Path, text: str, name: str = "one") -> Path:
    file = folder / "experiments" / f"{name}.toml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    return file


def test_a_file_that_can_not_be_read_costs_its_experiment_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path, f"\ufeff{ONE}")
    file = written(tmp_path, "title =", "other")
    assert [each.name for each in load_experiments(tmp_path)] == ["one"]
    assert capsys.readouterr().err.startswith(f"teff: {file}: is no TOML: ")
    assert find_experiment(tmp_path, "one").title == "One"


def test_the_figures_of_the_paper_are_there() -> None:
    assert [each.name for each in EXPERIMENTS] == NEEDED.split()


@pytest.mark.parametrize("experiment", OF_GRAPHS, ids=[each.name for each in OF_GRAPHS])
def test_an_experiment_asks_what_the_core_takes(experiment: GraphExperiment) -> None:
    if not core_program(ROOT).exists():
        pytest.skip("the core is not built here")
    for workers in (16, 32) if experiment.nodes else (1, 2, 5, 32):
        for case in experiment.cases(workers, experiment.nodes):
            check(ROOT, case)


@pytest.mark.parametrize("experiment", OF_GRAPHS, ids=[each.name for each in OF_GRAPHS])
def test_the_cases_of_an_experiment_differ(experiment: GraphExperiment) -> None:
    cases = experiment.cases(2, experiment.nodes)
    assert len({case.flags for case in cases}) == len(cases)
    assert len({case.name for case in cases}) == len(cases)


def test_no_experiment_names_a_system() -> None:
    names = {name for system in Registry(ROOT).systems for name in (system.name, system.title.lower())}
    for file in (ROOT / "experiments").iterdir():
        words = set(file.read_text().lower().replace('"', " ").replace(",", " ").split())
        assert not words & names, file.name


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('title = "One"', "", r"one\.toml: title: is missing"),
        ("rounds = 3", "round = 3", r"one\.toml: rounds: is missing \(and 1 more\)"),
        (
            "minutes = 1",
            'minutes = 1\nsystems = ["any"]',
            r"one\.toml: systems: is none of the keys that may stand here",
        ),
        ("minutes = 1", "minutes = 0", r"one\.toml: minutes: 0 should be greater than 0"),
        ('kind = "metg"', 'kind = "curve"', r'one\.toml: charts: metg_lines needs kind = "metg"'),
        ("minutes = 1", 'minutes = 1\nlongest = "3 hours"', r"one\.toml: longest: '3 hours' is no duration"),
        ("[1, 5]", "[5, 1]", r"one\.toml: vary\.0: values must rise"),
        ("-radix {value}", "-radix 5", r"one\.toml: vary\.0: flags .* have no \{value\} in them"),
        ('name = "radix"', 'name = "radix"\ncases = {a = ""}', r"one\.toml: vary\.0: give either values or cases"),
        ("values = [1, 5]", "copies = true", r"one\.toml: vary\.0: give either values or cases"),
        ('flags = "-type', 'columns = true\nflags = "-type', r"one\.toml: vary\.0: values need one of flags"),
        ("metg_lines", "limits", r"one\.toml: charts: limits needs nodes = "),
        (
            'charts = ["metg_lines"]',
            'nodes = [1, 2]\ncharts = ["limits"]',
            r"one\.toml: charts: limits needs program = { seconds = \.\.\., tasks = \.\.\. }",
        ),
        (
            "minutes = 1",
            "minutes = 1\nprogram = { seconds = 0, tasks = 9 }",
            r"one\.toml: program\.seconds: 0 should be greater than 0",
        ),
        (
            "minutes = 1",
            "minutes = 1\nprogram = { seconds = 1, tasks = 9, nodes = 2 }",
            r"one\.toml: program\.nodes: is none of the keys that may stand here",
        ),
        ("minutes = 1", 'minutes = 1\nname = "two"', r"one\.toml: name: an experiment is called as its file is"),
        ("minutes = 1", "minutes = = 1", r"one\.toml: is no TOML: Invalid value \(at line 7"),
    ],
)
def test_what_is_wrong_is_told_with_file_key_and_rule(tmp_path: Path, old: str, new: str, says: str) -> None:
    assert old in ONE
    with pytest.raises(TeffError, match=says) as raised:
        load_experiment(written(tmp_path, ONE.replace(old, new)))
    assert raised.value.exit_code == 2


def test_an_experiment_that_is_not_there_is_answered_with_those_that_are(tmp_path: Path) -> None:
    for name in ("fig10", "fig9", "own"):
        written(tmp_path, ONE, name)
    with pytest.raises(TeffError, match=r"no experiment is called 'fig99'; there are: own fig9 fig10"):
        find_experiment(tmp_path, "fig99")
    with pytest.raises(TeffError, match=r"no experiment is called '\.\./one'"):
        find_experiment(tmp_path, "../one")


def test_what_is_varied_becomes_every_combination(tmp_path: Path) -> None:
    more = '[[vary]]\nname = "imbalance"\n[vary.cases]\neven = ""\nuneven = "-imbalance 1"\n'
    experiment = load_experiment(written(tmp_path, ONE + more))
    assert isinstance(experiment, GraphExperiment)
    cases = experiment.cases(2)
    assert [(each.name, each.x, each.group) for each in cases] == [
        ("radix 1, even", 1, "even"),
        ("radix 1, uneven", 1, "uneven"),
        ("radix 5, even", 5, "even"),
        ("radix 5, uneven", 5, "uneven"),
    ]
    assert cases[3].flags == "-type nearest -radix 5 -imbalance 1 -width 2 -kernel compute_bound"


def test_over_nodes_a_graph_has_one_name_and_one_picture_whatever_its_width(tmp_path: Path) -> None:
    one, *_ = ONE.split("[[vary]]")
    for columns in (1, 3):
        keys = f"nodes = [1, 2, 4]\ncolumns_per_worker = {columns}\n"
        experiment = load_experiment(written(tmp_path, one + keys))
        assert isinstance(experiment, GraphExperiment)
        cases = experiment.cases(2, experiment.nodes)
        assert {each.group for each in cases} == {"stencil_1d, compute_bound"}
        assert [each.width for each in cases] == [2 * columns, 4 * columns, 8 * columns]


def test_copies_are_graphs_that_run_at_once(tmp_path: Path) -> None:
    copies = ONE.replace('flags = "-type nearest -radix {value}"', "copies = true").replace("[1, 5]", "[1, 3]")
    experiment = load_experiment(written(tmp_path, copies))
    assert isinstance(experiment, GraphExperiment)
    one, three = experiment.cases(2)
    assert len(one.graphs) == 1
    assert len(three.graphs) == 3
    assert (three.name, three.x) == ("radix 3", 3)


def test_a_case_may_be_of_several_graphs_and_columns_are_a_workers(tmp_path: Path) -> None:
    columns = ONE.replace('flags = "-type nearest -radix {value}"', "columns = true").replace("[1, 5]", "[1, 4]")
    two = '[[vary]]\nname = "graphs"\n[vary.cases]\ntwo = ["-type fft", "-type dom -width 6"]\n'
    experiment = load_experiment(written(tmp_path, columns + two))
    assert isinstance(experiment, GraphExperiment)
    assert [each.flags.count(" -and ") for each in experiment.cases(3)] == [1, 1]
    widths = [re.findall(r"-width (\d+)", each.flags) for each in experiment.cases(3)]
    assert widths == [["3", "6"], ["12", "6"]]


@pytest.fixture
def _simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presence, "ensure", lambda *_, **__: {})
    monkeypatch.setattr("tefflab.measure.measurement.read_machine", lambda: MACHINE)


def options(**changes: Any) -> Options:
    return replace(Options(seconds=0, rounds=2, workers=(2,), store="test"), **changes)


@pytest.mark.usefixtures("_simulated")
def test_an_experiment_is_measured_drawn_and_reported_and_can_be_reported_again(
    laboratory: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    root = laboratory(quick=(1e-6, "fine"), slow=(4e-6, "fine"))
    written(root, ONE)
    measuring.experiment(Registry(root), "one", options())
    out = capsys.readouterr().out
    lines = [line.split() for line in out.splitlines()]
    assert [(each, below[0]) for each, below in pairwise(lines) if each[:1] == ["radix"]] == [
        (["radix", "1"], "quick"),
        (["radix", "5"], "quick"),
    ]
    (folder,) = (each for each in (root / "results" / "test").iterdir() if each.is_dir())
    assert sorted(file.name for file in folder.iterdir()) == ["one.png", "one.svg", "report.html"]
    drawn = (folder / "one.svg").read_bytes()
    (folder / "one.svg").unlink()
    publishing.show(Registry(root), "test", as_json=False)
    publishing.report(Registry(root), "test")
    assert (folder / "one.svg").read_bytes() == drawn
    again = capsys.readouterr().out
    assert again.splitlines()[-1] == str(folder / "report.html")
    assert again.splitlines()[:-1] == out.splitlines()

    measuring.experiment(Registry(root), "one", options(resume=True, as_json=True))
    out, errors = capsys.readouterr()
    assert "teff: the sitting now has 4 rounds, all systems together, none of them new\n" in errors, (
        "of both cases each"
    )
    told = [json.loads(line) for line in out.splitlines()]
    assert list(dict.fromkeys(each["case"] for each in told)) == ["radix 1", "radix 5"]
    assert {each["rounds"] for each in told} == {2}
    written(root, ONE, "two")
    with pytest.raises(TeffError, match=r"go on with it by \./teff experiment one --resume --store test, or leave out"):
        measuring.experiment(Registry(root), "two", options(resume=True))
    (metg, *_) = BENCHMARK.commands
    with pytest.raises(TeffError, match=r"was begun by `teff.*`: go on with it by \./teff experiment one --resume"):
        measuring.run_command(Registry(root), BENCHMARK, metg, options(resume=True, workers=(), own={"threshold": 0.5}))
    with pytest.raises(TeffError, match=r"^no sitting of METG to go on with in .*/none: leave out --resume to begin"):
        measuring.experiment(Registry(root), "two", options(resume=True, store="none"))
    assert not (root / "results" / "none").exists(), "what failed makes no store"

    heads = root / "results" / "test" / "sittings.jsonl"
    heads.write_bytes(heads.read_bytes()[:-40])
    with pytest.raises(TeffError, match=r"^line 1 of .*/test/sittings\.jsonl can't be read .* runs are kept: put the"):
        measuring.experiment(Registry(root), "one", options(resume=True))


@pytest.mark.usefixtures("_simulated")
def test_kernels_without_a_rate_are_refused_before_a_sitting_begins(laboratory: Callable[..., Path]) -> None:
    root = laboratory(quick=(1e-6, "fine"))
    (metg, *_) = BENCHMARK.commands
    own = {"threshold": 0.5}
    for flags in (("-kernel", "empty"), ("-kernel", "empty", "-and", "-kernel", "empty", "-type", "fft")):
        with pytest.raises(TeffError, match="this kernel counts neither FLOPs nor bytes") as refused:
            measuring.run_command(Registry(root), BENCHMARK, metg, options(seconds=60, own=own, flags=flags))
        assert refused.value.exit_code == BAD_INPUT
    written(root, ONE.replace('flags = "', 'flags = "-kernel empty '))
    with pytest.raises(TeffError, match="this kernel counts neither FLOPs nor bytes"):
        measuring.experiment(Registry(root), "one", options())
    assert not (root / "results").exists()


@pytest.mark.usefixtures("_simulated")
def test_a_sweep_measures_the_points_asked_for_and_draws_them(
    laboratory: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    root = laboratory(quick=(1e-6, "fine"))
    (sweep,) = (command for command in BENCHMARK.commands if command.name == "graph")
    own = {"points": 5, "longest": "100us"}
    asked = options(seconds=60, own=own, flags=("-type", "fft", "-width", "8"))
    measuring.run_command(Registry(root), BENCHMARK, sweep, asked)
    lines = capsys.readouterr().out.splitlines()
    assert "Efficiency – fft, width 8, compute_bound" in lines[0]
    points = [line for line in lines if "OP/s " in line]
    assert len(points) == 5
    assert lines[lines.index(points[0]) - 1] == "quick"
    (folder,) = (each for each in (root / "results" / "test").iterdir() if each.is_dir())
    assert {file.name for file in folder.iterdir()} == {
        "efficiency.png",
        "efficiency.svg",
        "rate.png",
        "rate.svg",
        "report.html",
    }


@pytest.mark.usefixtures("_simulated")
def test_an_experiment_of_a_paradigm_that_no_system_has_says_so(laboratory: Callable[..., Path]) -> None:
    root = laboratory(quick=(1e-6, "fine"))
    written(root, ONE.replace("minutes = 1", 'minutes = 1\nparadigm = "telepathy"'))
    with pytest.raises(
        TeffError, match="experiment one: no system is of the kind that its file names; name some with --systems"
    ):
        measuring.experiment(Registry(root), "one", options())


def test_a_plan_with_several_pictures_of_a_kind_names_each_by_what_it_is_of(
    laboratory: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = laboratory(quick=(1e-6, "fine"))
    more = '[[vary]]\nname = "imbalance"\n[vary.cases]\nEven = ""\n"Very uneven" = "-output 64"\n'
    experiment = load_experiment(written(root, (ONE + more).replace('["metg_lines"]', '["metg_lines", "metg"]')))
    assert isinstance(experiment, GraphExperiment)
    monkeypatch.setattr("tefflab.benchmarks.task_graph.plan.check", lambda *_: None)
    request = Request(Registry(root), (variant("quick"),), (), (2,), 2)
    estimates = sat(root, experiment.plan(request), Silent(), rounds=2)
    assert [name for name, _ in estimates.pictures()] == [
        "one-even",
        "one-very-uneven",
        "one-metg-radix-1-even",
        "one-metg-radix-1-very-uneven",
        "one-metg-radix-5-even",
        "one-metg-radix-5-very-uneven",
    ]
