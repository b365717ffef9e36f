"""The states, sites and messages of each rank, from the trace of a program with libteff (`TEFF_TRACE`).

A worker's time belongs to the innermost slice of its track. The communicators themselves count messages, even if the
trace has lost events.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

from tefflab.host.terminal import titled_table
from tefflab.output.quantities import digits, rate
from tefflab.profiles.states import HANDLER, Process, Site, bin_of
from tefflab.profiles.task_trace import IDLE, TASKS, Covered, Stretch, read_processes, stretches
from tefflab.profiles.task_trace import Process as Traced

RUNTIME = "libteff"
PATHS = {"own": "to itself", "near": "by shared memory", "far": "by the network"}
_STATES = {
    "run": "creation",
    "send": "message",
    "waiting": "dependences",
    "searching": "dispatch",
    "parked": "imbalance",
}
_SENT = ("sent", "bytes", "packets", "large", "large_bytes")
_MOST_COLUMNS = 8  # of ranks: of more, the table has the sum only


def read_traces(files: Iterable[Path]) -> list[Process]:
    """The ranks of a job in their order, or processes without ranks: traces of one rank are added up."""
    ranks: dict[int, list[Traced]] = {}
    lost = 0
    for file in files:
        try:
            trace = json.loads(file.read_text(encoding="utf-8"))
        except json.JSONDecodeError:  # of a runtime that has not ended
            continue
        lost += trace["otherData"]["lost_events"]
        for pid, process in read_processes(trace["traceEvents"]).items():
            ranks.setdefault(pid, []).append(process)
    remark = (
        f"{lost} events were lost: the times are those of the last ones (TEFF_TRACE_EVENTS sets how many a worker "
        "keeps); messages are counted all the same"
    )
    return [_rank(ranks[pid], (remark,) if lost else ()) for pid in sorted(ranks)]


def _rank(processes: Sequence[Traced], remarks: tuple[str, ...]) -> Process:
    threads: list[Mapping[str, float]] = []
    seconds = defaultdict[tuple[str, str], float](float)
    lengths = defaultdict[tuple[str, str], Counter[int]](Counter)
    elapsed = 0.0
    for process in processes:
        slices = process.tracks.values()
        ends = [end for own in slices for began, ended, *_ in own for end in (began, ended)] or [0.0]
        elapsed += max(ends) - min(ends)
        tracks = [stretches(own, min(ends), max(ends)) for own in slices]
        making = Covered((each.began, each.ended) for own in tracks for each in own if each.category == "run")
        threads += [_states(own, making) for own in tracks]
        for each in (one for own in tracks for one in own if one.category in (*TASKS, HANDLER)):
            seconds[each.name, each.category] += each.seconds
            if each.is_first:
                lengths[each.name, each.category][bin_of(each.seconds)] += 1
    sites = [Site(*site, RUNTIME, own.total(), seconds[site], own) for site, own in lengths.items()]
    in_regions = max((sum(own.values()) - own.get("serial", 0.0) for own in threads), default=0.0)
    messages = _messages([each for process in processes for each in process.messages])
    name = processes[0].rank or "process"
    return Process(name, tuple(threads), elapsed, in_regions, tuple(sites), messages=messages, remarks=remarks)


def _states(own: Sequence[Stretch], making: Covered) -> Mapping[str, float]:
    """A worker that is idle while another one makes tasks waits for a task that was not made yet."""
    found = Counter[str]()
    for each, beside in zip(own, making.within(own), strict=True):
        is_idle = each.category in IDLE and each.category
        not_made = beside if is_idle else 0.0
        state = "body" if each.category in (*TASKS, HANDLER) else _STATES.get(each.category, "serial")
        found.update({state: each.seconds - not_made, "task_not_made": not_made})
    return found


def _messages(told: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    return {
        "sent": {path: {what: sum(each[path][what] for each in told) for what in _SENT} for path in PATHS},
        "handled": sum(each["handled"] for each in told),
        "waits": sum(each["waits"] for each in told),  # for room
    }


def _all(ranks: Sequence[Any]) -> Any:
    """Their sum, number by number."""
    first, *_ = ranks
    if isinstance(first, Mapping):
        return {name: _all([each[name] for each in ranks]) for name in first}
    return sum(ranks)


def messages_table(processes: Sequence[Process]) -> Table | None:
    """The messages of each rank, and of all ranks together; None if no rank has sent any."""
    ranks = [each for each in processes if each.messages]
    whole: Any = _all([each.messages for each in ranks]) if ranks else {"handled": 0, "sent": {}}
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
