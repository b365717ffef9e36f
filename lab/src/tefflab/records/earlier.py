"""Stores that were written before all benchmarks shared one: their lines, as they would be written today.

They had `records.jsonl` (schema `teff-record-1`) and `metg.jsonl` of task graphs, and `spawn.jsonl`
(`teff-spawn-record-1`) and `spawn_sittings.jsonl` of spawned tasks. Their `sittings.jsonl` and `failures.jsonl` had
lines of another form. A baseline that was measured then can still be reported, compared and gone on with.
"""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tefflab.records.record import GAPS

RECORDS, METG = "records.jsonl", "metg.jsonl"
SPAWN, SPAWN_SITTINGS = "spawn.jsonl", "spawn_sittings.jsonl"

NumberedLine = tuple[Path, int, bytes]
_Object = dict[str, Any]


def is_earlier(folder: Path) -> bool:
    """Whether the store has lines in files that are written no more."""
    return any((folder / name).is_file() for name in (RECORDS, METG, SPAWN, SPAWN_SITTINGS))


def numbered(file: Path) -> Iterator[NumberedLine]:
    """The lines of a file that is there, from 1, but the empty ones."""
    if file.is_file():
        with file.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                if not line.isspace():
                    yield file, number, line


def runs(folder: Path) -> Iterator[NumberedLine]:
    """Of task graphs, then of spawned tasks."""
    yield from _each(folder / RECORDS, _run)
    rounds: dict[tuple[Any, ...], list[NumberedLine]] = {}
    for file, number, line in numbered(folder / SPAWN):
        known = _read(line)
        if known is None:
            yield file, number, line
            continue
        one_round = tuple(known.get(name) for name in ("sitting", "round", "system_id", "question", "workers"))
        if known.get("attempt") == 0:
            rounds[one_round] = []  # one that was interrupted and made again has the runs of its last time
        if "error" not in known.get("record", {}):
            rounds.setdefault(one_round, []).append((file, number, _text(_spawned_run(known))))
    for lines in rounds.values():
        yield from lines


def sittings(folder: Path) -> Iterator[NumberedLine]:
    """The sittings of spawned tasks; the file of the other sittings is still in use."""
    yield from _each(folder / SPAWN_SITTINGS, _spawn_sitting)


def sitting(line: bytes) -> bytes:
    """A line of `sittings.jsonl`."""
    known = _read(line)
    return line if known is None or "benchmark" in known else _text(_graph_sitting(known))


def failure(folder: Path, line: bytes) -> bytes:
    """A line of `failures.jsonl`."""
    known = _read(line)
    if known is None:
        return line
    known["reason"] = str(known.get("reason", "")).removeprefix(f"{known.get('system_id')}: ")
    if "question" not in known:
        return _text(known)
    name, of = known.pop("question"), known.get("sitting")
    for _, _, head in numbered(folder / SPAWN_SITTINGS):
        told = _read(head)
        if told and told.get("sitting") == of:
            known["configuration"] = _flags(told["plan"]["questions"].get(name, name))
    return _text(known)


def _each(file: Path, as_today: Callable[[_Object], _Object]) -> Iterator[NumberedLine]:
    for _, number, line in numbered(file):
        known = _read(line)
        yield file, number, line if known is None else _text(as_today(known))


def _read(line: bytes) -> _Object | None:
    """None if the line is torn: it is reported as it is."""
    try:
        known = json.loads(line)
    except ValueError:
        return None
    return known if isinstance(known, dict) else None


def _text(line: _Object) -> bytes:
    return json.dumps(line, ensure_ascii=False).encode() + b"\n"


def _record(record: _Object, benchmark: str) -> _Object:
    known = dict(record)
    if "disturbance" in known:
        known["noise"] = known.pop("disturbance")
    return known | {"schema": "teff-record-2", "benchmark": benchmark}


def _run(line: _Object) -> _Object:
    known = dict(line)
    known["noisy"] = known.pop("disturbed", False)
    known["record"] = _record(known.get("record", {}), "task_graph")
    known["workers"] = known["record"].get("workers") or 1
    return known


def _spawned_run(line: _Object) -> _Object:
    known = {name: value for name, value in line.items() if name != "question"}
    record: _Object = {"ranks": 1} | _record(known.get("record", {}), "spawn")
    noise = record.get("noise") or {}
    gaps = max(noise.get(name, 0.0) for name in ("gap_share_before", "gap_share_after"))
    return known | {
        "role": "system" if known.get("attempt") else "probe",
        "attempt": max((known.get("attempt") or 0) - 1, 0),
        "noisy": gaps > GAPS,  # which its line did not say
        "flags": _flags(known.get("flags", "")),
        "configuration": _flags(known.get("flags", "")),
        "record": record,
    }


def _graph_sitting(line: _Object) -> _Object:
    plan = dict(line.get("plan", {}))
    if "questions" in plan:
        workers = plan.pop("workers")
        plan["cases"] = [case | {"workers": workers} for case in plan.pop("questions")]
        plan["variants"] = plan.pop("contenders")
        plan["asks"] = plan.pop("kind")
    return line | {"benchmark": "task_graph", "plan": plan}


def _spawn_sitting(line: _Object) -> _Object:
    plan = dict(line.get("plan", {}))
    asked, workers = plan.pop("questions"), plan.pop("workers")
    plan.pop("kind", None)
    plan["cases"] = [
        {"name": name, "flags": _flags(flags), "workers": count} for name, flags in asked.items() for count in workers
    ]
    plan["variants"] = plan.pop("contenders")
    return line | {"benchmark": "spawn", "plan": plan}


def _flags(text: str) -> str:
    """Flags of spawned tasks had two dashes."""
    return re.sub(r"(^|\s)--", r"\1-", text)
