"""A whole sitting of spawn patterns against simulated programs, and its estimates."""

import json
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.exceptions import Exit
from rich.console import Console

from conftest import teff, write_system
from samples import MACHINE, sitting
from simulated_sitting import Silent, begun, measured, variant
from simulated_spawn_program import CASES
from tefflab.analysis.rows import NO_TURN, Row
from tefflab.analysis.statistics import Interval, Progress
from tefflab.benchmarks.benchmark import find_benchmark
from tefflab.benchmarks.cases import ListedCase
from tefflab.benchmarks.spawn import BENCHMARK, SpawnEstimates, SpawnRecord, matrix, performance
from tefflab.cli import measuring, session
from tefflab.cli.session import Options
from tefflab.errors import BAD_INPUT, FAILED, TeffError
from tefflab.measure.batch import BatchProgram
from tefflab.measure.presence import Selection
from tefflab.output.live import LiveTable
from tefflab.records.plan import Case, Plan, Variant
from tefflab.records.record import RecordError, parse_record
from tefflab.records.run import Run
from tefflab.records.store import Store
from tefflab.systems.registry import Registry
from tefflab.systems.systems import BUILD_FOLDER

PROGRAM = Path(__file__).parent / "simulated_spawn_program.py"
SERIAL = ("serial", "-pattern serial")
LISTED = [ListedCase.model_validate(each) for each in CASES]


def spawner(root: Path, name: str, nanoseconds: float, fault: str = "fine", *, is_floor: bool = False) -> Variant:
    """A system with a simulated program."""
    write_system(
        root,
        name,
        f'[[program]]\nbenchmark = "spawn"\nname = "one"\ntitle = "{name}"\nprogram = "{PROGRAM}"\n'
        f'command = ["{sys.executable}", "{{program}}", "{name}", "{nanoseconds}", "{fault}"]\n',
    )
    return variant(name, title=name.title(), is_floor=is_floor)


def sat(
    root: Path,
    *variants: Variant,
    workers: Sequence[int] = (1,),
    asked: Sequence[tuple[str, str]] = (SERIAL,),
    observer: Silent | None = None,
    rounds: int = 4,
    budget: float = 1e9,
) -> tuple[SpawnEstimates, bool]:
    cases = tuple(Case(name=name, flags=flags, workers=count) for name, flags in asked for count in workers)
    wanted = Plan(title="simulated", variants=variants, cases=cases)
    store, head = begun(root, wanted, benchmark="spawn")
    with store:
        return measured(root, store, head, observer or Silent(), budget=budget, rounds=rounds)


def runs_of(root: Path) -> list[Run[SpawnRecord]]:
    return list(Store.open(root / "results" / "test").runs(SpawnRecord))


def printed(estimates: SpawnEstimates) -> str:
    console = Console(record=True, width=80, file=open("/dev/null", "w"))  # noqa: SIM115, PTH123
    for section in estimates.sections():
        console.print(section)
    return console.export_text()


def row(
    name: str = "a",
    *,
    case: str = "serial",
    workers: int = 1,
    value: Interval | None = None,
    ratio: Interval | None = None,
    verdict: Any = "behind",
) -> Row:
    return Row(
        kind="spawn",
        variant=variant(name),
        case=case,
        configuration="",
        quantity="a task",
        value=value,
        workers=workers,
        ratio=ratio,
        verdict=verdict,
        rounds=3,
    )


def test_a_sitting_says_who_is_first_level_and_behind(tmp_path: Path) -> None:
    equal = spawner(tmp_path, "equal", 10, f"drifts:{tmp_path / 'launches'}")
    quick, slow = spawner(tmp_path, "quick", 10), spawner(tmp_path, "slow", 30)
    plain = spawner(tmp_path, "plain", 1, is_floor=True)
    estimates, interrupted = sat(tmp_path, quick, equal, slow, plain, workers=(1, 2))
    assert not interrupted
    one = {row.id: row for row in estimates.rows if row.workers == 1}
    two = {row.id: row for row in estimates.rows if row.workers == 2}
    assert {one["quick"].verdict, one["equal"].verdict} == {"first", "level"}
    assert one["slow"].verdict == "behind"
    assert one["slow"].ratio is not None
    assert one["slow"].ratio.value == pytest.approx(3, rel=0.05)
    assert one["plain"].verdict == "floor"
    assert "plain" not in two, "the floor has one worker"
    assert one["quick"].value is not None
    assert two["quick"].value is not None
    assert one["quick"].value.value == pytest.approx(10e-9, rel=0.03)
    assert two["quick"].value.value == pytest.approx(5e-9, rel=0.03)
    words = [performance(one[name]) for name in ("quick", "equal", "slow", "plain")]
    assert words == ["High", "High", "Low", ""]
    assert one["slow"].facts["peak_rss_above_empty_bytes"] == 6 << 20


@pytest.mark.parametrize("small", ["-pattern serial -tasks 1024", ""])
def test_a_run_that_would_end_after_the_time_is_not_begun(tmp_path: Path, small: str) -> None:
    seconds = 7000e-9 * (1 << 20)  # of a run of the slow one
    case = Case(name="serial", flags="-pattern serial", workers=1, small=small, small_times=1024)
    plan = Plan(
        title="simulated", variants=(spawner(tmp_path, "slow", 7000), spawner(tmp_path, "quick", 1)), cases=(case,)
    )
    store, head = begun(tmp_path, plan, benchmark="spawn")
    observer = Silent()
    with store:
        estimates, _ = measured(tmp_path, store, head, observer, budget=seconds * 0.7, rounds=2)
        asked = [run.flags for run in runs_of(tmp_path) if run.system_id == "slow"]
        assert asked == ([small, small] if small else ["-pattern serial"]), "without a small run, what warms up says it"
        assert observer.failures["slow"].startswith("left out: a run takes about 7.")
        rows = {row.id: row for row in estimates.rows}
        assert rows["quick"].value is not None
        assert (rows["slow"].value, rows["slow"].note) == (None, NO_TURN)
        estimates, _ = measured(tmp_path, store, head, Silent(), budget=1e9, rounds=2)
    assert {row.rounds for row in estimates.rows} == {2}, "with more time it has its turn"


def test_a_launch_has_as_many_runs_as_fit_its_time(tmp_path: Path) -> None:
    quick, middling, long = spawner(tmp_path, "a", 10), spawner(tmp_path, "b", 140), spawner(tmp_path, "c", 1000)
    small = "-pattern serial -tasks 1024"
    case = Case(name="serial", flags="-pattern serial", workers=1, small=small, small_times=1024)
    store, head = begun(
        tmp_path, Plan(title="simulated", variants=(quick, middling, long), cases=(case,)), benchmark="spawn"
    )
    with store:
        measured(tmp_path, store, head, Silent(), rounds=2)
    made = {name: [run for run in runs_of(tmp_path) if run.system_id == name] for name in "abc"}
    roles = {name: [run.role for run in runs if run.flags == case.flags] for name, runs in made.items()}
    assert roles["a"] == ["probe", "system", "system", "system"] * 2
    assert roles["b"] == ["probe", "system", "system"] * 2
    assert roles["c"] == ["system"] * 2, "it takes a second, and warms itself up"


def test_what_takes_more_than_its_share_comes_after_three_launches_of_the_others(tmp_path: Path) -> None:
    slow, quick = spawner(tmp_path, "slow", 30_000), spawner(tmp_path, "quick", 10)
    small = "-pattern serial -tasks 1024"
    case = Case(name="serial", flags="-pattern serial", workers=1, small=small, small_times=1024)
    asked = Plan(title="simulated", variants=(slow, quick), cases=(case,))
    store, head = begun(tmp_path, asked, benchmark="spawn")
    observer = Silent()
    with store:
        measured(tmp_path, store, head, observer, budget=60, rounds=3)
        order = [run.system_id for run in runs_of(tmp_path) if run.role == "system"]
        assert order == ["quick"] * 9 + ["slow"] * 3
        assert observer.said == [
            "an interval needs 3 launches: those of all rows take about 2 minutes (--minutes 2); the quickest rows "
            "come first"
        ]
        later = head.model_copy(update={"sitting": "later"})
        store.append("sittings", later)
        again = Silent(interrupt_at=0)
        measured(tmp_path, store, later, again, budget=60, rounds=3)
    assert again.said == observer.said, "earlier sittings tell it before the first launch"


def test_a_system_that_fails_at_a_pattern_is_out_of_it_with_its_reason(tmp_path: Path) -> None:
    faults = {"mortal": "dies", "liar": "lies", "sloppy": "drops"}
    good = spawner(tmp_path, "good", 10)
    estimates, _ = sat(tmp_path, good, *(spawner(tmp_path, name, 1, fault) for name, fault in faults.items()))
    found = {row.id: row for row in estimates.rows}
    assert found["good"].verdict == "first"
    assert found["good"].rounds >= 3
    assert found["mortal"].note.startswith("ended with exit code 1")
    assert "a worker has died" in found["mortal"].note
    assert "validation did not pass" in found["liar"].note
    assert found["sloppy"].note == "1048575 null tasks ran where 1048576 were spawned"
    for name in faults:
        assert found[name].verdict == "failed"
        assert found[name].value is None


def test_noisy_runs_are_made_again_and_do_not_count(tmp_path: Path) -> None:
    estimates, _ = sat(tmp_path, spawner(tmp_path, "noisy", 10, "noisy"))
    (only,) = estimates.rows
    assert only.value is not None
    assert only.value.value == pytest.approx(10e-9, rel=0.03)
    assert only.facts["peak_rss_bytes"] == 10 << 20
    assert only.noisy_share == pytest.approx(0.5, abs=0.1)


def test_rounds_have_the_systems_beside_each_other_in_orders_of_their_own(tmp_path: Path) -> None:
    observer = Silent()
    people = [spawner(tmp_path, name, 10) for name in ("a", "b", "c")]
    asked = (SERIAL, ("parallel", "-pattern parallel"))
    sat(tmp_path, *people, asked=asked, observer=observer, rounds=3)
    launches = observer.launches
    threes = [launches[start : start + 3] for start in range(0, len(launches), 3)]
    assert len(threes) == 6
    for three in threes:
        assert {name for _, name, _ in three} == {"a", "b", "c"}
        assert len({(number, case) for number, _, case in three}) == 1
    assert len({tuple(name for _, name, _ in three) for three in threes}) > 1


def test_an_interrupted_sitting_keeps_what_was_measured(tmp_path: Path) -> None:
    people = (spawner(tmp_path, "a", 10), spawner(tmp_path, "b", 20))
    estimates, interrupted = sat(tmp_path, *people, observer=Silent(interrupt_at=5))
    assert interrupted
    assert {row.rounds for row in estimates.rows} == {2, 3}
    runs = runs_of(tmp_path)
    assert len(runs) == 5 * 4
    assert [run.role for run in runs].count("probe") == 5
    assert all(run.record.get("tasks") == 1 << 20 for run in runs)


def test_a_spent_budget_ends_it_and_what_was_not_reached_says_so(tmp_path: Path) -> None:
    observer = Silent()
    estimates, interrupted = sat(tmp_path, spawner(tmp_path, "a", 10), observer=observer, rounds=9, budget=0)
    assert not interrupted
    assert observer.launches == []
    assert [(row.verdict, row.note) for row in estimates.rows] == [("failed", "no turn in the time")]
    assert [(each.title, each.notes) for each in estimates.sections()] == [
        ("No turn in the time; go on with --resume", [estimates.rows[0].place])
    ]


def test_tables_and_json_hold_every_row(tmp_path: Path) -> None:
    people = (spawner(tmp_path, "quick", 10), spawner(tmp_path, "slow", 31), spawner(tmp_path, "mortal", 1, "dies"))
    estimates, _ = sat(tmp_path, *people)
    text = printed(estimates)
    for words in ("serial, 1 worker", "first", "x 3", "mortal: simulated: a worker has died", "High", "Low"):
        assert words in text or words.split(": ")[-1] in text, words
    lines = list(estimates.objects())
    assert {line["verdict"] for line in lines} == {"first", "behind", "failed"}
    assert {line["performance"] for line in lines} == {"High", "Low", None}
    assert {line["case"] for line in lines} == {"serial"}
    table, _ = estimates.sections()
    how = "a system's runs noisy; to the first: the median of the rounds' ratios"
    assert any(note.endswith(how) for note in table.notes)


def test_one_round_has_no_interval_and_its_json_no_infinity() -> None:
    told = row(value=Interval(1.0, 0.0, float("inf")), verdict="first").to_json()
    assert (told["value"], told["low"], told["high"]) == (1.0, None, None)


def test_a_ratio_whose_interval_holds_two_is_undecided() -> None:
    one = Interval(1.0, 0.9, 1.1)
    for ends, word in (
        ((1.9, 1.8, 2.0), "High"),
        ((1.9, 1.8, 2.1), "High?"),
        ((2.2, 1.9, 2.5), "Low?"),
        ((2.2, 2.1, 2.5), "Low"),
    ):
        assert performance(row(value=one, ratio=Interval(*ends))) == word


@pytest.mark.parametrize("rounds", [1, 2])
def test_of_a_round_or_two_nobody_is_said_to_be_level_behind_high_or_low(tmp_path: Path, rounds: int) -> None:
    estimates, _ = sat(tmp_path, spawner(tmp_path, "quick", 10), spawner(tmp_path, "slow", 240), rounds=rounds)
    first, other = estimates.rows
    assert (first.verdict, other.verdict) == ("first", "unknown")
    assert performance(other) == "?"
    assert [line["performance"] for line in estimates.objects()] == [None, None]
    text = printed(estimates)
    assert re.search(r"slow .* x 2[345] \?", text)
    assert "?: of fewer than 3 launches" in text
    assert "level" not in text
    if rounds == 1:
        assert re.search(r"quick .* too few runs +first \?", text)


def test_patterns_are_chosen_by_name_and_unknown_ones_refused() -> None:
    def chosen(cases: str = "") -> list[str]:
        return [each.name for each in BENCHMARK.choose(LISTED, {"cases": cases})]

    assert chosen() == ["serial", "parallel", "fib-both", "fib-one", "tree-T3"]
    assert chosen("fib-one") == ["fib-one"]
    assert chosen("tree") == ["tree-T3"]
    assert chosen("tree-T1,tree-T2") == ["tree-T1", "tree-T2"]
    assert chosen("fibonacci") == ["fib-both", "fib-one"]
    with pytest.raises(TeffError, match="'sireal'"):
        chosen("sireal,tree-T3")


@pytest.mark.parametrize(
    "change",
    [{"tasks": 0}, {"elapsed_seconds": 0.0}, {"workers": 0}, {"surplus": 1}, {"validation": None}, {"schema": "other"}],
    ids=lambda change: next(iter(change)),
)
def test_a_record_in_between_is_refused(tmp_path: Path, change: dict[str, object]) -> None:
    sat(tmp_path, spawner(tmp_path, "a", 10), rounds=1)
    good = runs_of(tmp_path)[0].record.told
    assert BENCHMARK.value(parse_record(json.dumps(good), SpawnRecord)) > 0
    with pytest.raises(RecordError):
        parse_record(json.dumps({**good, **change}), SpawnRecord)


def test_the_display_of_a_pipe_says_rounds_and_failures() -> None:
    console = Console(record=True, width=100, file=open("/dev/null", "w"))  # noqa: SIM115, PTH123
    with LiveTable(console, [variant("a", title="Anna")], lambda: "") as live:
        whole = {"is_whole": True, "is_from_store": False}
        live.begins("a", 0, "serial", 1, 1)
        live.learned("a", [Progress("serial", Interval(3e-9, 2.85e-9, 3.15e-9), 0.05, 3)], **whole)
        live.begins("a", 1, "serial, 2 workers", 1, 1)
        live.learned("a", [], is_whole=False, is_from_store=False)
        live.begins("a", 2, "serial", 1, 2)
        live.learned("a", [], **whole)
        live.failed("a", "serial", "has died")
    text = console.export_text()
    assert "a: round 1 of serial 3.00 ns ± 5.0 %" in text
    assert "a: round 2 of serial, 2 workers has no value yet\n" in text
    assert "a: round 3 is measured\n" in text, "a launch about several cases, as of curves"
    assert "a, serial: has died" in text


def test_a_mistyped_case_is_refused_before_anything_is_built(
    commanded: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    row = '[[program]]\nbenchmark = "spawn"\nname = "one"\ntitle = "pond"\nprogram = "pond_{benchmark}"\n'
    write_system(commanded, "pond", row)
    source, program = commanded / "bench/spawn/cases.cpp", commanded / BUILD_FOLDER / "bin" / "pond_spawn"
    for file in (source, program):
        file.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n" + """echo '{"name": "fib", "flags": ""}'""")
    program.chmod(0o755)
    source.touch()
    built: list[object] = []
    monkeypatch.setattr("tefflab.measure.presence.ensure", lambda *how, **_: built.append(how) or {})
    os.utime(source, (1, 1))
    for words in (("measure", "spawn", "--cases", "fob"), ("measure", "spawn:fob"), ("run", "pond", "spawn:fob")):
        assert teff(monkeypatch, *words) == BAD_INPUT
        assert re.search("is called 'fob'; there are: fib", capsys.readouterr().err)
    assert not built
    os.utime(program, (0, 0))
    assert teff(monkeypatch, "measure", "spawn:fob") == FAILED, "this program gives no identity"
    assert built, "the list of an old program may lack the case"


def test_a_floor_that_is_named_without_a_place_of_one_worker_is_told_so(
    commanded: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("ground", "quick"):
        spawner(commanded, name, 10)
    file = commanded / "bench/systems/ground/system.toml"
    file.write_text(file.read_text().replace('paradigm = "none"', 'paradigm = "sequential"'))
    words = ("measure", "spawn:serial", "--systems", "ground,quick", "--rounds", "2", "--workers")
    assert teff(monkeypatch, *words, "2") == FAILED
    assert "not to the end: ground (it runs with one worker only)\n" in capsys.readouterr().err
    assert teff(monkeypatch, *words, "1,2") == 0


@pytest.fixture
def _simulated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two systems with simulated programs, and one whose program dies."""
    for name, nanoseconds, fault in (("quick", 10, "fine"), ("slow", 30, "fine"), ("mortal", 1, "dies")):
        spawner(tmp_path, name, nanoseconds, fault)
    monkeypatch.setattr(Selection, "prepare", lambda *_: None)
    monkeypatch.setattr("tefflab.measure.measurement.read_machine", lambda: MACHINE)
    monkeypatch.setattr(session, "warn_of_others", lambda _: None)


def spawn(root: Path, **changes: Any) -> None:
    """`teff measure spawn --cases serial --workers 1,2 --json`, or as the changes say."""
    own = {"cases": changes.pop("cases", "serial")}
    usual = Options(workers=(1, 2), seconds=1e9, rounds=4, store="test", as_json=True, own=own)
    measuring.run_command(Registry(root), BENCHMARK, BENCHMARK.commands[0], replace(usual, **changes))


AGAIN: dict[str, Any] = {"resume": True, "cases": "", "workers": ()}


@pytest.mark.usefixtures("_simulated")
def test_an_interrupted_measurement_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []

    def interrupted_in_a_round(program: BatchProgram, line: str, timeout: float) -> str:
        asked.append(line)
        if len(asked) == 25:
            raise KeyboardInterrupt
        return real(program, line, timeout)

    real = BatchProgram.ask
    monkeypatch.setattr(BatchProgram, "ask", interrupted_in_a_round)
    with pytest.raises(Exit) as left:
        spawn(tmp_path)
    assert left.value.exit_code == 130
    told = capsys.readouterr().err
    assert (
        "the measured runs are kept: 7 rounds, all systems together; to go on: ./teff measure spawn --resume --store"
        in told
    )
    spawn(tmp_path, **AGAIN)
    told, errors = capsys.readouterr()
    assert "teff: goes on with a sitting of 7 rounds, all systems together\n" in errors
    made = len({(run.round, run.system_id, run.workers) for run in runs_of(tmp_path) if run.role == "system"})
    assert errors.endswith(f"teff: the sitting now has {made} rounds, all systems together, {made - 7} of them new\n")
    rows = [json.loads(line) for line in told.splitlines()]
    assert {row["rounds"] for row in rows if row["system_id"] != "mortal"} == {4}
    runs = runs_of(tmp_path)
    launches = [(run.round, run.system_id, run.workers) for run in runs if run.role == "probe"]
    assert len(launches) == len(set(launches)), "the launch that was interrupted goes on"
    assert launches.count((0, "mortal", 1)) == 1, "a system that failed stays out"
    for row in rows:
        assert ("a worker has died" in row["note"]) == (row["system_id"] == "mortal")
    folder = tmp_path / "results" / "test" / rows[0]["sitting"]
    assert sorted(file.name for file in folder.iterdir()) == ["report.html", "spawn-serial.png", "spawn-serial.svg"]


@pytest.mark.usefixtures("_simulated")
def test_a_sitting_goes_on_only_as_what_it_was(tmp_path: Path) -> None:
    with pytest.raises(TeffError, match="no sitting of spawn patterns"):
        spawn(tmp_path, **AGAIN)
    store = Store.create(tmp_path / "results" / "test")
    wanted = Plan(title="T", variants=(), cases=(), experiment="one")
    store.append("sittings", sitting(benchmark="spawn").model_copy(update={"plan": wanted.model_dump(mode="json")}))
    with pytest.raises(TeffError, match="--resume goes on with what its sitting measures; leave out --systems"):
        spawn(tmp_path, **AGAIN, systems=("slow",))
    with pytest.raises(TeffError, match=r"by \./teff experiment one --resume"):
        spawn(tmp_path, **AGAIN)


@pytest.mark.usefixtures("_simulated")
def test_an_experiment_of_spawn_patterns_draws_a_picture_of_each(tmp_path: Path) -> None:
    (tmp_path / "experiments").mkdir()
    text = 'title = "T"\ndescription = "d"\nbenchmark = "spawn"\nrounds = 2\nminutes = 1\ncases = ["serial", "{}"]\n'
    (tmp_path / "experiments" / "own.toml").write_text(text.format("parallel"))
    usual = Options(seconds=0, rounds=0, workers=(3,), store="test", as_json=True)
    measuring.experiment(Registry(tmp_path), "own", usual)
    head = Store.open(tmp_path / "results" / "test").sitting(benchmark="spawn")
    assert find_benchmark("spawn").plan_of(head).workers == [1, 2, 3]
    names = {file.name for file in (tmp_path / "results" / "test" / head.sitting).iterdir()}
    drawn = {f"own-{name}.{end}" for name in ("serial", "parallel") for end in ("svg", "png")}
    assert names == drawn | {"report.html"}
    (tmp_path / "experiments" / "own.toml").write_text(text.format("sireal"))
    with pytest.raises(TeffError, match="no case is called 'sireal'"):
        measuring.experiment(Registry(tmp_path), "own", usual)


def test_a_system_alone_is_not_called_high_or_low(tmp_path: Path) -> None:
    floor = spawner(tmp_path, "floor", 1, is_floor=True)
    estimates, _ = sat(tmp_path, floor, spawner(tmp_path, "alone", 20))
    assert "High" not in printed(estimates)


def test_the_matrix_fits_a_terminal_with_every_word_whole() -> None:
    patterns = ("serial", "parallel", "fib-both", "fib-one", "tree-T3")
    rows = [
        row(
            "system/of_a_name",
            case=pattern,
            workers=count,
            value=Interval(1.0, 0.9, 1.1),
            ratio=Interval(*(1.03 * count * by for by in (1, 0.9, 1.1))),
        )
        for pattern in patterns
        for count in (1, 2)
    ]
    console = Console(record=True, width=80, file=open("/dev/null", "w"))  # noqa: SIM115, PTH123
    console.print(matrix(rows))
    text = console.export_text()
    assert "with 1 and 2 workers" in text
    assert text.count("High  Low?") == len(patterns)
    assert all(pattern in text for pattern in patterns)
    assert "…" not in text
