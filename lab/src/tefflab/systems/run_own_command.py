"""Runs a user's own command as a program of the bench runs its cases: `python run_own_command.py COMMAND --workers N
--batch`.

For each line of its input it runs the command once, and answers with a record. A run passes its validation if the
command ends with exit code 0. The command's output is dropped, but for the last line of what it says of an error.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime

_MOST_SAID = 10_000  # bytes of errors that are read


def run(command: str, workers: int) -> dict[str, object]:
    """The record of one run."""
    with tempfile.TemporaryFile() as errors:  # a pipe would be read until what the command leaves running closes it
        started, before, began = datetime.now(UTC), resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        ended = subprocess.run(
            command, shell=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors, check=False
        )
        took, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
        errors.seek(max(errors.seek(0, os.SEEK_END) - _MOST_SAID, 0))
        said = errors.read().decode(errors="replace").strip().splitlines()
    record: dict[str, object] = {
        "schema": "teff-record-2",
        "benchmark": "contention",
        "system": "command",
        "variant": "command",
        "version": "",
        "workers": workers,
        "ranks": 1,
        "started_at": started.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "elapsed_seconds": took,
        "noise": {
            "cpu_seconds": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
            "voluntary_switches": after.ru_nvcsw - before.ru_nvcsw,
            "involuntary_switches": after.ru_nivcsw - before.ru_nivcsw,
            "gap_share_before": 0.0,
            "gap_share_after": 0.0,
        },
        "validation": {"passed": ended.returncode == 0},
    }
    if ended.returncode:
        why = f": {said[-1][:200]}" if said else ""
        record["error"] = f"{command!r} ended with exit code {ended.returncode}{why}"
    return record


def main() -> None:
    command, workers = sys.argv[1], int(sys.argv[sys.argv.index("--workers") + 1])
    for _ in sys.stdin:
        print(json.dumps(run(command, workers)), flush=True)


if __name__ == "__main__":
    main()
