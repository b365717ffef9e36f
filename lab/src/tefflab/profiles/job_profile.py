"""Where worker time goes in a program of libteff's users, a job of several ranks or one process, and what messages it
sends.

The program runs under `TEFF_TRACE` and leaves a trace of all ranks. A worker's time belongs to the innermost slice of
its track. The communicators themselves count messages, even if the trace has lost events.
"""

import json
import os
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
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


Told = Mapping[str, Any]  # as --json prints it


def profile_command(command: Sequence[str]) -> Told:
    """Runs a program, whose output goes to stderr. TeffError where it leaves no trace."""
    with tempfile.TemporaryDirectory(prefix="teff-profile-") as folder:
        environment = {**os.environ, "TEFF_TRACE": str(Path(folder) / "trace.json")}
        try:
            done = subprocess.run(command, env=environment, stdout=2, check=False)
        except OSError as failure:
            raise InputError(f"{command[0]} can't be started: {failure.strerror}") from None
        return read_traces(command, sorted(Path(folder).iterdir()), done.returncode)


def read_traces(command: Sequence[str], files: Iterable[Path], exit_status: int) -> Told:
    """The profile of a job from its runtimes' traces, of all ranks in their order: traces of one rank are added up."""
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
    profiles = [_rank(ranks[pid]) for pid in sorted(ranks)]
    return {"command": list(command), "ranks": profiles, "lost_events": lost, "exit_status": exit_status}


def _rank(processes: Sequence[Process]) -> Told:
    """A rank, or a process without ranks: seconds of its workers by activity, and its communicators' messages."""
    spent = dict.fromkeys(SPENT, 0.0)
    for process in processes:
        tracks = process.tracks.values()
        ends = [end for own in tracks for began, ended, *_ in own for end in (began, ended)] or [0.0]
        for each in (one for own in tracks for one in stretches(own, min(ends), max(ends))):
            spent[_OF_CATEGORY.get(each.category, NOTHING)] += each.seconds
    told = [each for process in processes for each in process.messages]
    return {
        "name": processes[0].rank or "process",
        "workers": sum(len(each.names) for each in processes),
        "worker_seconds": spent,
        "sent": {path: {what: sum(each[path][what] for each in told) for what in _SENT} for path in PATHS},
        "handled": sum(each["handled"] for each in told),
        "waits": sum(each["waits"] for each in told),  # for room
    }


def _all(ranks: Sequence[Any]) -> Any:
    """Their sum, number by number."""
    first, *_ = ranks
    if isinstance(first, Mapping):
        return {name: _all([each[name] for each in ranks]) for name in first}
    return "all" if isinstance(first, str) else sum(ranks)


def to_table(profile: Told) -> Group:
    """A column a rank: worker time by activity, then the messages; without messages the first only."""
    ranks, whole = profile["ranks"], _all(profile["ranks"])
    columns = [whole, *ranks] if 1 < len(ranks) <= _MOST_COLUMNS else [whole]
    many = f"{len(ranks)} ranks, " if len(ranks) > 1 else ""
    title = f"{' '.join(profile['command'])}: {many}{counted_workers(whole['workers'])}"
    table = titled_table("", "worker time", *("" if len(columns) == 1 else each["name"] for each in columns))
    times = [(each["worker_seconds"], sum(each["worker_seconds"].values())) for each in columns]
    table.add_row("in all", *(duration(seconds) for _, seconds in times))
    for what in SPENT:
        if whole["worker_seconds"][what] > 0:
            table.add_row(what, *(percent(spent[what] / seconds) if seconds else "" for spent, seconds in times))
    if whole["handled"] or any(whole["sent"][path]["sent"] for path in PATHS):
        _add_messages(table, columns)
    lines = []
    if profile["lost_events"]:
        lines.append(
            f"{profile['lost_events']} events were lost: the times are those of the last ones (TEFF_TRACE_EVENTS sets "
            "how many a worker keeps); messages are counted all the same"
        )
    if profile["exit_status"]:
        lines.append(f"the program ended with status {profile['exit_status']}")
    return Group(Text(title, style="bold"), table, *(Text(line, style="dim") for line in lines))


def _add_messages(table: Table, columns: Sequence[Told]) -> None:
    """The first column has the sums."""
    table.add_row()
    table.add_row("[dim]messages[/]")
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
