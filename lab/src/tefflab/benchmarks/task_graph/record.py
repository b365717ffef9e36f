"""The record of a task graph's run, and the ceiling that it is compared with: the rate of a kernel on all cores with no
runtime at all. Only this module of the lab derives these values (granularity, rates)."""

import math
import subprocess
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tefflab.benchmarks.graphs import GraphCase
from tefflab.errors import InputError, TeffError
from tefflab.records.plan import Case
from tefflab.records.record import Checked, RecordError, parse_record
from tefflab.systems.simulated import SIMULATOR
from tefflab.systems.systems import BUILD_FOLDER

_OVER_NODES = "ceiling_over_nodes"  # its rate is that of the slowest node, times the nodes
_LEAST_TASK = 20e-6  # seconds of one task of the ceiling: its loop's cost is negligible beside it
_LEAST_TASK_ELSEWHERE = 1e-3  # of kernels that do not run on the cores: to start one there takes microseconds
_CALIBRATIONS = 4  # runs of the ceiling that must all find its tasks long enough
_GROWTH = 1.5  # the least factor of the time with twice the iterations: below it, something else takes time
_CEILING_SECONDS = 0.02  # of one run of the ceiling
_NODES_SECONDS = 0.005  # of one over several nodes: many are over before a system's detour disturbs a node
_MEMORY_SECONDS = 0.1  # of a run that moves bytes: its first pass over cold pages, about 2 ms, is negligible beside it

_Runs = Generator[str, Any, "GraphRecord"]


class GraphRecord(Checked):
    """One run of one program."""

    schema = "task_graph"
    more_work = "add timesteps"

    def fault(self) -> str:
        """Where validation was switched off, nothing is compared, and nothing proven."""
        return super().fault() if self.get("validation", "enabled") else ""

    @property
    def proven(self) -> bool:
        """Whether the run validated itself: only such a run may stand in a curve or table."""
        return self.ok and bool(self.get("validation", "enabled"))

    @property
    def tasks(self) -> int:
        return int(self.get("tasks") or 0)

    @property
    def work(self) -> int:
        """FLOPs or bytes of all tasks, in `rate_unit`; 0 where the kernel counts neither."""
        return int(self.get("flops") or self.get("bytes") or 0)

    @property
    def timesteps(self) -> int:
        return int(self.told["graphs"][0]["steps"])

    @property
    def granularity(self) -> float:
        """Wall time x cores / tasks [s]: the mean time a core spends on a task, overhead included."""
        wall = self.wall_seconds
        if not self.tasks or not self.workers:
            raise RecordError("a record without tasks has no granularity")
        return wall * self.workers / self.tasks

    @property
    def iterations(self) -> int:
        """Of a task; 0 for empty tasks, with any flags."""
        first = self.told["graphs"][0]
        return 0 if first["kernel"] == "empty" else int(first["iterations"])

    @property
    def rate_unit(self) -> str:
        """The unit of `rate`: `FLOP/s` where the kernel computes, `B/s` where it copies, else `task/s`."""
        if self.get("flops"):
            return "FLOP/s"
        return "B/s" if self.get("bytes") else "task/s"

    @property
    def rate(self) -> float:
        """The rate that suits the kernel, in `rate_unit`; efficiency is a share of it."""
        return (self.work or self.tasks) / self.wall_seconds


@dataclass(frozen=True)
class Ceiling:
    """The program that measures it, for kernels of so long tasks at least."""

    name: str = "ceiling"
    least_task: float = _LEAST_TASK

    def of(self, program: str) -> "Ceiling":
        """Of kernels that do not run on the cores, by a program of their system; itself without one."""
        return Ceiling(program, _LEAST_TASK_ELSEWHERE) if program else self

    def command_line(self, root: Path, workers: int, nodes: int | None = None) -> list[str]:
        programs = root / BUILD_FOLDER / "bin"
        start = [programs / self.name] if nodes is None else [programs / "start_ranks", "node", programs / _OVER_NODES]
        return [*map(str, start), "--workers", str(workers)]

    def calibration(self, case: Case, part: Case) -> Generator[str, Any, tuple[str, float]]:
        """Asks for runs of this part of a case until it knows the line that measures the case's ceiling, and the scale.
        The scale is the ideal time of one iteration of one task on one core. Runs until tasks are long enough, and as
        long as their iterations say: on a busy machine the shortest of tasks may take milliseconds.

        TeffError where the kernel has no rate, or its tasks do not grow with the iterations.
        """
        assert isinstance(case, GraphCase)
        assert isinstance(part, GraphCase)
        iterations = 1
        quickest = yield from self._calibrated(part, iterations)
        wanted = math.inf
        while quickest.granularity < wanted:
            if iterations > 1 << 30:
                raise TeffError(f"{case.name}: its tasks do not grow with -iter: nothing to search for")
            wanted = max(self.least_task, _GROWTH * quickest.granularity)
            iterations *= 2
            quickest = yield from self._calibrated(part, iterations)
        short = _NODES_SECONDS if case.is_distributed else _CEILING_SECONDS
        seconds = _MEMORY_SECONDS if quickest.rate_unit == "B/s" else short
        steps = max(10, round(seconds / quickest.granularity))
        return case.ceiling_line(case.workers, steps, iterations), quickest.granularity / iterations

    def _calibrated(self, case: GraphCase, iterations: int) -> _Runs:
        """So many iterations. A run that seems long enough may be noisy, so it is made again; the quickest counts."""
        runs: list[GraphRecord] = []
        for _ in range(_CALIBRATIONS):
            record = yield case.ceiling_line(case.workers, 10, iterations)
            _refuse_without_rate(record, case)
            runs.append(record)
            if record.granularity < self.least_task:
                break
        return min(runs, key=lambda each: each.granularity)


@dataclass(frozen=True)
class Peak(Ceiling):
    """Of a simulated machine."""

    machine: str = ""  # as the simulator reads it

    def command_line(self, root: Path, workers: int, nodes: int | None = None) -> list[str]:
        del nodes
        return [str(root / BUILD_FOLDER / "bin" / SIMULATOR), self.machine, "--workers", str(workers)]


def expect_rates(root: Path, every: Iterable[GraphCase]) -> None:
    """TeffError for graphs whose kernels have no rate, by a short run of the ceiling for each different one."""
    ceiling = Ceiling().command_line(root, 1)
    for line, case in {each.ceiling_line(1, 1, 1): each for each in every}.items():
        asked = subprocess.run([*ceiling, *line.split()], capture_output=True, errors="replace", check=False)
        if asked.returncode == 0:
            _refuse_without_rate(parse_record(asked.stdout, GraphRecord), case)


def _refuse_without_rate(record: GraphRecord, of: GraphCase) -> None:
    if not record.work:
        raise InputError(
            f"{of.name}: this kernel counts neither FLOPs nor bytes, so it has no efficiency; METG needs one that "
            "does, as -kernel compute_bound"
        )
