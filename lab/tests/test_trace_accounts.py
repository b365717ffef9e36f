"""Traces of libteff's programs as states and sites, with the messages of each rank."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from tefflab.profiles.states import Observed
from tefflab.profiles.trace_accounts import messages_table, read_traces

COUNTS = {"sent": 0, "bytes": 0, "packets": 0, "large": 0, "large_bytes": 0}
Slices = list[tuple[float, float, str]]  # began, lasted (microseconds), category


def rank(number: int, worker: Slices, near: dict[str, int], *others: Slices) -> list[dict[str, Any]]:
    """The trace of a runtime."""
    args = {"of": "communicator", "own": COUNTS, "near": COUNTS | near, "far": COUNTS, "handled": 7, "waits": 1}
    slices = [(thread, one) for thread, own in enumerate((worker, *others), 1) for one in own]
    return [
        {"ph": "M", "name": "rank", "pid": number + 1, "args": {"rank": number}},
        *(
            {"ph": "X", "pid": number + 1, "tid": 1024 * number + thread, "ts": ts, "dur": dur, "name": "x", "cat": cat}
            for thread, (ts, dur, cat) in slices
        ),
        {"ph": "M", "name": "messages", "pid": number + 1, "args": args},
    ]


def trace(folder: Path, *ranks: list[dict[str, Any]], lost: int = 0) -> Path:
    file = folder / "trace.json"
    events = [event for each in ranks for event in each]
    file.write_text(json.dumps({"otherData": {"job": "1", "lost_events": lost}, "traceEvents": events}))
    return file


def row(text: str, name: str) -> list[str]:
    return next(line.split(name, 1)[1].split() for line in text.splitlines() if line.strip().startswith(name))


def test_the_time_of_a_slice_is_what_lies_within_no_other_one(tmp_path: Path) -> None:
    track: Slices = [
        (5, 5, "send"),
        (0, 100, "run"),
        (0, 20, "task"),
        (30, 50, "waiting"),
        (40, 10, "handler"),
        (60, 20, "parked"),
    ]
    (process,) = read_traces([trace(tmp_path, rank(0, track, {}))])
    (seconds,) = process.threads
    assert {state: round(1e6 * time) for state, time in seconds.items() if round(1e6 * time)} == {
        "creation": 30,
        "body": 25,
        "message": 5,
        "dependences": 20,
        "imbalance": 20,
    }
    assert {(each.kind, each.count, round(1e6 * each.seconds)) for each in process.sites} == {
        ("task", 1, 15),
        ("handler", 1, 10),
    }


def test_a_worker_that_is_idle_while_another_makes_tasks_waits_for_a_task_that_was_not_made(tmp_path: Path) -> None:
    file = trace(tmp_path, rank(0, [(0, 60, "run"), (60, 40, "task")], {}, [(0, 100, "searching")]))
    of = Observed(tuple(read_traces([file])))
    assert of.seconds["task_not_made"] == pytest.approx(60e-6)
    assert of.seconds["dispatch"] == pytest.approx(40e-6)


def test_the_table_has_the_messages_of_each_rank(tmp_path: Path) -> None:
    sent = {"sent": 30, "bytes": 3000, "packets": 10, "large": 2, "large_bytes": 4096}
    first = rank(0, [(0, 80, "run"), (10, 20, "send")], sent)
    second = rank(1, [(0, 50, "task"), (60, 40, "parked")], {"sent": 10, "bytes": 100, "packets": 10})
    processes = read_traces([trace(tmp_path, first, second, lost=4)])
    assert [each.name for each in processes] == ["rank 0", "rank 1"]
    assert "4 events were lost" in processes[0].remarks[0]
    shown = io.StringIO()
    Console(file=shown, width=100).print(messages_table(processes))
    text = shown.getvalue()
    assert row(text, "handled") == ["14", "7", "7"]
    assert row(text, "sent") == ["40", "30", "10"]
    assert row(text, "by shared memory") == ["40", "30", "10"]
    assert row(text, "a packet") == ["2.00", "3.00", "1.00"]
    assert row(text, "large") == ["2", "2", "0"]
    assert row(text, "waits for room") == ["2", "1", "1"]
    assert "by the network" not in text


def test_of_many_ranks_the_table_has_the_sum_and_without_messages_there_is_none(tmp_path: Path) -> None:
    shown = io.StringIO()
    processes = read_traces([trace(tmp_path, *(rank(number, [(0, 10, "task")], {}) for number in range(9)))])
    Console(file=shown, width=100).print(messages_table(processes))
    assert row(shown.getvalue(), "handled") == ["63"]
    assert messages_table([]) is None
