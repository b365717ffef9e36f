"""Judges the length of a program's tasks by a traced run: the phase of the run, its bound, and a better length, by the
METG of this machine.

A worker runs a task, makes tasks (the rest of `run()`), is between tasks (dependences and queues) or is idle. If
a worker is idle while another one makes tasks, the tasks are too short: they end faster than they are made. If it is
idle while no worker makes any, there are too few tasks. A time without any task does not count: the program computes
elsewhere, or a rank waits for messages. Nor does a time in which another program has a worker's core.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import median
from typing import Any, Literal

from rich.console import Group
from rich.text import Text

from tefflab.errors import InputError
from tefflab.host.terminal import titled_table
from tefflab.output.quantities import digits, duration, percent
from tefflab.profiles.measured_here import Metg, object_of
from tefflab.profiles.pricing import KEPT
from tefflab.profiles.task_trace import LOOP, Covered, Stretch, TaskTrace
from tefflab.records.plan import counted_workers

Phase = Literal["too fine", "good", "too coarse", "chunks of loops"]

GOOD = 0.9  # the least share of worker time in tasks that is called good
_PER_COST = KEPT / (1 - KEPT)  # how many times its cost a task of the advised length lasts
_IDLE = ("searching", "parked")
_PAUSE = 1e-3  # seconds: a worker between tasks takes microseconds, unless its core runs another program
_DISTURBED = 10  # times the median of its type: a slice that is also as long as a pause contains one
_DISTURBANCE = "pause"  # the category of the rest of such a slice
_TO_RECORD_MAKING = "wrap the part that makes tasks in rt.run([&] { ... })"
_MADE = "run"  # the category of a call that makes tasks
_WORTH_COUNTING = 0.01  # of the time of the type that has most: types with less do not decide
_TIMES = {  # of workers, as the table calls them
    "tasks": "tasks",
    "making": "making tasks",
    "between": "between tasks",
    "starved": "idle while tasks are made",  # by a worker of the same process
    "idle": "idle",  # besides
    "other": "no task anywhere, and pauses",  # as while ranks wait for messages, or a core runs another program
}
_MOST_TYPES = 12  # in the table
_MOST_LETTERS = 44  # of a type's name


@dataclass(frozen=True, slots=True)
class TaskType:
    """The tasks of one name, and how many times as long they should be; None if the library chooses their length."""

    name: str
    tasks: int
    seconds: float
    share: float  # of the time in tasks
    mean: float
    factor: float | None


@dataclass(frozen=True, slots=True)
class Findings:
    """The findings of one traced run about the length of its tasks."""

    phase: Phase
    bound: str
    workers: int
    workers_of_process: int  # the most
    elapsed_seconds: float  # from the first task's beginning to the last one's end
    worker_seconds: Mapping[str, float]  # by the names of _TIMES
    types: tuple[TaskType, ...]  # the longest first
    mean: float  # length of a task, of the types that decide
    cost_seconds: float  # worker time of a task in this run beside its body
    grain_seconds: float  # how long a task should be
    grain_source: str
    lost_events: int

    @property
    def tasks(self) -> int:
        return sum(each.tasks for each in self.types)

    @property
    def factor(self) -> float:
        """How many times as long the tasks should be."""
        return self.grain_seconds / self.mean

    @property
    def has_advice(self) -> bool:
        """Whether the program chooses how long its tasks are."""
        return self.phase != "chunks of loops"

    def setting(self, now: int) -> int:
        """Into how many tasks to cut a loop that is cut into `now`: the same number for each worker, at least one."""
        wanted = now / self.factor
        return self.workers_of_process * max(1, round(wanted / self.workers_of_process))

    def to_json(self) -> dict[str, Any]:
        told = asdict(self) | {"tasks": self.tasks, "factor": self.factor if self.has_advice else None}
        return {name: value for name, value in told.items() if name not in ("workers_of_process", "mean")}


def find(trace: TaskTrace, metg: Metg) -> Findings:
    """The findings of a trace, for a machine of this METG."""
    calm = _calm(trace)
    stretches = [each for own in calm.values() for each in own]
    counted, spent = Counter[str](), defaultdict[str, float](float)
    for each in stretches:
        if each.is_task:
            counted[each.name] += each.is_first
            spent[each.name] += each.seconds
    loops = {each.name for each in stretches if each.category == LOOP}  # on other workers their parts are tasks
    names = sorted(filter(counted.get, spent), key=lambda name: -spent[name])  # others have the ends of slices alone
    times = _times(trace, calm.values())
    making, between = (times[each] / counted.total() for each in ("making", "between"))
    workers = max(Counter(track.process for track in trace.tracks).values())
    deciding = [name for name in names if spent[name] >= _WORTH_COUNTING * spent[names[0]]]
    own = [name for name in deciding if name not in loops]
    mean = sum(spent[name] for name in own or deciding) / sum(counted[name] for name in own or deciding)
    at_metg = _PER_COST * metg.seconds / 2  # there, half of a task's worker time is cost
    phase, bound = _phase(times, may_be_shorter=mean > at_metg)
    if not own and phase != "good":
        phase, bound = "chunks of loops", "the library, which chooses their length"
    elif bound.startswith("dependences") and not any(each.category == _MADE for each in stretches):
        bound += f"; or creation, of which the trace has no record: {_TO_RECORD_MAKING}"
    lengths = [(at_metg, f"METG: {metg.source}"), (workers * making, "one worker makes the tasks of all")]
    if phase == "too fine":  # only such a run shows what a task costs
        lengths.append((_PER_COST * (making + between), "what a task costs in this run"))
    grain, source = max(lengths, key=lambda each: each[0])
    types = []
    for name in names:
        own_time, length = spent[name], spent[name] / counted[name]
        factor = None if name in loops else grain / length
        types.append(TaskType(name, counted[name], own_time, own_time / times["tasks"], length, factor))
    return Findings(
        phase=phase,
        bound=bound,
        workers=len(trace.tracks),
        workers_of_process=workers,
        elapsed_seconds=trace.ended - trace.began,
        worker_seconds=times,
        types=tuple(types),
        mean=mean,
        cost_seconds=making + between,
        grain_seconds=grain,
        grain_source=source,
        lost_events=trace.lost_events,
    )


def _calm(trace: TaskTrace) -> dict[int, list[Stretch]]:
    """The stretches of each process; a disturbed one of a task as a usual one and a pause, wherever in it that was."""
    lengths = defaultdict[str, list[float]](list)
    for track in trace.tracks:
        for each in track.stretches:
            lengths[each.name] += [each.seconds] if each.is_task else []
    usual = {name: median(lengths[name]) for name in lengths if lengths[name]}
    found = defaultdict[int, list[Stretch]](list)
    for track in trace.tracks:
        for each in track.stretches:
            if each.is_task and each.seconds >= _PAUSE and each.seconds > _DISTURBED * usual[each.name]:
                resumes = each.began + usual[each.name]
                pause = Stretch(resumes, each.ended, _DISTURBANCE, "", is_first=True)
                found[track.process] += [replace(each, ended=resumes), pause]
            else:
                found[track.process].append(each)
    return found


def _phase(times: Mapping[str, float], *, may_be_shorter: bool) -> tuple[Phase, str]:
    """Tasks are too coarse only if they may be shorter."""
    short = times["making"] + times["between"] + times["starved"]
    if times["tasks"] >= GOOD * (times["tasks"] + short + times["idle"]):
        return "good", "the tasks themselves"
    if times["idle"] > short and may_be_shorter:
        return "too coarse", "idle workers: too few tasks are ready"
    if times["idle"] > short:
        return "too fine", "dependences: tasks are short, and too few are ready"
    if times["making"] + times["starved"] >= times["between"]:
        return "too fine", "creation: tasks end as fast as they are made"
    return "too fine", "dependences: the time between tasks"


def _times(trace: TaskTrace, processes: Iterable[Sequence[Stretch]]) -> dict[str, float]:
    times = dict.fromkeys(_TIMES, 0.0)
    for own in processes:
        in_tasks = Covered((each.began, each.ended) for each in own if each.is_task)
        gaps = [gap for gap in in_tasks.gaps(trace.began, trace.ended) if gap[1] - gap[0] >= _PAUSE]
        making = [(each.began, each.ended) for each in own if each.category == _MADE]
        unused, or_beside_making = Covered(gaps).within(own), Covered([*gaps, *making]).within(own)
        for each, without, beside in zip(own, unused, or_beside_making, strict=True):
            if each.is_task:
                times["tasks"] += each.seconds
                continue
            times["other"] += without
            if each.category in _IDLE:
                times["starved"] += beside - without
                times["idle"] += each.seconds - beside
                continue
            is_between = each.category in ("", "waiting") and each.seconds < _PAUSE
            name = "making" if each.category == _MADE else "between" if is_between else "other"
            times[name] += each.seconds - without
    return times


def to_table(found: Findings, title: str) -> Group:
    """Phase, worker time, and a row for each type of task, the types with the most time first."""
    many = f"{counted_workers(found.workers)}, {found.tasks} tasks, {duration(found.elapsed_seconds)}"
    phase = Text.assemble("the tasks are ", (found.phase, "bold"), f"; the bound: {found.bound}")
    advises = found.has_advice and found.phase != "good"  # good tasks may stay as they are
    spent = titled_table("", "worker time", "")
    for name, seconds in found.worker_seconds.items():
        if seconds > 0:
            spent.add_row(_TIMES[name], percent(seconds / sum(found.worker_seconds.values())))
    types = titled_table("", "type of task", "tasks", "time", "a task", *(["should last"] if advises else []))
    for each in found.types[:_MOST_TYPES]:
        name = each.name if len(each.name) <= _MOST_LETTERS else "…" + each.name[1 - _MOST_LETTERS :]
        factor = "as the library chooses" if each.factor is None else f"{digits(each.factor, 2)} x as long"
        cells = (str(each.tasks), percent(each.share), duration(each.mean), *([factor] if advises else []))
        types.add_row(Text(name), *cells)
    advice = f" It should last {duration(found.grain_seconds)} (by: {found.grain_source})." if advises else ""
    lines = [f"A task costs {duration(found.cost_seconds)} here.{advice}"]
    if len(found.types) > _MOST_TYPES:
        lines.append(f"{len(found.types) - _MOST_TYPES} more types have less time.")
    if found.lost_events:
        lines.append(
            f"{found.lost_events} events were lost: all this is of the time after them (TEFF_TRACE_EVENTS sets how "
            "many a worker keeps)."
        )
    return Group(Text(f"{title}: {many}", "bold"), phase, spent, Text(), types, *(Text(line, "dim") for line in lines))


def search(starts: Collection[int], seconds_of: Callable[[int], float]) -> dict[int, float]:
    """The times of `starts`, then of half and twice the quickest (one task is the least), until it lies between two."""
    tried: dict[int, float] = {}
    missing = starts
    while missing:
        tried |= {tasks: seconds_of(tasks) for tasks in missing}
        best = min(tried, key=lambda each: tried[each])
        missing = {max(1, best // 2), 2 * best} - tried.keys()
    return tried


def setting_of(line: str) -> int:
    """Into how many tasks the run of a record has cut a loop. TeffError if its app has no such setting."""
    record = object_of(line)
    parameters = record.get("parameters", {})
    app, way = parameters.get("app"), record.get("way")
    by_trace = "trace it by teff run --trace, and explain the trace"
    if (app, way) == ("sssp", "tasks"):  # its tasks have as many vertices as a round is worth
        way_out = f"say --systems teff/graph, or {by_trace}"
        raise InputError(f"{app}: its tasks with priorities do not read -tasks; {way_out}")
    if "tasks" not in parameters or way == "loops":
        raise InputError(f"{app}: -tasks does not cut its loops; {by_trace}")
    return int(parameters["tasks"])
