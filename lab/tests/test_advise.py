"""Granularity: from the slices of a trace to a phase, a factor for each type of task, and a setting."""

import json
from collections.abc import Callable, Sequence
from io import StringIO
from pathlib import Path
from random import Random
from typing import Any, cast

import pytest
from click.testing import CliRunner
from rich.console import Console

from conftest import skip_unless_there
from pictures import data, words
from samples import sitting
from tefflab import project_root
from tefflab.cli import explaining
from tefflab.cli import main as cli
from tefflab.errors import TeffError
from tefflab.host.machine import read_machine
from tefflab.measure import single_runs
from tefflab.profiles.granularity import Findings, find, search, setting_of, to_table
from tefflab.profiles.measured_here import USUAL, Metg, metg_of
from tefflab.profiles.task_picture import draw
from tefflab.profiles.task_trace import TaskTrace, task_trace
from tefflab.records.store import Store
from tefflab.systems.programs import find_program
from tefflab.systems.registry import Registry

TINY = Metg(1e-9, "a test")
Slice = tuple[float, float, str, str]  # from, to (microseconds), category, name


def events(*workers: Sequence[Slice]) -> list[dict[str, Any]]:
    """The events of a process with these workers."""
    return [
        {"pid": 1, "tid": number, "ph": "X", "ts": began, "dur": ended - began, "cat": category, "name": name}
        for number, slices in enumerate(workers, 1)
        for began, ended, category, name in slices
    ] + [
        {"pid": 1, "tid": number, "ph": "M", "name": "thread_name", "args": {"name": f"worker {number - 1}"}}
        for number in range(1, len(workers) + 1)
    ]


def trace(*workers: Sequence[Slice]) -> TaskTrace:
    return task_trace(events(*workers))


def found(*workers: Sequence[Slice], metg: Metg = TINY) -> Findings:
    return find(trace(*workers), metg)


def text(of: Findings) -> str:
    """As the command prints them."""
    console = Console(file=StringIO(), width=200)
    console.print(to_table(of, "a run"))
    return cast(StringIO, console.file).getvalue()


def tasks(began: float, ended: float, count: int, length: float, name: str = "row") -> list[Slice]:
    """Tasks of this length, at equal distances."""
    step = (ended - began) / count
    return [(began + i * step, began + i * step + length, "task", name) for i in range(count)]


def test_tasks_that_fill_the_workers_time_are_good() -> None:
    of = found(tasks(0, 1000, 10, 98), tasks(0, 1000, 10, 98))
    assert of.phase == "good"
    assert of.tasks == 20
    assert of.worker_seconds["tasks"] == pytest.approx(1960e-6)


def test_tasks_that_others_wait_for_while_they_are_made_are_too_fine() -> None:
    maker: list[Slice] = [(0, 1000, "run", "main"), *tasks(0, 1000, 10, 20)]
    other: list[Slice] = [
        slice_
        for i in range(10)
        for slice_ in ((100 * i, 100 * i + 60, "task", "row"), (100 * i + 60, 100 * i + 100, "searching", "searching"))
    ]
    of = found(maker, other)
    assert (of.phase, of.bound.partition(":")[0]) == ("too fine", "creation")
    assert of.worker_seconds["making"] == pytest.approx(760e-6)  # until the last task has ended
    assert of.worker_seconds["starved"] == pytest.approx(360e-6)
    assert of.worker_seconds["idle"] == pytest.approx(0, abs=1e-9)


def test_tasks_with_more_time_between_than_in_them_are_too_fine_by_their_dependences() -> None:
    of = found(tasks(0, 1000, 100, 3), tasks(0, 1000, 100, 3))
    assert (of.phase, of.bound.partition(":")[0]) == ("too fine", "dependences")
    assert of.cost_seconds == pytest.approx(7e-6, rel=0.02)


def test_workers_that_are_idle_while_none_makes_tasks_have_too_coarse_ones() -> None:
    of = found([(0, 1000, "waiting", "waiting"), (0, 1000, "task", "row")], [(0, 1000, "parked", "parked")])
    assert (of.phase, of.bound.partition(":")[0]) == ("too coarse", "idle workers")
    assert of.worker_seconds["idle"] == pytest.approx(1e-3)


def test_a_pause_of_the_machine_is_no_cost_of_tasks() -> None:
    of = found([(0, 1000, "task", "row"), (6000, 7000, "task", "row")], [(0, 7000, "task", "long")])
    assert of.phase == "good"
    assert of.worker_seconds["other"] == pytest.approx(5e-3)
    assert of.cost_seconds == pytest.approx(0, abs=1e-12)


def test_a_task_in_which_another_program_had_the_core_counts_as_a_usual_one_and_a_pause() -> None:
    calm = found(tasks(0, 1000, 100, 8), tasks(0, 1000, 100, 8))
    of = found([*tasks(0, 1000, 100, 8), (1000, 217000, "task", "row")], tasks(0, 1000, 100, 8))
    assert of.worker_seconds["other"] == pytest.approx(
        (217e-3 - 1008e-6) + (217e-3 - 998e-6)
    )  # until the end, of each worker
    assert of.worker_seconds["tasks"] == pytest.approx(201 * 8e-6)
    assert of.types[0].seconds == pytest.approx(of.worker_seconds["tasks"])
    assert of.types[0].share == pytest.approx(1)
    assert of.mean == pytest.approx(calm.mean)
    assert of.factor == pytest.approx(calm.factor, rel=0.02)
    assert (of.phase, of.bound) == (calm.phase, calm.bound)


def test_a_task_is_disturbed_only_if_it_is_long_both_as_a_pause_and_for_its_type() -> None:
    of = found([*tasks(0, 1000, 10, 98), (1000, 1990, "task", "row"), (2000, 7000, "task", "long")])
    assert of.worker_seconds["tasks"] == pytest.approx(980e-6 + 990e-6 + 5e-3)
    usual = tasks(0, 4000, 10, 398)
    assert found([*usual, (4000, 7900, "task", "row")]).worker_seconds["tasks"] == pytest.approx(3980e-6 + 3.9e-3)


def test_a_serial_part_of_the_program_is_no_creation_of_tasks() -> None:
    maker: list[Slice] = [(0, 10000, "run", "main"), *tasks(0, 2000, 20, 99), *tasks(8000, 10000, 20, 99)]
    other: list[Slice] = [*tasks(0, 2000, 20, 99), (2000, 8000, "parked", "parked"), *tasks(8000, 10000, 20, 99)]
    of = found(maker, other)
    assert of.phase == "good"
    assert of.worker_seconds["other"] == pytest.approx(12e-3, rel=1e-3)
    assert of.cost_seconds == pytest.approx(0.95e-6, rel=0.01)


def test_a_chain_of_short_tasks_is_bound_by_its_dependences_though_workers_are_idle() -> None:
    of = found(tasks(0, 1000, 100, 8), [(0, 1000, "parked", "parked")], metg=Metg(2e-6, "a test"))
    assert of.worker_seconds["idle"] > of.worker_seconds["between"]
    assert (of.phase, of.bound.partition(":")[0]) == ("too fine", "dependences")


def test_without_a_record_of_making_the_bound_may_be_creation_and_the_way_to_record_it_is_told() -> None:
    own = tasks(0, 1000, 100, 3)
    assert "rt.run([&] { ... })" in found(own, own).bound
    assert "rt.run([&] { ... })" in found(own, [(0, 1000, "parked", "parked")], metg=Metg(2e-6, "a test")).bound
    made: list[Slice] = [(0, 1, "run", "main"), (1, 1000, "waiting", "waiting")]
    of = found([*made, *tasks(1, 1000, 100, 3)], own)
    assert of.bound == "dependences: the time between tasks"


def test_the_library_chooses_how_long_the_chunks_of_loops_are() -> None:
    loop: list[Slice] = [(0, 4000, "loop", "axpy")]
    stolen = [*tasks(0, 1000, 10, 60, "axpy"), (1000, 4000, "parked", "parked")]
    of = found(loop, stolen)
    assert of.phase == "chunks of loops"
    assert of.to_json()["factor"] is None
    assert of.to_json()["types"][0]["factor"] is None
    assert "should last" not in text(of)
    mixed = found([*loop, *tasks(4000, 8000, 1000, 1)], stolen)
    assert mixed.phase == "too fine"
    assert {each.name: each.factor is None for each in mixed.types} == {"axpy": True, "row": False}
    assert mixed.mean == pytest.approx(1e-6)
    assert "as the library chooses" in text(mixed)


def test_good_tasks_have_no_factor_in_words() -> None:
    good = found(tasks(0, 1000, 10, 98), tasks(0, 1000, 10, 98))
    assert "x as long" not in text(good)
    assert "should last" not in text(good)
    assert good.to_json()["types"][0]["factor"] == pytest.approx(good.factor)
    assert "x as long" in text(found(tasks(0, 1000, 100, 3)))


def test_long_tasks_may_be_too_coarse_though_making_them_took_long() -> None:
    """As where another program had the core for a moment."""
    maker: list[Slice] = [(0, 10000, "run", "main"), *tasks(0, 10000, 10, 900)]
    of = found(maker, [(0, 10000, "parked", "parked")], metg=Metg(2e-6, "a test"))
    assert of.cost_seconds == pytest.approx(90e-6)
    assert of.factor < 1
    assert of.phase == "too coarse"


def test_of_many_types_with_little_time_all_decide() -> None:
    own = [slice_ for i in range(300) for slice_ in tasks(100 * i, 100 * i + 100, 5, 19, f"type {i}")]
    assert found(own, metg=Metg(2e-6, "a test")).factor == pytest.approx(1)


def test_a_worker_that_lost_events_counts_from_the_first_event_that_it_kept() -> None:
    kept = tasks(5000, 10000, 50, 99)
    made = events([(0, 10000, "run", "main"), *kept], tasks(0, 10000, 100, 99))
    assert find(task_trace(made, 50), TINY).phase != "good"
    lost = {"pid": 1, "tid": 1, "ph": "M", "name": "lost_events", "args": {"lost_events": 50}}
    of = find(task_trace([*made, lost], 50), TINY)
    assert of.phase == "good"
    assert of.elapsed_seconds == pytest.approx(10e-3 - 5e-3 - 99e-6 - 1e-6, rel=0.01)
    assert of.tasks == 49 + 49


def bound_by_creation(random: Random) -> list[list[Slice]]:
    """Worker 0 makes tasks, at most half as fast as the others could run them."""
    others = random.randint(1, 5)
    cost = random.uniform(2, 10)
    length = others * cost * random.uniform(0.1, 0.5)
    end = 60 * others * cost
    idle: list[list[Slice]] = [[] for _ in range(others)]
    for i in range(60 * others):
        ended = i * cost + length
        rest: Slice = (ended, (i + others) * cost, *random.choice([("searching", "searching"), ("parked", "parked")]))
        idle[i % others] += [(i * cost, ended, "task", random.choice("ab")), rest]
    return [[(0, end, "run", "main")], *idle]


def bound_by_creation_on_one_worker(random: Random) -> list[list[Slice]]:
    length = random.uniform(1, 10)
    end = 100 * length * random.uniform(2, 5)
    return [[(0, end, "run", "main"), *tasks(0, end, 100, length)]]


def bound_by_dependences(random: Random) -> list[list[Slice]]:
    length = random.uniform(1, 10)
    end = 100 * length * random.uniform(2, 5)
    main: list[Slice] = [(0, end, "waiting", "waiting")]
    return [main + tasks(0, end, 100, length), *(tasks(0, end, 100, length) for _ in range(random.randint(0, 5)))]


def bound_by_tasks(random: Random) -> list[list[Slice]]:
    length = random.uniform(20, 900)
    end = 50 * length * random.uniform(1.01, 1.06)
    main: list[Slice] = [(0, end, "run", "main")]
    return [main + tasks(0, end, 50, length), *(tasks(0, end, 50, length) for _ in range(random.randint(0, 5)))]


def bound_by_few_tasks(random: Random) -> list[list[Slice]]:
    """At least every other worker is idle while a loop runs."""
    length = random.uniform(100, 2000)
    busy = random.randint(1, 3)
    idle: list[Slice] = [(i * length, (i + 1) * length, "parked", "parked") for i in range(30)]
    return [tasks(0, 30 * length, 30, length)] * busy + [idle] * random.randint(busy, 4)


PROGRAMS: list[tuple[Callable[[Random], list[list[Slice]]], str, str]] = [
    (bound_by_creation, "too fine", "creation"),
    (bound_by_creation_on_one_worker, "too fine", "creation"),
    (bound_by_dependences, "too fine", "dependences"),
    (bound_by_tasks, "good", "the tasks themselves"),
    (bound_by_few_tasks, "too coarse", "idle workers"),
]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(("program", "phase", "bound"), PROGRAMS)
def test_a_program_of_one_phase_is_told_it_also_with_pauses_and_over_ranks(
    program: Callable[[Random], list[list[Slice]]], phase: str, bound: str, seed: int
) -> None:
    workers = program(Random(seed))
    once = events(*workers)
    end = max(each[1] for slices in workers for each in slices)
    pause = 20_000
    later = [each | {"ts": each["ts"] + end + pause} for each in once if each["ph"] == "X"]
    around: list[Slice] = [(-pause, 0, "parked", "parked"), (end, end + pause, "parked", "parked")]
    second_rank = [each | {"pid": 2} for each in once]
    of = find(task_trace(once), TINY)
    assert (of.phase, of.bound.partition(":")[0]) == (phase, bound)
    for variant in (events(*([*slices, *around] for slices in workers)), once + later, once + second_rank):
        other = find(task_trace(variant), TINY)
        assert (other.phase, other.bound) == (of.phase, of.bound)
        assert other.factor == pytest.approx(of.factor, rel=0.05)
        assert other.setting(8) == pytest.approx(of.setting(8), rel=0.05)


def test_a_task_within_a_task_counts_its_own_time_and_the_outer_one_once() -> None:
    of = found([(0, 100, "task", "outer"), (20, 50, "task", "inner"), (60, 70, "task", "inner")])
    assert {each.name: (each.tasks, round(each.seconds * 1e6)) for each in of.types} == {
        "outer": (1, 60),
        "inner": (2, 40),
    }


def test_a_task_should_last_as_long_as_metg_asks_for() -> None:
    """At METG half of worker time is cost: 2 us cost 1 us, and 19 us of task leave it a twentieth."""
    of = found(tasks(0, 1000, 10, 98, "long") + tasks(98, 1098, 10, 2, "short"), metg=Metg(2e-6, "a test"))
    assert of.grain_seconds == pytest.approx(19e-6)
    assert of.grain_source == "METG: a test"
    assert {each.name: round(each.factor, 2) for each in of.types} == {"long": 0.19, "short": 9.5}


def test_a_task_that_costs_more_here_than_at_metg_should_last_longer() -> None:
    of = found(tasks(0, 1000, 10, 70))
    assert of.cost_seconds == pytest.approx(27e-6)
    assert of.grain_seconds == pytest.approx(19 * of.cost_seconds)
    assert found(tasks(0, 1000, 10, 95)).grain_seconds == pytest.approx(19 * TINY.seconds / 2), (
        "good tasks do not tell it"
    )


@pytest.mark.parametrize(("length", "setting"), [(2.0, 2), (19.0, 8), (190.0, 76)])
def test_the_setting_gives_tasks_the_advised_length_and_each_worker_as_many(length: float, setting: int) -> None:
    own = tasks(0, 1000 * length, 1000, length)
    of = found(own, own, metg=Metg(2e-6, "a test"))
    assert of.setting(8) == pytest.approx(setting, abs=4 if length > 19 else 0)
    assert of.setting(8) % 2 == 0


def test_a_type_with_hardly_any_time_does_not_decide() -> None:
    own = tasks(0, 19000, 1000, 18.99) + tasks(18.99, 19018.99, 1000, 0.001, "tiny")
    assert found(own, metg=Metg(2e-6, "a test")).factor == pytest.approx(1, rel=0.01)


def test_the_quickest_setting_lies_between_two_slower_ones() -> None:
    for best in (1, 2, 64, 1024):
        for starts in ({1}, {500}, {8, 22246}):
            tried = search(starts, lambda tasks: abs(tasks - best) + 1.0)  # noqa: B023 - called at once
            quickest = min(tried, key=lambda each: tried[each])
            assert {max(1, quickest // 2), 2 * quickest} | starts <= tried.keys()
            assert best / 2 <= quickest <= 2 * best


@pytest.mark.parametrize(("words", "asked"), [(["-tasks", "3"], 3), (["--tasks=3"], 3), (["-tasks=3"], 3), ([], None)])
def test_the_number_of_tasks_is_no_flag_of_the_app(
    monkeypatch: pytest.MonkeyPatch, words: list[str], asked: int | None
) -> None:
    told: list[Any] = []
    monkeypatch.setattr(explaining, "advise_app", lambda app, *said, **__: told.extend([said[0], app.flags, said[1]]))
    done = CliRunner().invoke(cli.app, ["explain", "hpccg", *words, "-size", "5"])
    assert done.exit_code == 0, done.output
    assert told == [["teff/t"], ["-app", "hpccg", "-size", "5"], asked]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["apps", "-app", "hpccg"], "apps: name the app, as apps:NAME"),
        (["apps:stencil"], "no app is called 'stencil'; there are: cholesky gemm"),
        (["stencil", "-size", "3"], "no app is called 'stencil'; there are: cholesky gemm"),
    ],
)
def test_a_name_that_no_app_has_is_refused_before_anything_is_built(
    monkeypatch: pytest.MonkeyPatch, words: list[str], why: str
) -> None:
    monkeypatch.setattr(explaining, "listed_here", lambda *_: [])
    done = CliRunner().invoke(cli.app, ["explain", *words])
    assert str(done.exception).startswith(why)


def test_a_setting_is_as_the_record_says_it() -> None:
    assert setting_of('{"parameters": {"tasks": 3}}') == 3
    with pytest.raises(TeffError, match="gemm: -tasks does not cut its loops"):
        setting_of('{"parameters": {"app": "gemm"}}')
    with pytest.raises(TeffError, match="lulesh: -tasks does not cut its loops"):
        setting_of('{"way": "loops", "parameters": {"app": "lulesh", "tasks": 8}}')


def test_the_tasks_with_priorities_of_sssp_have_no_setting() -> None:
    with pytest.raises(TeffError, match="sssp: its tasks with priorities do not read -tasks; say --systems teff/graph"):
        setting_of('{"way": "tasks", "parameters": {"app": "sssp", "tasks": 8}}')
    assert setting_of('{"way": "graph", "parameters": {"app": "sssp", "tasks": 8}}') == 8


@pytest.mark.parametrize("words", [["--ranks", "2"], ["-ranks=2"]])
def test_a_run_that_is_advised_has_one_process(words: list[str]) -> None:
    done = CliRunner().invoke(cli.app, ["explain", "lulesh", *words])
    assert isinstance(done.exception, TeffError)
    assert str(done.exception).startswith(
        "--ranks: explain runs one process; trace ranks by teff run --ranks N --trace"
    )
    assert done.exception.exit_code == 2


def test_metg_is_what_was_measured_last_or_the_usual_one(tmp_path: Path) -> None:
    registry = Registry(tmp_path)
    assert metg_of(registry, "") is USUAL
    assert metg_of(registry, "3us").seconds == pytest.approx(3e-6)
    graph = {"configuration": "-type stencil_1d -width 2 -kernel compute_bound"}
    usual = graph | {"quantity": "METG(50 %)", "value": 9e-6, "low": 8e-6, "high": 10e-6, "relation": "="}
    unfit: list[dict[str, Any]] = [
        usual | {"quantity": "METG(90 %)"},
        usual | {"quantity": "overhead"},
        usual | {"configuration": "-type fft -width 8 -kernel compute_bound"},
        usual | {"configuration": f"{usual['configuration']} -steps 5"},
        usual | {"high": None},
        usual | {"relation": ">"},
        usual | {"sitting": "of another machine"},
        usual | {"system_id": "other"},
    ]
    for store, name, value in (("new", "2026-02", 5e-6), ("old", "2026-01", 4e-6), ("ahead", "9999-01", 3e-6)):
        folder = registry.results / store
        with Store(folder) as kept:
            kept.append("sittings", sitting(name).model_copy(update={"machine": read_machine()}))
            kept.append("sittings", sitting("of another machine"))
        rows = [{"system_id": "teff/flow", "sitting": name} | each for each in unfit]
        (folder / "estimates.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows) + "torn{\n")
        assert metg_of(registry, "") is USUAL or store != "new"
        fit = {"system_id": "teff/flow", "sitting": name} | usual | {"value": value}
        with (folder / "estimates.jsonl").open("a") as file:
            file.write(f"{json.dumps(fit)}\n")
    assert metg_of(registry, "") == Metg(5e-6, "teff/flow in new:2026-02")


def test_a_picture_has_a_bar_for_each_task_and_a_line_for_each_type() -> None:
    of = trace([(0, 400, "run", "main"), *tasks(0, 400, 4, 90)], [*tasks(0, 400, 4, 60, "column")])
    picture = draw(of, "two types")
    said = words(picture)
    assert {"worker 0", "worker 1", "row", "column", "making tasks", "idle"} <= set(said)
    assert len(data(picture, "began")) == 2 + 4 + 4 + 3 + 3 + 1  # workers, tasks, making, idle


def test_below_the_workers_of_a_rank_stands_when_its_operations_of_mpi_were_under_way() -> None:
    requests = [
        {"pid": 1, "tid": 1, "ph": kind, "ts": at, "cat": "request", "name": "send", "id": number}
        for number, began, ended in (("0x1", 0, 200), ("0x2", 100, 300), ("0x3", 350, 900))
        for kind, at in (("b", began), ("e", ended))
    ]
    idle: list[Slice] = [(0, 50, "task", "row"), (50, 400, "parked", "parked")]
    of = task_trace(events(tasks(0, 400, 4, 100), idle) + requests)
    assert of.waiting_share == pytest.approx((250 + 50) / 800)
    (mpi,) = of.communication
    assert [(round(1e6 * each.began), round(1e6 * each.ended)) for each in mpi.stretches] == [(0, 300), (350, 400)]
    picture = draw(of, "one rank")
    heights = {each["text"]: each["y"] for each in data(picture, "text")}
    assert heights["worker 0"] < heights["worker 1"] < heights["messages"]
    texts = words(picture)
    assert texts[texts.index("messages under way") + 1].startswith("87")


def test_the_command_reads_the_trace_of_any_program(tmp_path: Path) -> None:
    file = tmp_path / "sort.json"
    file.write_text(json.dumps({"otherData": {"lost_events": 0}, "traceEvents": events(tasks(0, 1000, 100, 3))}))
    done = CliRunner().invoke(cli.app, ["explain", str(file), "--metg", "2us", "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["phase"] == "too fine"
    assert told["types"][0]["tasks"] == 100
    drawn = CliRunner().invoke(cli.app, ["explain", str(file), "--picture", str(tmp_path / "sort.png")])
    assert drawn.exit_code == 0, drawn.output
    assert (tmp_path / "sort.svg").is_file()
    assert (tmp_path / "sort.png").is_file()


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("nothing", "it is no trace"),
        ('{"traceEvents": []}', "the trace has no task"),
        ('{"traceEvents": 3}', "it is no trace"),
        (None, "no trace can be read"),
    ],
)
def test_a_file_without_tasks_is_an_error(tmp_path: Path, text: str | None, wrong: str) -> None:
    file = tmp_path / "trace.json"
    if text is not None:
        file.write_text(text)
    done = CliRunner().invoke(cli.app, ["explain", str(file)])
    assert isinstance(done.exception, TeffError)
    assert str(done.exception).startswith(f"{file}: {wrong}")
    assert done.exception.exit_code == 2


def test_a_file_with_a_trace_holds_one_run() -> None:
    done = CliRunner().invoke(cli.app, ["run", "a,b", "--trace", "run.json"])
    assert isinstance(done.exception, TeffError)
    assert str(done.exception) == "--trace run.json: a file holds one run; name one system"


def test_an_app_is_advised_from_one_traced_run_and_runs_with_other_settings(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = find_program(Registry(project_root()), "apps", "teff/t")
    skip_unless_there(program)
    monkeypatch.setattr(explaining, "ensure", lambda *_, **__: {})
    words = ["explain", "hpccg", "-grid", "10x10x10", "-tasks", "9", "--runs", "1", "--json"]
    done = CliRunner().invoke(cli.app, [*words, "--picture", str(tmp_path / "app")])
    assert done.exit_code == 0, done.output
    told = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))
    assert told["tasks_now"] == 9
    assert {each["name"] for each in told["types"]} == {"sparsemv", "waxpby", "ddot", "sum", "scalars"}
    assert told["tasks"] > 149 * 9
    assert {str(told["tasks_advised"]), "9"} <= told["seconds_by_tasks"].keys()
    assert (tmp_path / "app.svg").is_file()
    with pytest.raises(TeffError, match=r"has left no trace in .*no\.json"):
        single_runs.refuse_untraced(program, tmp_path / "no.json")
