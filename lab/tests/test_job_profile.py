"""Worker time and messages of a program: from traces to a table."""

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from rich.console import Console

from tefflab.cli import main as cli
from tefflab.errors import TeffError
from tefflab.profiles.job_profile import NOTHING, profile_command, read_traces, to_table

COUNTS = {"sent": 0, "bytes": 0, "packets": 0, "large": 0, "large_bytes": 0}


def rank(number: int, worker: list[tuple[float, float, str]], near: dict[str, int]) -> list[dict[str, Any]]:
    """The trace of a runtime with one worker; (began, lasted, category), in microseconds."""
    thread = {"pid": number + 1, "tid": 1024 * number + 1}
    args = {"of": "communicator", "own": COUNTS, "near": COUNTS | near, "far": COUNTS, "handled": 7, "waits": 1}
    return [
        {"ph": "M", "name": "rank", "pid": number + 1, "args": {"rank": number}},
        {"ph": "M", "name": "thread_name", **thread, "args": {"name": "worker 0"}},
        *({"ph": "X", **thread, "ts": ts, "dur": dur, "name": "x", "cat": cat} for ts, dur, cat in worker),
        {"ph": "C", "pid": number + 1, "ts": 1, "name": "messages sent", "args": {"messages": 3}},
        {"ph": "M", "name": "messages", "pid": number + 1, "args": args},
    ]


def trace(folder: Path, *ranks: list[dict[str, Any]], lost: int = 0) -> Path:
    file = folder / "trace.json"
    events = [event for each in ranks for event in each]
    file.write_text(json.dumps({"otherData": {"job": "1", "lost_events": lost}, "traceEvents": events}))
    return file


def text_of(profile: Any) -> str:
    shown = io.StringIO()
    Console(file=shown, width=100).print(to_table(profile))
    return shown.getvalue()


def row(text: str, name: str) -> list[str]:
    return next(line.split(name, 1)[1].split() for line in text.splitlines() if line.strip().startswith(name))


def test_the_time_of_a_slice_is_what_lies_within_no_other_one(tmp_path: Path) -> None:
    track = [
        (5, 5, "send"),
        (0, 100, "run"),
        (0, 20, "task"),
        (30, 50, "waiting"),
        (40, 10, "handler"),
        (60, 20, "parked"),
    ]
    (profile,) = read_traces(["program"], [trace(tmp_path, rank(0, track, {}))], 0)["ranks"]
    assert {what: round(1e6 * seconds) for what, seconds in profile["worker_seconds"].items() if seconds} == {
        "the rest of run()": 30,
        "tasks": 15,
        "sending": 5,
        "waiting": 20,
        "handlers": 10,
        "asleep": 20,
    }


def test_the_table_has_time_and_messages_of_each_rank(tmp_path: Path) -> None:
    file = trace(
        tmp_path,
        rank(
            0,
            [(0, 80, "run"), (10, 20, "send")],
            {"sent": 30, "bytes": 3000, "packets": 10, "large": 2, "large_bytes": 4096},
        ),
        rank(1, [(0, 50, "task"), (60, 40, "parked")], {"sent": 10, "bytes": 100, "packets": 10}),
        lost=4,
    )
    profile = read_traces(["program", "-n"], [file], 0)
    text = text_of(profile)
    assert "program -n: 2 ranks, 2 workers" in text
    assert row(text, "in all") == ["180", "µs", "80.0", "µs", "100", "µs"]
    assert row(text, "sending") == ["11", "%", "25", "%", "0", "%"]
    assert row(text, "asleep") == ["22", "%", "0", "%", "40", "%"]
    assert row(text, NOTHING) == ["5.6", "%", "0", "%", "10", "%"]
    assert row(text, "handled") == ["14", "7", "7"]
    assert row(text, "sent") == ["40", "30", "10"]
    assert row(text, "by shared memory") == ["40", "30", "10"]
    assert row(text, "a packet") == ["2.00", "3.00", "1.00"]
    assert row(text, "large") == ["2", "2", "0"]
    assert row(text, "waits for room") == ["2", "1", "1"]
    assert "by the network" not in text
    assert "4 events were lost" in text
    assert profile["ranks"][1]["worker_seconds"]["tasks"] == pytest.approx(50e-6)
    assert profile["ranks"][0]["sent"]["near"]["large_bytes"] == 4096


def test_of_many_ranks_the_table_has_the_sum(tmp_path: Path) -> None:
    file = trace(tmp_path, *(rank(number, [(0, 10, "task")], {}) for number in range(9)))
    text = text_of(read_traces(["program"], [file], 0))
    assert row(text, "in all") == ["90.0", "µs"]
    assert "rank 3" not in text


def test_a_program_that_leaves_no_trace_or_is_not_there_is_an_error() -> None:
    with pytest.raises(TeffError, match=r"has left no trace: .* \(it ended with status 3\)"):
        profile_command([sys.executable, "-c", "raise SystemExit(3)"])
    with pytest.raises(TeffError, match="nowhere can't be started: No such file"):
        profile_command(["nowhere"])


def test_the_command_runs_a_program_and_says_how_it_ended(tmp_path: Path) -> None:
    kept = trace(tmp_path, rank(0, [(0, 10, "task")], {}))
    source = f"import os, shutil; shutil.copy({str(kept)!r}, os.environ['TEFF_TRACE']); raise SystemExit(5)"
    done = CliRunner().invoke(cli.app, ["profile", "--json", "--", sys.executable, "-c", source])
    assert done.exit_code == 1, done.output
    told = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))
    assert told["exit_status"] == 5
    assert told["ranks"][0]["name"] == "rank 0"
    refused = CliRunner().invoke(cli.app, ["profile", "--patterns", "fib", "--", "program"])
    assert isinstance(refused.exception, TeffError)
    assert "are for spawn patterns" in str(refused.exception)
