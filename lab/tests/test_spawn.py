"""A whole sitting of spawn patterns against programs that only simulate, and what is made of its runs."""

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer
from rich.console import Console

from conftest import write_system
from samples import MACHINE
from tefflab.analysis.results import Contender
from tefflab.analysis.statistics import Interval
from tefflab.benchmarks.spawn_judge import SpawnCell, SpawnRow, judge_spawns
from tefflab.benchmarks.spawn_stored import plan_of
from tefflab.cli import spawn as spawn_module
from tefflab.cli import studies
from tefflab.cli.session import Wish
from tefflab.cli.spawn import SpawnWish, measure, spawn
from tefflab.errors import TeffError
from tefflab.measure.batch import BatchProgram
from tefflab.measure.measurement import Competitor
from tefflab.measure.spawn_sitting import TREES, Spawner, SpawnQuestion, questions
from tefflab.output.spawn_live import SpawnLive
from tefflab.output.spawn_table import to_tables
from tefflab.records.record import RecordError
from tefflab.records.spawn_record import parse_spawn_line
from tefflab.records.store import Store
from tefflab.systems.systems import Variant

PROGRAM = Path(__file__).parent / "simulated_spawn_program.py"
SERIAL = SpawnQuestion("serial", "--pattern serial")


class Silent:
    """An audience that only counts, and may interrupt."""

    def __init__(self, interrupt_at: int | None = None) -> None:
        self.launches: list[tuple[int, str, str, int]] = []
        self._interrupt_at = interrupt_at

    def begins(self, turn: int, cell: SpawnCell) -> None:
        if len(self.launches) == self._interrupt_at:
            raise KeyboardInterrupt
        self.launches.append((turn, cell.contender.id, cell.question, cell.workers))

    def learned(self, cell: SpawnCell) -> None: ...


def spawner(name: str, nanoseconds: float, fault: str = "fine", *, is_floor: bool = False) -> Spawner:
    command = [sys.executable, "{program}", name, str(nanoseconds), fault]
    variant = Variant(name="one", title=name, program=str(PROGRAM), command=command)
    return Spawner(Contender(name, name.title(), "1", "#000000", 0), variant, is_floor)


def sat(
    tmp_path: Path,
    *spawners: Spawner,
    workers: Sequence[int] = (1,),
    asked: Sequence[SpawnQuestion] = (SERIAL,),
    audience: Silent | None = None,
    rounds: int = 4,
    budget: float = 1e9,
) -> tuple[list[SpawnRow], bool]:
    with Store.create(tmp_path / "results" / "test") as store:
        cells, interrupted = measure(
            tmp_path, store, "one", spawners, asked, workers, audience or Silent(), budget, rounds
        )
    return judge_spawns(cells), interrupted


def test_a_sitting_says_who_is_first_level_and_behind(tmp_path: Path) -> None:
    equal = spawner("equal", 10, f"drifts:{tmp_path / 'launches'}")
    people = [spawner("quick", 10), equal, spawner("slow", 30), spawner("plain", 1, is_floor=True)]
    rows, interrupted = sat(tmp_path, *people, workers=(1, 2))
    assert not interrupted
    one = {row.contender.id: row for row in rows if row.workers == 1}
    two = {row.contender.id: row for row in rows if row.workers == 2}
    assert {one["quick"].verdict, one["equal"].verdict} == {"first", "level"}
    assert one["slow"].verdict == "behind"
    assert one["slow"].ratio is not None
    assert one["slow"].ratio.value == pytest.approx(3, rel=0.05)
    assert one["plain"].verdict == "floor"
    assert "plain" not in two, "the floor has one worker"
    assert one["quick"].seconds_per_task is not None
    assert two["quick"].seconds_per_task is not None
    assert one["quick"].seconds_per_task.value == pytest.approx(10e-9, rel=0.03)
    assert two["quick"].seconds_per_task.value == pytest.approx(5e-9, rel=0.03)
    assert [one[name].high for name in ("quick", "equal", "slow", "plain")] == ["High", "High", "Low", ""]
    assert one["slow"].peak_rss_above_empty_bytes == 6 << 20


def test_a_system_that_fails_at_a_pattern_is_out_of_it_with_its_reason(tmp_path: Path) -> None:
    faults = {"mortal": "dies", "liar": "lies", "sloppy": "drops"}
    rows, _ = sat(tmp_path, spawner("good", 10), *(spawner(name, 1, fault) for name, fault in faults.items()))
    found = {row.contender.id: row for row in rows}
    assert found["good"].verdict == "first"
    assert found["good"].rounds >= 3
    assert found["mortal"].note.startswith("ended with exit code 1")
    assert "a worker has died" in found["mortal"].note
    assert "validation did not pass" in found["liar"].note
    assert found["sloppy"].note == "1048575 null tasks ran where 1048576 were spawned"
    for name in faults:
        assert found[name].verdict == "failed"
        assert found[name].seconds_per_task is None


def test_disturbed_runs_are_made_again_and_do_not_count(tmp_path: Path) -> None:
    rows, _ = sat(tmp_path, spawner("noisy", 10, "noisy"))
    assert rows[0].seconds_per_task is not None
    assert rows[0].seconds_per_task.value == pytest.approx(10e-9, rel=0.03)
    assert rows[0].disturbed_share == pytest.approx(0.5, abs=0.1)


def test_rounds_have_the_systems_beside_each_other_in_orders_of_their_own(tmp_path: Path) -> None:
    audience = Silent()
    people = [spawner(name, 10) for name in ("a", "b", "c")]
    asked = (SERIAL, SpawnQuestion("parallel", "--pattern parallel"))
    sat(tmp_path, *people, asked=asked, audience=audience, rounds=3)
    launches = audience.launches
    threes = [launches[start : start + 3] for start in range(0, len(launches), 3)]
    assert len(threes) == 6
    for three in threes:
        assert {name for _, name, _, _ in three} == {"a", "b", "c"}
        assert len({(turn, question) for turn, _, question, _ in three}) == 1
    assert len({tuple(name for _, name, _, _ in three) for three in threes}) > 1


def test_an_interrupted_sitting_keeps_what_was_measured(tmp_path: Path) -> None:
    rows, interrupted = sat(tmp_path, spawner("a", 10), spawner("b", 20), audience=Silent(interrupt_at=5))
    assert interrupted
    assert {row.rounds for row in rows} == {2, 3}
    runs = list(Store.open(tmp_path / "results" / "test").spawn_runs("one"))
    assert len(runs) == 5 * 4
    assert {run.attempt for run in runs} == {0, 1, 2, 3}
    assert all(run.record.tasks == 1 << 20 for run in runs)


def test_a_spent_budget_ends_it_and_what_was_not_reached_says_so(tmp_path: Path) -> None:
    audience = Silent()
    rows, interrupted = sat(tmp_path, spawner("a", 10), audience=audience, rounds=9, budget=0)
    assert not interrupted
    assert audience.launches == []
    assert [(row.verdict, row.note) for row in rows] == [("failed", "was not reached")]


def test_tables_and_json_hold_every_row(tmp_path: Path) -> None:
    rows, _ = sat(tmp_path, spawner("quick", 10), spawner("slow", 30), spawner("mortal", 1, "dies"))
    console = Console(record=True, width=80, file=open("/dev/null", "w"))  # noqa: SIM115, PTH123
    console.print(to_tables(rows))
    text = console.export_text()
    for words in ("serial, 1 worker", "first", "x 3", "mortal: simulated: a worker has died", "High", "Low"):
        assert words in text or words.split(": ")[-1] in text, words
    lines = [json.loads(json.dumps(row.to_json(), allow_nan=False)) for row in rows]
    assert {line["verdict"] for line in lines} == {"first", "behind", "failed"}


def test_one_round_has_no_interval_and_its_json_no_infinity() -> None:
    contender = Contender("a", "A", "1", "#000000", 0)
    row = SpawnRow(contender, "serial", 1, Interval(1.0, 0.0, float("inf")), None, "first", 1, 1, None, 1, 0.0, "")
    assert row.to_json()["seconds_per_task"] == {"value": 1.0, "low": 0.0, "high": None}


def test_a_ratio_whose_interval_holds_two_is_undecided() -> None:
    contender = Contender("a", "A", "1", "#000000", 0)

    def high(ratio: Interval) -> str:
        return SpawnRow(contender, "serial", 1, ratio, ratio, "behind", 1, 1, None, 3, 0.0, "").high

    assert high(Interval(1.9, 1.8, 2.0)) == "High"
    assert high(Interval(1.9, 1.8, 2.1)) == "High?"
    assert high(Interval(2.2, 1.9, 2.5)) == "Low?"
    assert high(Interval(2.2, 2.1, 2.5)) == "Low"


def test_patterns_are_chosen_by_name_and_unknown_ones_refused() -> None:
    assert [each.name for each in questions((), ("T3", "T1"))] == [
        "serial",
        "parallel",
        "fib-both",
        "fib-one",
        "tree T3",
        "tree T1",
    ]
    assert [each.flags for each in questions(("fib-one",), TREES)] == ["--pattern fibonacci --spawn one"]
    with pytest.raises(TeffError, match="'sireal'"):
        questions(("sireal",), ("T3",))
    with pytest.raises(TeffError, match="'T4'"):
        questions((), ("T4",))


@pytest.mark.parametrize(
    "change",
    [{"tasks": 0}, {"elapsed_seconds": 0.0}, {"workers": 0}, {"surplus": 1}, {"validation": None}, {"schema": "other"}],
    ids=lambda change: next(iter(change)),
)
def test_a_record_in_between_is_refused(tmp_path: Path, change: dict[str, object]) -> None:
    sat(tmp_path, spawner("a", 10), rounds=2)
    run = next(iter(Store.open(tmp_path / "results" / "test").spawn_runs("one")))
    good = json.loads(run.record.model_dump_json(by_alias=True, exclude_unset=True))
    assert parse_spawn_line(json.dumps(good)).seconds_per_task > 0
    with pytest.raises(RecordError):
        parse_spawn_line(json.dumps({**good, **change}))


def test_the_display_of_a_pipe_says_rounds_and_failures() -> None:
    console = Console(record=True, width=100, file=open("/dev/null", "w"))  # noqa: SIM115, PTH123
    cell = SpawnCell(Contender("a", "Anna", "1", "#000000", 0), False, "serial", 2, failure="a: has died")
    with SpawnLive(console, 60) as live:
        live.begins(0, cell)
        live.learned(cell)
    text = console.export_text()
    assert "round 1" in text
    assert "a, serial/2: a: has died" in text


@pytest.fixture
def _simulated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two systems whose programs only simulate, and one whose program dies."""
    people = {"quick": (10, "fine"), "slow": (30, "fine"), "mortal": (1, "dies")}
    for name, (nanoseconds, fault) in people.items():
        write_system(
            tmp_path,
            name,
            f'[[spawn]]\nname = "one"\ntitle = "{name}"\nprogram = "{PROGRAM}"\n'
            f'command = ["{sys.executable}", "{{program}}", "{name}", "{nanoseconds}", "{fault}"]\n',
        )
    found = [Competitor(id=name, title=name, version="1", color="#000000", variant_index=0) for name in people]
    monkeypatch.setattr(spawn_module, "present", lambda *_: found)
    monkeypatch.setattr(spawn_module, "prepare", lambda *_: None)
    monkeypatch.setattr("tefflab.measure.measurement.read_machine", lambda: MACHINE)
    monkeypatch.setattr(spawn_module, "warn_of_others", lambda _: None)


def wish(**changes: Any) -> SpawnWish:
    usual = SpawnWish(
        systems=(),
        patterns=("serial",),
        trees=("T3",),
        workers=(1, 2),
        seconds=1e9,
        rounds=4,
        store="test",
        as_json=True,
    )
    return replace(usual, **changes)


@pytest.mark.usefixtures("_simulated")
def test_an_interrupted_measurement_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []

    def interrupted_in_a_launch(_: object, line: str, timeout: float) -> str:
        asked.append(line)
        if len(asked) == 25:
            raise KeyboardInterrupt
        return real(_, line, timeout)  # type: ignore[arg-type]

    real = BatchProgram.ask_for_text
    monkeypatch.setattr(BatchProgram, "ask_for_text", interrupted_in_a_launch)
    with pytest.raises(typer.Exit) as left:
        spawn(tmp_path, wish())
    assert left.value.exit_code == 130
    assert "to go on: ./teff spawn --resume --store test" in capsys.readouterr().err
    spawn(tmp_path, wish(resume=True, patterns=(), workers=()))
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {row["rounds"] for row in rows if row["system_id"] != "mortal"} == {3}
    runs = list(Store.open(tmp_path / "results" / "test").spawn_runs(rows[0]["sitting"]))
    launches = [(run.round, run.system_id, run.workers) for run in runs if run.attempt == 0]
    assert len(launches) - len(set(launches)) <= 1, "only the launch that was interrupted is made again"
    assert launches.count((0, "mortal", 1)) == 1, "a system that failed stays out"
    for row in rows:
        assert ("a worker has died" in row["note"]) == (row["system_id"] == "mortal")
    folder = tmp_path / "results" / "test" / rows[0]["sitting"]
    assert sorted(file.name for file in folder.iterdir()) == ["spawn-serial.png", "spawn-serial.svg"]


@pytest.mark.usefixtures("_simulated")
def test_a_sitting_goes_on_only_as_what_it_was(tmp_path: Path) -> None:
    with pytest.raises(TeffError, match="no sitting of spawn patterns"):
        spawn(tmp_path, wish(resume=True, patterns=(), workers=()))
    spawn(tmp_path, wish(rounds=2, experiment="one"))
    with pytest.raises(TeffError, match="leave out slow"):
        spawn(tmp_path, wish(resume=True, patterns=(), workers=(), systems=("slow",)))
    with pytest.raises(TeffError, match="is of experiment one"):
        spawn(tmp_path, wish(resume=True, patterns=(), workers=()))


@pytest.mark.usefixtures("_simulated")
def test_an_experiment_of_spawn_patterns_draws_a_picture_of_each(tmp_path: Path) -> None:
    (tmp_path / "experiments").mkdir()
    text = 'title = "T"\ndescription = "d"\nkind = "spawn"\nrounds = 2\nminutes = 1\npatterns = ["serial", "{}"]\n'
    (tmp_path / "experiments" / "own.toml").write_text(text.format("parallel"))
    usual = Wish(systems=(), threshold=0, seconds=0, rounds=0, workers=3, store="test", resume=False, as_json=True)
    studies.experiment(tmp_path, "own", usual)
    head = Store.open(tmp_path / "results" / "test").spawn_sitting()
    assert plan_of(head).workers == (1, 2, 3)
    names = {file.name for file in (tmp_path / "results" / "test" / head.sitting).iterdir()}
    assert names == {f"own-{name}.{end}" for name in ("serial", "parallel") for end in ("svg", "png")}
    (tmp_path / "experiments" / "own.toml").write_text(text.format("sireal"))
    with pytest.raises(TeffError, match=r"own\.toml: .*no pattern is called 'sireal'"):
        studies.experiment(tmp_path, "own", usual)


def test_the_matrix_fits_a_terminal_with_every_word_whole() -> None:
    def row(name: str, pattern: str, workers: int, times: float) -> SpawnRow:
        ratio = Interval(times, times * 0.9, times * 1.1)
        return SpawnRow(
            Contender(name, name, "1", "#000000", 0), pattern, workers, ratio, ratio, "behind", 1, 1, None, 3, 0.0, ""
        )

    patterns = ("serial", "parallel", "fib-both", "fib-one", "tree T3")
    rows = [row("system/of_a_long_name", pattern, count, 1.03 * count) for pattern in patterns for count in (1, 2)]
    console = Console(record=True, width=80, file=open("/dev/null", "w"))  # noqa: SIM115, PTH123
    console.print(to_tables(rows))
    text = console.export_text()
    matrix = text[text.index("who is High") :]
    assert "with 1 and 2 workers" in matrix
    assert matrix.count("High  Low?") == len(patterns)
    assert all(pattern in matrix for pattern in patterns)
    assert "…" not in text
