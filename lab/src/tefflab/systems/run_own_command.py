"""Runs a user's command as the bench does a case: `python run_own_command.py BENCHMARK WORD... --workers N --batch`.

For each line of its input it runs the command once, and answers with a record. A run is valid if the command ends with
exit code 0. The command's output is dropped, but for the last line of an error. This program imports little: a command
that it starts begins with its peak of memory.
"""

import json
import os
import sys
import time

_MOST_SAID = 10_000  # bytes of errors that are read
_SPIN, _GAP = 1_000_000, 20_000  # nanoseconds of a look for gaps, and of a pause that is one: an interpreter is slow
_BEYOND = 1.05  # times the peak of a process that does nothing: below it, nothing is known of a command's peak


def run(benchmark: str, words: list[str], workers: int, least_peak: int = 0) -> dict[str, object]:
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
    errors = os.memfd_create("errors")  # a pipe would be read until what the command leaves running closes it
    try:
        gaps, started, began = gap_share(), time.time(), time.monotonic()
        try:
            process = _start(words, errors)
        except OSError as error:
            return record | {"error": f"{words[0]} can't be started: {error.strerror}"}
        _, status, used = os.wait4(process, 0)
        took, code = time.monotonic() - began, os.waitstatus_to_exitcode(status)
        said = os.pread(errors, _MOST_SAID, max(os.fstat(errors).st_size - _MOST_SAID, 0))
    finally:
        os.close(errors)
    record |= {
        "started_at": f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(started))}.{int(started % 1 * 1000):03}Z",
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
    }
    if (peak := 1024 * used.ru_maxrss) > _BEYOND * least_peak:
        record["peak_rss_bytes"] = peak
    if code:
        *_, last = said.decode(errors="replace").strip().splitlines() or [""]
        how = f"exit code {code}" if code > 0 else f"signal {-code}"
        record["error"] = f"{' '.join(words)!r} ended with {how}" + (f": {last[:200]}" if last else "")
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


def _start(words: list[str], errors: int) -> int:
    nothing = os.open(os.devnull, os.O_RDWR)
    try:
        streams = [(os.POSIX_SPAWN_DUP2, each, number) for number, each in enumerate((nothing, nothing, errors))]
        return os.posix_spawnp(words[0], words, os.environ, file_actions=streams)
    finally:
        os.close(nothing)


def main() -> None:
    _, benchmark, *words, _, workers, _ = sys.argv
    _, _, idle = os.wait4(_start(["true"], 2), 0)
    for _ in sys.stdin:
        print(json.dumps(run(benchmark, words, int(workers), 1024 * idle.ru_maxrss)), flush=True)


if __name__ == "__main__":
    main()
