"""Where worker time goes in a program of libteff's users, a job of several ranks or one process, and what messages it
sends.

The program runs under `TEFF_TRACE` and leaves a trace of all ranks. A worker's time belongs to the innermost slice of
its track. The communicators themselves count messages, even if the trace has lost events.
"""

import json
import os
import subprocess
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tefflab.errors import InputError, TeffError

NOTHING = "nothing recorded"
_OF_CATEGORY = {  # the reader's word for a slice of the trace
    "task": "tasks",
    "loop": "loops",
    "handler": "handlers",
    "run": "the rest of run()",
    "send": "sending",
    "waiting": "waiting",
    "searching": "searching",
    "parked": "asleep",
}
SPENT = (*_OF_CATEGORY.values(), NOTHING)
PATHS = ("own", "near", "far")
_SENT = ("sent", "bytes", "packets", "large", "large_bytes")


@dataclass
class RankProfile:
    """A rank, or a process without ranks: seconds of its workers by activity, and its messages."""

    name: str
    workers: int = 0
    spent: Counter[str] = field(default_factory=Counter)  # seconds
    sent: dict[str, Counter[str]] = field(default_factory=lambda: {path: Counter() for path in PATHS})
    handled: int = 0
    waits: int = 0  # for room

    @property
    def seconds(self) -> float:
        """Of all of its workers."""
        return sum(self.spent.values())

    def all_sent(self, what: str) -> int:
        return sum(self.sent[path][what] for path in PATHS)

    def add(self, other: "RankProfile") -> None:
        self.workers += other.workers
        self.spent.update(other.spent)
        for path in PATHS:
            self.sent[path].update(other.sent[path])
        self.handled += other.handled
        self.waits += other.waits

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "workers": self.workers,
            "worker_seconds": {what: self.spent[what] for what in SPENT},
            "sent": {path: {what: self.sent[path][what] for what in _SENT} for path in PATHS},
            "handled": self.handled,
            "waits": self.waits,
        }


@dataclass(frozen=True, slots=True)
class JobProfile:
    """All ranks in their order, the gaps of the trace, and the program's exit status."""

    command: tuple[str, ...]
    ranks: tuple[RankProfile, ...]
    lost_events: int
    exit_status: int

    def whole(self) -> RankProfile:
        total = RankProfile("all")
        for each in self.ranks:
            total.add(each)
        return total

    def to_json(self) -> dict[str, Any]:
        return {
            "command": list(self.command),
            "ranks": [each.to_json() for each in self.ranks],
            "lost_events": self.lost_events,
            "exit_status": self.exit_status,
        }


def profile_command(command: Sequence[str]) -> JobProfile:
    """Runs a program, whose output goes to stderr. TeffError where it leaves no trace."""
    with tempfile.TemporaryDirectory(prefix="teff-profile-") as folder:
        environment = {**os.environ, "TEFF_TRACE": str(Path(folder) / "trace.json")}
        try:
            done = subprocess.run(command, env=environment, stdout=2, check=False)
        except OSError as failure:
            raise InputError(f"{command[0]} can't be started: {failure.strerror}") from None
        return read_traces(command, sorted(Path(folder).iterdir()), done.returncode)


def read_traces(command: Sequence[str], files: Iterable[Path], exit_status: int) -> JobProfile:
    """The profile of a job from its runtimes' traces: traces of one rank are added up."""
    ranks: dict[int, RankProfile] = {}
    lost = 0
    for file in files:
        try:
            trace = json.loads(file.read_text(encoding="utf-8"))
        except json.JSONDecodeError:  # of a runtime that has not ended
            continue
        lost += trace["otherData"]["lost_events"]
        for process, profile in _ranks_of(trace["traceEvents"]).items():
            if process in ranks:
                ranks[process].add(profile)
            else:
                ranks[process] = profile
    if not ranks:
        ended = f" (it ended with status {exit_status})" if exit_status else ""
        raise TeffError(f"{command[0]} has left no trace: a runtime of libteff writes it when it ends{ended}")
    return JobProfile(tuple(command), tuple(ranks[each] for each in sorted(ranks)), lost, exit_status)


def _ranks_of(events: Iterable[Mapping[str, Any]]) -> dict[int, RankProfile]:
    ranks: defaultdict[int, RankProfile] = defaultdict(lambda: RankProfile("process"))
    slices: defaultdict[tuple[int, int], list[tuple[float, float, str]]] = defaultdict(list)
    for event in events:
        process = event["pid"]
        if event["ph"] == "X":
            slices[process, event["tid"]].append((event["ts"], event["dur"], event["cat"]))
        elif event["ph"] != "M":
            continue
        elif event["name"] == "thread_name":
            ranks[process].workers += 1
            slices.setdefault((process, event["tid"]), [])
        elif event["name"] == "rank":
            ranks[process].name = f"rank {event['args']['rank']}"
        elif event["name"] == "messages":
            _count_messages(ranks[process], event["args"])
    ends: dict[int, tuple[float, float]] = {}
    for (process, _), track in slices.items():
        for began, lasted, _ in track:
            first, last = ends.get(process, (began, began))
            ends[process] = min(first, began), max(last, began + lasted)
    for (process, _), track in slices.items():
        first, last = ends.get(process, (0.0, 0.0))
        spent = exclusive_times(track)
        spent[NOTHING] = max(0.0, last - first - sum(spent.values()))
        ranks[process].spent.update({what: 1e-6 * time for what, time in spent.items()})
    return dict(ranks)


def exclusive_times(track: Iterable[tuple[float, float, str]]) -> dict[str, float]:
    """Of slices (began, lasted, category), which nest: by kind the time in which no other one lies within."""
    spent: dict[str, float] = defaultdict(float)
    around: list[tuple[float, str]] = []  # (ends, kind), the innermost last
    for began, lasted, category in sorted(track, key=lambda each: (each[0], -each[1])):
        kind = _OF_CATEGORY.get(category, NOTHING)
        while around and around[-1][0] <= began:
            around.pop()
        spent[kind] += lasted
        if around:
            spent[around[-1][1]] -= lasted
        around.append((began + lasted, kind))
    return spent


def _count_messages(to: RankProfile, told: Mapping[str, Any]) -> None:
    for path in PATHS:
        to.sent[path].update({what: told[path][what] for what in _SENT})
    to.handled += told["handled"]
    to.waits += told["waits"]
