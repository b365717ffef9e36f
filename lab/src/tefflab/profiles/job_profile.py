"""Where worker time goes in a program of libteff's users, a job of several ranks or one process, and what messages it
sends.

The program runs under `TEFF_TRACE` and leaves a trace of all ranks. A worker's time belongs to the innermost slice of
its track. The communicators themselves count messages, even if the trace has lost events.
"""

import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from tefflab.errors import InputError, TeffError
from tefflab.host.terminal import titled_table
from tefflab.output.quantities import digits, duration, percent, rate
from tefflab.profiles.task_trace import Process, read_processes, stretches
from tefflab.records.plan import counted_workers

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
PATHS = {"own": "to itself", "near": "by shared memory", "far": "by the network"}
_SENT = ("sent", "bytes", "packets", "large", "large_bytes")
_MOST_COLUMNS = 8  # of ranks: of more, the table has the sum only


@dataclass(frozen=True)
class RankProfile:
    """A rank, or a process without ranks, by what its processes have traced."""

    name: str
    processes: Sequence[Process]

    @property
    def workers(self) -> int:
        return sum(len(each.names) for each in self.processes)

    @cached_property
    def spent(self) -> Mapping[str, float]:
        """Seconds of its workers by activity."""
        found = dict.fromkeys(SPENT, 0.0)
        for process in self.processes:
            tracks = process.tracks.values()
            ends = [end for own in tracks for began, ended, *_ in own for end in (began, ended)] or [0.0]
            for each in (one for own in tracks for one in stretches(own, min(ends), max(ends))):
                found[_OF_CATEGORY.get(each.category, NOTHING)] += each.seconds
        return found

    def counted(self, what: str, *paths: str) -> int:
        """Of the messages, as its communicators counted them: on these paths, else of all."""
        told = [each for process in self.processes for each in process.messages]
        return sum(each[path][what] for each in told for path in paths) if paths else sum(each[what] for each in told)

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "workers": self.workers,
            "worker_seconds": self.spent,
            "sent": {path: {what: self.counted(what, path) for what in _SENT} for path in PATHS},
            "handled": self.counted("handled"),
            "waits": self.counted("waits"),  # for room
        }


@dataclass(frozen=True, slots=True)
class JobProfile:
    """All ranks in their order, the gaps of the trace, and the program's exit status."""

    command: tuple[str, ...]
    ranks: tuple[RankProfile, ...]
    lost_events: int
    exit_status: int

    def to_json(self) -> dict[str, Any]:
        told = {"command": list(self.command), "ranks": [each.to_json() for each in self.ranks]}
        return told | {"lost_events": self.lost_events, "exit_status": self.exit_status}


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
    ranks: dict[int, list[Process]] = {}
    lost = 0
    for file in files:
        try:
            trace = json.loads(file.read_text(encoding="utf-8"))
        except json.JSONDecodeError:  # of a runtime that has not ended
            continue
        lost += trace["otherData"]["lost_events"]
        for pid, process in read_processes(trace["traceEvents"]).items():
            ranks.setdefault(pid, []).append(process)
    if not ranks:
        ended = f" (it ended with status {exit_status})" if exit_status else ""
        raise TeffError(f"{command[0]} has left no trace: a runtime of libteff writes it when it ends{ended}")
    profiles = (RankProfile(ranks[each][0].rank or "process", ranks[each]) for each in sorted(ranks))
    return JobProfile(tuple(command), tuple(profiles), lost, exit_status)


def to_table(profile: JobProfile) -> Group:
    """A column a rank: worker time by activity, then the messages; without messages the first only."""
    whole = RankProfile("all", [process for rank in profile.ranks for process in rank.processes])
    columns = [whole, *profile.ranks] if 1 < len(profile.ranks) <= _MOST_COLUMNS else [whole]
    many = f"{len(profile.ranks)} ranks, " if len(profile.ranks) > 1 else ""
    title = f"{' '.join(profile.command)}: {many}{counted_workers(whole.workers)}"
    table = titled_table("", "worker time", *("" if len(columns) == 1 else each.name for each in columns))
    seconds = [sum(rank.spent.values()) for rank in columns]
    table.add_row("in all", *map(duration, seconds))
    for what in SPENT:
        if whole.spent[what] > 0:
            shares = (
                percent(rank.spent[what] / own) if own else "" for rank, own in zip(columns, seconds, strict=True)
            )
            table.add_row(what, *shares)
    if whole.counted("handled") or whole.counted("sent", *PATHS):
        _add_messages(table, columns, whole)
    lines = []
    if profile.lost_events:
        lines.append(
            f"{profile.lost_events} events were lost: the times are those of the last ones (TEFF_TRACE_EVENTS sets how "
            "many a worker keeps); messages are counted all the same"
        )
    if profile.exit_status:
        lines.append(f"the program ended with status {profile.exit_status}")
    return Group(Text(title, style="bold"), table, *(Text(line, style="dim") for line in lines))


def _add_messages(table: Table, columns: Sequence[RankProfile], whole: RankProfile) -> None:
    def add(title: str, what: str, *paths: str, text: Callable[[float], str] = str) -> None:
        table.add_row(title, *(text(rank.counted(what, *paths)) for rank in columns))

    size = partial(rate, unit="B")
    table.add_row()
    table.add_row("[dim]messages[/]")
    add("handled", "handled")
    add("sent", "sent", *PATHS)
    for path, title in PATHS.items():
        if whole.counted("sent", path):
            add(f"  {title}", "sent", path)
            add("    bytes", "bytes", path, text=size)
            sent = [(rank.counted("sent", path), rank.counted("packets", path)) for rank in columns]
            table.add_row(
                "    a packet", *(digits(messages / packets) if packets else "" for messages, packets in sent)
            )
            if whole.counted("large", path):
                add("    large", "large", path)
                add("      bytes", "large_bytes", path, text=size)
    add("waits for room", "waits")
