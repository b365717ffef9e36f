"""Judges the length of a program's tasks by a traced run: the phase of the run, its bound, and a better length.

A worker runs a task, makes tasks (the rest of `run()`), is between tasks (dependences and queues) or is idle. If
a worker is idle while another one makes tasks, the tasks are too short: they end faster than they are made. If it is
idle while no worker makes any, there are too few tasks. A time without any task does not count: the program computes
elsewhere, or a rank waits for messages. Nor does a time in which another program has a worker's core.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import median
from typing import Any, Literal

from tefflab.profiles.task_trace import LOOP, Stretch, TaskTrace, Track

Phase = Literal["too fine", "good", "too coarse", "chunks of loops"]

GOOD = 0.9  # the least share of worker time in tasks that is called good
KEPT = 0.95  # the share of worker time that tasks of the advised length leave for tasks
_PER_COST = KEPT / (1 - KEPT)  # how many times its cost such a task lasts
_IDLE = ("searching", "parked")
_PAUSE = 1e-3  # seconds: a worker between tasks takes microseconds, unless its core runs another program
_DISTURBED = 10  # times the median of its type: a slice that is also as long as a pause contains one
_DISTURBANCE = "pause"  # the category of the rest of such a slice
_TO_RECORD_MAKING = "wrap the part that makes tasks in rt.run([&] { ... })"
_MADE = "run"  # the category of a call that makes tasks
_WORTH_COUNTING = 0.01  # of the time of the type that has most: types with less do not decide


@dataclass(frozen=True, slots=True)
class Metg:
    """How long a task must be so that half of worker time is its own, and where that number is from."""

    seconds: float
    source: str


@dataclass(frozen=True, slots=True)
class TaskType:
    """The tasks of one name. `factor`: how many times as long they should be. None for the chunks of loops: the library
    chooses their length."""

    name: str
    tasks: int
    seconds: float
    share: float  # of the time in tasks
    mean: float
    factor: float | None


@dataclass(frozen=True, slots=True)
class Times:
    """Worker time, in seconds."""

    tasks: float
    making: float
    between: float
    starved: float  # idle while a worker of the same process makes tasks
    idle: float  # besides
    other: float  # messages, times without any task, and pauses in which the core ran another program

    @property
    def total(self) -> float:
        return self.tasks + self.making + self.between + self.starved + self.idle + self.other


@dataclass(frozen=True, slots=True)
class Findings:
    """The findings of one traced run about the length of its tasks."""

    phase: Phase
    bound: str
    workers: int
    workers_of_process: int  # the most
    elapsed: float  # from the first task's beginning to the last one's end
    times: Times
    types: tuple[TaskType, ...]  # the longest first
    mean: float  # length of a task, of the types that decide
    cost: float  # worker time of a task in this run beside its body
    grain: float  # how long a task should be
    grain_source: str
    lost_events: int

    @property
    def tasks(self) -> int:
        return sum(each.tasks for each in self.types)

    @property
    def factor(self) -> float:
        """How many times as long the tasks should be."""
        return self.grain / self.mean

    @property
    def has_advice(self) -> bool:
        """Whether the program chooses how long its tasks are."""
        return self.phase != "chunks of loops"

    def setting(self, now: int) -> int:
        """Into how many tasks to cut a loop of a process that is cut into `now` tasks. At least one for each worker,
        and the same number for each."""
        wanted = now / self.factor
        return self.workers_of_process * max(1, round(wanted / self.workers_of_process))

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
            "factor": self.factor if self.has_advice else None,
            "lost_events": self.lost_events,
        }


def find(trace: TaskTrace, metg: Metg) -> Findings:
    """The findings of a trace, for a machine of this METG."""
    trace = _without_pauses(trace)
    counted: defaultdict[str, int] = defaultdict(int)
    spent: dict[str, float] = defaultdict(float)
    loops: set[str] = set()
    makes = False
    for track in trace.tracks:
        for each in track.stretches:
            if each.is_task:
                counted[each.name] += each.is_first
                spent[each.name] += each.seconds
            if each.category == LOOP:
                loops.add(each.name)  # its parts on other workers are tasks of the same name
            makes |= each.category == _MADE
    spent = {name: spent[name] for name in spent if counted[name]}  # others have the ends of slices alone
    times = _times(trace)
    tasks = sum(counted.values())
    making = times.making / tasks
    cost = (times.making + times.between) / tasks
    workers = max(Counter(track.process for track in trace.tracks).values())
    deciding = _deciding(spent)
    own = [name for name in deciding if name not in loops]
    mean = _mean(own or deciding, counted, spent)
    phase, bound = _phase(times, may_be_shorter=mean > _length_at(metg))
    if not own and phase != "good":
        phase, bound = "chunks of loops", "the library, which chooses their length"
    elif not makes and bound.startswith("dependences"):
        bound += f"; or creation, of which the trace has no record: {_TO_RECORD_MAKING}"
    grain, source = _grain(metg, phase, cost, making, workers)
    types = [
        TaskType(
            name,
            counted[name],
            spent[name],
            spent[name] / times.tasks,
            spent[name] / counted[name],
            None if name in loops else grain * counted[name] / spent[name],
        )
        for name in sorted(spent, key=lambda each: -spent[each])
    ]
    return Findings(
        phase,
        bound,
        len(trace.tracks),
        workers,
        trace.ended - trace.began,
        times,
        tuple(types),
        mean,
        cost,
        grain,
        source,
        trace.lost_events,
    )


def _without_pauses(trace: TaskTrace) -> TaskTrace:
    """The trace with each disturbed stretch of a task as a usual one and a pause. The trace does not tell when in the
    stretch the pause was."""
    lengths: defaultdict[str, list[float]] = defaultdict(list)
    for track in trace.tracks:
        for each in track.stretches:
            if each.is_task:
                lengths[each.name].append(each.seconds)
    usual = {name: median(lengths[name]) for name in lengths}

    def parts(each: Stretch) -> Sequence[Stretch]:
        if not each.is_task or each.seconds < _PAUSE or each.seconds <= _DISTURBED * usual[each.name]:
            return (each,)
        resumes = each.began + usual[each.name]
        return replace(each, ended=resumes), Stretch(resumes, each.ended, _DISTURBANCE, "", is_first=True)

    def calm(track: Track) -> Track:
        return replace(track, stretches=tuple(part for each in track.stretches for part in parts(each)))

    return replace(trace, tracks=tuple(calm(track) for track in trace.tracks))


def _deciding(spent: Mapping[str, float]) -> list[str]:
    """The types that do."""
    least = _WORTH_COUNTING * max(spent.values())
    return [name for name in spent if spent[name] >= least]


def _mean(names: Collection[str], counted: Mapping[str, int], spent: Mapping[str, float]) -> float:
    """Of a task of these types."""
    return sum(spent[name] for name in names) / sum(counted[name] for name in names)


def _length_at(metg: Metg) -> float:
    """At METG half of a task's worker time is cost, so that a task costs METG / 2."""
    return _PER_COST * metg.seconds / 2


def _grain(metg: Metg, phase: Phase, cost: float, making: float, workers: int) -> tuple[float, str]:
    """The longest of two lengths, or of three. Only a run whose tasks are too fine shows what a task costs."""
    lengths = [
        (_length_at(metg), f"METG: {metg.source}"),
        (workers * making, "one worker makes the tasks of all"),
    ]
    if phase == "too fine":
        lengths.append((_PER_COST * cost, "what a task costs in this run"))
    return max(lengths, key=lambda each: each[0])


def _phase(times: Times, *, may_be_shorter: bool) -> tuple[Phase, str]:
    """Tasks are too coarse only if they may be shorter."""
    short = times.making + times.between + times.starved
    if times.tasks >= GOOD * (times.total - times.other):
        return "good", "the tasks themselves"
    if times.idle > short and may_be_shorter:
        return "too coarse", "idle workers: too few tasks are ready"
    if times.idle > short:
        return "too fine", "dependences: tasks are short, and too few are ready"
    if times.making + times.starved >= times.between:
        return "too fine", "creation: tasks end as fast as they are made"
    return "too fine", "dependences: the time between tasks"


def _times(trace: TaskTrace) -> Times:
    tasks = making = between = starved = idle = other = 0.0
    by_process: defaultdict[int, list[Stretch]] = defaultdict(list)
    for track in trace.tracks:
        by_process[track.process] += track.stretches
    for stretches in by_process.values():
        in_tasks = _Covered((each.began, each.ended) for each in stretches if each.is_task)
        gaps = [gap for gap in in_tasks.gaps(trace.began, trace.ended) if gap[1] - gap[0] >= _PAUSE]
        without_tasks = _Covered(gaps)
        or_while_making = _Covered([*gaps, *((each.began, each.ended) for each in stretches if each.category == _MADE)])
        for each in stretches:
            if each.is_task:
                tasks += each.seconds
                continue
            unused = without_tasks.within(each)
            other += unused
            if each.category == _MADE:
                making += each.seconds - unused
            elif each.category in _IDLE:
                beside = or_while_making.within(each)
                starved += beside - unused
                idle += each.seconds - beside
            elif each.category in ("", "waiting") and each.seconds < _PAUSE:
                between += each.seconds - unused
            else:
                other += each.seconds - unused
    return Times(tasks, making, between, starved, idle, other)


class _Covered:
    """The time that intervals cover together."""

    def __init__(self, intervals: Iterable[tuple[float, float]]) -> None:
        self._ends: list[float] = []  # of intervals apart from each other: from, to, from, to
        self._sums = [0.0]  # how much is covered up to each end, and to the beginning
        for began, ended in sorted(intervals):
            if self._ends and began <= self._ends[-1]:
                self._sums[-1] += max(ended - self._ends[-1], 0.0)
                self._ends[-1] = max(ended, self._ends[-1])
            else:
                self._ends += [began, ended]
                self._sums += [self._sums[-1], self._sums[-1] + ended - began]

    def within(self, each: Stretch) -> float:
        return self._until(each.ended) - self._until(each.began)

    def _until(self, time: float) -> float:
        before = bisect_right(self._ends, time)
        is_covered = before % 2 == 1
        return self._sums[before] + (time - self._ends[before - 1] if is_covered else 0.0)

    def gaps(self, began: float, ended: float) -> Iterator[tuple[float, float]]:
        """Between the intervals, which are all in [began, ended]."""
        ends = [began, *self._ends, ended]
        return zip(ends[::2], ends[1::2], strict=True)
