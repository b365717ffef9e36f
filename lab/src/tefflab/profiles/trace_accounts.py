"""The states, sites and messages of each rank, from the trace of a program with libteff (`TEFF_TRACE`).

A trace becomes stretches of each thread: the body that it ran, or what it did besides. A worker's time belongs to the
innermost slice of its track. If a worker is idle, the other workers' slices say why. The communicators themselves count
messages, even if the trace has lost events.
"""

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import zip_longest
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from rich.table import Table

from tefflab.errors import InputError
from tefflab.host.terminal import titled_table
from tefflab.output.quantities import digits, rate
from tefflab.profiles.states import DISPLACED, HANDLER, Process, Site, bin_of
from tefflab.profiles.symbols import lambdas_in

Span = tuple[float, float]  # began, ended
Slice = tuple[float, float, str, str]  # began, ended, category, name

_REQUEST = "request"  # the category of a message, or of a sum over ranks, that a task has begun
_LOOP = "loop"  # the category of a loop that the library cuts into chunks
_OWN = 0.9  # share of a core: other programs have a part of it if the thread has less
_BODIES = ("task", _LOOP, HANDLER)  # categories of slices that are the program's own work
RUNTIME = "libteff"
PATHS = {"own": "to itself", "near": "by shared memory", "far": "by the network"}
_MAKING, _SENDING = "run", "send"  # categories of slices
_STATES = {
    _MAKING: "creation",
    _SENDING: "message",
    "searching": "dependences",
    "parked": "imbalance",
    "waiting": "dispatch",  # a worker with nothing to take searches
    "": "dispatch",
    DISPLACED: DISPLACED,
}
_IDLE = ("searching", "parked")
_AROUND = ("serial", DISPLACED, "task_not_made", "message")  # reasons why a worker is idle; the first one counts
_PAUSE = 1e-3  # seconds: without any body for so long, the program does something else
_DISTURBED = 10  # usual lengths: a stretch so long contains a pause if other programs use the core
_LAMBDA = re.compile(r"\(lambda at (?:.*/)?([^/]+:\d+):\d+\)")
_SENT = dict.fromkeys(("sent", "bytes", "packets", "large", "large_bytes"), 0)
_NO_MESSAGES = {"sent": dict.fromkeys(PATHS, _SENT), "handled": 0, "waits": 0}  # which are for room
_MOST_COLUMNS = 8  # of ranks: of more, the table has the sum only


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
        return self.category in _BODIES

    @property
    def seconds(self) -> float:
        return self.ended - self.began

    @property
    def span(self) -> Span:
        return self.began, self.ended


@dataclass
class Traced:
    """The events of a process, sorted. Times are in seconds, and threads go by their `tid`."""

    rank: str = ""  # `rank 3`; empty without ranks
    slices: defaultdict[int, list[Slice]] = field(default_factory=lambda: defaultdict(list))
    incomplete: set[int] = field(default_factory=set)  # threads of which events were lost
    shared: set[int] = field(default_factory=set)  # threads of whose core other programs had a part for a while
    requests: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    messages: list[Mapping[str, Any]] = field(default_factory=list)  # counts, of each communicator
    began: float = 0.0  # its runtime, since 1970
    writing: float = 0.0  # its events, when the runtime had ended

    @property
    def under_way(self) -> list[Span]:
        """When each request was."""
        return [(min(times), max(times)) for times in self.requests.values()]


def read_processes(events: Iterable[Mapping[str, Any]]) -> dict[int, Traced]:
    """By `pid`."""
    found: defaultdict[int, Traced] = defaultdict(Traced)
    lambdas: dict[tuple[int, int], str | None] = {}
    for event in events:
        process, thread = found[event["pid"]], event.get("tid", 0)
        match event["ph"], event.get("name"):
            case "X", str(name):
                began = 1e-6 * event["ts"]
                ended = began + 1e-6 * event["dur"]
                name = lambdas.get((event["pid"], event.get("closure", 0))) or _short(name)
                process.slices[thread].append((began, ended, event.get("cat", ""), name))
            case (("b" | "e"), _) if event["cat"] == _REQUEST:
                process.requests[event["id"]].append(1e-6 * event["ts"])
            case "C", _ if event.get("cat") == "capacity" and event["args"]["capacity"] < _OWN:
                process.shared.add(thread)
            case "M", "thread_name":
                process.slices[thread] += []  # also one without a slice
            case "M", "closure":
                told = event["args"]
                lambdas[event["pid"], told["closure"]] = lambdas_in(told["module"]).get(told["offset"])
            case "M", "lost_events":
                process.incomplete.add(thread)
            case "M", "rank":
                process.rank = f"rank {event['args']['rank']}"
            case "M", "messages":
                process.messages.append(event["args"])
            case "M", "written":
                process.began, process.writing = (1e-9 * event["args"][time] for time in ("began_ns", "writing_ns"))
    return {pid: found[pid] for pid in sorted(found)}


@cache
def _short(name: str) -> str:
    """The line of a lambda that has no name, if the compiler told it: Clang does."""
    line = _LAMBDA.fullmatch(name)
    return line[1] if line else name


class Covered:
    """The time that intervals cover together, as `parts` that do not touch each other."""

    def __init__(self, intervals: Iterable[Span]) -> None:
        self.parts: list[Span] = []
        for began, ended in sorted(intervals):
            if self.parts and began <= self.parts[-1][1]:
                began, ended = self.parts[-1][0], max(self.parts.pop()[1], ended)
            self.parts.append((began, ended))
        self._ends = [end for part in self.parts for end in part]
        self._covered = np.cumsum([length for began, ended in self.parts for length in (0.0, ended - began)])

    def within(self, spans: Sequence[Span]) -> list[float]:
        """How much of each is covered [s]."""
        if not self.parts or not spans:
            return [0.0] * len(spans)
        until = np.interp(spans, self._ends, self._covered)
        return [float(ended - began) for began, ended in until]

    def gaps(self, began: float, ended: float) -> Iterator[Span]:
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


_Tracks = Sequence[Sequence[Stretch]]


def ranks_of(traces: Iterable[Mapping[str, Any]]) -> list[Process]:
    """The ranks of a job in their order, or processes without ranks: traces of one rank are added up."""
    ranks: dict[int, list[Process]] = {}
    for trace in traces:
        for pid, process in _processes(trace).items():
            ranks.setdefault(pid, []).append(process)
    return [_added(ranks[pid]) for pid in sorted(ranks)]


def _processes(trace: Mapping[str, Any]) -> dict[int, Process]:
    """By number. KeyError and the like if it is no trace."""
    lost = int(trace.get("otherData", {}).get("lost_events", 0))
    remark = (
        f"{lost} events were lost: all times are those after them (TEFF_TRACE_EVENTS sets how many a worker keeps); "
        "messages are counted all the same"
    )
    traced = read_processes(trace["traceEvents"])
    # A worker keeps the slices that ended last. So its track is complete from the first end on.
    incomplete = [each.slices[thread] for each in traced.values() for thread in each.incomplete & each.slices.keys()]
    complete = max((min(ended for _, ended, *_ in own) for own in incomplete if own), default=-math.inf)
    tracks = {pid: _tracks(each, complete) for pid, each in traced.items()}
    serial, stopped = _without_bodies(traced.values(), list(tracks.values()))
    remarks = (remark,) if lost else ()
    return {pid: _process(each, tracks[pid], serial, stopped, remarks) for pid, each in traced.items()}


def read_whole_trace(file: Path) -> list[Process]:
    """InputError if the file is no trace, or has no task."""
    way_out = "a program of libteff's writes one if TEFF_TRACE names the file"
    try:
        found = list(_processes(json.loads(file.read_text(encoding="utf-8"))).values())
    except OSError as failure:
        raise InputError(f"{file}: no trace can be read: {failure.strerror}; {way_out}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InputError(f"{file}: it is no trace in the Trace Event Format; {way_out}") from None
    if not any(each.sites for each in found):
        raise InputError(f"{file}: the trace has no task: trace a run that makes tasks")
    return found


def _added(parts: Sequence[Process]) -> Process:
    return replace(
        parts[0],
        threads=tuple(
            sum(map(Counter, same), Counter[str]()) for same in zip_longest(*(each.threads for each in parts))
        ),
        elapsed=sum(each.elapsed for each in parts),
        began=min(each.began for each in parts),
        writing=sum(each.writing for each in parts),
        sites=tuple(site for each in parts for site in each.sites),
        messages=_all([each.messages for each in parts]),
        remarks=tuple(dict.fromkeys(remark for each in parts for remark in each.remarks)),
    )


def _tracks(process: Traced, complete: float) -> _Tracks:
    """Of each thread, with the pauses in which another program had its core."""
    ends = [end for own in process.slices.values() for began, ended, *_ in own for end in (began, ended)] or [0.0]
    first, last = max(complete, min(ends)), max(ends)
    tracks = {thread: stretches(own, first, last) for thread, own in sorted(process.slices.items())}
    lengths = defaultdict[tuple[str, str], list[float]](list)
    for each in (one for own in tracks.values() for one in own if one.category not in _IDLE):
        lengths[each.name, each.category].append(each.seconds)
    usual = {alike: median(some) for alike, some in lengths.items()}
    return [
        [part for each in own for part in (_calm(each, usual) if thread in process.shared else [each])]
        for thread, own in tracks.items()
    ]


def _calm(each: Stretch, usual: Mapping[tuple[str, str], float]) -> Iterator[Stretch]:
    """A stretch that contains a pause becomes a usual one and the pause, wherever in it that was."""
    length = usual.get((each.name, each.category), math.inf)
    if each.seconds < max(_PAUSE, _DISTURBED * length):
        yield each
    else:
        yield replace(each, ended=each.began + length)
        yield Stretch(each.began + length, each.ended, DISPLACED, "", is_first=True)


def _without_bodies(processes: Iterable[Traced], tracks: Sequence[_Tracks]) -> tuple[list[Span], list[Span]]:
    """The long times in which no process ran a body or had a message under way. In the first ones the program did
    something else. In the second ones other programs had the cores of the bodies."""
    every = [each for own in tracks for track in own for each in track]
    first, last = min((each.began for each in every), default=0.0), max((each.ended for each in every), default=0.0)
    requests = [span for each in processes for span in each.under_way]
    busy = [each.span for each in every if each.is_body or each.category == _SENDING]
    gaps = Covered([*busy, *requests]).gaps(first, last)
    pauses = Covered(each.span for each in every if each.category == DISPLACED)
    serial, stopped = list[Span](), list[Span]()
    for gap in (each for each in gaps if each[1] - each[0] >= _PAUSE):
        (stopped if 2 * pauses.within([gap])[0] > gap[1] - gap[0] else serial).append(gap)
    return serial, stopped


def _process(
    traced: Traced, tracks: _Tracks, serial: list[Span], stopped: list[Span], remarks: tuple[str, ...]
) -> Process:
    every = [each for own in tracks for each in own]
    making = [each.span for each in every if each.category == _MAKING]
    around = list(map(Covered, (serial, [*serial, *stopped], [*serial, *stopped, *making])))
    threads = tuple(_states(own, [*around, Covered([*serial, *stopped, *making, *traced.under_way])]) for own in tracks)
    seconds = defaultdict[tuple[str, str], float](float)
    lengths = defaultdict[tuple[str, str], Counter[int]](Counter)
    loops = {each.name for each in every if each.category == _LOOP}  # on other workers their chunks are tasks
    for each in (one for one in every if one.is_body):
        bodies = each.name, _LOOP if each.name in loops else each.category
        seconds[bodies] += each.seconds
        if each.is_first:
            lengths[bodies][bin_of(each.seconds)] += 1
    sites = tuple(Site(*bodies, RUNTIME, own.total(), seconds[bodies], own) for bodies, own in lengths.items())
    elapsed = max((own[-1].ended - own[0].began for own in tracks if own), default=0.0)
    name = traced.rank or "process"
    if not (making or traced.rank) and any(site.kind == "task" for site in sites):
        remarks += ("what makes its tasks is not in the trace: wrap that part in rt.run([&] { ... })",)
    messages = [{"sent": {path: told[path] for path in PATHS}, **told} for told in traced.messages]
    return Process(
        name,
        threads,
        elapsed,
        sites,
        messages=_all(messages),
        remarks=remarks,
        began=traced.began,
        writing=traced.writing,
    )


def _states(own: Sequence[Stretch], around: Sequence[Covered]) -> Mapping[str, float]:
    """The seconds of a thread. `around`: when each of _AROUND holds, or one before it."""
    found = Counter[str]()
    spans = [each.span for each in own]
    for each, *beside in zip(own, *(which.within(spans) for which in around), strict=True):
        if each.is_body:
            found["body"] += each.seconds
            continue
        until = beside if each.category in _IDLE else beside[:2]
        for state, time, before in zip(_AROUND, until, [0.0, *until], strict=False):
            found[state] += max(0.0, time - before)
        state = _STATES.get(each.category, "serial")
        if not each.category and each in (own[0], own[-1]):
            state = "serial"
        found[state] += max(0.0, each.seconds - until[-1])  # not less by rounding
    return found


def _all(ranks: Sequence[Any], none: Any = _NO_MESSAGES) -> Any:
    """Their sum, number by number, of those that `none` has."""
    if isinstance(none, Mapping):
        return {name: _all([each[name] for each in ranks], own) for name, own in none.items()}
    return sum(ranks)


def messages_table(processes: Sequence[Process]) -> Table | None:
    """The messages of each rank, and of all ranks together; None if no rank has sent any."""
    ranks = [each for each in processes if each.messages]
    whole = _all([each.messages for each in ranks])
    if not whole["handled"] and not any(each["sent"] for each in whole["sent"].values()):
        return None
    columns = [whole, *(each.messages for each in ranks)] if 1 < len(ranks) <= _MOST_COLUMNS else [whole]
    names = ["all", *(each.name for each in ranks)] if len(columns) > 1 else [""]
    table = titled_table("", "messages", *names)
    table.add_row("handled", *(str(rank["handled"]) for rank in columns))
    table.add_row("sent", *(str(sum(rank["sent"][path]["sent"] for path in PATHS)) for rank in columns))
    for path, title in PATHS.items():
        sent = [rank["sent"][path] for rank in columns]
        if sent[0]["sent"]:
            table.add_row(f"  {title}", *(str(each["sent"]) for each in sent))
            table.add_row("    bytes", *(rate(each["bytes"], "B") for each in sent))
            packets = (digits(each["sent"] / each["packets"]) if each["packets"] else "" for each in sent)
            table.add_row("    a packet", *packets)
        if sent[0]["sent"] and sent[0]["large"]:
            table.add_row("    large", *(str(each["large"]) for each in sent))
            table.add_row("      bytes", *(rate(each["large_bytes"], "B") for each in sent))
    table.add_row("waits for room", *(str(rank["waits"]) for rank in columns))
    return table
