"""`teff explain -- PROGRAM`: from accounts and traces to states, sites, prices and advice."""

import json
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from accounts_files import KINDS, STATES, Accounts, Bodies, Thread
from conftest import MACHINE, teff, write_system
from pictures import data, words
from samples import sitting
from tefflab import project_root
from tefflab.benchmarks.compared import ComparedPlan
from tefflab.cli import explaining_programs
from tefflab.cli.explaining_programs import Asked, Setting
from tefflab.errors import BAD_INPUT, FAILED, INTERRUPTED
from tefflab.host.machine import read_machine
from tefflab.profiles import collecting, grain_picture, measured_here, program_report, symbols
from tefflab.profiles.accounts import BLOCK, HEADER, read_accounts
from tefflab.profiles.collecting import Collected, Run, launched
from tefflab.profiles.measured_here import Curve, curves_of
from tefflab.profiles.pricing import Price
from tefflab.profiles.states import Observed, Process, Site, bin_of
from tefflab.profiles.symbols import names_of
from tefflab.profiles.timeline import SEGMENT, write_timeline
from tefflab.records.plan import Case
from tefflab.records.store import Store
from tefflab.systems.registry import Registry

MS = 1_000_000
FINE = Accounts(  # two threads: 10 ms outside, then 40 ms in regions, of which bodies have 10 ms each
    [
        Thread(
            {"serial": 10 * MS, "body": 11 * MS, "dispatch": 27 * MS, "imbalance": 2 * MS},
            [Bodies(0x100, "chunk", 100_000, 100), Bodies(0x80, "region", 1, 500)],
        ),
        Thread({"body": 11 * MS, "dispatch": 27 * MS, "imbalance": 2 * MS}, [Bodies(0x100, "chunk", 100_000, 100)]),
    ],
    elapsed=50 * MS,
)


def read(folder: Path, *accounts: Accounts | bytes) -> tuple[Observed, list[str]]:
    for number, each in enumerate(accounts):
        (folder / f"{number}.accounts").write_bytes(each if isinstance(each, bytes) else each.content())
    left = read_accounts(folder)
    return Observed(tuple(left.processes)), left.faults


def observed(
    seconds: Mapping[str, float], *sites: Site, width: int = 4, regions: int = 1, serial: float = 0.0
) -> Observed:
    """Threads that each spend this time."""
    threads = tuple(dict(seconds) for _ in range(width))
    return Observed((Process("process", threads, sum(seconds.values()) + serial, sites, regions),))


def site(kind: str, count: int, length: float, runtime: str = "libomp") -> Site:
    return Site(
        f"solver.cpp:{42 if kind == 'task' else 7}", kind, runtime, count, count * length, {bin_of(length): count}
    )


def collected(of: Observed, plain: float, took: float, **more: Any) -> Collected:
    return Collected((Run(plain, 4 * plain, 0),), Run(took, 4 * took, 0), of, (), **more)


def text_of(run: Collected, *curves: Curve) -> str:
    shown = StringIO()
    Console(file=shown, width=200).print(program_report.report("./solver", run, curves))
    return shown.getvalue()


def test_accounts_give_the_seconds_of_states_and_the_bodies_of_lines(tmp_path: Path) -> None:
    of, faults = read(tmp_path, FINE)
    assert not faults
    (process,) = of.processes
    assert process.elapsed == pytest.approx(0.050)
    assert process.in_regions == pytest.approx(0.040)
    assert of.width == pytest.approx(2)
    assert of.seconds["dispatch"] == pytest.approx(0.054)
    assert not process.remarks
    chunks, region = of.sites
    assert (chunks.place, chunks.kind, chunks.runtime, chunks.count) == ("program + 0x100", "chunk", "libgomp", 200_000)
    assert chunks.seconds == pytest.approx(200_000 * 100e-9)  # without the collector's 10 ns of each
    assert chunks.quantile(0.5) == pytest.approx(100e-9, rel=0.2)
    assert (region.kind, region.count) == ("region", 1)


def test_a_process_that_was_killed_counts_until_it_was_last_seen(tmp_path: Path) -> None:
    thread = Thread({"body": 30 * MS}, [Bodies(0x100, "share", 3, 1000)], now="lock", since=30 * MS)
    of, _ = read(tmp_path, Accounts([thread], elapsed=50 * MS, header={"ended": 0}))
    assert of.seconds["lock"] == pytest.approx(0.020)
    assert "did not end by itself" in of.processes[0].remarks[0]


def test_a_body_that_goes_on_when_its_process_is_killed_counts_until_the_end_of_the_run(tmp_path: Path) -> None:
    """The thread has run for 20 ms in a region of 30 ms, and a chunk of it took 5 ms of these."""
    thread = Thread(
        {"body": 20 * MS, "imbalance": 10 * MS},
        [Bodies(0x200, "region", 0, 0), Bodies(0x100, "chunk", 1, 5 * MS)],
        now="body",
        since=30 * MS,
        goes_on=(0x200, "region"),
    )
    (tmp_path / "1.accounts").write_bytes(Accounts([thread], elapsed=30 * MS, header={"ended": 0}).content())
    for until, length in ((None, 15 * MS), (1e-9 * (500 + 50 * MS), 35 * MS)):
        (process,) = read_accounts(tmp_path, until).processes
        region = next(each for each in process.sites if each.kind == "region")
        assert (region.count, region.seconds) == (1, pytest.approx(1e-9 * length, rel=1e-3))
        assert region.quantile(0.5) == pytest.approx(1e-9 * length, rel=0.2)


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"", "there was no room for accounts"),
        (replace(FINE, threads=(), header={"lost_threads": 2}).content(), "there was no room for accounts"),
        (FINE.content()[: HEADER.itemsize - 1], "torn: it has no header"),
        (b"x" + FINE.content()[1:], "torn: it has no header"),
        (replace(FINE, header={"version": 9}).content(), "is of version 9, and this lab reads 4"),
        (FINE.content()[: HEADER.itemsize + BLOCK.itemsize - 1], "no thread was seen"),
        (replace(FINE, header={"last": (1000, 500)}).content(), "before its clock was compared twice"),
    ],
)
def test_a_file_that_can_not_be_read_is_told(tmp_path: Path, content: bytes, fault: str) -> None:
    of, faults = read(tmp_path, content, FINE)
    assert len(of.processes) == 1
    assert len(faults) == 1
    assert fault in faults[0]


def test_accounts_that_do_not_add_up_are_told(tmp_path: Path) -> None:
    first, second = FINE.threads
    short = replace(first, times={"serial": 10 * MS, "body": 30 * MS})
    of, _ = read(tmp_path, replace(FINE, threads=[short, second]))
    assert any("first thread add up to 80%" in remark for remark in of.processes[0].remarks)
    short = replace(second, times={"body": 11 * MS, "dispatch": 9 * MS})
    of, _ = read(tmp_path, replace(FINE, threads=[first, short], header={"lost_threads": 2}))
    assert any("add up to 75% of the time of its regions" in remark for remark in of.processes[0].remarks)
    assert any("2 more threads" in remark for remark in of.processes[0].remarks)


def test_programs_one_after_the_other_are_all_in_parallel_regions(tmp_path: Path) -> None:
    began = [{"real_time": at * 1_000_000_000, "processors": 3} for at in (9, 10, 10, 11)]
    of, _ = read(tmp_path, *(replace(FINE, header=each) for each in began))
    assert of.parallel_seconds == pytest.approx(3 * 0.040)
    assert of.width == pytest.approx(2 * 4 / 3)
    assert (of.cores, of.has_more_threads_than_cores) == (4, True)
    alone = replace(of, processes=(*of.processes[:2], of.processes[3]))
    assert (alone.cores, alone.has_more_threads_than_cores) == (2, False)


def test_a_process_that_replaces_itself_was_not_killed(tmp_path: Path) -> None:
    heads: list[dict[str, int]] = [{"ended": 0, "real_time": 9}, {"real_time": 10}]
    of, _ = read(tmp_path, *(replace(FINE, header=each) for each in heads))
    assert [each.remarks for each in of.processes] == [(), ()]
    of, _ = read(tmp_path, replace(FINE, header={"ended": 0, "real_time": 11}))
    assert "did not end by itself" in of.processes[-1].remarks[0]


@pytest.mark.parametrize(("line", "places"), [("/a.cpp:{}", ["a.cpp:300", "a.cpp:200"]), ("??", ["main()"])])
def test_tasks_of_merged_calls_have_the_lines_of_their_functions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, places: list[str]
) -> None:
    """Without lines, the call tells more: the functions of Clang's tasks have no names."""
    monkeypatch.setattr(
        symbols, "ask_addr2line", lambda _, offsets: [[("main", line.format(offset))] for offset in offsets]
    )
    monkeypatch.setattr(symbols, "_has_symbols", lambda _: True)
    of_one_call = [Bodies(100, "task", each, 2000, function=100 * each) for each in (2, 3)]
    of, _ = read(tmp_path, Accounts([Thread({"body": 2 * MS}, of_one_call)], 2 * MS))
    assert [each.place for each in of.sites] == places


def test_a_timeline_has_the_last_segments_of_each_thread(tmp_path: Path) -> None:
    """A file of four segments: the oldest one has no begin, then a thread makes tasks, is outside, is in a chunk."""
    content = np.frombuffer(FINE.content(), np.uint8).copy()
    seats = content[HEADER.itemsize :].view(BLOCK)
    seats["segments_noted"] = [6, 0]
    (tmp_path / "1.accounts").write_bytes(content.tobytes())
    of_chunk = (0x101, 0, KINDS.index("chunk"))
    states = [STATES.index(each) for each in ("serial", "body", "dispatch", "creation")]
    ring = zip([13_000, 15_000, 1000, 7000], [of_chunk] * 4, states, strict=True)
    np.array([(until, *site, did) for until, site, did in ring], SEGMENT).tofile(tmp_path / "1.accounts.1.segments")
    left = read_accounts(tmp_path)
    said = write_timeline([], left, tmp_path / "out.tl")
    assert said == f"wrote {tmp_path / 'out.tl'}, for ui.perfetto.dev"
    named, making, chunk = json.loads((tmp_path / "out.tl").read_text())["traceEvents"]
    assert named["args"] == {"name": "process 42"}
    assert (making["name"], making["dur"]) == ("making tasks", pytest.approx(3.0))
    assert (chunk["name"], chunk["dur"]) == ("program + 0x100", pytest.approx(1.0))
    assert chunk["ts"] - making["ts"] == pytest.approx(3.0 + 3.0)
    assert "is not written" in write_timeline([], read_accounts(tmp_path / "nothing"), tmp_path / "out.tl")
    assert "can't be written" in write_timeline([], left, tmp_path)


@pytest.mark.parametrize("name", ["libgomp.so.1.0.0", "libgomp-e985bcbb.so.1.0.0"])
def test_a_runtime_has_its_name_also_in_a_wheel(tmp_path: Path, name: str) -> None:
    of, _ = read(tmp_path, replace(FINE, runtime=f"/usr/lib/{name}"))
    assert {each.runtime for each in of.sites} == {"libgomp"}


def test_samples_without_room_for_their_place_are_samples(tmp_path: Path) -> None:
    samples = [Bodies(0x100, "sample", 10, MS), Bodies(0, "others", 30, MS)]
    of, _ = read(tmp_path, Accounts([Thread({"body": 40 * MS}, samples)], 40 * MS))
    assert [(each.place, each.kind) for each in of.sites] == [("elsewhere", "sample"), ("program + 0x100", "sample")]
    assert not of.processes[0].remarks


def test_threads_that_samples_never_saw_at_work_do_not_count(tmp_path: Path) -> None:
    works = Thread({"body": 20 * MS, "wait": 20 * MS}, [Bodies(0x100, "sample", 20, MS)])
    sleeps = Thread({"body": MS // 4, "wait": 39 * MS})
    of, _ = read(tmp_path, Accounts([sleeps, works, sleeps], 40 * MS))
    assert len(of.threads) == 1
    assert collected(of, 0.04, 0.04).price.efficiency == pytest.approx(0.5)
    of, _ = read(tmp_path, Accounts([sleeps, replace(works, times={"wait": 40 * MS})], 40 * MS))
    assert len(of.threads) == 2
    idle = Thread({"imbalance": 40 * MS})  # events tell that it is of the program's teams
    of, _ = read(tmp_path, Accounts([Thread({"body": 40 * MS}, [Bodies(0x100, "chunk", 20, MS)]), idle], 40 * MS))
    assert len(of.threads) == 2


def test_the_sites_of_all_threads_and_processes_of_a_line_are_one(tmp_path: Path) -> None:
    of, _ = read(tmp_path, FINE, FINE)
    assert [each.count for each in of.sites] == [400_000, 2]
    assert of.width == pytest.approx(4)


@pytest.mark.skipif(not shutil.which("g++"), reason="no compiler")
@pytest.mark.parametrize(("flags", "strips"), [(["-g"], False), ([], False), ([], True)])
def test_an_address_is_named_by_line_or_function_or_module(tmp_path: Path, flags: list[str], strips: bool) -> None:
    source, program = tmp_path / "solver.cpp", tmp_path / "solver"
    source.write_text(
        "int before() { return 1; }\nint relax(int x) {\n  return x + before();\n}\nint main() { return relax(1); }\n"
    )
    subprocess.run(["g++", "-O0", *flags, source, "-o", program], check=True)
    listed = subprocess.run(["nm", program], check=True, capture_output=True, text=True).stdout.splitlines()
    begin = next(int(line.split()[0], 16) for line in listed if "relax" in line)
    if strips:
        subprocess.run(["strip", program], check=True)
    first, within = (str(program), begin + 1), (str(program), begin + 8)
    found = names_of([first, within, ("/gone", 0x10)])
    if strips:
        assert found[first] == f"solver + {begin:#x}"
    else:
        assert found[first] == found[within] == ("solver.cpp:2" if flags else "relax()")
    assert found["/gone", 0x10] == "gone + 0xf"


@pytest.mark.parametrize(
    ("frames", "line"),
    [
        ([("spin", "a.cpp:3"), ("main._omp_fn.0", "a.cpp:17")], "a.cpp:17"),  # of GCC, with a call in line before it
        ([("main.omp_outlined", "a.cpp:23"), ("main.omp_outlined", "a.cpp:20")], "a.cpp:23"),  # of Clang
        ([("main", "a.cpp:5 (discriminator 2)")], "a.cpp:5"),
        ([("solve", "/a.cpp:9"), ("_M_invoke", "/usr/include/c++/12/bits/std_function.h:290")], "a.cpp:9"),
    ],
)
def test_the_line_of_a_construct_is_that_of_its_own_function(
    monkeypatch: pytest.MonkeyPatch, frames: list[tuple[str, str]], line: str
) -> None:
    monkeypatch.setattr(symbols, "ask_addr2line", lambda _, offsets: [frames for _ in offsets])
    assert names_of([("/a", 8)]) == {("/a", 8): line}


def test_a_module_that_addr2line_can_not_read_has_offsets(tmp_path: Path) -> None:
    module = tmp_path / "module"
    module.write_text("no program")
    assert names_of([(str(module), 16)]) == {(str(module), 16): "module + 0xf"}


def test_a_coarser_grain_saves_its_part_of_creation_dispatch_and_scheduling() -> None:
    """Threads wait for others' tasks and for what these cost; locks do not depend on the number of tasks. Of a wait
    for tasks, a microsecond a task is the runtime's, and of a task, 75 ns do not grow with its work."""
    spent = {"body": 1.0, "creation": 0.5, "dispatch": 1.0, "task_not_made": 0.5, "dependences": 0.6, "lock": 0.4}
    tasks = 1_200_000
    price = Price(observed(spent, site("task", tasks, 4 / tasks), serial=1.0), plain=5.0, collected=5.0)
    assert price.efficiency == pytest.approx(0.25)
    assert price.serial == pytest.approx(0.2)
    task = price.dearest
    assert task is not None
    assert price.seconds["dependences"] == pytest.approx(1.2)
    assert price.cost_of(task) == pytest.approx((4 * 2.0 + 1.2) / tasks)
    assert price.share_of(task) == pytest.approx(9.2 / 16)
    for factor in (2.0, 4.0, 64.0):
        longer = 4 - 75e-9 * tasks * (1 - 1 / factor)
        assert price.forecast(factor).seconds == pytest.approx(1.4 + (longer + 9.2 / factor) * (1 + 1.2 / 13.2) / 4)


def test_a_grain_is_that_of_all_lines_with_bodies_of_the_kind() -> None:
    lines = [replace(site("task", 500_000, 2e-6), place=f"sort.c:{line}") for line in (7, 8)]
    price = Price(observed({"body": 0.5, "dispatch": 0.5}, *lines, site("chunk", 10, 1e-6)), 1.0, 1.0)
    alone = Price(observed({"body": 0.5, "dispatch": 0.5}, site("task", 1_000_000, 2e-6)), 1.0, 1.0)
    assert price.forecast(4).seconds == pytest.approx(alone.forecast(4).seconds, rel=1e-3)
    assert price.advised_factor == alone.advised_factor == 32
    text = " ".join(text_of(collected(price.observed, 1.0, 1.0)).split())
    assert "sort.c:7 and 1 more line make 1.00 M tasks of 2.00 µs; 50 % of the time is libomp's." in text
    assert "32 times as coarse, all of them: 2.0 x as fast" in text


def test_what_lies_between_short_regions_shrinks_with_their_number() -> None:
    price = Price(
        observed({"body": 0.5, "runtime": 0.5}, site("share", 400_000, 5e-6), regions=100_000, serial=1), 2, 2
    )
    forecast = price.forecast(2)
    assert forecast.seconds == pytest.approx(1 + 0.75 - 0.1 / 2, rel=0.01)
    assert forecast.speedup.low < 2 / 1.75  # or it may belong to the work


def test_in_a_region_of_libomp_s_what_lies_around_its_loop_is_the_runtime_s() -> None:
    spent = {"body": 0.5, "runtime": 0.1}
    around, other = site("region", 400_000, 0.75e-6), replace(site("region", 4, 0.025), place="solver.cpp:99")
    price = Price(observed(spent, site("share", 400_000, 4e-6), around, other), 0.6, 0.6)
    assert price.work == pytest.approx(1.6 + 0.1, rel=1e-3)
    assert price.seconds["runtime"] == pytest.approx(0.3 + 0.4, rel=1e-3)  # a microsecond each at most
    gomp = Price(observed(spent, site("region", 400_000, 5e-6)), 0.6, 0.6)
    assert gomp.work == pytest.approx(2.0)


def test_the_costs_are_those_of_the_plain_run_and_waits_those_of_the_collected_one() -> None:
    spent = {"body": 1.0, "dispatch": 2.0, "lock": 1.0}
    price = Price(observed(spent, site("chunk", 1_000_000, 4e-6)), plain=3.0, collected=4.0)
    assert price.seconds["dispatch"] == pytest.approx(4 * 1.0)
    assert price.seconds["lock"] == pytest.approx(4 * 1.0)
    assert sum(price.seconds.values()) == pytest.approx(price.in_regions) == pytest.approx(12.0)
    assert price.added == pytest.approx(1 / 3)


@pytest.mark.parametrize(("dispatch", "is_known"), [(0.5, True), (2.0, True), (9.0, False)])
def test_a_forecast_has_an_upper_end_unless_the_runtime_has_most_of_the_time(dispatch: float, is_known: bool) -> None:
    chunk = site("chunk", 1_000_000, 4e-6)
    price = Price(observed({"body": 1.0, "dispatch": dispatch}, chunk), plain=1 + dispatch, collected=1 + dispatch)
    forecast = price.forecast(2.0)

    def seconds(fixed: float) -> float:
        return 1 + dispatch / 2 - fixed * 1e6 / 4 / 2

    assert forecast.seconds == pytest.approx(seconds(75e-9))
    margin = 0.12 * forecast.seconds
    assert forecast.speedup.low == pytest.approx((1 + dispatch) / (seconds(-50e-9) + margin))
    most = (1 + dispatch) / (seconds(300e-9) - margin) if is_known else math.inf
    assert forecast.speedup.high == pytest.approx(most)


def test_of_bodies_that_are_mostly_calls_and_clock_a_forecast_has_no_upper_end() -> None:
    price = Price(observed({"body": 0.7, "dispatch": 0.3}, site("chunk", 28_000_000, 1e-7)), 1.0, 1.0)
    assert price.forecast(8).speedup.high == math.inf
    assert "as coarse: faster, and nobody can say by how much." in text_of(collected(price.observed, 1.0, 1.0))


def test_the_advised_grain_is_as_coarse_as_it_must_be_and_leaves_bodies_for_all_threads() -> None:
    def factor(count: int, dispatch: float, regions: int = 1, kind: str = "chunk") -> float:
        spent = {"body": 1.0, "runtime" if kind == "share" else "dispatch": dispatch}
        own = site(kind, count, 4 / count)
        return Price(observed(spent, own, regions=regions), 1 + dispatch, 1 + dispatch).advised_factor

    assert factor(1_000_000, 0.04) == 1
    assert factor(1_000_000, 0.2) == 4  # 0.2 / 4 is 5 % of the time
    assert factor(1_000_000, 30.0) == 64
    assert factor(1_000_000, 3.0, regions=10_000) == 4  # 25 a thread in each region: 6 of them are left
    assert factor(16, 3.0) == 1
    assert factor(16, 3.0, regions=1000, kind="share") == 64  # a region may have one part a thread
    assert factor(16, 3.0, regions=4, kind="share") == 4


def test_equal_shares_that_wait_at_short_regions_wait_for_the_runtime_and_unequal_ones_for_each_other() -> None:
    spent = {"body": 1.0, "imbalance": 1.0}
    equal = Price(observed(spent, site("share", 400_000, 10e-6)), 2.0, 2.0)
    assert equal.seconds["imbalance"] == pytest.approx(0, abs=0.3)
    lengths = Counter({bin_of(5e-6): 200_000, bin_of(15e-6): 200_000})
    uneven = Price(observed(spent, replace(site("share", 400_000, 10e-6), lengths=lengths)), 2.0, 2.0)
    assert uneven.seconds["imbalance"] == pytest.approx(2.0, rel=0.3)
    few = Price(observed(spent, site("share", 4, 1.0)), 2.0, 2.0)
    assert few.seconds["imbalance"] == pytest.approx(4.0, rel=0.01)


def test_the_report_says_where_its_time_is_of_no_usual_run() -> None:
    of = observed({"body": 1.0, "displaced": 1.0}, site("task", 480_000, 2e-6))
    run = collected(of, 2.0, 2.0)
    cut = replace(run, collected=Run(2.0, 8.0, 130, interrupted=True))
    assert "The collected run was interrupted: the time is that until then." in text_of(cut)
    assert "program's own, as far as a busy machine tells." in text_of(replace(run, plain=()))
    assert "busy" not in text_of(collected(observed({"body": 1.0}, site("task", 480_000, 2e-6)), 1.0, 1.0))


def test_time_without_a_core_is_left_out() -> None:
    """The collected run took 0.5 s of CPU time more than the plain one, and others had the cores for 2 s of its 4."""
    of = observed({"body": 1.2, "dispatch": 0.8, "displaced": 2.0}, site("task", 480_000, 10e-6))
    run = collected(of, 0.0, 4.0)
    beside = replace(run, plain=(Run(3.0, 6.0, 0, others=6.0),), collected=Run(4.0, 8.0, 0, others=8.0))
    assert beside.undisturbed(beside.collected) == pytest.approx(2.0)
    assert beside.seconds == pytest.approx(1.5)
    assert beside.disturbed == pytest.approx(0.5)
    alone = replace(beside, plain=(replace(beside.plain[0], others=0.4),))
    assert alone.seconds == pytest.approx(2.0)  # a plain run that had the cores waited by itself
    spent = {"body": 1.2, "imbalance": 0.2, "message": 0.8, "displaced": 0.5, "delayed": 0.3}
    waiting = observed(spent, site("task", 480_000, 10e-6))
    assert waiting.seconds["imbalance"] == pytest.approx(4 * 0.2)
    assert waiting.seconds["message"] == pytest.approx(4 * 0.8 * 1.2 / 2.0)
    assert waiting.displaced == pytest.approx(4 * (0.5 + 0.3 + 0.8 * 0.8 / 2.0))
    assert waiting.width == pytest.approx(4)
    price = beside.price
    assert price.efficiency == pytest.approx(0.8)
    assert price.seconds["dispatch"] == pytest.approx(1.2)
    assert price.forecast(4).speedup.low < replace(price, disturbed=0).forecast(4).speedup.low
    assert "for 50 % of the time" in text_of(beside)


def test_threads_that_share_cores_with_each_other_lose_nothing_to_other_programs() -> None:
    """Four threads on two cores, beside another program that had them for 0.4 s. No grain gains more than two cores."""
    spent = {"body": 0.2, "dispatch": 0.8, "displaced": 1.1}
    crowd = observed(spent, site("task", 480_000, 0.8 / 480_000))
    alone = replace(crowd, others=0.4, processes=(replace(crowd.processes[0], cores=4),))
    assert (alone.crowded, alone.displaced) == (0.0, pytest.approx(4.4))  # noise of what others used
    assert replace(crowd, others=0.4).crowded == pytest.approx(4.0)  # a trace does not know the cores
    crowd = replace(crowd, others=0.4, processes=(replace(crowd.processes[0], cores=2),))
    late = replace(crowd.processes[0], threads=tuple({**each, "delayed": 0.55} for each in crowd.threads))
    assert replace(crowd, processes=(late,)).displaced == pytest.approx(0.4 * 1.5)
    assert replace(crowd, processes=(late,)).seconds["imbalance"] == pytest.approx(2.0)
    assert crowd.crowded == pytest.approx(4.0)
    assert crowd.displaced == pytest.approx(0.4)
    assert crowd.width == pytest.approx(4.4 / 2.1)
    run = replace(collected(crowd, 2.1, 2.1), plain=())
    price = run.price
    assert price.forecast(64).seconds == pytest.approx(0.8 / 2, rel=0.1)
    assert "The program's threads waited for each other's cores for 4.00 s" in text_of(run)


def test_time_without_a_core_is_left_out_also_outside_of_regions() -> None:
    of = observed({"body": 1.0}, site("task", 480_000, 1e-6), serial=3.0)
    outside = replace(of, processes=(replace(of.processes[0], displaced=2.0),), others=5.0)
    run = replace(collected(outside, 0.0, 4.0), plain=())
    assert run.seconds == pytest.approx(2.0)
    assert run.price.serial == pytest.approx(0.5)
    assert replace(run, observed=replace(outside, others=0.5)).seconds == pytest.approx(3.5)


@pytest.mark.parametrize("kind", ["chunk", "task"])
def test_a_thread_at_a_barrier_waits_for_the_last_body_of_others_first(kind: str) -> None:
    """Of 3 bodies of 50 us in each of 3000 regions, two threads run 1.5 each, and wait for half of one."""
    bodies, parts = site(kind, 9000, 50e-6), Site("a.c:1", "region", "libomp", 6000, 0.0, {bin_of(1e-8): 6000})
    uneven = observed({"body": 0.225, "imbalance": 0.075}, bodies, parts, width=2, regions=3000)
    price = collected(uneven, 0.3, 0.3).price
    assert price.seconds["runtime"] == pytest.approx(0, abs=0.005)
    assert price.share_of(*price.alike) < 0.05
    fine = observed({"body": 0.225, "imbalance": 0.075}, site(kind, 450_000, 1e-6), parts, width=2, regions=3000)
    assert collected(fine, 0.3, 0.3).price.seconds["runtime"] > 0.1  # barriers that cost 25 us


@pytest.mark.parametrize(("tasks", "factor"), [(100_000, 512), (1_000, 4), (256, 0)])
def test_a_taskloop_that_libgomp_runs_in_one_thread_gets_as_many_tasks_as_it_shares(tasks: int, factor: int) -> None:
    threads = tuple({"body": body, "imbalance": 0.98 - body, "runtime": 0.02} for body in (0.98, 0.0, 0.0, 0.0))
    parts = site("region", 4, 1e-6, "libgomp")  # whose number costs more than that of the tasks
    loop = Observed((Process("process", threads, 1.0, (site("taskloop", tasks, 1 / tasks, "libgomp"), parts)),))
    price, text = collected(loop, 1.0, 1.0).price, text_of(collected(loop, 1.0, 1.0))
    assert [each.factor for each in price.forecasts] == [factor] * (factor > 0)
    assert ("in the thread that makes it" in text) == (factor > 0)
    assert ("More tasks" in text) == (factor == 0)
    if factor:
        assert price.forecasts[0].speedup.value == pytest.approx(4, rel=0.1)


def test_a_coarser_grain_that_gains_nothing_is_not_advised() -> None:
    spent = {"body": 0.945, "dispatch": 0.055}
    text = text_of(collected(observed(spent, site("chunk", 378_000, 1e-5)), 1.0, 1.0))
    assert "5.5 % of the time is libomp's. Longer ones would gain next to nothing." in text


def test_more_tasks_are_not_advised_where_there_are_many() -> None:
    spent = {"body": 0.6, "imbalance": 0.4}
    many, few = (
        text_of(collected(observed(spent, site("task", round(2.4 / each), each)), 1.0, 1.0)) for each in (1e-4, 0.06)
    )
    assert "More tasks" in few
    assert "work is uneven." in many
    assert "More tasks" not in many


def test_a_line_gets_the_advice_of_longer_bodies_or_of_more_whichever_gains_more() -> None:
    few = observed({"body": 0.5, "dispatch": 0.1, "dependences": 0.2, "imbalance": 0.2}, site("task", 40, 0.05))
    text = text_of(collected(few, 1.0, 1.0))
    assert "makes 40 tasks of 50.0 ms; 10 % of the time is libomp's.\n" in text
    assert "in 20 % of their time: more tasks have to be ready at a time." in text
    assert "More tasks even it out." in text
    fine = observed({"body": 0.2, "dispatch": 0.4, "dependences": 0.4}, site("task", 400_000, 2e-6))
    text = text_of(collected(fine, 1.0, 1.0))
    assert "64 times as coarse: at least 3.0 x as fast." in text
    assert "Threads wait for tasks of others in 30 % of their time.\n" in text
    assert "ore tasks" not in text


def test_the_report_says_what_the_grain_costs_and_what_another_one_gives() -> None:
    spent = {"body": 0.30, "creation": 0.45, "dispatch": 0.35}
    of = observed(spent, site("task", 1_200_000, 1e-6))
    text = text_of(collected(of, 1.0, 1.1))
    assert "solver.cpp:42 makes 1.20 M tasks of 1.00 µs; 70 % of the time is libomp's." in text
    assert "64 times as coarse: 3.5 x as fast (2.8 to 5.3)." in text
    assert "Efficiency now: 30 % of the threads' time" in text
    assert "Collecting took 10 % more." in text
    below = text_of(collected(observed({"body": 0.1, "dispatch": 0.9}, site("task", 400_000, 1e-6)), 1.0, 1.0))
    assert "64 times as coarse: at least 7.6 x as fast." in below
    assert "longer than the plain run leaves room for" not in text + below
    stretched = text_of(collected(observed({"body": 1.6}, site("chunk", 16_000_000, 4e-7)), 1.0, 1.6))
    assert "Efficiency now: 62 %" in stretched
    assert "Collecting made bodies 60 % longer than the plain run leaves room for" in stretched
    for limit, runtime in ((3e-6, "oneTBB"), (2e-7, "libomp")):
        for length, is_said in ((0.9 * limit, True), (1.1 * limit, False)):
            short = observed({"body": 1.0, "dispatch": 0.1}, site("task", round(4 / length), length, runtime))
            assert ("the efficiency is at most that" in text_of(collected(short, 1.1, 1.1))) == is_said


def test_a_line_that_has_next_to_no_time_and_costs_nothing_has_no_row() -> None:
    chunks, region = site("chunk", 1_000_000, 4e-6), replace(site("region", 39, 17e-9), place="range.h:230")
    text = text_of(collected(observed({"body": 1.0, "dispatch": 0.1}, chunks, region), 1.1, 1.1))
    assert "range.h:230" not in text
    assert "1 more line has less time." in text
    begun = text_of(collected(observed({"body": 1.0, "runtime": 0.1}, chunks, region), 1.1, 1.1))
    assert "range.h:230" in begun
    assert "more line" not in begun
    assert "range.h:230" in text_of(collected(observed({"body": 1.0}, region), 1.0, 1.0))


def test_a_few_regions_are_counted_in_whole_numbers_and_never_fewer_than_one() -> None:
    of = observed({"body": 1.0, "runtime": 1.0}, site("region", 8, 0.5), regions=2)
    text = text_of(collected(of, 2.0, 2.0))
    assert "makes 8 parts of regions of 500 ms; 50 % of the time is libomp's. Twice as much work in a region:" in text


def test_samples_know_no_parallel_regions() -> None:
    text = text_of(collected(observed({"body": 0.6, "wait": 0.4}, site("sample", 2400, 1e-3), serial=1.0), 2.0, 2.0))
    assert "Efficiency now: 60 % of the threads' time is the program's own." in text
    assert "50 % of the program's time is outside of the samples" in text
    assert "Threads that spin, or that make threads, seem to be at work." in text
    assert "regions" not in text


def test_the_report_names_waits_and_serial_parts() -> None:
    of = observed({"body": 0.6, "imbalance": 0.4}, site("task", 40, 0.06), serial=1.0)
    text = text_of(collected(of, 2.0, 2.0))
    assert "Threads have nothing left to do in 40 % of their time: work is uneven. More tasks even it out." in text
    assert "50 % of the program's time is outside of parallel regions" in text
    remedies = {
        ("region", "libgomp"): "work is uneven. In a loop, schedule(dynamic) evens it out.",
        ("share", "libomp"): "work is uneven. schedule(dynamic) evens it out.",
        ("chunk", "libomp"): "work is uneven. Shorter chunks even it out.",
        ("region", "oneTBB"): "work is uneven. More tasks even it out.",
    }
    for (kind, runtime), remedy in remedies.items():
        uneven = observed({"body": 0.6, "imbalance": 0.4}, site(kind, 40, 0.06, runtime))
        assert remedy in text_of(collected(uneven, 1.0, 1.0))
    crowd = replace(uneven, processes=(replace(uneven.processes[0], cores=2),))
    assert "work is uneven, or there are more threads than cores." in text_of(collected(crowd, 1.0, 1.0))
    disturbed = text_of(collected(of, 4.0, 2.0))
    assert "50 % of the program's time is outside" in disturbed
    assert "The time is of the collected run, which was quicker than a plain one (4.00 s)" in disturbed
    alone = text_of(replace(collected(of, 2.0, 2.0), plain=()))
    assert "what collecting cost is not known" in alone
    assert "--curve measures it" in alone


def test_a_picture_has_the_time_of_each_length_and_the_efficiency_curve() -> None:
    price = Price(observed({"body": 1.0, "dispatch": 1.0}, site("chunk", 1_000_000, 4e-6)), 2.0, 2.0)
    picture = grain_picture.draw(price, "./solver", [])
    said = words(picture)
    assert "solver.cpp:7, chunks" in said
    assert "if each costs 4.00 µs, as here" in said
    (bar,) = data(picture, "began", "high")
    assert bar["high"] == pytest.approx(1.0)
    line = {each["x"]: each["y"] for each in data(picture, "x", "y") if "text" not in each and "shape" not in each}
    assert all(y == pytest.approx(x / (x + 4e-6)) for x, y in line.items())
    assert len(line) > 10


def curve(title: str, cost: float, finer: float, coarse: float = 1e-5) -> Curve:
    costs = {1e-6: finer, coarse: cost, 1e-4: cost}
    return Curve(f"some/{title}", title, 4, costs, "explain:last")


def test_a_curve_tells_the_time_that_bodies_keep_and_from_which_length_on() -> None:
    of = curve("OpenMP (libomp)", 1e-6, 3e-6)
    assert of.cost(1e-7) == pytest.approx(3e-6)
    assert of.cost(math.sqrt(1e-6 * 1e-5)) == pytest.approx(2e-6)
    assert of.efficiency(1e-5) == pytest.approx(10 / 11)
    assert of.enough == pytest.approx(9.3e-6, rel=0.1)
    assert [of.is_of(runtime) for runtime in ("libomp", "libgomp")] == [True, False]
    assert not of.is_of("")


def test_the_report_has_the_curves_and_a_forecast_of_shorter_bodies() -> None:
    chunks = site("chunk", 400_000, 10e-6)
    run = collected(observed({"body": 1.0, "dispatch": 0.1}, chunks), 1.1, 1.1)
    curves = [curve("libteff", 0.1e-6, 0.1e-6), curve("OpenMP (libomp)", 1e-6, 1e-6)]
    text = text_of(run, *curves)
    assert "The time that chunks as those of solver.cpp:7 keep here, with 4 workers" in text
    rows = [" ".join(line.split()) for line in text.splitlines()]
    assert "on of 10.0 µs of 5.00 µs of 2.50 µs 90 % from measured" in rows
    assert "libteff 99 % 98 % 96 % 912 ns explain:last" in rows
    assert any(row.startswith("OpenMP (libomp) 91 % 83 % 71 %") for row in rows)
    half, quarter = run.price.shorter(curves)
    assert half.seconds == pytest.approx(1.1 + 0.1 + 0.0075)  # twice as many bodies: each costs 1 us, and has a part
    assert quarter.seconds == pytest.approx(1.1 + 0.3 + 0.0225)  # of 75 ns that does not shrink
    assert half.speedup.low < 1.1 / half.seconds < half.speedup.high
    assert "Shorter ones cost: half as long, 0.91 x as fast" in text
    assert not run.price.shorter([curve("OpenMP (libgomp)", 1e-6, 1e-6)])


@pytest.mark.parametrize(
    ("kind", "creation", "shape"),
    [
        ("chunk", (0.0, 0.0), "chunk"),
        ("task", (0.4, 0.0), "task"),
        ("task", (0.2, 0.2), "recursion"),
        ("dependent", (0.2, 0.2), "dependent"),
        ("share", (0.0, 0.0), "region"),
    ],
)
def test_tasks_that_several_threads_make_are_like_a_recursion(
    kind: str, creation: tuple[float, float], shape: str
) -> None:
    threads = tuple({"body": 1.0, "creation": each} for each in creation)
    own = site(kind, 10, 1e-3)
    assert Observed((Process("one", threads, 1.4, (own,)),)).shape(own) == shape


def test_curves_are_those_that_were_measured_last_here_with_as_many_workers(tmp_path: Path) -> None:
    registry = Registry(tmp_path)
    cases = [
        Case(name=f"{bodies}-{length}", flags=f"-shape {bodies} -spin {length}", workers=2, bodies=bodies)
        for bodies in ("chunk", "task")
        for length in (1e-6, 1e-5, 1e-4)
    ]
    plan = ComparedPlan(title="micro", variants=(), cases=tuple(cases)).model_dump(mode="json")
    for name, cost in (("2026-02", 2e-7), ("2026-01", 1e-7), ("9999-01", 3e-7)):
        head = sitting(name).model_copy(update={"machine": read_machine(), "benchmark": "micro", "plan": plan})
        with Store(registry.results / name) as kept:
            kept.append("sittings", head)
            for case in cases:
                length = float(case.flags.split()[-1])
                row = {"sitting": name, "benchmark": "micro", "system_id": "openmp/t", "title": "OpenMP (libomp)"}
                row |= {"configuration": case.configuration, "workers": 2, "spin_seconds": length}
                kept.append("estimates", row | {"value": length + cost})
                kept.append("estimates", row | {"system_id": "failed", "value": None})
                kept.append("estimates", row | {"system_id": "disturbed", "value": 2 * length})
                kept.append("estimates", row | {"workers": 1, "value": length + 1e-5})
                kept.append("estimates", row | {"sitting": "of another machine", "value": length + 1e-8})
            kept.append("sittings", head.model_copy(update={"sitting": "of another machine", "machine": MACHINE}))
        with (registry.results / name / "estimates.jsonl").open("a") as file:
            file.write("torn{\n")
    (last,), why = curves_of(registry, "chunk", 2)
    assert not why
    assert last.costs == {length: pytest.approx(2e-7) for length in (1e-6, 1e-5, 1e-4)}
    assert (last.source, last.title) == ("2026-02:2026-02", "OpenMP (libomp)")
    assert curves_of(registry, "recursion", 2) == ([], "fewer than 3 lengths of bodies were measured")


def test_a_picture_has_a_line_for_each_curve() -> None:
    price = Price(observed({"body": 1.0, "dispatch": 1.0}, site("chunk", 1_000_000, 4e-6)), 2.0, 2.0)
    picture = grain_picture.draw(
        price, "./solver", [curve("libteff", 1e-7, 1e-7), curve("OpenMP (libomp)", 1e-6, 1e-6)]
    )
    assert {"libteff", "OpenMP (libomp)", "90 % from 912 ns"} <= set(words(picture))
    lines = [each for each in data(picture, "x", "y", "said") if each["said"] == "libteff"]
    lines = [each for each in lines if not each.keys() & {"text", "shape"}]
    assert all(each["y"] == pytest.approx(each["x"] / (each["x"] + 1e-7)) for each in lines)
    assert len(lines) > 10


VARIABLES = {"LD_PRELOAD": "c.so"}


@pytest.mark.parametrize(
    ("command", "starts"),
    [
        ("./solver -n 3", "env LD_PRELOAD=c.so ./solver -n 3"),
        ("mpirun -n 2 --bind-to none sh -c true", "mpirun -n 2 --bind-to none env LD_PRELOAD=c.so sh -c true"),
        ("mpirun -n 1 sh a : -n 2 sh b", "mpirun -n 1 env LD_PRELOAD=c.so sh a : -n 2 env LD_PRELOAD=c.so sh b"),
        ("srun --mpi=pmix", "srun --mpi=pmix"),
    ],
)
def test_a_launcher_starts_programs_that_bear_the_collector_without_bearing_it_itself(
    command: str, starts: str
) -> None:
    assert launched(command.split(), VARIABLES) == starts.split()


@pytest.mark.parametrize(
    ("command", "factor", "becomes", "word"),
    [
        ("./solver --block {8}", 4, "./solver --block 32", "32"),
        ("./solver --tasks {/64}", 4, "./solver --tasks 16", "16"),
        ("./solver --tasks {/2}", 64, "./solver --tasks 1", "1"),
        ("env OMP_SCHEDULE=dynamic,{1} ./solver", 2, "env OMP_SCHEDULE=dynamic,2 ./solver", "OMP_SCHEDULE=dynamic,2"),
    ],
)
def test_a_setting_grows_with_the_grain_or_shrinks(command: str, factor: float, becomes: str, word: str) -> None:
    assert Setting.in_command(command.split()).at(factor) == (becomes.split(), word)


@pytest.mark.usefixtures("commanded")
@pytest.mark.parametrize(
    ("said", "why"),
    [
        (["--apply", "--", "true"], "--apply: mark the present value in the command"),
        (["--apply", "--", "true", "{1}", "{2}"], "{2}: one setting is tried at a time, and {1} stands there, too"),
        (["--runs", "0", "--", "true"], "--runs 0: a program is run once at least"),
        (["--also", "libnowhere", "--", "true"], "--also libnowhere: there is no library of that name"),
        (["--", "/nowhere"], "/nowhere can't be started"),
        (["--curve", "spawn"], "--curve: is for a program behind --"),
        (["--fail-below", "80%", "lulesh"], "--fail-below: is for a program behind --"),
        (["--", "/etc/passwd"], "/etc/passwd can't be started: it is there, but can't be executed"),
        (["--", "./"], "./ can't be started: it is there, but can't be executed"),
        *(
            ([*words, "--", "true"], f"{words[0]}: is not for a program behind --")
            for words in (["--nosuch"], ["lulesh"], ["--seconds", "1"], ["--systems", "teff"])
        ),
    ],
)
def test_a_wrong_command_line_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], said: list[str], why: str
) -> None:
    without_collector(monkeypatch)
    assert teff(monkeypatch, "explain", *said) == BAD_INPUT
    assert why in capsys.readouterr().err


@pytest.mark.usefixtures("commanded")
def test_a_script_that_names_no_shell_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A shell would run the script."""
    without_collector(monkeypatch)
    script = tmp_path / "run"
    script.write_text("./solver\n")
    script.chmod(0o755)
    assert teff(monkeypatch, "explain", "--", str(script)) == BAD_INPUT
    told = f"teff: {script} can't be started: Exec format error; the first line of a script names its shell, as #!/bin"
    assert told in capsys.readouterr().err


@pytest.mark.usefixtures("commanded")
def test_without_addr2line_the_report_says_why_lines_have_no_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    without_collector(monkeypatch)
    (tmp_path / "env").symlink_to(str(shutil.which("env")))
    for is_said in (False, True):
        assert teff(monkeypatch, "explain", "--runs", "1", "--", *leaving(tmp_path, FINE)) == 0
        assert ("Without addr2line, which is of binutils" in capfd.readouterr().out) == is_said
        monkeypatch.setenv("PATH", str(tmp_path))


def without_collector(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program itself leaves accounts."""
    monkeypatch.setattr(explaining_programs, "collector", lambda *_: Path("libc.so.6"))
    monkeypatch.setattr(explaining_programs, "warn_of_others", lambda _: None)


def leaving(tmp_path: Path, accounts: Accounts, code: int = 0, last: str = "") -> list[str]:
    """A program that leaves these accounts, and ends with the exit code after the `last` statement."""
    kept = tmp_path / "kept"
    kept.write_bytes(accounts.content())
    lines = [
        "import os, shutil, sys, time",
        "time.sleep(0.05)",
        "folder = os.environ.get('TEFF_COLLECT')",
        f"folder and shutil.copy({str(kept)!r}, folder + '/1.accounts')",
        last or "print(sys.stdin.read())",
        f"sys.exit({code})",
    ]
    return [sys.executable, "-c", "\n".join(lines)]


@pytest.mark.usefixtures("commanded")
def test_the_command_passes_the_exit_code_on_and_prints_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    without_collector(monkeypatch)
    given = tmp_path / "input"
    given.write_text("what was given")
    own = os.dup(0)
    try:
        with given.open() as file:
            os.dup2(file.fileno(), 0)
            assert teff(monkeypatch, "explain", "--json", "--", *leaving(tmp_path, FINE, 5)) == 5
    finally:
        os.dup2(own, 0)
    told, said = capfd.readouterr()
    assert said.count("what was given") == 2  # a file is read again; with --json stdout has rows alone
    program, chunks, region = map(json.loads, told.splitlines())
    assert (program["of"], program["exit_status"], program["plain_runs"]) == ("program", 5, 1)
    assert (chunks["site"], chunks["count"]) == ("program + 0x100", 200_000)
    assert region["kind"] == "region"


def test_curves_are_measured_on_demand_and_found_again(
    commanded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    without_collector(monkeypatch)
    monkeypatch.setattr(explaining_programs, "_TURNS", 3)
    monkeypatch.setattr(measured_here, "read_machine", lambda: MACHINE)
    micro = Path(__file__).parent / "simulated_micro_program.py"
    write_system(
        commanded,
        "quick",
        f'[[program]]\nbenchmark = "micro"\nname = "one"\ntitle = "Quick (libgomp)"\nprogram = "{micro}"\n'
        f'command = ["{sys.executable}", "{{program}}", "quick", "100000"]\n',
    )
    program = leaving(tmp_path, FINE)
    assert teff(monkeypatch, "explain", "--runs", "1", "--curve", "--", *program) == FAILED
    assert "there is no curve: even the longest bodies kept only 3% of the time: other" in capfd.readouterr().err
    quick = commanded / "bench" / "systems" / "quick" / "system.toml"
    quick.write_text(quick.read_text().replace("100000", "100"))
    for asked in (["--curve"], []):  # a task costs 100 ns, give or take 10, and the chunks last as long
        assert teff(monkeypatch, "explain", "--runs", "1", *asked, "--", *program) == 0
        told = " ".join(capfd.readouterr().out.split())
        assert "The time that chunks as those of program + 0x100 keep here, with 2 workers" in told
        assert re.search(r"Quick \(libgomp\) (4|5)\d % 3\d % (1|2)\d % ", told), told
    assert teff(monkeypatch, "explain", "--runs", "1", "--json", "--", *program) == 0
    curves = [each for each in map(json.loads, capfd.readouterr().out.splitlines()) if each["of"] == "curve"]
    assert [(each["workers"], len(each["costs"])) for each in curves] == [(2, 3)]


@pytest.mark.usefixtures("commanded")
def test_a_threshold_of_efficiency_is_judged_and_one_run_is_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    without_collector(monkeypatch)
    program = leaving(tmp_path, FINE)
    assert teff(monkeypatch, "explain", "--runs", "1", "--fail-below", "80%", "--", *program) == 1
    told, said = capfd.readouterr()
    assert "asks for 80%" in said
    assert f"teff: run 1 of 1 of {sys.executable}, with the collector\n" in said
    assert "program + 0x100 makes 200 k chunks of 100 ns" in " ".join(told.split())
    assert teff(monkeypatch, "explain", "--runs", "1", "--fail-below", "20%", "--", *program) == 0


@pytest.mark.usefixtures("commanded")
@pytest.mark.parametrize(
    ("runs", "told"), [("1", "makes 200 k chunks"), ("2", "python was seen: it was interrupted before that")]
)
def test_an_interrupted_program_is_explained_as_far_as_it_was_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], runs: str, told: str
) -> None:
    without_collector(monkeypatch)
    monkeypatch.setattr(collecting, "_GRACE", 0.1)
    ended = tmp_path / "ended"
    last = (
        "import signal; signal.signal(2, signal.SIG_IGN); os.kill(os.getppid(), 2); time.sleep(60);"
        f" open({str(ended)!r}, 'w')"
    )
    assert teff(monkeypatch, "explain", "--runs", runs, "--", *leaving(tmp_path, FINE, last=last)) == INTERRUPTED
    assert not ended.exists(), "the lab ends the program"
    said = " ".join("".join(capfd.readouterr()).split())
    assert told in said.replace(sys.executable, "python")


@pytest.mark.usefixtures("commanded")
@pytest.mark.parametrize("runtime", ["libomp", "oneTBB"])
def test_a_runtime_that_the_program_does_not_have_is_not_replaced(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], runtime: str
) -> None:
    without_collector(monkeypatch)
    of = observed({"body": 0.5, "dispatch": 0.5}, site("chunk", 1_000_000, 2e-6, runtime))
    monkeypatch.setattr(explaining_programs, "collect", lambda *_, **__: collected(of, 1.0, 1.0))
    monkeypatch.setattr(explaining_programs, "_in_its_place", lambda _: "libomp.so.5")
    assert teff(monkeypatch, "explain", "--also", "libomp", "--", "true") == FAILED
    told = "teff: --also libomp: it takes the place of libgomp, which is not this program's runtime\n"
    assert told in capfd.readouterr().err


@pytest.mark.usefixtures("commanded")
def test_the_title_of_a_long_command_has_its_begin_and_its_end(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    without_collector(monkeypatch)
    of = observed({"body": 1.0}, site("chunk", 1_000, 4e-3))
    monkeypatch.setattr(explaining_programs, "collect", lambda *_, **__: collected(of, 1.0, 1.0))
    assert teff(monkeypatch, "explain", "--", "./solver", *(["word"] * 2000), "end") == 0
    title = " ".join(capfd.readouterr().out.partition(" threads")[0].split())
    assert title.startswith("./solver word")
    assert "end: " in title
    assert len(title) < 200


@pytest.mark.usefixtures("commanded")
def test_the_advice_is_tried_in_turns_beside_its_prediction(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    without_collector(monkeypatch)
    monkeypatch.setattr(explaining_programs, "_TURNS", 2)
    of = observed({"body": 0.5, "dispatch": 0.5}, site("chunk", 1_000_000, 2e-6))
    monkeypatch.setattr(explaining_programs, "collect", lambda *_, **__: collected(of, 1.0, 1.0))
    assert teff(monkeypatch, "explain", "--apply", "--json", "--", "sh", "-c", "sleep 0.02", "--block={1}") == 0
    tried = [each for each in map(json.loads, capfd.readouterr().out.splitlines()) if each["of"] == "try"]
    assert [each["setting"] for each in tried] == [f"--block={2**power}" for power in range(len(tried))]
    assert len(tried) == 6  # until the chunks' number costs 5 % of the time
    assert tried[0]["predicted"] is None
    assert tried[1]["predicted"]["value"] == pytest.approx(1 / 0.75, rel=0.02)
    assert 0.1 < tried[1]["speedup"]["value"] < 10  # of a command that does not read the setting, on a busy machine


@pytest.mark.usefixtures("commanded")
def test_a_line_says_which_run_begins_and_accounts_are_read_once_for_report_and_timeline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A torn trace is of a runtime that has not ended."""
    without_collector(monkeypatch)
    asked: list[str] = []

    def ask(module: str, offsets: list[int]) -> list[list[tuple[str, str]]]:
        asked.append(module)
        return [[] for _ in offsets]

    monkeypatch.setattr(symbols, "ask_addr2line", ask)
    torn = "folder and open(folder + '/1.json', 'w').write('{'); print('its own')"
    words = ["--runs", "3", "--picture", str(tmp_path / "x.json"), "--", *leaving(tmp_path, FINE, last=torn)]
    assert teff(monkeypatch, "explain", *words) == 0
    said = capfd.readouterr().err
    told = re.sub(r"[\d.]+ m?s\b", "TIME", said.replace(sys.executable, "python"))
    assert told.splitlines() == [
        "teff: run 1 of 3 of python, plain",
        "teff: run 2 of 3 of python, with the collector: it prints again (TIME for the last one)",
        f"teff: wrote {tmp_path / 'x.json'}, for ui.perfetto.dev",
        "teff: run 3 of 3 of python, plain (TIME for the last one)",
    ]
    assert asked == ["/nowhere/program"]
    assert len(json.loads((tmp_path / "x.json").read_text())["traceEvents"]) == 1


def test_all_processes_have_traces_and_writing_these_is_no_time_of_the_program() -> None:
    code = """import json, os, time
task = {"ph": "X", "pid": os.getpid(), "tid": 1, "ts": 0, "dur": 100, "cat": "task", "name": "x"}
written = {"began_ns": time.time_ns(), "writing_ns": 3_600_000_000_000}
events = [task, {"ph": "M", "pid": os.getpid(), "name": "written", "args": written}]
file = os.environ["TEFF_TRACE"].replace("%p", str(os.getpid()))
json.dump({"traceEvents": events}, open(file, "w"))
"""
    one = shlex.join([sys.executable, "-c", code])
    run = collecting.collect(["sh", "-c", f"{one}; {one}"], c_library(), 1)
    assert sum(site.count for site in run.observed.sites) == 2
    assert -7200 < run.collected.seconds < -7200 + 600  # 600 s: the time limit of a test
    first, second = run.observed.processes
    assert 0 < first.began < second.began
    assert not run.observed.has_more_threads_than_cores


def c_library() -> Path:
    """Which every program has loaded anyway."""
    loaded = Path("/proc/self/maps").read_text().splitlines()
    return next(Path(line.split()[-1]) for line in loaded if "libc" in line)


def test_what_is_loaded_suits_a_path_with_a_space_and_a_sanitizer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    library = tmp_path / "a folder" / "libc.so.6"
    library.parent.mkdir()
    library.symlink_to(c_library())
    monkeypatch.setenv("ASAN_OPTIONS", "exitcode=7")
    monkeypatch.setattr(collecting, "_ROOM", sys.maxsize)
    said = 'echo "$LD_PRELOAD $ASAN_OPTIONS $TEFF_COLLECT"'
    assert collecting.collect(["sh", "-c", said], library, 1).exit_code == 0
    loaded, options, folder = capfd.readouterr().out.split()
    assert options == "verify_asan_link_order=0:exitcode=7"
    assert Path(folder).parent == Path(tempfile.gettempdir())  # as the folder in memory has no room
    assert loaded == f"{folder}/libc.so.6"


@pytest.mark.usefixtures("commanded")
def test_a_program_in_which_nothing_was_seen_ends_with_a_reason(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    without_collector(monkeypatch)
    assert teff(monkeypatch, "explain", "--", "sh", "-c", "exit 3") == 3
    said = capfd.readouterr().err
    assert "nothing of sh was seen: it began no parallel region of OpenMP (libgomp, libomp) or oneTBB" in said
    assert "or could write no accounts (after chroot or setuid, " in said
    assert said.endswith("or went on in the background; and it took too little CPU time to be sampled\n")
    assert teff(monkeypatch, "explain", "--", "sh", "-c", "kill -9 $$") == 128 + 9
    assert "it was ended by signal 9 (Killed), and no parallel region was seen" in capfd.readouterr().err
    assert teff(monkeypatch, "explain", "--", "sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done") == 1
    assert "starts programs that the collector can't enter" in capfd.readouterr().err


@pytest.mark.usefixtures("commanded")
def test_the_report_says_that_only_the_first_run_had_a_pipe_as_its_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    without_collector(monkeypatch)
    reads, writes = os.pipe()
    os.close(writes)
    own = os.dup(0)
    try:
        os.dup2(reads, 0)
        for runs, is_said in (("2", True), ("1", False)):
            assert teff(monkeypatch, "explain", "--runs", runs, "--", *leaving(tmp_path, FINE)) == 0
            told = " ".join(capfd.readouterr().out.split())
            assert ("only the first run could read: say --runs 1, or give a file." in told) == is_said
    finally:
        os.dup2(own, 0)
        os.close(reads)


def test_a_rank_s_waits_are_no_bodies_and_name_their_partner(tmp_path: Path) -> None:
    bodies = [Bodies(0x100, "between_waits", 100, 200_000), Bodies(0x200, "point_to_point", 100, 100_000, partner=3)]
    thread = Thread({"body": 20_000_000, "message": 10_000_000}, bodies)
    of, _ = read(tmp_path, Accounts([thread], 30_000_000, header={"rank": 2}))
    assert of.processes[0].name == "rank 1"
    assert [each.kind for each in of.sites] == ["between_waits"]
    text = " ".join(text_of(collected(of, 0.03, 0.03)).split())
    assert "program + 0x100 parts between waits 100" in text
    assert "program + 0x200, most for rank 3 messages rank 1 100" in text
    assert "Efficiency now: 67 % of the ranks' time with MPI is the program's own." in text
    assert "The longest waits are those of rank 1 in program + 0x200: most of it for rank 3." in text
    assert "parallel regions" not in text
    assert "--curve" not in text


@pytest.fixture
def built_collector(monkeypatch: pytest.MonkeyPatch) -> None:
    """The collector as it is built here."""
    library = project_root() / ".teff" / "build" / "lib" / "libteff_collect.so"
    if not library.is_file():
        pytest.skip("the collector is not built here")
    without_collector(monkeypatch)
    monkeypatch.setattr(explaining_programs, "collector", lambda *_: library)


@pytest.mark.usefixtures("commanded", "built_collector")
def test_a_program_that_no_collector_knows_is_sampled(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    program = "import time\nend = time.monotonic() + 0.4\nwhile time.monotonic() < end: pass"
    assert teff(monkeypatch, "explain", "--json", "--", sys.executable, "-c", program) == 0
    told, said = capfd.readouterr()
    first, *sites = [json.loads(line) for line in told.splitlines()]
    assert "run 3 of 3" in said
    assert "with samples, as no runtime that teff knows was seen" in said
    assert {each["kind"] for each in sites} == {"sample"}
    assert first["efficiency"] > 0.5
    assert "By samples: shares of time only" in " ".join(first["remarks"])


@pytest.mark.usefixtures("commanded")
def test_samples_have_neither_a_curve_nor_a_grain_to_try(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    without_collector(monkeypatch)
    run = collected(observed({"body": 0.6, "wait": 0.4}, site("sample", 2400, 1e-3)), 1.0, 1.0)
    monkeypatch.setattr(explaining_programs, "collect", lambda *_, **__: run)
    monkeypatch.setattr(Asked, "systems_of_curves", lambda asked: [None] if asked.curve else [])
    for option, told in (("--curve", "there is no curve"), ("--apply", "there is no advice")):
        assert teff(monkeypatch, "explain", option, "--", "true", "{1}") == FAILED
        why = "nothing tells how many tasks there are, and how long"
        assert f"teff: {option}: {told}: {why}\n" in capsys.readouterr().err


@pytest.mark.usefixtures("commanded")
@pytest.mark.skipif(not shutil.which("g++"), reason="no compiler")
def test_a_static_program_can_not_be_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    without_collector(monkeypatch)
    source, program = tmp_path / "a.cpp", tmp_path / "a"
    source.write_text("int main() {}\n")
    if subprocess.run(["g++", "-static", source, "-o", program], check=False).returncode:
        pytest.skip("no static C library")
    for command in ([str(program)], ["env", "A=1", str(program)]):
        assert teff(monkeypatch, "explain", "--", *command) == 1
        assert f"{program} is linked statically, so nothing can be loaded into it" in capfd.readouterr().err


@pytest.mark.usefixtures("built_collector")
@pytest.mark.skipif(not shutil.which("g++"), reason="no compiler")
def test_the_collector_finds_the_line_that_makes_tasks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    source, program = project_root() / "docs" / "tutorial" / "heat.cpp", tmp_path / "heat"
    subprocess.run(["g++", "-O3", "-g", "-fopenmp", source, "-o", program], check=True)
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    assert teff(monkeypatch, "explain", "--json", "--", str(program), "64") == 0
    rows = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    line = next(number for number, text in enumerate(source.read_text().splitlines(), 1) if "omp task " in text)
    task = next(each for each in rows if each.get("kind") == "task")
    assert task["site"] in (f"heat.cpp:{line}", f"heat.cpp:{line - 1}")
    assert task["count"] == 500 * 32
    assert rows[0]["threads"] == 2
    assert "add up" not in " ".join(rows[0]["remarks"])


@pytest.mark.usefixtures("built_collector")
@pytest.mark.skipif(not (shutil.which("mpicc") and shutil.which("mpirun")), reason="no MPI")
def test_the_collector_finds_the_parts_between_waits_of_a_ring(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    library = project_root() / ".teff" / "build" / "lib" / "libteff_collect_mpi.so"
    monkeypatch.setattr(explaining_programs, "collector", lambda *_: library)
    for right in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"):
        monkeypatch.setenv(right, "1")
    source, program = project_root() / "docs" / "how-to" / "ring.c", tmp_path / "ring"
    subprocess.run(["mpicc", "-O2", "-g", source, "-o", program], check=True)
    command = ["mpirun", "--oversubscribe", "-n", "2", str(program), "100"]
    assert teff(monkeypatch, "explain", "--json", "--runs", "1", "--", *command) == 0
    first, *rows = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    line = 1 + source.read_text().splitlines().index("    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);")
    of_line = [each for each in rows if each["site"] == f"ring.c:{line}"]
    assert [(each["kind"], each["count"]) for each in of_line] == [("between_waits", 2 * 500)]
    assert {each["name"] for each in first["processes"]} == {"rank 0", "rank 1"}


@pytest.mark.usefixtures("built_collector")
@pytest.mark.skipif(not shutil.which("g++"), reason="no compiler")
@pytest.mark.parametrize("symbols", ["-g", "-g0"])
def test_a_task_of_onetbb_has_a_line_of_its_own_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], symbols: str
) -> None:
    source, program = project_root() / "collect" / "tests" / "tasks.cpp", tmp_path / "tasks"
    words = ["g++", "-std=c++17", "-O2", symbols, source, "-o", program, "-ltbb"]
    if subprocess.run(words, check=False, capture_output=True).returncode:
        pytest.skip("oneTBB is not installed here")
    assert teff(monkeypatch, "explain", "--json", "--", str(program), "loop", "20", "400") == 0
    program_row, *rows = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    line = 1 + source.read_text().splitlines().index("long loop() {") + 1
    task = max(rows, key=lambda each: each["count"])
    assert (task["site"], task["kind"]) == (f"tasks.cpp:{line}" if symbols == "-g" else "loop()", "task")
    assert (task["count"], task["runtime"]) == (400, "oneTBB")
    assert "add up" not in " ".join(program_row["remarks"])


def test_only_a_program_that_may_have_mpi_gets_the_collector_of_ranks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "run.sh"
    script.write_text("#!/bin/sh\nmpirun ./program\n")
    script.chmod(0o755)
    made: list[str] = []
    monkeypatch.setattr(collecting.Build, "make", lambda _, target: made.append(target))
    registry = Registry(project_root())
    for command in (["/bin/sh", "-c", "true"], ["env", "A=1", str(script)]):
        library = collecting.collector(registry, command)
        assert library.name == f"lib{made[-1]}.so"
    assert made == ["teff_collect", "teff_collect_mpi"]
