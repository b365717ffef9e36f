"""The model of a program's run: each thread is in one state at each moment, and a body belongs to a site.

Collectors differ (files of accounts, traces of libteff), and all tell this. Report, advice and picture know only this.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from typing import Any

STATES = {  # as the report calls them, in its order
    "body": "tasks, loops, the program's own code",
    "counted": "between bodies too short for a clock",
    "creation": "making tasks",
    "dispatch": "taking the next task or chunk",
    "task_not_made": "waiting: the next task was not made yet",
    "task_not_begun": "waiting, though a task was there",
    "dependences": "waiting for tasks of others",
    "imbalance": "waiting: nothing left to do",
    "message": "messages",
    "lock": "waiting for a lock",
    "wait": "waiting: for another thread or the system",
    "runtime": "beginning and ending regions, barriers",
    "start": "starting threads, or MPI",
    "displaced": "without a core",
    "serial": "outside of parallel regions",
}
OUTSIDE = ("serial", "absent")
DISPLACED = "displaced"  # within regions, in another program's time
DELAYED = "delayed"  # waits for a thread that is displaced
_WAITS_FOR_THREADS = ("task_not_made", "task_not_begun", "dependences", "imbalance", "message", "lock")
OF_RANKS = "between_waits"
MANAGED = {"chunk": "chunks", "section": "sections", "single": "singles", OF_RANKS: "parts between waits"}
MANAGED |= dict.fromkeys(("task", "dependent", "taskloop"), "tasks")
SHARED = {"share": "shares", "region": "parts of regions"}
HANDLER = "handler"
SAMPLE = "sample"  # time that has no number of bodies
WAITS = {"point_to_point": "messages", "collective": "collectives"}
KINDS = {**MANAGED, **SHARED, "loop": "loops", HANDLER: "handlers", SAMPLE: "samples", "others": "further bodies"}
_BY_ONE = 0.75  # of the time in creation: then one thread makes the tasks of all
_PER_OCTAVE = 4  # bins of lengths, which are powers of two of a nanosecond


def bin_of(seconds: float) -> int:
    return math.floor(_PER_OCTAVE * math.log2(max(seconds, 1e-10) / 1e-9))


def length_of(place: float) -> float:
    """The length at which the bin `place` begins, in seconds."""
    return float(1e-9 * 2 ** (place / _PER_OCTAVE))


@dataclass(frozen=True, eq=False)
class Site:
    """The bodies of one kind of one line."""

    place: str
    kind: str
    runtime: str
    count: int
    seconds: float
    lengths: Mapping[int, int]  # how many, by bin

    @property
    def title(self) -> str:
        """Its bodies, as the report calls them."""
        return KINDS.get(self.kind, self.kind)

    def quantile(self, share: float) -> float:
        """Of the bodies' lengths; 0 without any."""
        total = sum(self.lengths.values())
        ordered = sorted(self.lengths.items())
        for (place, count), until in zip(ordered, accumulate(count for _, count in ordered), strict=True):
            if until >= share * total:
                return length_of(place + 1 - (until - share * total) / count)
        return 0.0

    def to_json(self) -> dict[str, Any]:
        ends = {name: self.quantile(share) for name, share in (("median", 0.5), ("low", 0.1), ("high", 0.9))}
        histogram = [[length_of(place), count] for place, count in sorted(self.lengths.items())]
        told = {"site": self.place, "kind": self.kind, "runtime": self.runtime, "count": self.count}
        return told | {"seconds": self.seconds, "mean": self.seconds / max(1, self.count), **ends, "lengths": histogram}


@dataclass(frozen=True)
class Process:
    """`threads`: of each its seconds by state. The first one was observed for `elapsed` seconds. It had no core for
    `displaced` seconds outside of regions. `began` is when its first region did, in seconds since 1970."""

    name: str
    threads: tuple[Mapping[str, float], ...]
    elapsed: float
    sites: tuple[Site, ...]
    regions: int = 1
    messages: Mapping[str, Any] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()  # what is wrong with its accounts
    waits: tuple[Site, ...] = ()  # for messages; the longest ones come first
    began: float = 0.0
    writing: float = 0.0  # seconds in which it wrote its trace, at the end
    displaced: float = 0.0
    cores: float = math.inf  # that it may use

    @property
    def in_regions(self) -> float:
        """How long it was in parallel regions."""
        return max(map(within, self.threads), default=0.0)


@dataclass(frozen=True)
class Observed:
    """A run of all processes of a program. Other programs took `others` of the cores' seconds meanwhile."""

    processes: tuple[Process, ...]
    others: float = math.inf

    @cached_property
    def seconds(self) -> defaultdict[str, float]:
        """Of all threads, by state. Waits for displaced threads are displaced, too. A rank does not know when other
        ranks were displaced, so waits for messages shrink in proportion. Threads that share a core with each other
        are displaced without loss, and waits for them are waits."""
        found = defaultdict[str, float](float)
        for state, time in (each for thread in self.threads for each in thread.items()):
            found[state] += time
        delayed, others = found.pop(DELAYED, 0.0), 1 - self.crowded / self._displaced if self._displaced else 0.0
        found["imbalance"] += delayed * (1 - others)
        found[DISPLACED] = others * (self._displaced + delayed)
        idle = sum(found[state] for state in (*OUTSIDE, DISPLACED, *_WAITS_FOR_THREADS))
        ran = sum(found.values()) - idle
        if found[DISPLACED]:
            part = found["message"] * found[DISPLACED] / (ran + found[DISPLACED])
            found["message"] -= part
            found[DISPLACED] += part
        return found

    @cached_property
    def sites(self) -> tuple[Site, ...]:
        """The sites of all processes, each line and kind once, the longest first."""
        together: dict[tuple[str, str, str], list[Site]] = {}
        for each in (site for process in self.processes for site in process.sites if site.count):
            together.setdefault((each.place, each.kind, each.runtime), []).append(each)
        return tuple(sorted(map(_joined, together.values()), key=lambda site: -site.seconds))

    @property
    def is_sampled(self) -> bool:
        """Whether its sites have shares of time, and neither numbers nor lengths of bodies."""
        return any(site.kind == SAMPLE for site in self.sites)

    @property
    def in_regions(self) -> float:
        """The seconds of all threads within parallel regions in which no other program had their cores."""
        return sum(time for state, time in self.seconds.items() if state not in (*OUTSIDE, DISPLACED))

    @property
    def displaced(self) -> float:
        """The seconds of all threads within parallel regions in which other programs had their cores."""
        return self.seconds[DISPLACED]

    @property
    def displaced_outside(self) -> float:
        """The seconds of all processes outside of parallel regions in which other programs had their cores."""
        within_regions = self._displaced - self.crowded
        return min(sum(each.displaced for each in self.processes), max(0.0, self.others - within_regions))

    @cached_property
    def crowded(self) -> float:
        """The seconds of all threads within parallel regions in which threads of the program itself had their cores.
        Traces do not know how many cores there are."""
        knows_cores = any(math.isfinite(each.cores) for each in self.processes)
        fits = knows_cores and not self.has_more_threads_than_cores
        return 0.0 if fits else max(0.0, self._displaced - self.others)

    @cached_property
    def has_more_threads_than_cores(self) -> bool:
        return self._at_a_time(lambda each: len(each.threads)) > max(each.cores for each in self.processes)

    @property
    def _displaced(self) -> float:
        """The seconds of all threads within parallel regions in which these themselves had no core."""
        return sum(thread.get(DISPLACED, 0.0) for thread in self.threads)

    @property
    def parallel_seconds(self) -> float:
        """How long the program is in parallel regions: of processes that follow one another, all are, and of others,
        the one that is there longest."""
        until: list[tuple[float, float]] = [(0.0, 0.0)]  # when a process's regions end, and the time up to then
        for each in sorted(self.processes, key=lambda process: process.began):
            before = max(total for end, total in until if end <= each.began)
            until.append((each.began + each.in_regions, before + each.in_regions))
        return max(total for _, total in until)

    @property
    def width(self) -> float:
        """Threads in a region, on average, of all processes together."""
        return (self.in_regions + self.displaced) / self.parallel_seconds if self.parallel_seconds else 0.0

    @cached_property
    def cores(self) -> float:
        """At most so many threads run at a time, if the processes have different cores."""
        return self._at_a_time(lambda each: min(len(each.threads), each.cores))

    def _at_a_time(self, number: Callable[[Process], float]) -> float:
        """The greatest sum of this number over processes that are in their regions when one of them begins."""
        spans = [(each.began, each.began + each.in_regions, number(each)) for each in self.processes]
        return max(sum(many for began, ended, many in spans if began <= new <= ended) for new, *_ in spans)

    @property
    def regions(self) -> int:
        return sum(each.regions for each in self.processes)

    def shape(self, site: Site) -> str:
        """Its kind, by which bodies of other programs are like its bodies. Tasks that many threads make are a
        recursion. A thread's part of a region is one, in a static loop or not."""
        if site.kind in SHARED:
            return "region"
        making = [thread.get("creation", 0.0) for thread in self.threads]
        return "recursion" if site.kind == "task" and max(making) < _BY_ONE * sum(making) else site.kind

    @property
    def threads(self) -> list[Mapping[str, float]]:
        return [thread for process in self.processes for thread in process.threads]

    @property
    def workers(self) -> int:
        """The threads of the process with the most."""
        return max(len(each.threads) for each in self.processes)


def within(thread: Mapping[str, float]) -> float:
    """A thread's seconds in parallel regions."""
    return sum(time for state, time in thread.items() if state not in OUTSIDE)


def _joined(sites: Sequence[Site]) -> Site:
    lengths: Counter[int] = sum((Counter(each.lengths) for each in sites), Counter())
    count, seconds = sum(each.count for each in sites), sum(each.seconds for each in sites)
    return replace(sites[0], count=count, seconds=seconds, lengths=lengths)
