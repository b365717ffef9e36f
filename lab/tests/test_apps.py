"""Mini-apps against simulated systems: the tables, the share of the cores' rate, and the command as a whole. Every
system that is built also runs them validated."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from conftest import answers, teff, write_system
from schemas import validator
from simulated_apps_program import BOUND, CASES, record
from tefflab import project_root
from tefflab.benchmarks.apps import BENCHMARK, AppsEstimates, AppsRecord
from tefflab.benchmarks.benchmark import load_experiment
from tefflab.errors import TeffError
from tefflab.measure.measurement import estimated
from tefflab.records.record import RecordError, parse_record
from tefflab.records.store import open_sitting
from tefflab.systems.programs import ask_cases
from tefflab.systems.registry import Registry
from tefflab.systems.systems import Program, usable_cores
from tools.mini_apps import app_table

PROGRAM = Path(__file__).parent / "simulated_apps_program.py"
SCHEMA = validator("apps")
PROGRAMS = [program for system in Registry(project_root()).systems for program in system.programs_for("apps")]
WORKERS = (1, 2, 3)  # the most are more than there are cores
SHARES = {"quick": 0.9, "library": 0.45, "wrong": 0.8}


@pytest.fixture
def root(commanded: Path) -> Path:
    for name, share in SHARES.items():
        write_system(
            commanded,
            name,
            f'[[program]]\nbenchmark = "apps"\nname = "one"\ntitle = "{name.title()}"\nprogram = "{PROGRAM}"\n'
            f'command = ["{sys.executable}", "{{program}}", "{name}", "{share}"]\n',
        )
    return commanded


def solved(workers: int) -> dict[str, Any]:
    """The record of an app that has loops, and a result to tell of."""
    one = record("quick", 0.9, workers, CASES[0]["flags"], 0) | {"way": "loops", "elapsed_seconds": 0.5, "work": 4e9}
    del one["core_flops_per_second"]
    return one | {
        "own": {"residuals": {"0": 813.855}, "steps": 3},
        "parameters": {"app": "any", "tasks": 1, "box": [3]},
    }


def test_a_record_says_the_work_and_has_a_ceiling_only_with_the_rate_of_a_core() -> None:
    SCHEMA.validate(solved(2))
    flops = parse_record(json.dumps(solved(2)), AppsRecord)
    assert flops.work_per_second == 8e9
    assert flops.get("own") == {"residuals": {"0": 813.855}, "steps": 3}
    assert flops.efficiency is None
    zones = parse_record(json.dumps(solved(2) | {"unit": "zone"}), AppsRecord)
    assert (zones.work_per_second, zones.flops) == (8e9, None)


def test_systems_are_held_against_the_quickest_and_against_the_cores(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert teff(monkeypatch, "apps", "--workers", "2", "--rounds", "4") == 0
    capsys.readouterr()
    store, head = open_sitting(Registry(root), "default")
    estimates = estimated(store, BENCHMARK, head)
    assert isinstance(estimates, AppsEstimates)
    console = Console(record=True, width=80, file=open("/dev/null", "w"))  # noqa: SIM115, PTH123
    for section in estimates.sections():
        console.print(section)
    lines = console.export_text().splitlines()
    assert [line for line in lines if line.endswith(", 2 workers")] == ["gemm-64, 2 workers", "cholesky-64, 2 workers"]
    (gemm, cholesky) = (line for line in lines if line.startswith("library"))
    assert " 45 % " in gemm
    assert "2.0" in gemm
    assert "ms" in cholesky
    assert any(line.startswith("wrong: the residual is 1.0e-03") for line in lines)
    assert sum(line.startswith("wrong ") for line in lines) == 1, "in the table of GEMM only"
    (folder,) = (each for each in (root / "results" / "default").iterdir() if each.is_dir())
    assert {file.name for file in folder.iterdir()} == {"apps-2-workers.png", "apps-2-workers.svg", "report.html"}
    assert teff(monkeypatch, "show", "--json") == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert rows[0]["efficiency"] == pytest.approx(0.9, rel=0.03)
    assert rows[0]["flops_per_second"] == pytest.approx(90e9, rel=0.03)
    assert {row["system_id"]: row["tasks"] for row in rows if row["case"] == "gemm-64"}["library"] is None


@pytest.mark.usefixtures("root")
def test_a_group_has_its_usual_cases_and_a_name_any(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert teff(monkeypatch, "apps", "--cases", "gemm-128", "--rounds", "3", "--workers", "1", "--json") == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {row["case"] for row in rows} == {"gemm-128"}


def traced(root: Path, name: str) -> None:
    """The system can trace."""
    file = root / "bench" / "systems" / name / "system.toml"
    file.write_text(file.read_text() + '[trace]\nSIMULATED_TRACE = "{file}"\n')


def test_a_run_of_each_case_is_traced_on_the_systems_that_can_trace(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("quick", "wrong"):
        traced(root, name)
    assert teff(monkeypatch, "apps", "--trace", "--workers", "2", "--json") == 1
    said = capsys.readouterr()
    rows = [json.loads(line) for line in said.out.splitlines()]
    assert [(row["case"], row["system_id"]) for row in rows] == [
        ("gemm-64, 2 workers", "quick"),
        ("gemm-64, 2 workers", "wrong"),
        ("cholesky-64, 2 workers", "quick"),
    ]
    folder = root / "results" / "default" / "traces"
    assert all((root / row["file"]).parent == folder and (root / row["file"]).is_file() for row in rows)
    assert "teff: these write no trace: library" in said.err
    assert "teff: cholesky-64, 2 workers: wrong: the residual is 1.0e-03" in said.err


def test_without_a_system_that_can_trace_nothing_is_run(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    traced(root, "quick")
    for words in (
        ("apps", "--trace", "--systems", "library"),
        ("run", "library", "--benchmark", "apps", "--trace", "f"),
    ):
        monkeypatch.chdir(root)
        assert teff(monkeypatch, *words) == 2
    assert not (root / "results").exists()


VARIED = """
title = "Tiles"
description = "by tiles"
benchmark = "apps"
rounds = 2
minutes = 0.5
[problems]
gemm = "-app gemm -size 2048"
cholesky = "-app cholesky -size 2048"
[vary]
name = "rows of a tile"
values = [64, 128, 256]
flags = "-block {value}"
"""


@pytest.mark.slow
@pytest.mark.usefixtures("root")
def test_an_experiment_draws_each_problem_against_what_is_varied(
    commanded: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = commanded / "experiments"
    folder.mkdir(exist_ok=True)
    (folder / "tiles.toml").write_text(VARIED)
    (folder / "workers.toml").write_text(
        VARIED.replace('flags = "-block {value}"', 'workers = true\nflags = ["-block 64", "-block 128", "-block 256"]')
        .replace("64, 128, 256", "1, 2, 4", 1)
        .replace("rounds = 2", 'chart = "time"\nrounds = 2')
    )
    (folder / "rates.toml").write_text(VARIED.replace("rounds = 2", 'chart = "rate"\nphases = true\nrounds = 2'))
    for name, workers in (("tiles", {2}), ("rates", {2}), ("workers", {1, 2, 4})):
        assert teff(monkeypatch, "experiment", name, "--workers", "2", "--json", "--store", name) == 0
        rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert {row["workers"] for row in rows} == workers
        (sitting,) = (each for each in (commanded / "results" / name).iterdir() if each.is_dir())
        pictures = {file.name for file in sitting.iterdir() if file.suffix == ".png"}
        assert pictures == {f"{name}-gemm.png", f"{name}-cholesky.png"}


def test_an_experiment_over_ranks_asks_the_systems_that_spread_over_them(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = root / "bench" / "systems" / "quick" / "system.toml"
    words = f'["{sys.executable}", "{{program}}", "quick", "0.9", "--ranks={{ranks}}"]'
    file.write_text(file.read_text() + f"command_for_ranks = {words}\n")
    (root / "experiments").mkdir()
    (root / "experiments" / "ranks.toml").write_text(
        VARIED.replace('flags = "-block {value}"', "ranks = true")
        .replace("64, 128, 256", "1, 2, 4")
        .replace("size 2048", "size 2048 -block 64")
    )
    assert teff(monkeypatch, "experiment", "ranks", "--workers", "3", "--json") == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {(row["system_id"], row["workers"]) for row in rows} == {("quick", 3), ("quick", 6), ("quick", 12)}
    store, head = open_sitting(Registry(root), "default")
    runs = list(store.runs(AppsRecord, head.sitting))
    assert {(run.workers, run.command.split("--ranks=")[1][0]) for run in runs} == {(3, "1"), (6, "2"), (12, "4")}


@pytest.mark.parametrize(
    ("line", "instead", "fault"),
    [
        ("values = [64, 128, 256]", "values = [64, 32]", "values must rise"),
        (
            "values = [64, 128, 256]",
            "values = [1, 2]\nworkers = true\nranks = true",
            "workers or of ranks: give either",
        ),
        ('flags = "-block {value}"', 'flags = "-block 64"', "flags need"),
        ('flags = "-block {value}"', 'flags = ["-block 64"]', "one for each value"),
        ("[problems]", 'cases = ["gemm"]\n[problems]', "give either"),
        ("[problems]", 'chart = "time"\nphases = true\n[problems]', 'phases: they need a .vary., and chart = "rate"'),
    ],
)
def test_an_experiment_that_varies_nothing_is_refused(tmp_path: Path, line: str, instead: str, fault: str) -> None:
    assert line in VARIED
    file = tmp_path / "tiles.toml"
    file.write_text(VARIED.replace(line, instead))
    with pytest.raises(TeffError, match=fault):
        load_experiment(file)


def test_a_share_is_of_as_many_cores_as_there_are_workers() -> None:
    one, two = (parse_record(json.dumps(record("quick", 0.9, n, CASES[0]["flags"], 0)), AppsRecord) for n in (1, 2))
    assert one.efficiency == pytest.approx(two.efficiency)
    assert two.work_per_second == pytest.approx(2 * one.work_per_second)


@pytest.mark.parametrize(
    "change",
    [
        {"work": 0.0},
        {"work": None},
        {"unit": ""},
        {"own": None},
        {"parameters": {"tasks": 1}},
        {"parameters": None},
        {"surprise": 1},
        {"validation": {"passed": True}},
        {"validation": {"passed": True, "residual": 2 * BOUND, "bound": BOUND}},
        {"validation": {"passed": True, "residual": None, "bound": BOUND}},
    ],
)
def test_a_record_that_does_not_say_all_or_has_too_large_a_residual_is_none(change: dict[str, Any]) -> None:
    good = record("quick", 0.9, 2, CASES[0]["flags"], 0)
    SCHEMA.validate(good)
    assert parse_record(json.dumps(good), AppsRecord).efficiency
    with pytest.raises(RecordError):
        parse_record(json.dumps(good | change), AppsRecord)


@pytest.fixture(scope="module")
def bits() -> dict[str, dict[str, Any]]:
    """The results that the first system found, by its flags."""
    return {}


def cases() -> list[dict[str, Any]]:
    """As the programs list them."""
    built = next((program for program in PROGRAMS if program.program_path.exists()), None)
    return ask_cases(built) if built else []


def short_cases() -> dict[str, list[int]]:
    """The flags of the cases that tests run, and over how many ranks."""
    return {case["flags"]: case["test_ranks"] for case in cases() if "test_ranks" in case}


def test_the_table_of_the_site_has_the_apps_and_cases_that_the_programs_list() -> None:
    rows = {row.split("`")[1]: row for row in app_table(project_root()).splitlines()[2:]}
    assert rows.keys() == {case["group"] for case in cases()} or not cases()
    for case in cases():
        shown = f"`{case['name']}`"
        assert (f"**{shown}**" if case["default"] else f" {shown}") in rows[case["group"]]


def held_against(bits: dict[str, dict[str, Any]], line: str, each: dict[str, Any]) -> None:
    """The result has the bits that the first system found over as many ranks."""
    at = f"{line} over {each['ranks']} ranks"
    assert each["own"] == bits.setdefault(at, each["own"]), f"{at}: they depend on the system or the workers"


LOOPS = "-app hpccg -grid 20x30x10 -tasks auto"
THIN = "-app hpccg -grid 3x5x200 -tasks 20"  # more tasks than workers


@pytest.mark.parametrize("workers", [*(pytest.param(few, marks=pytest.mark.slow) for few in WORKERS[:-1]), WORKERS[-1]])
@pytest.mark.parametrize("program", PROGRAMS, ids=[program.id for program in PROGRAMS])
def test_a_system_runs_every_app_validated_and_its_results_have_the_same_bits(
    program: Program, workers: int, bits: dict[str, dict[str, Any]]
) -> None:
    """The second run of a line finds the remains of the first. More workers than cores wait for each other so long that
    they run each line once."""
    tiles = [f"-app {app} -size 100 -block 24 -blocks random" for app in ("gemm", "gemm_3d", "cholesky")]
    tiles += [
        f"-app {app} -size {size} -block {block}" for app in ("gemm", "cholesky") for size, block in ((30, 64), (1, 1))
    ]
    ranks = short_cases()
    times = 1 if workers > usable_cores() else 2
    lines = [line for line in (*ranks, *tiles, LOOPS, THIN) for _ in range(times)]
    for line, each in zip(lines, answers(program, workers, "--batch", lines=lines), strict=True):
        SCHEMA.validate(each)
        if "lacks" in each:
            assert any(part in each["error"] for part in ("it runs no steps of ", " in one process, ", " only"))
            continue
        if each["ranks"] not in ranks.get(line, [each["ranks"]]):
            continue  # they may not be able to share it
        assert "error" not in each, f"{line}: {each['error']}"
        read = parse_record(json.dumps(each), AppsRecord)
        assert read.workers == workers
        assert read.work_per_second > 0
        held_against(bits, line, each)
        if line in (LOOPS, THIN):
            assert read.flops == each["work"]
            assert each["ranks"] == 1 or 0 < each["waiting_share"] <= 1, "ranks wait for each other's messages"
        if line == LOOPS:  # it is cut into as many tasks as asked
            usual = 4 * workers // each["ranks"]
            assert each["parameters"]["tasks"] == {"loops": 1, "worksharing": 1}.get(each["way"], usual)


def test_a_wrong_line_in_a_batch_is_answered_and_the_batch_goes_on() -> None:
    openmp = next(program for program in PROGRAMS if program.id == "openmp")
    wrong, right = answers(openmp, 1, "--batch", lines=("-app gemm -size 0", "-app gemm -size 10 -block 3"))
    assert "-size" in wrong["error"]
    assert "error" not in right
