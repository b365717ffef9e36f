"""A trace of libteff's (`TEFF_TRACE`) as stretches of each thread: the body that it ran, or what it did besides."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tefflab.profiles.states import HANDLER

Interval = tuple[float, float]  # began, ended
Slice = tuple[float, float, str, str]  # began, ended, category, name

REQUEST = "request"  # the category of a message, or of a sum over ranks, that a task has begun
LOOP = "loop"  # the category of a loop that the library cuts into chunks
_OWN = 0.9  # share of a core: other programs have a part of it if the thread has less
BODIES = ("task", LOOP, HANDLER)  # categories of slices that are the program's own work


@dataclass(frozen=True, slots=True)
class Stretch:
    """From `began` to `ended` [s] the worker's innermost slice was this one; without a category there was none."""

    began: float
    ended: float
    category: str
    name: str
    is_first: bool  # of its slice, which goes on after a slice within it

    @property
    def is_body(self) -> bool:
        return self.category in BODIES

    @property
    def seconds(self) -> float:
        return self.ended - self.began

    @property
    def span(self) -> Interval:
        return self.began, self.ended


@dataclass
class Traced:
    """What the events of a process say. Times are in seconds, and threads go by their `tid`."""

    rank: str = ""  # `rank 3`; empty without ranks
    slices: defaultdict[int, list[Slice]] = field(default_factory=lambda: defaultdict(list))
    incomplete: set[int] = field(default_factory=set)  # threads of which events were lost
    shared: set[int] = field(default_factory=set)  # threads of whose core other programs had a part for a while
    requests: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    messages: list[Mapping[str, Any]] = field(default_factory=list)  # counts, of each communicator

    @property
    def under_way(self) -> list[Interval]:
        """When each request was."""
        return [(min(times), max(times)) for times in self.requests.values()]


def read_processes(events: Iterable[Mapping[str, Any]]) -> dict[int, Traced]:
    """By `pid`."""
    found: defaultdict[int, Traced] = defaultdict(Traced)
    for event in events:
        process, thread = found[event["pid"]], event.get("tid", 0)
        match event["ph"], event.get("name"):
            case "X", str(name):
                began = 1e-6 * event["ts"]
                ended = began + 1e-6 * event["dur"]
                process.slices[thread].append((began, ended, event.get("cat", ""), name))
            case (("b" | "e"), _) if event["cat"] == REQUEST:
                process.requests[event["id"]].append(1e-6 * event["ts"])
            case "C", _ if event.get("cat") == "capacity" and event["args"]["capacity"] < _OWN:
                process.shared.add(thread)
            case "M", "thread_name":
                process.slices[thread] += []  # also one without a slice
            case "M", "lost_events":
                process.incomplete.add(thread)
            case "M", "rank":
                process.rank = f"rank {event['args']['rank']}"
            case "M", "messages":
                process.messages.append(event["args"])
    return {pid: found[pid] for pid in sorted(found)}


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

    def within(self, spans: Sequence[Interval]) -> list[float]:
        """How much of each is covered [s]."""
        if not self.parts or not spans:
            return [0.0] * len(spans)
        until = np.interp(spans, self._ends, self._covered)
        return [float(ended - began) for began, ended in until]

    def gaps(self, began: float, ended: float) -> Iterator[Interval]:
        """Between the parts, within [began, ended]."""
        ends = [began, *(min(max(began, end), ended) for end in self._ends), ended]
        return zip(ends[::2], ends[1::2], strict=True)


def stretches(slices: Iterable[Slice], first: float, last: float) -> list[Stretch]:
    """Slices nest; the innermost one counts. Stretches are cut to [first, last]."""
    found: list[Stretch] = []
    around, is_new = [(first, math.inf, "", "")], [False]  # the innermost slice last; whether it has no stretch yet
    at = first
    for each in (*sorted(slices, key=lambda each: (each[0], -each[1])), (last, last, "", "")):
        while True:
            _, until, category, name = around[-1]
            if (time := min(until, each[0], last)) > at:
                found.append(Stretch(at, time, category, name, is_new[-1]))
                is_new[-1], at = False, time
            if until > each[0]:
                break
            del around[-1], is_new[-1]
        around.append(each)
        is_new.append(each[0] >= first)
    return found
