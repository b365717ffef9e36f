"""Every system that is built runs every pattern at several widths, validated by the core."""

import json
import os
import re
import subprocess
from collections.abc import Sequence
from threading import Timer

import psutil
import pytest

from conftest import CORE_LIBRARY, skip_unless_there
from tefflab import project_root
from tefflab.benchmarks.task_graph.record import Ceiling
from tefflab.host.processes import family
from tefflab.measure.batch import BatchProgram, LateError, ProgramError
from tefflab.systems.registry import Registry
from tefflab.systems.systems import Program

ROOT = project_root()
VARIANTS = [variant for system in Registry(ROOT).systems for variant in system.programs_for("task_graph")]
PATTERNS = [
    "trivial",
    "no_comm",
    "stencil_1d",
    "stencil_1d_periodic",
    "sweep",
    "dom",
    "tree",
    "tree_in_out",
    "fft",
    "all_to_all",
    "nearest",
    "spread",
    "random_nearest",
    "random_spread",
]
PERIODS = {"spread": 1, "random_nearest": 3, "random_spread": 3}  # spread has no more at the smallest widths
ELSEWHERE = [variant for variant in VARIANTS if variant.ceiling]
KERNELS = [
    "empty",
    "compute_bound -iter 1",
    "compute_bound -iter 100000",
    "load_imbalance -imbalance 1.5 -iter 5000",
    "memory_bound -scratch 100000 -sample 7 -iter 9",
]
COUNTED = ["tasks", "dependencies", "flops", "bytes"]
WIDTHS = (1, 2, 7, 16)  # one of them no power of two
WORKERS = (1, 2, 3)


def _lines(steps: int, widths: Sequence[int] = WIDTHS) -> list[str]:
    return [
        f"-type {pattern} -width {width} -steps {steps} -radix {min(3, width)}"
        f"{f' -period {PERIODS[pattern]}' if pattern in PERIODS else ''} -kernel compute_bound -iter 2"
        f" -and -type stencil_1d -width 3 -steps {steps // 2 - 1} -output 100"
        for pattern in PATTERNS
        for width in widths
    ]


def _lines_for(variant: Program, workers: int) -> list[str]:
    """All widths with the largest number of workers, which is more than there are cores; with fewer, one width.

    A task of a script takes milliseconds. So does a task of a system that starts slowly on a loaded machine. With 6
    timesteps each dependence set of the patterns still occurs. 1 point is fewer than the workers. 8 points are a
    power of two that exceeds their number. Some adapters cut a long graph into several jobs: one more line shows
    whether the cuts are right."""
    all_widths = workers == max(WORKERS)
    if not (variant.is_python or variant.slow_start):
        return _lines(20, WIDTHS if all_widths else (7,))
    return [*_lines(6, (1, 8) if all_widths else (7,)), "-type stencil_1d -width 2 -steps 101"]


@pytest.mark.parametrize("workers", [*(pytest.param(few, marks=pytest.mark.slow) for few in WORKERS[:-1]), WORKERS[-1]])
@pytest.mark.parametrize("variant", VARIANTS, ids=[variant.id for variant in VARIANTS])
def test_a_system_runs_every_pattern_validated_beside_a_second_graph(variant: Program, workers: int) -> None:
    skip_unless_there(variant)
    lines = _lines_for(variant, workers)
    finished = subprocess.run(
        [*variant.command_line(workers), "--batch", "--workers", str(workers)],
        input="\n".join(lines),
        env={**os.environ, **variant.environment_for(workers)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    refusals = ("has no more workers than cores", f" of {workers} workers: ")
    if workers > len(os.sched_getaffinity(0)) and any(each in finished.stderr for each in refusals):
        pytest.skip("its runtime refuses so many workers here")
    finished.check_returncode()
    records = [json.loads(line) for line in finished.stdout.splitlines()]
    assert len(records) == len(lines)
    for line, record in zip(lines, records, strict=True):
        assert "error" not in record, f"{line}: {record['error']}"
        assert record["validation"]["passed"], line
        assert record["workers"] == workers


@pytest.mark.parametrize("variant", VARIANTS, ids=[variant.id for variant in VARIANTS])
def test_a_system_to_which_the_environment_allows_one_thread_says_so_or_has_all_workers(variant: Program) -> None:
    skip_unless_there(variant)
    limits = dict.fromkeys(("OMP_THREAD_LIMIT", "GOMAXPROCS", "RAYON_NUM_THREADS", "TOKIO_WORKER_THREADS"), "1")
    finished = subprocess.run(
        [*variant.command_line(2), "--batch", "--workers", "2"],
        input="-type stencil_1d -width 2 -steps 3",
        env={**os.environ, **variant.environment_for(2), **limits},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if variant.identity.endswith("openmp") or finished.returncode:  # OpenMP has one thread then, whatever it is told
        assert finished.returncode
        assert re.search(r"error: \S+ has 1 of 2 workers: .*OMP_THREAD_LIMIT", finished.stderr)
    else:
        record = json.loads(finished.stdout)
        assert "error" not in record
        assert record["workers"] == 2


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS, ids=[variant.id for variant in VARIANTS])
def test_a_system_of_several_ranks_ends_where_one_of_them_is_killed_amid_a_run(variant: Program) -> None:
    skip_unless_there(variant)
    command = [*variant.command_line(2), "--workers", "2"]
    with BatchProgram(variant.id, command, variant.environment_for(2)) as program:
        if json.loads(program.ask("-type stencil_1d", 60)).get("ranks", 1) == 1:
            pytest.skip("it has one rank here")
        members = family(program.pid)
        *_, last = (each for each in members if _executes_tasks(each, variant))
        assert last.pid != program.pid
        shot = Timer(0.2, last.kill)  # as the system does where memory runs out
        shot.start()
        # mpirun says by which signal, unless a rank that watches the others has ended the job before
        with pytest.raises(ProgramError, match=rf"{variant.id}: .* (SIGKILL|has died)") as failure:
            program.ask("-type stencil_1d -steps 1000000000", 60)
        shot.join()
    assert not isinstance(failure.value, LateError)
    assert not psutil.wait_procs(members, timeout=30)[1], "some of its processes go on"


@pytest.mark.parametrize("variant", ELSEWHERE, ids=[variant.id for variant in ELSEWHERE])
def test_kernels_that_do_not_run_on_the_cores_do_the_same_work_in_the_system_and_in_its_ceiling(
    variant: Program,
) -> None:
    skip_unless_there(variant)
    of_cores, own = Ceiling(), Ceiling().of(variant.ceiling or "")
    lines = [f"-type trivial -width 5 -steps 30 -kernel {kernel}" for kernel in KERNELS]
    expected, *found = (
        [json.loads(line) for line in subprocess.check_output(words, input="\n".join(lines), text=True).splitlines()]
        for words in (
            [*of_cores.command_line(2), "--batch"],
            [*own.command_line(2), "--batch"],
            [*variant.command_line(2), "--batch", "--workers", "2"],
        )
    )
    for records in found:
        for on_core, elsewhere, kernel in zip(expected, records, KERNELS, strict=True):
            assert elsewhere["validation"] == on_core["validation"], kernel
            assert [elsewhere[key] for key in COUNTED] == [on_core[key] for key in COUNTED], kernel
            assert elsewhere["isa"] != on_core["isa"]


def _executes_tasks(process: psutil.Process, variant: Program) -> bool:
    """Whether the core is part of it: launchers and helpers of an interpreter are not worth a shot."""
    cores = {str(path.resolve()) for path in (variant.program_path, ROOT / CORE_LIBRARY)}
    return any(each.path in cores for each in process.memory_maps())


def test_a_wrong_line_in_a_batch_is_answered_and_the_batch_goes_on() -> None:
    variant = VARIANTS[0]
    skip_unless_there(variant)
    finished = subprocess.run(
        [*variant.command_line(1), "--batch"],
        input="-type stensil\n\n-type fft\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    wrong, right = (json.loads(line) for line in finished.stdout.splitlines())
    assert "stensil" in wrong["error"]
    assert right["validation"]["passed"]
