"""A whole sitting against programs that only simulate: processes, store, search, case, interruption."""

import io
import os
import select
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from rich.console import Console

from conftest import PROGRAM
from simulated_program import FAR, ROUND_TRIP, SECONDS_PER_ITERATION
from simulated_sitting import CONFIGURATION, Silent, begun, graphs, measured, plan, sat, variant
from tefflab.benchmarks.graphs import GraphCase
from tefflab.benchmarks.task_graph import TaskGraph
from tefflab.benchmarks.task_graph.record import GraphRecord
from tefflab.errors import TeffError
from tefflab.measure import sitting as sitting_module
from tefflab.measure.batch import BatchProgram, LateError, ProgramError
from tefflab.measure.measurement import estimated, measure
from tefflab.measure.presence import Selection
from tefflab.measure.runner import Runner
from tefflab.measure.time_budget import TimeBudget
from tefflab.output.live import LiveTable
from tefflab.output.quantities import duration
from tefflab.records.record import parse_record
from tefflab.records.run import Failure, Run
from tefflab.records.store import Kind, Store, UnwritableError, open_sitting
from tefflab.systems.registry import Registry
from tefflab.systems.systems import BUILD_FOLDER


def runs_of(store: Store, role: str = "system") -> list[Run[GraphRecord]]:
    return [run for run in store.runs(GraphRecord) if run.role == role]


def test_a_sitting_finds_the_metg_of_every_system(laboratory: Callable[..., Path]) -> None:
    root = laboratory(quick=(1e-6, "fine"), slow=(2e-3, "fine"))
    (case,) = sat(root, plan("quick", "slow"), Silent()).cases
    rows = case.rows
    assert [row.id for row in rows] == ["quick", "slow"]
    for row, overhead in zip(rows, (1e-6, 2e-3), strict=True):
        assert row.value is not None
        empty = case.overhead(row)
        assert empty is not None
        assert empty.value is not None
        assert row.value.relation == "="
        assert row.value.value == pytest.approx(2 * overhead, rel=0.05)
        assert empty.value.value == pytest.approx(overhead, rel=0.03)
        assert row.noisy_share == 0
    quick, slow = (row.facts["timesteps"] or 0 for row in rows)
    assert quick >= 1000
    assert 100 <= slow < 1000


def test_a_system_that_dies_is_named_and_the_others_go_on(laboratory: Callable[..., Path]) -> None:
    root = laboratory(good=(1e-6, "fine"), mortal=(1e-6, "dies"), wrong=(1e-6, "invalid"))
    observer = Silent()
    rows = {row.id: row for row in sat(root, plan("good", "mortal", "wrong"), observer).cases[0].rows}
    assert rows["good"].value is not None
    assert rows["good"].rounds >= 4
    assert "rank 1 of 2 has died" in observer.failures["mortal"]
    assert "ran twice" in rows["wrong"].note
    assert rows["wrong"].value is None
    store, sitting = open_sitting(Registry(root), "test")
    later = {row.id: row.note for row in estimated(store, graphs(), sitting).cases[0].rows}  # type: ignore[attr-defined]
    assert later == {name: row.note for name, row in rows.items()}, "the store keeps why a system failed"
    again = Silent()
    with store:
        measured(root, store, sitting, again, rounds=rows["good"].rounds + 1)
    assert again.failures.keys() == observer.failures.keys(), (
        "it is tried once more where its sitting goes on, and fails again"
    )


def test_a_system_whose_process_is_killed_is_named_and_the_others_lose_nothing(
    laboratory: Callable[..., Path],
) -> None:
    root = laboratory(good=(1e-6, "fine"), shot=(1e-6, "is_killed"), ranks=(1e-6, "loses_a_rank"))
    observer = Silent()
    rows = {row.id: row for row in sat(root, plan("good", "shot", "ranks"), observer).cases[0].rows}
    assert rows["good"].value is not None
    assert rows["good"].rounds >= 4
    assert "was ended by signal 9 (SIGKILL)" in observer.failures["shot"]
    assert "one of its processes is ended by SIGKILL" in observer.failures["ranks"]


def test_a_system_that_was_measured_and_is_killed_has_no_value_until_it_answers_again(
    laboratory: Callable[..., Path],
) -> None:
    root = laboratory(good=(1e-6, "fine"), shot=(1e-6, "fine"))
    toml = root / "bench" / "systems" / "shot" / "system.toml"
    store, sitting = begun(root, plan("good", "shot"))
    with store:
        measured(root, store, sitting, Silent(), rounds=2)
        sound = toml.read_text()
        toml.write_text(sound.replace('"fine"', '"is_killed"'))
        results, _ = measured(root, store, sitting, Silent(), rounds=4)
        assert results.has_values
        rows = {row.id: row for row in results.cases[0].rows}
        assert rows["good"].rounds == 4
        assert rows["shot"].value is None
        assert "was ended by signal 9 (SIGKILL)" in rows["shot"].note
        assert [curve.variant.id for curve in results.cases[0].curves] == ["good"]
        toml.write_text(sound)
        results, _ = measured(root, store, sitting, Silent(), rounds=4)
        assert {row.id: row.rounds for row in results.cases[0].rows} == {"good": 4, "shot": 4}
        assert store.failures(sitting.sitting) == []


def test_a_system_that_has_fewer_workers_than_were_asked_for_is_not_measured(laboratory: Callable[..., Path]) -> None:
    root = laboratory(good=(1e-6, "fine"), limited=(1e-6, "is_limited"))
    store, sitting = begun(root, plan("good", "limited"))
    with store:
        results, _ = measured(root, store, sitting, Silent(), rounds=2)
    rows = {row.id: row for row in results.cases[0].rows}
    assert rows["good"].value is not None
    assert rows["limited"].value is None
    assert rows["limited"].note.startswith("had 1 of 2 workers: ")


def test_a_sitting_of_systems_that_all_failed_fails(laboratory: Callable[..., Path]) -> None:
    root = laboratory(shot=(1e-6, "fine"))
    store, sitting = begun(root, plan("shot"))
    toml = root / "bench" / "systems" / "shot" / "system.toml"
    with store:
        results, _ = measured(root, store, sitting, Silent(), rounds=2)
        assert results.has_values
        toml.write_text(toml.read_text().replace('"fine"', '"is_killed"'))
        results, _ = measured(root, store, sitting, Silent(), rounds=3)
    assert not results.has_values


def test_a_system_that_failed_at_one_case_keeps_what_it_has_under_another(
    laboratory: Callable[..., Path],
) -> None:
    root = laboratory(good=(1e-6, "fine"), wrong=(1e-6, "fine"))
    flags = [f"{CONFIGURATION} -output {size}" for size in (16, 32)]
    cases = tuple(GraphCase(name=each, flags=each, workers=2) for each in flags)
    store, sitting = begun(root, plan("good", "wrong").model_copy(update={"cases": cases}))
    with store:
        measured(root, store, sitting, Silent(), rounds=2)
        given = Failure(sitting=sitting.sitting, round=2, system_id="wrong", reason="ran twice", at=flags[1])
        store.append("failures", given)
        kept, lost = (each.rows for each in estimated(store, graphs(), sitting).cases)  # type: ignore[attr-defined]
    assert [(row.value is None, row.note) for row in kept if row.id == "wrong"] == [(False, "ran twice")]
    assert [(row.value is None, row.note) for row in lost if row.id == "wrong"] == [(True, "ran twice")]


def test_a_disk_that_is_full_is_no_fault_of_a_system(
    laboratory: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = laboratory(quick=(1e-6, "fine"))
    store, sitting = begun(root, plan("quick"))
    real = Store.append

    def full(store: Store, kind: Kind, line: Any) -> None:
        if isinstance(line, Run) and line.role == "system":
            raise UnwritableError("the disk is full")
        real(store, kind, line)

    monkeypatch.setattr(Store, "append", full)
    with store, pytest.raises(UnwritableError):
        measured(root, store, sitting, Silent())
    assert store.failures(sitting.sitting) == []


def test_a_system_that_hangs_is_given_up(laboratory: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TaskGraph, "timeout", 1.0)
    root = laboratory(good=(1e-6, "fine"), stuck=(1e-6, "hangs"))
    observer = Silent()
    sat(root, plan("good", "stuck"), observer)
    assert "did not answer within 1 s" in observer.failures["stuck"]
    assert list(observer.failures) == ["stuck"]


def test_one_that_never_answers_takes_no_time_from_others_and_says_so(
    laboratory: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TaskGraph, "timeout", 1.0)
    monkeypatch.setattr(sitting_module, "lot", lambda name, _: name != "stuck")  # it goes first
    root = laboratory(good=(1e-6, "fine"), stuck=(1e-6, "is_mute"))
    store, sitting = begun(root, plan("good", "stuck"))
    with store:
        results, _ = measured(root, store, sitting, Silent(), budget=0.5)
    rows = {row.id: row for row in results.cases[0].rows}
    assert "did not answer within 1 s" in rows["stuck"].note
    assert rows["good"].value is not None


def test_one_that_answers_later_was_only_late(laboratory: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    root = laboratory(slow=(1e-6, "fine"))
    asked, real = [0], BatchProgram.ask

    def ask(program: BatchProgram, line: str, timeout: float) -> str:
        asked[0] += program.name == "slow"
        if program.name == "slow" and asked[0] == 1:
            raise LateError("slow: did not answer within 1 s")
        return real(program, line, timeout)

    monkeypatch.setattr(BatchProgram, "ask", ask)
    store, sitting = begun(root, plan("slow"))
    with store:
        results, _ = measured(root, store, sitting, Silent(), rounds=3)
    assert results.cases[0].rows[0].value is not None
    assert store.failures(sitting.sitting) == []


def test_an_interrupted_sitting_goes_on_where_it_was(laboratory: Callable[..., Path]) -> None:
    root = laboratory(quick=(1e-6, "fine"), slow=(2e-5, "fine"))
    store, sitting = begun(root, plan("quick", "slow"))
    with store:
        first, first_interrupted = measured(root, store, sitting, Silent(interrupt_at=5), rounds=4)
        kept = len(runs_of(store))
        second, second_interrupted = measured(root, store, sitting, Silent(), rounds=4)
        runs = runs_of(store)
    assert first_interrupted
    assert first.cases[0].rows[0].value is not None
    assert not second_interrupted
    assert kept < len(runs)
    keys = [(run.key, run.attempt) for run in runs]
    assert len(keys) == len(set(keys)), "a run was made twice"
    assert {row.rounds for row in second.cases[0].rows} == {4}


def test_each_distance_of_the_cores_has_its_own_metg(
    laboratory: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SIMULATED_HOST", str(tmp_path / "asked"))
    root = laboratory(quick=(1e-6, "fine"), quicker=(5e-7, "fine"), long=(1e-4, "fine"))
    estimates = sat(root, plan("quick", "quicker", "long"), Silent(), rounds=20)
    case, other = estimates.cases
    assert case.where
    assert other.where
    shown, left_out = estimates.sections()[:2]
    assert (shown.is_detail, left_out.is_detail) == (False, True), "one table, and a line on the rest"
    apart = [f"cores {duration(each.where.round_trip)} apart" for each in (case, other) if each.where]
    assert [each.title.rpartition(", ")[2] for each in (shown, left_out)] == apart
    assert f"left out: runs with {apart[1]}" in shown.notes
    assert 2 * case.where.share > other.where.share, "else the table was about the other distance"
    places = sorted((case, other), key=lambda place: place.where.round_trip if place.where else 0.0)
    for place, factor in zip(places, (1.0, FAR), strict=True):
        assert place.where
        assert place.where.round_trip == pytest.approx(factor * ROUND_TRIP)
        assert {row.place for row in place.rows} == {f"stencil, cores {duration(place.where.round_trip)} apart"}
        rows = {row.id: row for row in place.rows}
        for name, overhead in (("quick", 1e-6), ("quicker", 5e-7), ("long", 1e-4)):
            seen = rows[name].value
            assert seen is not None
            assert seen.relation == "="
            assert seen.value == pytest.approx(2 * factor * overhead, rel=0.1)


def test_a_curve_has_its_points_in_every_round(laboratory: Callable[..., Path]) -> None:
    root = laboratory(quick=(1e-6, "fine"))
    case = sat(root, plan("quick", kind="curve"), Silent(), rounds=3).cases[0]
    assert case.rows == []
    points = case.curves[0].points
    assert [point.iterations for point in points] == sorted({point.iterations for point in points})
    for point in points:
        ideal = point.iterations * SECONDS_PER_ITERATION
        assert point.efficiency.value == pytest.approx(ideal / (ideal + 1e-6), rel=0.03)
        assert point.runs == 3


def test_a_program_is_stopped_while_it_has_nothing_to_do_and_gone_when_left() -> None:
    with BatchProgram("simulated", [sys.executable, str(PROGRAM), "simulated", "1e-6", "fine"], {}) as program:
        program.ask(f"{CONFIGURATION} -steps 10 -iter 1", 30)
        program.suspend()
        child = psutil.Process(program.pid)
        stopped = os.waitid(os.P_PID, program.pid, os.WSTOPPED | os.WNOWAIT)
        assert stopped is not None
        assert stopped.si_code == os.CLD_STOPPED
        program.ask(f"{CONFIGURATION} -steps 10 -iter 1", 30)
        program.suspend()
    assert not child.is_running()


def test_a_program_that_is_stopped_ends_where_the_lab_is_killed() -> None:
    words = [sys.executable, str(PROGRAM), "simulated", "1e-6", "fine"]
    lab = f"""
from tefflab.measure.batch import BatchProgram
with BatchProgram("simulated", {words!r}, {{}}) as program:
    program.ask("{CONFIGURATION} -steps 10 -iter 1", 30)
    program.suspend()
    print(program.pid, flush=True)
    input()
"""
    started = [sys.executable, "-c", lab]
    with subprocess.Popen(started, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as killed:
        assert killed.stdout is not None
        program = os.pidfd_open(int(killed.stdout.readline()))
        killed.kill()
        assert select.select([program], [], [], 60)[0], "it is still there"
    os.close(program)


def test_an_answer_that_is_there_when_the_lab_goes_on_is_read_however_late(monkeypatch: pytest.MonkeyPatch) -> None:
    with BatchProgram("simulated", [sys.executable, str(PROGRAM), "simulated", "1e-6", "fine"], {}) as program:
        times = iter([0.0])

        def stopped_meanwhile() -> float:
            for begin in times:
                return begin
            assert program._process.stdout is not None
            select.select([program._process.stdout], [], [])
            return 1e6

        with monkeypatch.context() as clock:
            clock.setattr("tefflab.measure.batch.time.monotonic", stopped_meanwhile)
            answer = program.ask(f"{CONFIGURATION} -steps 10 -iter 1", 30)
            assert parse_record(answer, GraphRecord).error is None


def test_a_program_that_cannot_be_started_is_named() -> None:
    with pytest.raises(ProgramError, match=r"nowhere: /no/such/program can't be started"):
        BatchProgram("nowhere", ["/no/such/program"], {})


def calibrated(root: Path, old: str, new: str) -> float:
    """The scale of a ceiling with another command line."""
    script = root / BUILD_FOLDER / "bin" / "ceiling"
    script.write_text(script.read_text().replace(old, new))
    store, sitting = begun(root, plan("quick"))
    runner = Runner(root, store, sitting.sitting, graphs())
    scale = runner.calibrate(plan("quick").cases[0])
    runner.close()
    store.close()
    return scale


def test_a_noisy_start_of_the_ceiling_misleads_nobody(laboratory: Callable[..., Path]) -> None:
    root = laboratory(quick=(1e-6, "fine"))
    assert calibrated(root, "fine", "stumbles") == pytest.approx(SECONDS_PER_ITERATION, rel=0.03)


def test_what_every_task_takes_on_a_busy_machine_is_not_taken_for_the_kernel(laboratory: Callable[..., Path]) -> None:
    root = laboratory(quick=(1e-6, "fine"))
    found = calibrated(root, "ceiling 0 ", "ceiling 0.001 ")
    assert SECONDS_PER_ITERATION < found < 3 * SECONDS_PER_ITERATION


def test_a_spent_budget_ends_a_sitting_between_two_questions(laboratory: Callable[..., Path]) -> None:
    root = laboratory(quick=(1e-6, "fine"))
    three = plan("quick")
    flags = [f"{CONFIGURATION} -output {size}" for size in (16, 32, 64)]
    three = three.model_copy(update={"cases": tuple(GraphCase(name=each, flags=each, workers=2) for each in flags)})
    store, sitting = begun(root, three)
    seen: list[tuple[int, int]] = []

    class Impatient(Silent):
        def begins(self, variant_id: str, number: int, case: str, part: int, parts: int) -> None:
            super().begins(variant_id, number, case, part, parts)
            seen.append((part, parts))
            if len(seen) == 10:
                clock.append(61)

    clock = [0.0]
    with store, pytest.MonkeyPatch.context() as patched:
        patched.setattr(sitting_module, "TimeBudget", lambda budget: TimeBudget(budget, lambda: clock[-1]))
        results, _ = measured(root, store, sitting, Impatient(), budget=60, rounds=9)
    assert seen == [*[(1, 3), (2, 3), (3, 3)] * 3, (1, 3)]
    assert [each.rows[0].rounds for each in results.cases] == [4, 3, 3]


def slowed(patched: pytest.MonkeyPatch, **seconds: float) -> list[float]:
    """A clock of the time budget that moves with each question to these systems alone."""
    clock, real = [0.0], BatchProgram.ask

    def ask(program: BatchProgram, line: str, timeout: float) -> str:
        clock[0] += seconds.get(program.name, 0.0)
        return real(program, line, timeout)

    patched.setattr(BatchProgram, "ask", ask)
    patched.setattr(sitting_module, "TimeBudget", lambda budget: TimeBudget(budget, lambda: clock[0]))
    return clock


@pytest.mark.slow
@pytest.mark.parametrize("slow", ["one", "two", "three"])
def test_a_slow_first_round_is_set_aside_until_all_have_had_theirs_and_goes_on_then(
    laboratory: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, slow: str
) -> None:
    names = ["one", "two", "three"]
    root = laboratory(**dict.fromkeys(names, (1e-6, "fine")))
    store, sitting = begun(root, plan(*names))
    with store:
        with monkeypatch.context() as patched:
            clock = slowed(patched, **(dict.fromkeys(names, 1.0) | {slow: 20.0}))
            results, _ = measured(root, store, sitting, observer := Silent(), budget=200)
        assert clock[0] <= 200 * 1.25 + 20
        rounds = {row.id: row.rounds for row in results.cases[0].rows}
        assert all(rounds[name] >= 1 for name in names if name != slow)
        first = [who for number, who, _ in observer.launches if number == 0]
        assert set(first[:3]) == set(names), "each has its turn before any has another"
        assert first[3:] in ([], [slow])
        results, _ = measured(root, store, sitting, Silent(), rounds=3)
    keys = [(run.key, run.attempt) for run in runs_of(store)]
    assert len(keys) == len(set(keys)), "a run was made twice"
    assert {row.rounds for row in results.cases[0].rows} == {3}


def test_a_first_round_of_several_questions_goes_on_with_the_one_it_was_at(
    laboratory: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = laboratory(one=(1e-6, "fine"), two=(1e-6, "fine"))
    flags = [f"{CONFIGURATION} -output {size}" for size in (16, 32, 64)]
    cases = tuple(GraphCase(name=each, flags=each, workers=2) for each in flags)
    store, sitting = begun(root, plan("one", "two").model_copy(update={"cases": cases}))
    with store, monkeypatch.context() as patched:
        slowed(patched, one=1.0, two=1.0)
        results, _ = measured(root, store, sitting, observer := Silent(), budget=50, rounds=2)
    first = [who for number, who, _ in observer.launches if number == 0]
    assert len(first) == len(set(first)) == 2, "what goes on is at a later question"
    keys = [(run.key, run.attempt) for run in runs_of(store)]
    assert len(keys) == len(set(keys)), "a run was made twice"
    assert all(row.runs for case in results.cases[:2] for row in case.rows)


def test_a_round_ends_between_two_runs_once_a_quarter_more_time_is_spent(
    laboratory: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = laboratory(one=(1e-6, "fine"))
    store, sitting = begun(root, plan("one"))
    with store:
        with monkeypatch.context() as patched:
            clock = slowed(patched, one=20)
            results, interrupted = measured(root, store, sitting, Silent(), budget=60)
        kept = runs_of(store)
        assert not interrupted
        assert clock[0] == 80, "the first question after 75 s is not asked"
        rows = results.cases[0].rows
        assert len(kept) == sum(row.runs for row in rows) == 2
        results, _ = measured(root, store, sitting, Silent(), rounds=2)
    keys = [(run.key, run.attempt) for run in runs_of(store)]
    assert len(keys) == len(set(keys)), "a run was made twice"
    assert {row.rounds for row in results.cases[0].rows} == {2}


@pytest.mark.parametrize(
    ("spent", "rounds", "is_spent"), [(59, 9, False), (61, 3, True), (61, 2, False), (74, 0, False), (76, 1, True)]
)
def test_who_has_fewer_than_three_rounds_has_a_quarter_more_time(spent: float, rounds: int, is_spent: bool) -> None:
    clock = iter([5.0, *[5.0 + spent] * 2])
    budget = TimeBudget(60, lambda: next(clock))
    assert budget.is_spent(rounds) == is_spent
    assert ("75 s" in str(TimeBudget(60, iter([0.0, *[spent] * 3]).__next__))) == (spent > 60)


@pytest.mark.parametrize(("kernel", "seconds"), [("compute_bound", 0.02), ("memory_bound", 0.1)])
def test_a_ceiling_that_moves_bytes_runs_longer_than_its_cold_start(
    laboratory: Callable[..., Path], kernel: str, seconds: float
) -> None:
    root = laboratory(quick=(1e-6, "fine"))
    asked = plan("quick")
    flags = CONFIGURATION.replace("compute_bound", kernel)
    asked = asked.model_copy(update={"cases": (GraphCase(name=kernel, flags=flags, workers=2),)})
    results = sat(root, asked, Silent(), rounds=2)
    assert results.cases[0].rows[0].value is not None
    store, _ = open_sitting(Registry(root), "test")
    ceilings = [run.record.wall_seconds for run in runs_of(store, "ceiling")]
    assert ceilings[-1] == pytest.approx(seconds, rel=0.5)


def test_what_a_system_is_called_and_says_is_shown_as_it_stands() -> None:
    console = Console(file=io.StringIO(), width=200, force_terminal=True, color_system=None)
    id_ = "one [task] [/a]"
    with LiveTable(console, [variant(id_)], lambda: "") as live:
        live.begins(id_, 1, "stencil", 3, 14)
        live.failed(id_, "", "died: [/tmp/x] is no [task]")
    assert isinstance(console.file, io.StringIO)
    for text in ("died: [/tmp/x] is no [task]", "one [task] [/a]", "round 2, 3 of 14"):
        assert text in console.file.getvalue()


@pytest.mark.parametrize("is_terminal", [True, False])
def test_the_display_of_a_long_command_has_its_begin_and_its_end(is_terminal: bool) -> None:
    console = Console(file=io.StringIO(), width=200, force_terminal=is_terminal, color_system=None)
    command = f"./solver {'word ' * 2000}end"
    with LiveTable(console, [variant(command)], lambda: "") as live:
        live.learned(command, [], is_whole=True, is_from_store=False)
        live.failed(command, "", "has died")
    assert isinstance(console.file, io.StringIO)
    shown = console.file.getvalue()
    assert "./solver word" in shown
    assert "word end: has died" in shown
    assert len(shown) < 4000


def test_only_rounds_that_the_store_did_not_have_are_shown(laboratory: Callable[..., Path]) -> None:
    root = laboratory(quick=(1e-6, "fine"))
    store, sitting = begun(root, plan("quick"))

    def shown(rounds: int) -> list[str]:
        console = Console(file=io.StringIO(), width=200)
        with store, LiveTable(console, [variant("quick")], lambda: "") as live:
            measure(Registry(root), store, graphs(), sitting, live, 1e9, rounds)
        assert isinstance(console.file, io.StringIO)
        return [" ".join(line.split()[1:4]) for line in console.file.getvalue().splitlines()]

    assert shown(2) == ["quick: round 1", "quick: round 2"]
    assert shown(3) == ["quick: round 3"]
    assert shown(3) == []


def test_a_launch_that_was_interrupted_goes_on_in_a_program_that_is_warm(
    laboratory: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = laboratory(quick=(1e-6, "fine"))
    store, sitting = begun(root, plan("quick"))
    asked: list[str] = []
    real = BatchProgram.ask

    def interrupted(program: BatchProgram, line: str, timeout: float) -> str:
        if program.name == "quick":
            asked.append(line)
        if len(asked) == 5:
            raise KeyboardInterrupt
        return real(program, line, timeout)

    with store:
        with monkeypatch.context() as patched:
            patched.setattr(BatchProgram, "ask", interrupted)
            assert measured(root, store, sitting, Silent(), rounds=2)[1]
        first, was_asked = asked[0], len(asked)
        kept = [run.flags for run in [*runs_of(store, "probe"), *runs_of(store)]]
        asked.clear()
        monkeypatch.setattr(BatchProgram, "ask", lambda *all_: asked.append(all_[1]) or real(*all_))  # type: ignore[func-returns-value]
        measured(root, store, sitting, Silent(), rounds=2)
    assert sorted(kept) == sorted(dict.fromkeys(kept))
    assert len(kept) == was_asked - 1
    again = [line for line in asked if "-type stencil_1d" in line]
    assert again[0] == first, "its first question again, as it is cold"
    assert [run.flags for run in runs_of(store, "probe")].count(first) == 2, (
        "which is no run of the launch: a round has one"
    )


def test_a_system_without_an_adapter_for_this_kind_is_told_from_one_that_is_not_there(
    laboratory: Callable[..., Path],
) -> None:
    root = laboratory(quick=(1e-6, "fine"))
    with pytest.raises(TeffError, match=r"^spawner has no adapter for METG; there is one for: quick$"):
        Selection(Registry(root), TaskGraph(), ["spawner"]).present({})
    with pytest.raises(TeffError, match=r"^no system is called 'nobody'; there are: quick$"):
        Selection(Registry(root), TaskGraph(), ["nobody"]).present({})
