"""Micro-benchmarks against systems that only simulate: tables of times and of efficiencies, and the command as a whole;
and every system that is built runs them validated."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from conftest import answers, teff, write_system
from schemas import validator
from simulated_micro_program import CASES, record
from tefflab import project_root
from tefflab.benchmarks.micro import BENCHMARK, MicroEstimates, MicroRecord
from tefflab.measure.measurement import estimated
from tefflab.records.record import RecordError, parse_record
from tefflab.records.store import open_sitting
from tefflab.systems.registry import Registry
from tefflab.systems.systems import Program

PROGRAM = Path(__file__).parent / "simulated_micro_program.py"
SCHEMA = validator("micro")
PROGRAMS = [program for system in Registry(project_root()).systems for program in system.programs_for("micro")]


@pytest.fixture
def root(commanded: Path) -> Path:
    for name, nanoseconds in (("quick", 100), ("eager", 300)):
        write_system(
            commanded,
            name,
            f'[[program]]\nbenchmark = "micro"\nname = "one"\ntitle = "{name.title()}"\nprogram = "{PROGRAM}"\n'
            f'command = ["{sys.executable}", "{{program}}", "{name}", "{nanoseconds}"]\n',
        )
    return commanded


@pytest.mark.slow
def test_times_of_empty_tasks_and_efficiencies_of_others_are_shown(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert teff(monkeypatch, "micro", "--workers", "1,2", "--rounds", "4") == 0
    capsys.readouterr()
    store, head = open_sitting(Registry(root), "default")
    estimates = estimated(store, BENCHMARK, head)
    assert isinstance(estimates, MicroEstimates)
    console = Console(record=True, width=80, file=open("/dev/null", "w"))  # noqa: SIM115, PTH123
    for section in estimates.sections():
        console.print(section)
    lines = console.export_text().splitlines()
    assert sum("an empty task of quick" in line for line in lines) == 2, "one for each number of workers"
    (tied, _) = (line for line in lines if line.startswith("tied_2 "))
    assert "ns" in tied
    assert "3.0" in tied or "2.9" in tied
    (spun, _) = (line for line in lines if line.startswith("tied_2_us"))
    assert spun.split()[1:] in (["77", "%", "53", "%"], ["77", "%", "52", "%"])
    assert "eager: its tasks begin when they are made (early)" in lines
    assert not any(line.startswith("?:") for line in lines)
    (folder,) = (each for each in (root / "results" / "default").iterdir() if each.is_dir())
    stems = [f"micro-{count}{rest}" for count in ("1-worker", "2-workers") for rest in ("", "-long-2")]
    names = {f"{stem}.{end}" for stem in stems for end in ("png", "svg")}
    assert {file.name for file in folder.iterdir()} == names | {"report.html"}
    assert teff(monkeypatch, "show", "--json") == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert rows[0]["value"] == pytest.approx(100e-9, rel=0.03)
    for row in (each for each in rows if each["verdict"] != "failed"):
        share = row["spin_seconds"] / row["value"]
        assert row["efficiency"] == (pytest.approx(share) if share else None)


def test_a_question_mark_is_explained_below_the_last_table_that_has_one(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    del root
    assert teff(monkeypatch, "micro", "--workers", "1,2", "--rounds", "2") == 0
    text = capsys.readouterr().out
    assert text.index("2 workers: an empty task of") < text.index("?: of fewer than 3 launches")
    assert text.count("?: ") == 1


def test_the_measure_is_the_quickest_of_those_that_have_most_cases(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    toml = root / "bench/systems/eager/system.toml"
    toml.write_text(toml.read_text().replace('"300"', '"50"'))
    measure = ("micro", "--workers", "1", "--rounds", "3")
    assert teff(monkeypatch, *measure) == 0
    assert "an empty task of quick," in capsys.readouterr().out, "though eager is quicker where it has the case"
    assert teff(monkeypatch, *measure, "--cases", "loose,tied_2") == 0
    assert "an empty task of eager," in capsys.readouterr().out


def test_a_task_takes_the_time_of_all_workers() -> None:
    one, two = (
        parse_record(json.dumps(record("quick", 100, count, CASES[0]["flags"], 0)), MicroRecord) for count in (1, 2)
    )
    assert BENCHMARK.value(one) == pytest.approx(BENCHMARK.value(two))


@pytest.mark.parametrize(
    "change",
    [{"tasks": 0}, {"dependencies": None}, {"parameters": None}, {"surprise": 1}, {"validation": {"passed": False}}],
)
def test_a_record_that_does_not_say_all_is_none(change: dict[str, Any]) -> None:
    good = record("quick", 100, 2, CASES[0]["flags"], 0)
    SCHEMA.validate(good)
    with pytest.raises(RecordError):
        parse_record(json.dumps(good | change), MicroRecord)


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("program", PROGRAMS, ids=[program.executable for program in PROGRAMS])
def test_a_system_runs_every_grid_validated(program: Program, workers: int) -> None:
    lines = [
        "-rows 5 -columns 40",
        "-rows 5 -columns 40 -inserted",
        *(f"-rows 10 -columns 40 -dependences {count}" for count in (1, 2, 9, 10)),
        "-rows 1 -columns 40 -dependences 1",
        "-rows 4 -columns 10 -dependences 4 -spin 1e-06",
        *(f"-shape {shape} -rows 5 -columns 40" for shape in ("chunks", "taskloop", "recursion")),
        "-shape regions -rows 0 -columns 40",
    ]
    lines = [line for line in lines for _ in range(3)]
    records = answers(program, workers, "--batch", lines=lines)
    assert len(records) == len(lines)
    for line, each in zip(lines, records, strict=True):
        SCHEMA.validate(each)
        parsed = parse_record(json.dumps(each), MicroRecord)
        if each.get("lacks"):
            assert "-inserted" in line or "-shape" in line
            continue
        assert "error" not in each, f"{line}: {each['error']}"
        assert BENCHMARK.value(parsed) > 0
        assert each["workers"] == workers


def test_a_wrong_line_in_a_batch_is_answered_and_the_batch_goes_on() -> None:
    wrong, right = answers(PROGRAMS[0], 1, "--batch", lines=("-rows 2 -dependences 3", "-rows 2 -columns 3"))
    assert "--dependences 3" in wrong["error"]
    assert "error" not in right
