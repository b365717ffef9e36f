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
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tefflab.errors import InputError, TeffError
from tefflab.profiles.task_trace import Process, read_processes, stretches

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
    spent: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))  # seconds
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
        for what, seconds in other.spent.items():
            self.spent[what] += seconds
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
        for pid, process in read_processes(trace["traceEvents"]).items():
            profile = _profile_of(process)
            ranks.setdefault(pid, RankProfile(profile.name)).add(profile)
    if not ranks:
        ended = f" (it ended with status {exit_status})" if exit_status else ""
        raise TeffError(f"{command[0]} has left no trace: a runtime of libteff writes it when it ends{ended}")
    return JobProfile(tuple(command), tuple(ranks[each] for each in sorted(ranks)), lost, exit_status)


def _profile_of(process: Process) -> RankProfile:
    profile = RankProfile(process.rank or "process", workers=len(process.names))
    first = min((began for began, *_ in process.all_slices), default=0.0)
    last = max((ended for _, ended, *_ in process.all_slices), default=0.0)
    for thread in process.threads:
        for each in stretches(process.slices.get(thread, []), first, last):
            profile.spent[_OF_CATEGORY.get(each.category, NOTHING)] += each.seconds
    for told in process.messages:
        for path in PATHS:
            profile.sent[path].update({what: told[path][what] for what in _SENT})
        profile.handled += told["handled"]
        profile.waits += told["waits"]
    return profile
