"""Real programs against systems that only simulate: tables, geometric means, pictures, and the command as a whole."""

import json
import math
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from conftest import teff, write_system
from simulated_real_program import record
from tefflab.analysis.statistics import Interval, geometric_mean
from tefflab.benchmarks.compared import ComparedEstimates
from tefflab.benchmarks.programs import BENCHMARK, ProgramRecord
from tefflab.measure.measurement import estimated
from tefflab.records.record import RecordError, parse_record
from tefflab.records.store import Store, open_sitting
from tefflab.systems.registry import Registry

PROGRAM = Path(__file__).parent / "simulated_real_program.py"
SYSTEMS = {"quick": (1.0, "fine"), "slow": (3.0, "fine"), "partial": (2.0, "lacks"), "sloppy": (0.1, "wrong")}
MEASURE = ("programs", "--workers", "1,2", "--rounds", "4")


@pytest.fixture
def root(commanded: Path) -> Path:
    for name, (factor, fault) in SYSTEMS.items():
        write_system(
            commanded,
            name,
            f'[[program]]\nbenchmark = "programs"\nname = "one"\ntitle = "{name.title()}"\nprogram = "{PROGRAM}"\n'
            f'command = ["{sys.executable}", "{{program}}", "{name}", "{factor}", "{fault}"]\n',
        )
    return commanded


def last_estimates(root: Path, name: str = "default") -> ComparedEstimates:
    store, head = open_sitting(Registry(root), name)
    found = estimated(store, BENCHMARK, head)
    assert isinstance(found, ComparedEstimates)
    return found


def printed(estimates: ComparedEstimates) -> str:
    console = Console(record=True, width=80, file=open("/dev/null", "w"))  # noqa: SIM115, PTH123
    for section in estimates.sections():
        console.print(section)
    return console.export_text()


@pytest.mark.slow
def test_all_programs_are_measured_shown_drawn_reported_and_compared(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert teff(monkeypatch, *MEASURE) == 0
    told = capsys.readouterr().out
    for words in ("1 worker: time of quick", "2 workers: time of quick", "weave", "knit_2", "spin", "geometric mean"):
        assert words in told
    (folder,) = (each for each in (root / "results" / "default").iterdir() if each.is_dir())
    names = {f"programs-{count}.{end}" for count in ("1-worker", "2-workers") for end in ("png", "svg")}
    assert {file.name for file in folder.iterdir()} == names | {"report.html"}
    assert "geometric mean" in (folder / "report.html").read_text()
    assert teff(monkeypatch, "show", "--json") == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["system_id"] for row in rows[:2]] == ["quick", "partial"]
    assert rows[0]["value"] == pytest.approx(10e-3, rel=0.03)
    assert teff(monkeypatch, "compare", "slow", "quick", "--json") == 0
    compared = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [each["ratio"]["value"] for each in compared] == pytest.approx([3] * 6, rel=0.05)
    assert teff(monkeypatch, "programs", "--resume", "--rounds", "5") == 0


@pytest.mark.slow
def test_the_mean_is_over_the_programs_that_both_have(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert teff(monkeypatch, *MEASURE, "--cases", "textile", "--against", "partial") == 0
    estimates = last_estimates(root)
    assert estimates.measure is not None
    assert estimates.measure.id == "partial"
    one, two = estimates.measured
    assert (one.workers, two.workers) == (1, 2)
    assert set(one.ratios["weave"]) == {"quick", "slow"}
    assert one.ratios["weave"]["slow"].value == pytest.approx(1.5, rel=0.03)
    assert one.ratios["knit_2"] == {}
    lines = printed(estimates).splitlines()
    means = [line for line in lines if line.startswith("geometric mean")]
    assert len(means) == 2
    assert all(re.search(r"0\.(49|50)\d ± .*1\.(49|50|51) ± ", each) for each in means)
    assert "partial: it has no looms (knit_2)" in lines
    assert "sloppy: wrong result: it is not that of one thread" in lines


@pytest.mark.slow
def test_a_system_that_lacks_a_program_is_measured_to_the_end_without_it(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert teff(monkeypatch, *MEASURE, "--systems", "quick,partial") == 0
    out, errors = capsys.readouterr()
    assert "partial: it has no looms (knit_2)" in out
    assert "asked for by name" not in errors
    (failure, _) = Store.open(root / "results" / "default").failures(last_estimates(root).sitting.sitting)
    assert failure.lacks
    assert teff(monkeypatch, *MEASURE, "--systems", "quick,partial", "--cases", "knit_2") == 1, "it has none of them"
    assert "asked for by name and not measured, or not to the end: partial" in capsys.readouterr().err
    assert teff(monkeypatch, *MEASURE, "--systems", "quick,sloppy") == 1
    assert "asked for by name and not measured, or not to the end: sloppy" in capsys.readouterr().err


def test_who_is_not_measured_can_not_be_the_measure(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert teff(monkeypatch, *MEASURE, "--systems", "quick,slow", "--against", "partial") == 2
    assert "'partial' is not measured; there are: quick slow" in capsys.readouterr().err
    assert not list(root.glob("results/*/2*"))


def test_the_floor_can_not_be_the_measure(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    toml = root / "bench/systems/slow/system.toml"
    toml.write_text(toml.read_text().replace('paradigm = "none"', 'paradigm = "sequential"'))
    assert teff(monkeypatch, *MEASURE, "--systems", "quick,slow", "--against", "slow") == 2
    said = "'slow' is the floor, of one worker and without tasks: no measure of others; there are: quick"
    assert said in capsys.readouterr().err


def test_a_scale_goes_with_every_case(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert teff(monkeypatch, *MEASURE, "--systems", "quick", "--scale", "huge") == 2
    assert "no scale is called 'huge'" in capsys.readouterr().err
    assert teff(monkeypatch, *MEASURE, "--systems", "quick", "--scale", "large") == 0
    runs = list(Store.open(root / "results" / "default").runs(ProgramRecord))
    assert runs
    assert all(run.flags.endswith(" -scale large") for run in runs)


def test_an_experiment_of_programs_has_a_picture_for_each_number_of_workers(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = root / "experiments"
    folder.mkdir()
    (folder / "cloth.toml").write_text(
        'title = "Cloth"\ndescription = "all of it"\nbenchmark = "programs"\nrounds = 3\nminutes = 1\n'
        'cases = ["weave", "spin"]\n'
    )
    assert teff(monkeypatch, "experiment", "cloth", "--systems", "quick,slow", "--workers", "2") == 0
    estimates = last_estimates(root)
    assert estimates.measure is not None
    assert [name for name, _ in estimates.pictures()] == ["cloth-1-worker", "cloth-2-workers"]


def test_the_geometric_mean_has_an_interval_of_independent_values() -> None:
    mean = geometric_mean([Interval(2, 1, 4), Interval(8, 4, 16)])
    arm = 2 ** (math.sqrt(2) / 2)
    assert (mean.value, mean.low, mean.high) == pytest.approx((4, 4 / arm, 4 * arm))
    open_ended = geometric_mean([Interval(2, 0, math.inf), Interval(2, 2, 2)])
    assert (open_ended.value, open_ended.low, open_ended.high) == (pytest.approx(2), 0, math.inf)
    with pytest.raises(ValueError, match="mean of nothing"):
        geometric_mean([])


WRONG: list[dict[str, Any]] = [
    {"size": 0},
    {"program": ""},
    {"lacks": True},
    {"error": "it has none", "lacks": False},
    {"way": None},
    {"surplus": 1},
    {"validation": {"passed": True, "checksum": "1", "expected": "1"}},
    {"validation": {"passed": False, "checksum": "0x0123456789abcdef", "expected": "0x0123456789abcdef"}},
]


@pytest.mark.parametrize("change", WRONG, ids=[str(each) for each in WRONG])
def test_what_is_no_record_is_refused(change: dict[str, Any]) -> None:
    good = record("a", 1.0, "fine", 1, "-program weave", 0)
    assert parse_record(json.dumps(good), ProgramRecord).get("program") == "weave"
    with pytest.raises(RecordError):
        parse_record(json.dumps(good | change), ProgramRecord)
