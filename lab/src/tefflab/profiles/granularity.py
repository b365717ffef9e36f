"""Judges the length of a program's tasks by a traced run: the phase of the run, its bound, and a better length.

A worker runs a task, makes tasks (the rest of `run()`), is between tasks (dependences and queues) or is idle. If
a worker is idle while another one makes tasks, the tasks are too short: they end faster than they are made. If it is
idle while no worker makes any, there are too few tasks.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from tefflab.profiles.task_trace import TaskTrace, Track

Phase = Literal["too fine", "good", "too coarse"]

GOOD = 0.9  # the least share of worker time in tasks that is called good
KEPT = 0.95  # the share of worker time that tasks of the advised length leave for tasks
_IDLE = ("searching", "parked")
_PAUSE = 1e-3  # seconds: a worker between tasks takes microseconds, unless its core runs another program
_WORTH_COUNTING = 0.01  # of all time in tasks: types with less do not decide


@dataclass(frozen=True, slots=True)
class Metg:
    """How long a task must be so that half of worker time is its own, and where that number is from."""

    seconds: float
    source: str


@dataclass(frozen=True, slots=True)
class TaskType:
    """The tasks of one name. `factor`: how many times as long they should be."""

    name: str
    tasks: int
    seconds: float
    share: float  # of the time in tasks
    mean: float
    factor: float


@dataclass(frozen=True, slots=True)
class Times:
    """Worker time, in seconds."""

    tasks: float
    making: float
    between: float
    starved: float  # idle while a worker of the same process makes tasks
    idle: float  # besides
    other: float  # messages, and pauses in which the core ran another program

    @property
    def total(self) -> float:
        return self.tasks + self.making + self.between + self.starved + self.idle + self.other


@dataclass(frozen=True, slots=True)
class Findings:
    """The findings of one traced run about the length of its tasks."""

    phase: Phase
    bound: str
    workers: int
    elapsed: float  # from the first task's beginning to the last one's end
    times: Times
    types: tuple[TaskType, ...]  # the longest first
    cost: float  # of a task in this run, in worker time: making it, and the time between tasks
    grain: float  # how long a task should be
    grain_source: str
    lost_events: int

    @property
    def tasks(self) -> int:
        return sum(each.tasks for each in self.types)

    @property
    def factor(self) -> float:
        """How many times as long the tasks should be, of the types that decide."""
        telling = [each for each in self.types if each.share >= _WORTH_COUNTING]
        return self.grain * sum(each.tasks for each in telling) / sum(each.seconds for each in telling)

    def setting(self, now: int) -> int:
        """Into how many tasks to cut a loop that is cut into `now` tasks. At least one for each worker, and the same
        number for each."""
        wanted = now / self.factor
        return self.workers * max(1, round(wanted / self.workers))

    def to_json(self) -> dict[str, Any]:
        return {
            "phase": self.phase,
            "bound": self.bound,
            "workers": self.workers,
            "elapsed_seconds": self.elapsed,
            "tasks": self.tasks,
            "worker_seconds": asdict(self.times),
            "types": [asdict(each) for each in self.types],
            "cost_seconds": self.cost,
            "grain_seconds": self.grain,
            "grain_source": self.grain_source,
            "factor": self.factor,
            "lost_events": self.lost_events,
        }


def find(trace: TaskTrace, metg: Metg) -> Findings:
    """The findings of a trace, for a machine of this METG."""
    counted: defaultdict[str, int] = defaultdict(int)
    spent: defaultdict[str, float] = defaultdict(float)
    for track in trace.tracks:
        for each in track.stretches:
            if each.is_task:
                counted[each.name] += each.is_first
                spent[each.name] += each.seconds
    times = _times(trace)
    tasks = max(sum(counted.values()), 1)
    making = times.making / tasks
    cost = (times.making + times.between) / tasks
    grain, source = _grain(metg, cost, making, len(trace.tracks))
    types = [
        TaskType(
            name,
            counted[name],
            spent[name],
            spent[name] / times.tasks,
            spent[name] / counted[name],
            grain * counted[name] / spent[name],
        )
        for name in sorted(spent, key=lambda each: -spent[each])
        if counted[name] and spent[name] > 0
    ]
    phase, bound = _phase(times)
    return Findings(
        phase,
        bound,
        len(trace.tracks),
        trace.ended - trace.began,
        times,
        tuple(types),
        cost,
        grain,
        source,
        trace.lost_events,
    )


def _grain(metg: Metg, cost: float, making: float, workers: int) -> tuple[float, str]:
    """The longest of three lengths. At METG half of a task's worker time is cost, so that a task costs METG / 2."""
    per_cost = KEPT / (1 - KEPT)
    lengths = [
        (per_cost * metg.seconds / 2, f"METG: {metg.source}"),
        (per_cost * cost, "what a task costs in this run"),
        (workers * making, "one worker makes the tasks of all"),
    ]
    return max(lengths, key=lambda each: each[0])


def _phase(times: Times) -> tuple[Phase, str]:
    short = times.making + times.between + times.starved
    if times.tasks >= GOOD * (times.total - times.other):
        return "good", "the tasks themselves"
    if times.idle > short:
        return "too coarse", "idle workers: too few tasks are ready"
    if times.making + times.starved >= times.between:
        return "too fine", "creation: tasks end as fast as they are made"
    return "too fine", "dependences: the time between tasks"


def _times(trace: TaskTrace) -> Times:
    tasks = making = between = starved = idle = other = 0.0
    by_process: defaultdict[int, list[Track]] = defaultdict(list)
    for track in trace.tracks:
        by_process[track.process].append(track)
    for tracks in by_process.values():
        while_making = _Covered(
            (each.began, each.ended) for track in tracks for each in track.stretches if each.category == "run"
        )
        for each in (each for track in tracks for each in track.stretches):
            if each.is_task:
                tasks += each.seconds
            elif each.category == "run":
                making += each.seconds
            elif each.category in _IDLE:
                beside = while_making.within(each.began, each.ended)
                starved += beside
                idle += each.seconds - beside
            elif each.category in ("", "waiting") and each.seconds < _PAUSE:
                between += each.seconds
            else:
                other += each.seconds
    return Times(tasks, making, between, starved, idle, other)


class _Covered:
    """The time that intervals cover together."""

    def __init__(self, intervals: Iterable[tuple[float, float]]) -> None:
        ends: list[list[float]] = []
        for began, ended in sorted(intervals):
            if ends and began <= ends[-1][1]:
                ends[-1][1] = max(ends[-1][1], ended)
            else:
                ends.append([began, ended])
        self._at = [time for interval in ends for time in interval]
        self._sum = _running_sum(self._at)

    def within(self, began: float, ended: float) -> float:
        if not self._at:
            return 0.0
        low, high = np.interp([began, ended], self._at, self._sum)
        return float(high - low)


def _running_sum(ends: Sequence[float]) -> list[float]:
    """How much is covered up to each end: every other stretch between two ends is."""
    sums = [0.0]
    for number, (low, high) in enumerate(pairwise(ends)):
        sums.append(sums[-1] + (high - low if number % 2 == 0 else 0.0))
    return sums
