"""Runs a user's own command as a program of the bench runs its cases: `python run_own_command.py BENCHMARK COMMAND
--workers N --batch`.

For each line of its input it runs the command once, and answers with a record. A run passes its validation if the
command ends with exit code 0. The command's output is dropped, but for the last line of what it says of an error. A
shell runs the command only if something in it is for a shell.
"""

import contextlib
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime

_MOST_SAID = 10_000  # bytes of errors that are read
_SPIN, _GAP = 1_000_000, 20_000  # nanoseconds of a look for gaps, and of a pause that is one: an interpreter is slow


def run(benchmark: str, command: str, workers: int) -> dict[str, object]:
    """The record of one run."""
    record: dict[str, object] = {
        "schema": "teff-record-2",
        "benchmark": benchmark,
        "system": "command",
        "variant": "command",
        "version": "",
        "workers": workers,
        "ranks": 1,
    }
    with tempfile.TemporaryFile() as errors:  # a pipe would be read until what the command leaves running closes it
        gaps, started, began = gap_share(), datetime.now(UTC), time.monotonic()
        try:
            process = subprocess.Popen(
                _started_by(command), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors
            )
        except OSError as error:
            return record | {"error": f"{command!r} can't be started: {error.strerror}"}
        _, status, used = os.wait4(process.pid, 0)
        took = time.monotonic() - began
        process.returncode = code = os.waitstatus_to_exitcode(status)
        errors.seek(max(errors.seek(0, os.SEEK_END) - _MOST_SAID, 0))
        said = errors.read().decode(errors="replace").strip().splitlines()
    record |= {
        "started_at": started.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "elapsed_seconds": took,
        "noise": {
            "cpu_seconds": used.ru_utime + used.ru_stime,
            "voluntary_switches": used.ru_nvcsw,
            "involuntary_switches": used.ru_nivcsw,
            "gap_share_before": gaps,
            "gap_share_after": gap_share(),
        },
        "validation": {"passed": code == 0},
        "system_seconds": used.ru_stime,
        "peak_rss_bytes": 1024 * used.ru_maxrss,
    }
    if code:
        why = f": {said[-1][:200]}" if said else ""
        how = f"exit code {code}" if code > 0 else f"signal {-code}"
        record["error"] = f"{command!r} ended with {how}{why}"
    return record


def gap_share() -> float:
    """The part of a spin on the clock that was lost in gaps."""
    lost, begin = 0, time.perf_counter_ns()
    now = begin
    while now - begin < _SPIN:
        before, now = now, time.perf_counter_ns()
        if now - before > _GAP:
            lost += now - before
    return lost / (now - begin)


def _started_by(command: str) -> list[str]:
    with contextlib.suppress(ValueError):  # a quote that does not end
        words = shlex.split(command)
        if words and shlex.join(words) == command:
            return words
    return ["/bin/sh", "-c", command]


def main() -> None:
    benchmark, command, workers = sys.argv[1], sys.argv[2], int(sys.argv[sys.argv.index("--workers") + 1])
    for _ in sys.stdin:
        print(json.dumps(run(benchmark, command, workers)), flush=True)


if __name__ == "__main__":
    main()
