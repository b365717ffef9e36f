"""`teff contention` and --load, with programs and competitors that are simulated: what is measured, kept and shown."""

import csv
import io
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest

from conftest import teff, write_system
from pictures import words as texts
from samples import sitting
from tefflab.benchmarks.contention import BENCHMARK
from tefflab.cli.tree import measuring
from tefflab.errors import TeffError
from tefflab.host.load import Load
from tefflab.measure.noise import is_disturbed
from tefflab.output.charts.sheet import Picture
from tefflab.records.run import Beside
from tefflab.systems import run_own_command
from test_json_reference import FACTS, said
from test_noise import record

PROGRAM = Path(__file__).parent / "simulated_spawn_program.py"
SOON = 20.0  # seconds after which a command will not end any more
CORE = max(os.sched_getaffinity(0))
CORES = len(os.sched_getaffinity(0))
CONTENTION = {"share_got", "ideal_slowdown", "seconds"}  # facts
COMMAND = ("contention", "--cases", "spawn:serial", "--load", "spin:50", "--rounds", "3")

pytestmark = pytest.mark.skipif(CORES < 2, reason="no core is left beside the load")


class SimulatedCompetitors:
    """Gets what `gets` says, of what it is to get."""

    gets = 1.0

    def __init__(self, load: Load, root: Path) -> None:
        del root
        self.load, self.share = load, 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        yield
        self.share = self.gets * self.load.share

    def close(self) -> None:
        pass


@pytest.fixture
def root(commanded: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with two systems of spawn adapters."""
    monkeypatch.setattr("tefflab.measure.runner.Competitors", SimulatedCompetitors)
    for name, nanoseconds in (("quick", 1000), ("slow", 3000)):
        toml = (
            f'[[program]]\nbenchmark = "spawn"\nname = "one"\ntitle = "{name}"\nprogram = "{PROGRAM}"\n'
            f'command = ["{sys.executable}", "{{program}}", "{name}", "{nanoseconds}", "fine"]\n'
        )
        write_system(commanded, name, toml)
    return commanded


def runs(root: Path, store: str) -> list[dict[str, object]]:
    lines = (root / "results" / store / "runs.jsonl").read_text().splitlines()
    return [run for line in lines if (run := json.loads(line))["role"] == "system"]


def test_each_case_is_measured_alone_beside_the_load_and_without_its_core(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert teff(monkeypatch, *COMMAND, "--json", "--store", "one") == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {fact for row in rows for fact in row} == said("Rows", before=FACTS) | CONTENTION
    assert said("Rows") > CONTENTION
    assert {row["system_id"] for row in rows} == {"quick/spawn", "slow/spawn"}
    ideal = CORES / (CORES - 0.5)
    for system in ("quick/spawn", "slow/spawn"):
        own = [row for row in rows if row["system_id"] == system]
        assert [row["quantity"] for row in own] == ["a run"] * 3 + ["slowdown"] * 3 + ["break-even"]
        alone, beside, left = (row for row in own if row["quantity"] == "slowdown")
        assert (alone["x"], beside["x"], beside["share_got"], left["x"]) == (0.0, 0.5, 0.5, None)
        assert beside["ideal_slowdown"] == pytest.approx(ideal)
        # Its programs know no load: they are as quick beside one.
        assert beside["value"] == pytest.approx(1.0, rel=0.05)
        assert left["value"] == pytest.approx(CORES / (CORES - 1), rel=0.05)
        assert (own[-1]["value"], own[-1]["high"], own[-1]["relation"]) == (0.5, None, ">")
    assert {(run["workers"], run["beside"] and run["beside"]["load"]) for run in runs(root, "one")} == {
        (CORES, None),
        (CORES, f"spin:50@{CORE}"),
        (CORES - 1, f"spin:50@{CORE}"),
    }


def test_the_table_says_the_share_from_which_leaving_is_better(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert teff(monkeypatch, *COMMAND, "--store", "one") == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "break-even" in told
    assert "> 50 %" in told
    assert f"Shares of core {CORE} that a system can lose before it is quicker without it: quick > 50 %" in told
    (folder,) = (each for each in (root / "results" / "one").iterdir() if each.is_dir())
    assert "What could not be measured" not in (folder / "report.html").read_text()
    assert {file.name for file in folder.iterdir()} == {
        "report.html",
        "contention-spawn-serial.png",
        "contention-spawn-serial.svg",
    }


@pytest.mark.usefixtures("root")
def test_a_way_is_named_as_in_any_other_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert teff(monkeypatch, *COMMAND[:-1], "2", "--systems", "quick/one", "--json", "--store", "one") == 0
    assert {row["system_id"] for row in map(json.loads, capsys.readouterr().out.splitlines())} == {"quick/spawn"}


@pytest.mark.usefixtures("root")
def test_an_export_has_break_evens_and_a_table_the_share_that_the_load_got(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(SimulatedCompetitors, "gets", 0.96)
    slow_load = ("--load", "spin:50/100ms")
    assert teff(monkeypatch, *COMMAND, *slow_load, "--store", "one") == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "48 % lost" in told
    assert f"say a shorter period, as --load spin:50@{CORE}/1ms, or take a longer case" in told
    assert teff(monkeypatch, "simulate", "one", "--steps", "5") == 0
    told = capsys.readouterr().out
    assert "48 % lost" in told
    assert "50 % lost" not in told
    assert teff(monkeypatch, "export", "one") == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    even = [row for row in rows if row["quantity"] == "break-even"]
    assert [(row["variant"], row["relation"], row["unit"]) for row in even] == [
        ("quick/spawn", ">", "1"),
        ("slow/spawn", ">", "1"),
    ]
    assert [float(row["value"]) for row in even] == pytest.approx([0.48, 0.48])


def test_a_simulation_stands_beside_the_measured_curves(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn: list[Picture] = []
    monkeypatch.setattr("tefflab.cli.publishing.save", lambda figure, path: drawn.append(figure) or (path, path))
    assert teff(monkeypatch, *COMMAND[:-1], "2", "--store", "one") == 0
    capsys.readouterr()
    words = ("simulate", "one", "--steps", "20")
    assert teff(monkeypatch, *words, "--json", "--picture", str(root / "beside")) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    predictions = {row["system_id"]: row["value"] for row in rows if row.get("x") == 0.5}
    beside = [row for row in rows if "policy" in row]
    assert {(row["policy"], row["system_id"]) for row in beside} == {
        (policy, system) for policy in predictions for system in ("quick/spawn", "slow/spawn")
    }
    for row in beside:  # the programs know no load: their slowdown is 1
        (point,) = row["points"]
        assert (point["share_asked"], row["case"]) == (0.5, "spawn:serial")
        assert point["predicted_to_measured"] == pytest.approx(predictions[row["policy"]], rel=0.05)
    assert {"quick", "slow", "flow: a graph without places"} <= set(texts(drawn[-1]))
    assert teff(monkeypatch, *words) == 0
    assert "Predicted beside one:" in capsys.readouterr().out
    assert teff(monkeypatch, *words, "--case", "spawn:tree") == 2
    assert "--case spawn:tree: there are spawn:serial" in capsys.readouterr().err


def test_a_simulation_of_a_few_periods_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for period, says_so in (("1s", True), ("2ms", False)):
        assert teff(monkeypatch, "simulate", "--steps", "20", "--shares", "50", "--period", period) == 0
        assert ("are short beside a period" in capsys.readouterr().out) == says_so


def test_a_sitting_that_was_cut_short_goes_on(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert teff(monkeypatch, *COMMAND[:-1], "2", "--store", "one") == 0
    before = len(runs(root, "one"))
    assert teff(monkeypatch, "contention", "--resume", "--rounds", "3", "--store", "one") == 0
    assert len(runs(root, "one")) == before * 3 // 2


def test_runs_beside_a_load_that_got_too_little_are_noisy_and_repeated(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(SimulatedCompetitors, "gets", 0.5)
    assert teff(monkeypatch, *COMMAND, "--store", "one") == 0
    beside = [run for run in runs(root, "one") if run["beside"]]
    assert all(run["noisy"] for run in beside)
    assert any(run["attempt"] for run in beside)
    assert not any(run["noisy"] for run in runs(root, "one") if not run["beside"])
    assert "the load got what was asked within 25 % of a core" in " ".join(capsys.readouterr().out.split())


def test_gaps_are_noise_unless_a_load_makes_them() -> None:
    gaps = record(gap_share_before=0.5)
    assert is_disturbed(gaps, None)
    assert not is_disturbed(gaps, Beside(load="spin:50@1", asked=0.5, got=0.48))
    assert is_disturbed(gaps, Beside(load="spin:50@1", asked=0.5, got=0.4))


def test_every_command_that_measures_can_do_so_beside_a_load(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load = f"primes:25@{CORE}"
    words = ("measure", "spawn", "--cases", "serial", "--workers", "1", "--rounds", "2", "--store", "one")
    assert teff(monkeypatch, *words, "--load", load) == 0
    assert {run["beside"]["load"] for run in runs(root, "one")} == {load}
    assert {run["configuration"] for run in runs(root, "one")} == {f"-pattern serial beside {load}"}


@pytest.mark.usefixtures("commanded")
@pytest.mark.parametrize("command", sorted(measuring().keys() - {"contention", "measure command"}))
def test_every_other_command_that_measures_takes_a_load(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    assert teff(monkeypatch, *command.split(), "--load", "spin@1") == 2
    assert "'spin@1' is no load here: say kind, percentage and cores" in capsys.readouterr().err


def test_a_command_of_the_user_is_measured_in_the_place_of_systems(
    commanded: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tefflab.measure.runner.Competitors", SimulatedCompetitors)
    command = f"echo {{workers}} >> {commanded}/counts"
    assert teff(monkeypatch, *COMMAND[:1], *COMMAND[3:], "--store", "one", "--", command) == 0
    assert set((commanded / "counts").read_text().split()) == {str(CORES), str(CORES - 1)}
    assert "command" in capsys.readouterr().out
    assert teff(monkeypatch, "contention", "--resume", "--rounds", "4", "--store", "one") == 0


@pytest.mark.usefixtures("commanded")
def test_a_command_of_the_user_that_fails_says_its_last_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tefflab.measure.runner.Competitors", SimulatedCompetitors)
    assert teff(monkeypatch, "contention", "--load", "spin:50", "--", "echo no input >&2; exit 3") == 1
    assert "ended with exit code 3: no input" in capsys.readouterr().err


def test_a_command_has_ended_though_something_that_it_left_running_has_not(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "end")
    end = os.open(tmp_path / "end", os.O_RDWR)
    records: list[dict[str, object]] = []
    command = ["sh", "-c", f"{{ read word; }} <{tmp_path}/end & echo a note >&2"]
    running = Thread(target=lambda: records.append(run_own_command.run("contention", command, 1)), daemon=True)
    running.start()
    running.join(SOON)
    found = list(records)
    os.write(end, b"word\n")
    os.close(end)
    assert [each["validation"] for each in found] == [{"passed": True}]


@pytest.mark.usefixtures("root")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--cases", "serial"), "no kind of benchmark is called 'serial': say a case as KIND:CASE"),
        (("--cases", "spawn:dig"), "no case is called 'dig'; there are: serial"),
        (("--load", "spin:half"), "'spin:half' is no load here: say kind, percentage and cores"),
        (("--load", "spin:0"), "percentages above 0 and up to 100"),
        (("--load", "dig"), "'dig' is no load here: "),
        (("--load", "spin:25,50@4097"), "@4097' is no load here"),
        (("--shares", "50", "--cores", "4097"), "@4097' is no load here"),
        (("--workers", "5000000"), "--workers 5000000"),
    ],
)
def test_what_can_not_be_asked_is_refused_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: tuple[str, str], said: str
) -> None:
    assert teff(monkeypatch, "contention", "--cases", "spawn", *words) == 2
    assert said in capsys.readouterr().err


def test_a_sitting_of_another_version_is_refused_in_one_line() -> None:
    plan = {"title": "a", "variants": [], "cases": [], "loaded": [1], "period": 0.01}
    head = sitting("2026-01").model_copy(update={"plan": plan})
    assert BENCHMARK.plan_of(head).title == "a"
    with pytest.raises(TeffError, match=r"^sitting 2026-01 can't be read: another version .* \(command: is none of"):
        BENCHMARK.plan_of(head.model_copy(update={"plan": plan | {"command": "./mine"}}))
