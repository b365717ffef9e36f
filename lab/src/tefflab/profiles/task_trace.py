"""A program's trace (`TEFF_TRACE`) as stretches of each worker: the task that it ran, or what it did between tasks."""

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tefflab.errors import InputError, TeffError

IDLE = ("waiting", "searching", "parked", "")  # of a worker without a task
REQUEST = "request"  # the category of a message, or of a sum over ranks, that a task has begun
LOOP = "loop"  # the category of a loop that the library cuts into chunks
TASKS = ("task", LOOP)  # categories of slices that are the program's own work


@dataclass(frozen=True, slots=True)
class Stretch:
    """From `began` to `ended` (seconds) the worker's innermost slice was this one. Without a category, the trace has no
    slice there."""

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
    """A worker's stretches, one after the other without a gap; or the stretches in which messages that tasks of a
    process have begun were under way."""

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
        under_way = {each.process: each.stretches for each in self.communication}
        waited = sum(
            _overlap([each for each in track.stretches if each.category in IDLE], under_way.get(track.process, ()))
            for track in self.tracks
        )
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


def task_trace(events: Iterable[Mapping[str, Any]], lost: int = 0) -> TaskTrace:
    """TeffError if no event is a task."""
    slices: defaultdict[tuple[int, int], list[tuple[float, float, str, str]]] = defaultdict(list)
    names: dict[tuple[int, int], str] = {}
    incomplete: set[tuple[int, int]] = set()
    ranks: dict[int, str] = {}
    requests: defaultdict[int, defaultdict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for event in events:
        if event["ph"] == "X":
            began = 1e-6 * event["ts"]
            ended = began + 1e-6 * event["dur"]
            slices[event["pid"], event["tid"]].append((began, ended, event.get("cat", ""), event["name"]))
        elif event["ph"] in ("b", "e") and event["cat"] == REQUEST:
            requests[event["pid"]][event["id"]].append(1e-6 * event["ts"])
        elif event["ph"] == "M" and event["name"] == "thread_name":
            names[event["pid"], event["tid"]] = event["args"]["name"]
        elif event["ph"] == "M" and event["name"] == "lost_events":
            incomplete.add((event["pid"], event["tid"]))
        elif event["ph"] == "M" and event["name"] == "rank":
            ranks[event["pid"]] = f"rank {event['args']['rank']}, "
    # A worker keeps the slices that ended last. So its track is complete from the first end on.
    complete = max((min(each[1] for each in slices[key]) for key in incomplete & slices.keys()), default=-math.inf)
    tasks = [each for own in slices.values() for each in own if each[2] in TASKS and each[1] > each[0] >= complete]
    if not tasks:
        raise TeffError("the trace has no task: trace a run that makes tasks")
    began, ended = min(each[0] for each in tasks), max(each[1] for each in tasks)
    tracks = tuple(
        Track(
            key[0],
            ranks.get(key[0], "") + names.get(key, f"thread {key[1]}"),
            _stretches(slices.get(key, []), began, ended),
        )
        for key in sorted(slices.keys() | names.keys())
    )
    communication = tuple(
        Track(process, ranks.get(process, "") + "messages", _under_way(own.values(), began, ended))
        for process, own in sorted(requests.items())
    )
    return TaskTrace(began, ended, tracks, lost, communication)


def _under_way(requests: Iterable[Sequence[float]], first: float, last: float) -> tuple[Stretch, ...]:
    """When at least one request (began, ended) was under way, within [first, last]."""
    found: list[Stretch] = []
    for began, ended in sorted((max(each[0], first), min(each[-1], last)) for each in requests):
        if began >= ended:
            continue
        if found and began <= found[-1].ended:
            began, ended = found[-1].began, max(found.pop().ended, ended)
        found.append(Stretch(began, ended, REQUEST, REQUEST, True))
    return tuple(found)


def _overlap(some: Sequence[Stretch], others: Sequence[Stretch]) -> float:
    """How long [s] stretches of both kinds lasted at once. Stretches of one kind
    stand in order and do not overlap."""
    time, place = 0.0, 0
    for each in some:
        while place < len(others) and others[place].ended <= each.began:
            place += 1
        at = place
        while at < len(others) and others[at].began < each.ended:
            time += min(each.ended, others[at].ended) - max(each.began, others[at].began)
            at += 1
    return time


def _stretches(slices: list[tuple[float, float, str, str]], first: float, last: float) -> tuple[Stretch, ...]:
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
