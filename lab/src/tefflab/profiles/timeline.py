"""The last segments of each thread of a collected run as a timeline in the Trace Event Format, for ui.perfetto.dev."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tefflab.profiles.accounts import Accounts, File
from tefflab.profiles.states import OUTSIDE, STATES
from tefflab.whole_files import write_whole

SEGMENT = np.dtype([("until", "<u8"), ("address", "<u8"), ("function", "<u4"), ("what", "<u2"), ("did", "<u2")])
_SITE = ["address", "function", "what"]  # as segments name it
SEGMENTS = 1 << 16  # of a thread, the last ones: 1.5 MiB
TIMELINE = ".json"  # the end of the name of such a file
_IN_BODIES = ("body", "counted")


def write_timeline(traces: Sequence[Mapping[str, Any]], accounts: Accounts, to: Path) -> str:
    """Of what a collected run has left: the traces of libteff's workers, or else the segments beside the accounts. Says
    how that went."""
    events = [event for trace in traces for event in trace["traceEvents"]]
    for file in () if events else accounts.files:
        events += _events(file, {each[_SITE].item(): file.site_name(each, accounts.names) for each in file.records})
    if not events:
        return f"{to} is not written: no runtime said when its tasks began and ended"
    try:
        write_whole(to, json.dumps({"traceEvents": events}))
    except OSError as failure:
        return f"{to} can't be written: {failure.strerror}"
    return f"wrote {to}, for ui.perfetto.dev"


def _events(file: File, sites: Mapping[Any, str]) -> Iterator[dict[str, Any]]:
    """Times are in microseconds of the machine's monotonic clock, which processes share."""
    process, states = file.process, file.names("states")
    yield {"ph": "M", "name": "process_name", "pid": process, "args": {"name": file.name}}
    began, first = 1e-3 * int(file.header["first"]["nanoseconds"]), int(file.header["first"]["ticks"])
    for block in file.seats:
        of = {"pid": process, "tid": int(block["thread"])}
        before = 0
        for until, *site, did in _last_segments(file.path, block):
            state = states[did]
            if before and state not in OUTSIDE:
                name = sites.get(tuple(site), STATES[state]) if state in _IN_BODIES else STATES[state]
                at = {"ts": began + 1e6 * file.rate * (before - first), "dur": 1e6 * file.rate * (until - before)}
                yield {"ph": "X", "name": name, "cat": state, **at, **of}
            before = until


def _last_segments(path: Path, block: Any) -> Iterable[tuple[int, ...]]:
    """In their order. A seat without a file had no room for one."""
    file = Path(f"{path}.{int(block['seat'])}.segments")
    noted = np.fromfile(file, SEGMENT) if file.is_file() else np.empty(0, SEGMENT)
    count = int(block["segments_noted"])
    found: list[tuple[int, ...]] = np.roll(noted, -count)[max(0, len(noted) - count) :].tolist()
    return found
