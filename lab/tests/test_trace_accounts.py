"""Traces of libteff's programs as states and sites, with the messages of each rank; and what the model says of them."""

import io
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from rich.console import Console

from tefflab import project_root
from tefflab.profiles import program_report
from tefflab.profiles.collecting import Collected, Run
from tefflab.profiles.pricing import WAITING, Price
from tefflab.profiles.states import Observed
from tefflab.profiles.trace_accounts import messages_table, ranks_of

COUNTS = {"sent": 0, "bytes": 0, "packets": 0, "large": 0, "large_bytes": 0}
Slice = tuple[float, float, str, str]  # from, to (microseconds), category, name
Event = dict[str, Any]


def tasks(began: float, ended: float, count: int, length: float, name: str = "row") -> list[Slice]:
    """Tasks of this length, at equal distances."""
    step = (ended - began) / count
    return [(began + i * step, began + i * step + length, "task", name) for i in range(count)]


def events(*workers: Sequence[Slice], pid: int = 1) -> list[Event]:
    """Of a process with these workers."""
    return [
        {"pid": pid, "tid": number, "ph": "X", "ts": began, "dur": ended - began, "cat": category, "name": name}
        for number, slices in enumerate(workers, 1)
        for began, ended, category, name in slices
    ]


def shares_core(worker: int) -> Event:
    args = {"capacity": 0.5}
    return {"pid": 1, "tid": worker, "ph": "C", "ts": 0, "cat": "capacity", "name": "capacity", "args": args}


def rank(number: int, near: dict[str, int], *workers: Sequence[Slice]) -> list[Event]:
    """The trace of a runtime."""
    args = {"of": "communicator", "own": COUNTS, "near": COUNTS | near, "far": COUNTS, "handled": 7, "waits": 1}
    return [
        {"ph": "M", "name": "rank", "pid": number + 1, "args": {"rank": number}},
        *events(*workers, pid=number + 1),
        {"ph": "M", "name": "messages", "pid": number + 1, "args": args},
    ]


def trace(*ranks: list[Event], lost: int = 0) -> dict[str, Any]:
    every = [event for each in ranks for event in each]
    return {"otherData": {"job": "1", "lost_events": lost}, "traceEvents": every}


def seen(*ranks: list[Event], lost: int = 0) -> Observed:
    return Observed(tuple(ranks_of([trace(*ranks, lost=lost)])))


def run_of(of: Observed) -> Collected:
    return Collected((), Run(max(each.elapsed for each in of.processes), 0.0, 0), of, ())


def price_of(of: Observed) -> Price:
    return run_of(of).price


def report(of: Observed) -> str:
    shown = io.StringIO()
    Console(file=shown, width=200).print(program_report.report("a run", run_of(of), ()))
    return shown.getvalue()


def row(text: str, name: str) -> list[str]:
    return next(line.split(name, 1)[1].split() for line in text.splitlines() if line.strip().startswith(name))


def microseconds(of: Observed) -> dict[str, int]:
    return {state: round(1e6 * time) for state, time in of.seconds.items() if round(1e6 * time)}


def test_the_time_of_a_slice_is_what_lies_within_no_other_one() -> None:
    track: list[Slice] = [
        (5, 10, "send", "x"),
        (0, 100, "run", "x"),
        (0, 20, "task", "x"),
        (30, 80, "waiting", "x"),
        (40, 50, "handler", "x"),
        (60, 80, "parked", "x"),
    ]
    of = seen(events(track))
    assert microseconds(of) == {"creation": 30, "body": 25, "message": 5, "dispatch": 20, "imbalance": 20}
    assert {(each.kind, each.count, round(1e6 * each.seconds)) for each in of.sites} == {
        ("task", 1, 15),
        ("handler", 1, 10),
    }


def test_a_task_within_a_task_counts_its_own_time_and_the_outer_one_once() -> None:
    of = seen(events([(0, 100, "task", "outer"), (20, 50, "task", "inner"), (60, 70, "task", "inner")]))
    assert {each.place: (each.count, round(1e6 * each.seconds)) for each in of.sites} == {
        "outer": (1, 60),
        "inner": (2, 40),
    }


def test_a_lambda_is_its_line_where_the_compiler_tells_it() -> None:
    """Here of Clang, of Clang in a template, and of GCC."""
    names = ("(lambda at /home/a/solver.cpp:42:17)", "part<(lambda at a.cpp:1:2)>", "main()::<lambda()>")
    of = seen(events([(10 * i, 10 * i + 5, "task", name) for i, name in enumerate(names)]))
    assert {each.place for each in of.sites} == {"solver.cpp:42", *names[1:]}


TWO_LAMBDAS = """#include <teff/runtime.hpp>
#include <teff/scope.hpp>
int main() {
  teff::runtime rt{{.workers = 1}};
  rt.run([] {
    teff::scope s;
    for (int i = 0; i < 3; ++i) s.spawn([] {});
    s.spawn(
        [] {});
    s.wait();
  });
}
"""


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("g++"), reason="no compiler")
def test_each_lambda_of_gcc_is_its_line_or_has_a_number_if_there_are_symbols(tmp_path: Path) -> None:
    source, library = tmp_path / "two.cpp", project_root() / ".teff" / "build" / "lib" / "libteff.a"
    if not library.is_file():
        pytest.skip("libteff is not built here")
    source.write_text(TWO_LAMBDAS)
    compiler = ["g++", "-std=c++20", "-O2", "-g", "-pthread", f"-I{project_root() / 'runtime' / 'include'}"]
    subprocess.run([*compiler, source, library, "-lhwloc", "-o", tmp_path / "lines"], check=True)
    subprocess.run(["strip", "--strip-debug", tmp_path / "lines", "-o", tmp_path / "numbers"], check=True)
    subprocess.run(["strip", tmp_path / "lines", "-o", tmp_path / "neither"], check=True)
    name = "main::{lambda()#1}::operator()() const::{lambda()#%s}"
    expected = {
        "lines": {"two.cpp:7": 3, "two.cpp:9": 1},
        "numbers": {name % 1: 3, name % 2: 1},
        "neither": {"main()::<lambda()>::<lambda()>": 4},
    }
    for program, bodies in expected.items():
        file = tmp_path / f"{program}.json"
        subprocess.run([tmp_path / program], env=os.environ | {"TEFF_TRACE": str(file)}, check=True)
        (process,) = ranks_of([json.loads(file.read_text())])
        assert {each.place: each.count for each in process.sites} == bodies


def test_a_worker_that_is_idle_while_another_makes_tasks_waits_for_a_task_that_was_not_made() -> None:
    of = seen(events([(0, 60, "run", "x"), (60, 100, "task", "x")], [(0, 100, "searching", "x")]))
    assert microseconds(of) == {"creation": 60, "body": 40, "task_not_made": 60, "dependences": 40}


def test_a_worker_that_goes_from_one_task_to_the_next_takes_it_and_one_that_is_idle_waits() -> None:
    own: list[Slice] = [(0, 10, "task", "x"), (15, 25, "task", "x"), (25, 35, "searching", "x"), (40, 50, "task", "x")]
    of = seen(events(own, [(0, 50, "task", "x")], [(0, 20, "task", "x"), (20, 50, "parked", "x")]))
    assert microseconds(of) == {"body": 100, "dispatch": 10, "dependences": 10, "imbalance": 30}


def test_a_worker_that_is_idle_while_operations_of_mpi_are_under_way_waits_for_messages() -> None:
    requests = [
        {"pid": 1, "tid": 1, "ph": kind, "ts": at, "cat": "request", "name": "send", "id": number}
        for number, began, ended in (("0x1", 0, 200), ("0x2", 100, 300), ("0x3", 350, 900))
        for kind, at in (("b", began), ("e", ended))
    ]
    idle: list[Slice] = [(0, 50, "task", "row"), (50, 400, "parked", "parked")]
    of = seen(events(tasks(0, 400, 4, 100), idle) + requests)
    assert microseconds(of) == {"body": 450, "message": 250 + 50, "imbalance": 50}


def test_without_any_task_for_a_while_the_program_is_outside_and_makes_none() -> None:
    maker: list[Slice] = [(0, 10000, "run", "main"), *tasks(0, 2000, 20, 99), *tasks(8000, 10000, 20, 99)]
    other: list[Slice] = [*tasks(0, 2000, 20, 99), (2000, 8000, "parked", "parked"), *tasks(8000, 10000, 20, 99)]
    of = seen(events(maker, other))
    assert of.seconds["serial"] == pytest.approx(12e-3, rel=1e-3)
    assert of.seconds["creation"] < 50e-6
    price = price_of(of)
    assert price.serial == pytest.approx(0.6, rel=0.01)
    assert price.efficiency > 0.95


def test_what_takes_a_worker_much_longer_than_usual_is_a_pause_if_others_use_its_core() -> None:
    between = [*tasks(0, 1000, 10, 98), *tasks(6000, 7000, 10, 98)]
    making: list[Slice] = [(0, 7000, "run", "main"), *between]
    for own in (between, making):
        made = events(own, [(0, 7000, "task", "long")])
        assert not seen(made).displaced
        of = seen([*made, shares_core(1)])
        assert of.displaced == pytest.approx(5e-3, rel=0.01)
        assert price_of(of).efficiency > 0.99
        assert not price_of(of).forecasts


def test_a_task_in_which_another_program_had_the_core_counts_as_a_usual_one() -> None:
    calm = price_of(seen(events(tasks(0, 1000, 100, 8), tasks(0, 1000, 100, 8))))
    disturbed = events([*tasks(0, 1000, 100, 8), (1000, 217_000, "task", "row")], tasks(0, 1000, 100, 8))
    of = seen([*disturbed, shares_core(1)])
    assert of.seconds["body"] == pytest.approx(201 * 8e-6)
    assert of.displaced == pytest.approx(2 * 216e-3, rel=0.001)  # nobody else has a task meanwhile
    price = price_of(of)
    assert price.work == pytest.approx(of.seconds["body"])
    assert price.advised_factor == calm.advised_factor > 1
    alone = seen(disturbed)  # a program whose cores nobody shares has long tasks
    assert alone.seconds["body"] == pytest.approx(200 * 8e-6 + 216e-3)
    assert not alone.displaced


def test_a_task_is_disturbed_only_if_it_is_long_both_as_a_pause_and_for_its_name() -> None:
    own = [*tasks(0, 1000, 10, 98), (1000, 1990, "task", "row"), (2000, 7000, "task", "long")]
    assert not seen([*events(own), shares_core(1)]).displaced
    usual: list[Slice] = [*tasks(0, 4000, 10, 398), (4000, 7900, "task", "row")]
    assert not seen([*events(usual), shares_core(1)]).displaced
    loop: list[Slice] = [(0, 4000, "loop", "row"), *tasks(4000, 5000, 10, 60)]
    assert not seen([*events(loop), shares_core(1)]).displaced


def test_workers_that_all_wait_for_a_task_without_a_core_have_none_either() -> None:
    own: list[Slice] = [*tasks(0, 1000, 10, 100), (1000, 9000, "task", "row"), *tasks(9000, 10000, 10, 100)]
    idle: list[Slice] = [*tasks(0, 1000, 10, 100), (1000, 9000, "parked", "x"), *tasks(9000, 10000, 10, 100)]
    of = seen([*events(own, idle), shares_core(1)])
    assert of.displaced == pytest.approx(2 * 7.9e-3, rel=0.02)
    assert price_of(of).efficiency > 0.97


def test_without_a_record_of_making_the_way_to_record_it_is_told() -> None:
    own = tasks(0, 1000, 100, 3)
    assert "rt.run([&] { ... })" in report(seen(events(own, own)))
    assert "rt.run" not in report(seen(events([(0, 1000, "run", "main"), *own], own)))


def test_the_library_chooses_how_long_the_chunks_of_loops_are() -> None:
    loop: list[Slice] = [(0, 4000, "loop", "axpy")]
    stolen: list[Slice] = [*tasks(0, 1000, 10, 60, "axpy"), (1000, 4000, "parked", "parked")]
    of = seen(events(loop, stolen))
    assert {(each.place, each.title) for each in of.sites} == {("axpy", "loops")}
    assert not price_of(of).forecasts
    mixed = price_of(seen(events([*loop, *tasks(4000, 8000, 1000, 1)], stolen)))
    assert [each.place for each in mixed.alike] == ["row"]
    assert mixed.forecasts


def test_idle_workers_ask_for_more_tasks_and_not_for_longer_ones() -> None:
    of = seen(events([(0, 1000, "run", "main"), (0, 990, "task", "row")], [(0, 1000, "parked", "parked")]))
    assert not price_of(of).forecasts
    assert "More tasks even it out." in report(of)


def test_a_worker_that_lost_events_counts_from_the_first_event_that_it_kept() -> None:
    kept = tasks(5000, 10000, 50, 99)
    made = events([(0, 10000, "run", "main"), *kept], tasks(0, 10000, 100, 99))
    lost = {"pid": 1, "tid": 1, "ph": "M", "name": "lost_events", "args": {"lost_events": 50}}
    assert price_of(seen(made)).efficiency < 0.8
    of = seen([*made, lost], lost=50)
    assert price_of(of).efficiency > 0.98
    assert of.processes[0].elapsed == pytest.approx(10e-3 - 5.099e-3)
    assert "process: 50 events were lost" in report(of)


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


def bound_by_what_lies_between_tasks(random: Random) -> list[list[Slice]]:
    length = random.uniform(1, 10)
    end = 100 * length * random.uniform(2, 5)
    main: list[Slice] = [(0, end, "waiting", "waiting")]
    return [main + tasks(0, end, 100, length), *(tasks(0, end, 100, length) for _ in range(random.randint(0, 5)))]


def bound_by_tasks(random: Random) -> list[list[Slice]]:
    length = random.uniform(20, 900)
    end = 50 * length * random.uniform(1.01, 1.05)
    main: list[Slice] = [(0, end, "run", "main")]
    return [main + tasks(0, end, 50, length), *(tasks(0, end, 50, length) for _ in range(random.randint(0, 5)))]


def bound_by_few_tasks(random: Random) -> list[list[Slice]]:
    """At least every other worker is idle while a loop runs."""
    length = random.uniform(100, 2000)
    busy = random.randint(1, 3)
    idle: list[Slice] = [(i * length, (i + 1) * length, "parked", "parked") for i in range(30)]
    return [tasks(0, 30 * length, 30, length)] * busy + [idle] * random.randint(busy, 4)


PROGRAMS: list[tuple[Callable[[Random], list[list[Slice]]], str]] = [
    (bound_by_creation, "creation"),
    (bound_by_creation_on_one_worker, "creation"),
    (bound_by_what_lies_between_tasks, "dispatch"),
    (bound_by_tasks, "body"),
    (bound_by_few_tasks, "idle"),
]


def bound_of(price: Price) -> str:
    """The cost with the largest share of the time, if that is a tenth at least; else the bodies."""
    spent = price.seconds
    shares = {"creation": spent["creation"] + spent["task_not_made"], "dispatch": spent["dispatch"]}
    shares["idle"] = sum(spent[state] for state in WAITING)
    most = max(shares, key=lambda each: shares[each])
    return most if shares[most] >= 0.1 * price.in_regions else "body"


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(("program", "bound"), PROGRAMS)
def test_the_bound_of_a_program_is_told_also_with_pauses_and_over_ranks(
    program: Callable[[Random], list[list[Slice]]], bound: str, seed: int
) -> None:
    workers = program(Random(seed))
    once = events(*workers)
    end = max(each[1] for slices in workers for each in slices)
    pause = 20_000
    later = [each | {"ts": each["ts"] + end + pause} for each in once]
    around: list[Slice] = [(-pause, 0, "parked", "parked"), (end, end + pause, "parked", "parked")]
    second_rank = [each | {"pid": 2} for each in once]
    price = price_of(seen(once))
    assert bound_of(price) == bound
    assert bool(price.forecasts) == (bound in ("creation", "dispatch"))
    for variant in (events(*([*slices, *around] for slices in workers)), once + later, once + second_rank):
        other = price_of(seen(variant))
        assert bound_of(other) == bound
        assert other.efficiency == pytest.approx(price.efficiency, rel=0.05)
        assert other.advised_factor / price.advised_factor in (0.5, 1.0, 2.0)  # a power of two: more tasks allow more


def test_the_table_has_the_messages_of_each_rank() -> None:
    sent = {"sent": 30, "bytes": 3000, "packets": 10, "large": 2, "large_bytes": 4096}
    first = rank(0, sent, [(0, 80, "run", "x"), (10, 30, "send", "x")])
    second = rank(1, {"sent": 10, "bytes": 100, "packets": 10}, [(0, 50, "task", "x"), (60, 100, "parked", "x")])
    processes = ranks_of([trace(first, second, lost=4)])
    assert [each.name for each in processes] == ["rank 0", "rank 1"]
    assert "4 events were lost" in processes[0].remarks[0]
    shown = io.StringIO()
    Console(file=shown, width=100).print(messages_table(processes))
    text = shown.getvalue()
    assert row(text, "handled") == ["14", "7", "7"]
    assert row(text, "sent") == ["40", "30", "10"]
    assert row(text, "by shared memory") == ["40", "30", "10"]
    assert row(text, "a packet") == ["2.00", "3.00", "1.00"]
    assert row(text, "large") == ["2", "2", "0"]
    assert row(text, "waits for room") == ["2", "1", "1"]
    assert "by the network" not in text


def test_of_many_ranks_the_table_has_the_sum_and_without_messages_there_is_none() -> None:
    shown = io.StringIO()
    ranks = (rank(number, {}, [(0, 10, "task", "x")]) for number in range(9))
    Console(file=shown, width=100).print(messages_table(ranks_of([trace(*ranks)])))
    assert row(shown.getvalue(), "handled") == ["63"]
    assert messages_table([]) is None


def test_runtimes_of_one_process_are_added_up() -> None:
    first = trace(rank(0, {"sent": 1}, [(0, 50, "task", "x")]))
    second = trace(rank(0, {"sent": 2}, [(0, 100, "task", "x")]))
    (process,) = ranks_of([first, second])
    assert process.elapsed == pytest.approx(150e-6)
    assert (process.messages["sent"]["near"]["sent"], process.messages["handled"]) == (3, 14)
    assert Observed((process,)).sites[0].count == 2
