"""Collects small OpenMP programs, compiled by each compiler that is here."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from tefflab.profiles.timeline import SEGMENT

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from accounts import Accounts  # noqa: E402

LIBRARY = HERE.parents[1] / ".teff" / "build" / "lib" / "libteff_collect.so"
COMPILERS = {"libgomp": ("gcc",), "libomp": ("clang-19", "clang")}
TASKS = ("task", "dependent", "taskloop", "chunk", "section")


@dataclass
class Run:
    code: int
    said: dict[str, float]
    accounts: list[Accounts]


@pytest.fixture(scope="module", params=COMPILERS)
def compiler(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The command that compiles a program for this runtime."""
    if not LIBRARY.exists():
        pytest.skip("the collector is not built here")
    folder = tmp_path_factory.mktemp("try")
    (folder / "try.c").write_text("#include <omp.h>\nint main(void) { return omp_get_thread_num(); }\n")
    for name in filter(shutil.which, COMPILERS[request.param]):
        said = subprocess.run([name, "-print-file-name=libomp.so"], capture_output=True, text=True).stdout.strip()
        command = [name, "-O2", "-g", "-fopenmp", f"-Wl,-rpath,{Path(said).resolve().parent}"]
        if subprocess.run([*command, "try.c", "-o", "try"], cwd=folder, capture_output=True).returncode == 0:
            return command
    pytest.skip(f"no compiler for {request.param} is here")


@pytest.fixture(scope="module")
def program(compiler: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("programs") / "programs"
    subprocess.run([*compiler, str(HERE / "programs.c"), "-lm", "-o", str(made)], check=True)
    return made


def run(folder: Path, *command: str | Path, threads: int = 2, limit_file: int | None = None, **settings: str) -> Run:
    folder.mkdir()
    of_collector = {"LD_PRELOAD": str(LIBRARY), "TEFF_COLLECT": str(folder), "OMP_NUM_THREADS": str(threads)}
    limit = None if limit_file is None else lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit_file, limit_file))
    done = subprocess.run(
        [str(word) for word in command],
        env=dict(os.environ) | of_collector | settings,
        capture_output=True,
        text=True,
        timeout=60,
        preexec_fn=limit,
    )
    assert done.stderr == ""
    said = [json.loads(line) for line in done.stdout.splitlines()]
    return Run(done.returncode, said[0] if said else {}, [Accounts(path) for path in sorted(folder.glob("*.accounts"))])


LOOPS = ("dynamic_loop", "started_loops", "static_loop", "regions", "sections", "variables")
TASK_CASES = ("tasks", "untied", "recursion", "stencil", "chain", "taskloop", "producer", "detached", "locks")


@pytest.mark.parametrize("case", LOOPS + TASK_CASES)
def test_accounts_add_up_to_threads_times_time(program: Path, tmp_path: Path, case: str) -> None:
    done = run(tmp_path / "out", program, case, "200", "200")
    [accounts] = done.accounts
    assert done.code == 0
    assert len(accounts.seats) == 2
    assert accounts.in_regions() == pytest.approx(2 * done.said["wall"], rel=0.03)
    assert accounts.in_bodies() >= 0.99 * done.said["work"]


def test_threads_of_nested_regions_are_all_seen(program: Path, tmp_path: Path) -> None:
    done = run(tmp_path / "out", program, "nested", "200", "100")
    [accounts] = done.accounts
    assert len(accounts.seats) >= 4
    assert accounts.in_bodies() >= 0.99 * done.said["work"]
    assert accounts.in_regions() <= 1.03 * len(accounts.seats) * done.said["wall"]


def test_many_regions_may_end_at_a_time(program: Path, tmp_path: Path) -> None:
    done = run(tmp_path / "out", program, "crowd", "10")
    [accounts] = done.accounts
    assert done.code == 0
    assert accounts.bodies("region")[0] == done.said["bodies"] + 200 + 1
    assert accounts.in_regions() <= len(accounts.seats) * accounts.elapsed


@pytest.mark.parametrize("case", ["dynamic_loop", "tasks", "stencil", "chain", "taskloop", "detached", "producer"])
def test_every_body_is_counted_and_timed(program: Path, tmp_path: Path, case: str) -> None:
    done = run(tmp_path / "out", program, case, "20", "400")
    count, time = done.accounts[0].bodies(*TASKS)
    assert count == done.said["bodies"]
    assert 0.99 * done.said["work"] <= time + done.accounts[0].states["displaced"] <= 2 * done.said["wall"]


def test_tasks_are_of_their_functions(program: Path, tmp_path: Path) -> None:
    """Compilers merge the calls that make tasks of different functions."""
    done = run(tmp_path / "out", program, "two_tasks", "1", "100")
    sites = done.accounts[0].sites
    tasks = sites[(sites["what"] == list(done.accounts[0].header["kinds"]).index(b"task")) & (sites["count"] > 0)]
    counted = {number: int(tasks["count"][tasks["function"] == number].sum()) for number in set(tasks["function"])}
    assert sorted(counted.values()) == [100, 200]
    assert 0 not in counted


def test_a_thread_without_a_core_is_in_no_body(program: Path, tmp_path: Path) -> None:
    """Two threads share a core."""
    done = run(
        tmp_path / "out", "taskset", "-c", str(min(os.sched_getaffinity(0))), program, "dynamic_loop", "100", "2000"
    )
    [accounts] = done.accounts
    assert accounts.states["displaced"] > 0.3 * accounts.in_regions()
    assert accounts.bodies("chunk")[1] < 1.3 * done.said["wall"]


def test_a_wait_for_a_thread_without_a_core_is_no_wait(program: Path, tmp_path: Path) -> None:
    """The thread that works has the core half of the time: the other one does not sleep at once."""
    core = str(min(os.sched_getaffinity(0)))
    settings = {"OMP_WAIT_POLICY": "active"}
    done = run(tmp_path / "out", "taskset", "-c", core, program, "imbalance", "400000", **settings)
    [accounts] = done.accounts
    assert accounts.blocks["delayed"].sum() * accounts.ns > 0.2 * done.said["wall"]
    assert accounts.states["imbalance"] < 0.8 * done.said["wall"]


def test_the_last_segments_of_each_thread_are_noted(program: Path, tmp_path: Path) -> None:
    noted = 64
    done = run(tmp_path / "out", program, "dynamic_loop", "100", "300", TEFF_SEGMENTS=str(noted))
    body = list(done.accounts[0].header["states"]).index(b"body")
    kind = list(done.accounts[0].header["kinds"]).index(b"chunk")
    files = sorted((tmp_path / "out").glob("*.segments"))
    assert len(files) == 2
    for block, file in zip(done.accounts[0].blocks, files, strict=True):
        assert block["segments_noted"] > noted
        segments = np.roll(np.fromfile(file, SEGMENT), -int(block["segments_noted"]))
        assert len(segments) == noted
        lengths = np.diff(segments["until"].astype(float)) * done.accounts[0].ns
        assert min(lengths) >= 0
        chunks = lengths[(segments["did"][1:] == body) & (segments["what"][1:] == kind)]
        assert len(chunks) > noted // 3
        assert min(chunks) >= 100e3


@pytest.mark.parametrize("library", [LIBRARY, LIBRARY.with_name("libteff_collect_mpi.so")], ids=lambda path: path.stem)
def test_a_program_keeps_its_own_c_plus_plus_library(library: Path) -> None:
    if not library.exists() or shutil.which("nm") is None:
        pytest.skip("the collector is not built here, or there are no binutils")
    listed = subprocess.run(["nm", "-DC", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    names = [line.split(maxsplit=2)[2] for line in listed.splitlines()]
    assert "teff_collect_enter" in names
    assert not [name for name in names if name.startswith(("std::", "__cxa", "__gxx", "__cxxabiv1", "operator "))]


def test_a_program_may_clear_its_environment(program: Path, tmp_path: Path) -> None:
    assert run(tmp_path / "out", program, "cleared", "1", "100").accounts[0].bodies("chunk")[0] == 100


def test_every_body_of_many_threads_is_counted(program: Path, tmp_path: Path) -> None:
    done = run(tmp_path / "out", program, "tasks", "1", "20000", threads=8)
    assert done.accounts[0].bodies("task")[0] == 20000


def test_an_untied_task_is_one_body_whatever_its_parts(program: Path, tmp_path: Path) -> None:
    done = run(tmp_path / "out", program, "untied", "50", "300")
    count, time = done.accounts[0].bodies("task")
    assert count == 200
    assert time + done.accounts[0].states["displaced"] >= 0.99 * done.said["work"]


@pytest.mark.parametrize(
    ("case", "state", "lengths"),
    [
        ("imbalance", "imbalance", 1),
        ("chain", "dependences", 8),
        ("doacross", "dependences", 7),
        ("producer", "task_not_made", 8),
    ],
)
def test_a_known_idle_time_has_its_cause(program: Path, tmp_path: Path, case: str, state: str, lengths: int) -> None:
    """A body spins by the clock. On a busy machine, a part of the idle time counts as time without a core."""
    [accounts] = run(tmp_path / "out", program, case, "40000", "8").accounts
    others = ("serial", "body", "runtime", "start", "displaced")
    idle = {name: time for name, time in accounts.states.items() if name not in others}
    assert idle.pop(state) + accounts.states["displaced"] > max(0.75 * lengths * 40e6, *idle.values()), accounts.states


def test_bodies_too_short_for_the_clock_are_counted(program: Path, tmp_path: Path) -> None:
    [accounts] = run(tmp_path / "out", program, "empty_chunks", "0", "200000").accounts
    sites = accounts.sites[accounts.header["kinds"][accounts.sites["what"]] == b"chunk"]
    assert sites["count"].sum() == 200000
    assert 0 < sites["timed"].sum() < 20000
    assert accounts.states["counted"] > 0


@pytest.mark.parametrize(
    ("case", "code", "files"),
    [
        ("killed", -signal.SIGKILL, 1),
        ("aborted", -signal.SIGABRT, 1),
        ("left", 3, 1),
        ("replaced", 0, 2),
        ("forked", 0, 2),
    ],
)
def test_a_program_that_ends_otherwise_leaves_what_was_seen(
    program: Path, tmp_path: Path, case: str, code: int, files: int
) -> None:
    done = run(tmp_path / "out", program, case, "50", "100")
    assert done.code == code
    assert len(done.accounts) == files
    first = done.accounts[0]
    assert first.bodies("chunk")[0] == 100
    assert (first.header["ended"] == 0) == (case != "forked")
    goes_on = set(first.blocks["open"]) - {0}
    assert goes_on <= set(first.sites["address"])
    assert len(goes_on) == (case == "killed")
    if case == "forked":
        assert done.accounts[1].header["parent"] == first.header["process"]
        assert done.accounts[1].states["body"] > 40e3


def test_a_child_born_in_a_region_leaves_the_accounts_of_its_parent_alone(program: Path, tmp_path: Path) -> None:
    [accounts] = run(tmp_path / "out", program, "forked_within").accounts
    assert accounts.bodies("task")[0] == 1


@pytest.mark.parametrize("case", ["forked_out_of", "thread_cancelled", "exact"])
def test_the_collector_changes_nothing(program: Path, tmp_path: Path, compiler: list[str], case: str) -> None:
    if compiler[0] != "gcc" and case == "forked_out_of":
        pytest.skip("libomp itself allows no child to end its parent's region")
    done = run(tmp_path / "out", program, case, "50")
    assert done.code == 0
    assert done.accounts[0].bodies("region")[0] == done.said["bodies"] + (case == "forked_out_of")


def test_a_program_without_regions_leaves_no_file(program: Path, tmp_path: Path) -> None:
    assert run(tmp_path / "out", program, "none").accounts == []


def test_a_program_where_no_file_can_be_made_runs_as_ever(program: Path, tmp_path: Path) -> None:
    done = run(tmp_path / "out", program, "tasks", TEFF_COLLECT=str(tmp_path / "absent"))
    assert (done.code, done.accounts) == (0, [])


def test_a_thread_that_the_file_has_no_space_for_is_lost_alone(program: Path, tmp_path: Path) -> None:
    done = run(tmp_path / "out", program, "threads", "100", limit_file=1 << 17)
    [accounts] = done.accounts
    assert done.code == 0
    assert (len(accounts.seats), accounts.header["lost_threads"]) == (4, 996)


def test_a_thousand_threads_have_a_seat_each(program: Path, tmp_path: Path) -> None:
    [accounts] = run(tmp_path / "out", program, "threads", "100").accounts
    assert len(accounts.seats) == 1000
    assert accounts.header["lost_threads"] == 0


def test_sites_beyond_the_capacity_are_others(program: Path, tmp_path: Path) -> None:
    [accounts] = run(tmp_path / "out", program, "sites", "1", threads=1).accounts
    others = accounts.sites[accounts.sites["what"] == 0]
    assert others["count"].sum() > 0
    assert 400 <= accounts.bodies("task", "others")[0] < 408  # the regions, too


def test_a_cancelled_task_is_still_dropped(program: Path, tmp_path: Path) -> None:
    done = run(tmp_path / "out", program, "cancelled", OMP_CANCELLATION="true")
    assert done.said["bodies"] == 1


@pytest.mark.parametrize(
    ("case", "kind", "functions"),
    [("stencil", "dependent", {"stencil"}), ("nested", "region", {"nested", "inner_region", "main"})],
)
def test_an_address_leads_to_its_function(
    program: Path, tmp_path: Path, case: str, kind: str, functions: set[str]
) -> None:
    [accounts] = run(tmp_path / "out", program, case, "10", "40").accounts
    named = set()
    for site in accounts.sites[accounts.header["kinds"][accounts.sites["what"]] == kind.encode()]:
        module = accounts.header["modules"][site["module"]]
        assert Path(module["path"].decode()) == program
        assert b"omp" in accounts.header["modules"][site["runtime"]]["path"]
        command = ["addr2line", "-if", "-e", str(program), hex(int(site["address"]) - int(module["begin"]) - 1)]
        frames = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
        named.add(frames[-2].partition(".")[0])  # the outermost function of those in line
    assert named == functions


def test_two_runtimes_in_one_process_keep_their_calls_apart(compiler: list[str], tmp_path: Path) -> None:
    subprocess.run(["gcc", str(HERE / "two_runtimes.c"), "-o", "two", "-ldl"], cwd=tmp_path, check=True)
    libraries = []
    for index, command in enumerate([compiler, ["gcc", "-O2", "-fopenmp"]]):
        libraries.append(tmp_path / f"part{index}.so")
        shared = ["-shared", "-fPIC", "-Dmain=run", str(HERE / "programs.c"), "-lm", "-o", str(libraries[-1])]
        subprocess.run([*command, *shared], check=True)
    done = run(tmp_path / "out", tmp_path / "two", *libraries)
    [accounts] = done.accounts
    assert done.code == 0
    runtimes = {int(site["runtime"]) for site in accounts.sites if site["count"] > 0}
    assert len(runtimes) == (1 if compiler[0] == "gcc" else 2)
    assert accounts.bodies("task")[0] == 100


def test_a_program_of_gcc_on_libomp_is_seen_by_its_events(tmp_path: Path, compiler: list[str]) -> None:
    found = subprocess.run([compiler[0], "-print-file-name=libomp.so"], capture_output=True, text=True).stdout.strip()
    if not Path(found).is_absolute():
        pytest.skip("this compiler has no libomp")
    made = tmp_path / "programs"
    subprocess.run(["gcc", "-O2", "-fopenmp", str(HERE / "programs.c"), "-lm", "-o", str(made)], check=True)
    for case, kind in (("dynamic_loop", "chunk"), ("tasks", "task"), ("taskloop", "taskloop"), ("sections", "section")):
        done = run(tmp_path / case, made, case, "50", "120", LD_PRELOAD=f"{LIBRARY}:{found}")
        assert done.accounts[0].bodies(kind)[0] == 120
        assert done.accounts[0].in_regions() == pytest.approx(2 * done.said["wall"], rel=0.03)
