"""A program's trace (`TEFF_TRACE`) as stretches of each worker: the task that it ran, or what it did between tasks."""

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tefflab.errors import InputError, TeffError

Interval = tuple[float, float]  # began, ended
Slice = tuple[float, float, str, str]  # began, ended, category, name

IDLE = ("waiting", "searching", "parked", "")  # of a worker without a task
REQUEST = "request"  # the category of a message, or of a sum over ranks, that a task has begun
LOOP = "loop"  # the category of a loop that the library cuts into chunks
TASKS = ("task", LOOP)  # categories of slices that are the program's own work


@dataclass(frozen=True, slots=True)
class Stretch:
    """From `began` to `ended` [s] the worker's innermost slice was this one; without a category there was none."""

    began: float
    ended: float
    category: str
    name: str
    is_first: bool  # of its slice, which goes on after a slice within it

    @property
    def is_task(self) -> bool:
        return self.category in TASKS

    @property
    def seconds(self) -> float:
        return self.ended - self.began


@dataclass(frozen=True, slots=True)
class Track:
    """A worker's stretches without a gap; or those in which messages that tasks of a process began were under way."""

    process: int
    name: str
    stretches: tuple[Stretch, ...]


@dataclass(frozen=True, slots=True)
class TaskTrace:
    """The workers from the first task's beginning to the last one's end, without a time of which events were lost."""

    began: float
    ended: float
    tracks: tuple[Track, ...]
    lost_events: int
    communication: tuple[Track, ...] = ()  # of each process whose tasks begin messages

    @property
    def waiting_share(self) -> float:
        """The share of worker time in which a worker was idle while a message of its process was under way."""
        waited = 0.0
        for messages in self.communication:
            under_way = Covered((each.began, each.ended) for each in messages.stretches)
            own = (track.stretches for track in self.tracks if track.process == messages.process)
            waited += sum(under_way.within([each for some in own for each in some if each.category in IDLE]))
        return waited / (len(self.tracks) * (self.ended - self.began))


def read_task_trace(file: Path) -> TaskTrace:
    """TeffError if the file is no trace, or has no task."""
    way_out = "a program of libteff's writes one if TEFF_TRACE names the file"
    try:
        trace = json.loads(file.read_text(encoding="utf-8"))
        events, lost = trace["traceEvents"], int(trace.get("otherData", {}).get("lost_events", 0))
        return task_trace(events, lost)
    except OSError as failure:
        raise InputError(f"{file}: no trace can be read: {failure.strerror}; {way_out}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InputError(f"{file}: it is no trace in the Trace Event Format; {way_out}") from None
    except TeffError as failure:
        raise InputError(f"{file}: {failure}") from None


@dataclass
class Process:
    """What the events of a process say. Times are in seconds, and threads go by their `tid`."""

    rank: str = ""  # `rank 3`; empty without ranks
    slices: defaultdict[int, list[Slice]] = field(default_factory=lambda: defaultdict(list))
    names: dict[int, str] = field(default_factory=dict)
    incomplete: set[int] = field(default_factory=set)  # threads of which events were lost
    requests: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    messages: list[Mapping[str, Any]] = field(default_factory=list)  # counts, of each communicator

    @property
    def tracks(self) -> dict[int, list[Slice]]:
        """Of each thread, also of one without a slice."""
        return {thread: self.slices.get(thread, []) for thread in sorted(self.slices.keys() | self.names.keys())}


def read_processes(events: Iterable[Mapping[str, Any]]) -> dict[int, Process]:
    """By `pid`."""
    found: defaultdict[int, Process] = defaultdict(Process)
    for event in events:
        process, thread = found[event["pid"]], event.get("tid", 0)
        match event["ph"], event.get("name"):
            case "X", str(name):
                began = 1e-6 * event["ts"]
                ended = began + 1e-6 * event["dur"]
                process.slices[thread].append((began, ended, event.get("cat", ""), name))
            case (("b" | "e"), _) if event["cat"] == REQUEST:
                process.requests[event["id"]].append(1e-6 * event["ts"])
            case "M", "thread_name":
                process.names[thread] = event["args"]["name"]
            case "M", "lost_events":
                process.incomplete.add(thread)
            case "M", "rank":
                process.rank = f"rank {event['args']['rank']}"
            case "M", "messages":
                process.messages.append(event["args"])
    return {pid: found[pid] for pid in sorted(found)}


def task_trace(events: Iterable[Mapping[str, Any]], lost: int = 0) -> TaskTrace:
    """TeffError if no event is a task."""
    processes = read_processes(events)
    # A worker keeps the slices that ended last. So its track is complete from the first end on.
    incomplete = [each.slices[thread] for each in processes.values() for thread in each.incomplete & each.slices.keys()]
    complete = max((min(ended for _, ended, *_ in own) for own in incomplete), default=-math.inf)
    slices = [one for each in processes.values() for own in each.slices.values() for one in own]
    tasks = [each for each in slices if each[2] in TASKS and each[1] > each[0] >= complete]
    if not tasks:
        raise TeffError("the trace has no task: trace a run that makes tasks")
    began, ended = min(each[0] for each in tasks), max(each[1] for each in tasks)
    tracks, communication = [], []
    for pid, each in processes.items():
        of_rank = f"{each.rank}, " if each.rank else ""
        for thread, own in each.tracks.items():
            name = of_rank + each.names.get(thread, f"thread {thread}")
            tracks.append(Track(pid, name, stretches(own, began, ended)))
        if each.requests:
            clipped = ((max(times[0], began), min(times[-1], ended)) for times in each.requests.values())
            under_way = Covered(part for part in clipped if part[0] < part[1]).parts
            shown = tuple(Stretch(*part, REQUEST, REQUEST, True) for part in under_way)
            communication.append(Track(pid, f"{of_rank}messages", shown))
    return TaskTrace(began, ended, tuple(tracks), lost, tuple(communication))


class Covered:
    """The time that intervals cover together, as `parts` that do not touch each other."""

    def __init__(self, intervals: Iterable[Interval]) -> None:
        self.parts: list[Interval] = []
        for began, ended in sorted(intervals):
            if self.parts and began <= self.parts[-1][1]:
                began, ended = self.parts[-1][0], max(self.parts.pop()[1], ended)
            self.parts.append((began, ended))
        self._ends = [end for part in self.parts for end in part]
        self._covered = np.cumsum([length for began, ended in self.parts for length in (0.0, ended - began)])

    def within(self, some: Sequence[Stretch]) -> list[float]:
        """How much of each is covered [s]."""
        if not self.parts:
            return [0.0] * len(some)
        until = np.interp([(each.began, each.ended) for each in some], self._ends, self._covered)
        return [float(ended - began) for began, ended in until]

    def gaps(self, began: float, ended: float) -> Iterator[Interval]:
        """Between the parts, which are all in [began, ended]."""
        ends = [began, *self._ends, ended]
        return zip(ends[::2], ends[1::2], strict=True)


def stretches(slices: Iterable[Slice], first: float, last: float) -> tuple[Stretch, ...]:
    """Slices nest; the innermost one counts. Stretches are cut to [first, last]."""
    found: list[Stretch] = []
    around: list[tuple[float, str, str, list[bool]]] = []  # (ends, category, name, has begun), the innermost last
    at = first

    def go_to(time: float) -> None:
        nonlocal at
        time = min(time, last)
        if time <= at:
            return
        category, name, begun = around[-1][1:] if around else ("", "", [True])
        found.append(Stretch(at, time, category, name, not begun[0]))
        begun[0] = True
        at = time

    for began, ended, category, name in sorted(slices, key=lambda each: (each[0], -each[1])):
        while around and around[-1][0] <= began:
            go_to(around[-1][0])
            around.pop()
        go_to(began)
        around.append((ended, category, name, [began < first]))
    while around:
        go_to(around[-1][0])
        around.pop()
    go_to(last)
    return tuple(found)
