"""A bench program without a bench: answers each line of a batch with the record of a run that never took place.

    simulated_program.py NAME OVERHEAD FAULT ... --batch
    simulated_program.py NAME OVERHEAD FAULT [--workers N] FLAGS     one run
    simulated_program.py NAME OVERHEAD FAULT --identity

OVERHEAD in seconds a task; a ceiling has 0. FAULT: at its third question `dies`, `is_killed`, `loses_a_rank` or
`hangs`; `invalid` records from the third on; `refuses` flags; `is_mute`. With `stumbles`, its first two runs take
100000 times as long. Its times are exact but for 1 % of noise that depends on the question alone.
"""

import json
import os
import random
import shlex
import signal
import sys
import time
from pathlib import Path

WORKERS = 2
VERSION = os.environ.get("SIMULATED_VERSION", "1")
FLOPS_PER_ITERATION = 128
ROUND_TRIP = 50e-9  # seconds, of cores that are near to each other
FAR = 3.0  # the factor of a round trip and of an empty task, with the cores far from each other
QUESTIONS = 120  # until the host moves them again
GAPS = float(os.environ.get("SIMULATED_GAPS", "0"))  # share of the time that each run says it lost
SECONDS_PER_ITERATION = float(os.environ.get("SIMULATED_SECONDS", "1.28e-9"))  # of one task on one core


def flags_of(line: str) -> dict[str, str]:
    words = shlex.split(line)
    first, *_ = " ".join(words).split(" -and ")
    names, values = first.split()[::2], first.split()[1::2]
    return dict(zip((name.lstrip("-") for name in names), values, strict=True))


def is_far() -> bool:
    """Whether the simulated host holds the cores apart: it moves them every so many questions to any program."""
    asked = os.environ.get("SIMULATED_HOST")
    if asked is None:
        return False
    with Path(asked).open("ab") as file:
        file.write(b".")
        return file.tell() // QUESTIONS % 2 == 1


def record(name: str, overhead: float, line: str, count: int) -> dict[str, object]:
    flags = flags_of(line)
    steps, width, iterations = int(flags["steps"]), int(flags["width"]), int(flags["iter"])
    tasks = steps * width
    flops = 0 if flags["kernel"] == "empty" else tasks * FLOPS_PER_ITERATION * iterations
    far = is_far()
    overhead *= FAR if far else 1
    noise = random.Random(f"{name} {line} {count}").gauss(1, 0.01)
    granularity = (overhead + iterations * SECONDS_PER_ITERATION + 1e-12) * noise
    graph = {
        "type": flags["type"],
        "steps": steps,
        "width": width,
        "radix": 3,
        "period": 0,
        "fraction": 0.25,
        "kernel": flags["kernel"],
        "iterations": iterations,
        "samples": 16,
        "imbalance": 0.0,
        "persistent_imbalance": False,
        "output_bytes": 16,
        "scratch_bytes": 0,
    }
    return {
        "schema": "teff-record-2",
        "benchmark": "task_graph",
        "system": name,
        "variant": "simulated",
        "version": VERSION,
        "graphs": [graph],
        "nodes": 0,
        "workers": WORKERS,
        "ranks": 1,
        "isa": "avx2",
        "elapsed_seconds": granularity * tasks / WORKERS,
        "tasks": tasks,
        "dependencies": 0,
        "flops": 0 if flags["kernel"] == "memory_bound" else flops,
        "bytes": flops if flags["kernel"] == "memory_bound" else 0,
        "local_dependencies": None,
        "nonlocal_dependencies": None,
        "validation": {
            "enabled": True,
            "passed": True,
            "checksum": f"{1:#018x}",
            "expected": f"{1:#018x}",
            "error": None,
        },
        "noise": {
            "cpu_seconds": 0.1,
            "voluntary_switches": 0,
            "involuntary_switches": 0,
            "gap_share_before": GAPS,
            "gap_share_after": 0.0,
            "round_trip_seconds": ROUND_TRIP * (FAR if far else 1),
        },
        "started_at": "2026-11-20T22:00:00.123Z",
    }


def main() -> None:
    name, overhead, fault = sys.argv[1], float(sys.argv[2]), sys.argv[3]
    rest = sys.argv[4:]
    asked = int(rest[rest.index("--workers") + 1]) if "--workers" in rest else WORKERS
    workers = 1 if fault == "is_limited" else asked
    if rest == ["--identity"]:
        print(json.dumps({"system": name, "variant": "simulated", "version": VERSION}))
        return
    if "--batch" not in rest:
        if fault == "refuses":
            print("error: -type: there is no 'stensil'", file=sys.stderr)
            sys.exit(2)
        print(json.dumps(record(name, overhead, " ".join(rest), 0) | {"workers": workers}))
        return
    for count, line in enumerate(sys.stdin):
        answer = record(name, overhead, line, count) | {"workers": workers}
        if count >= 2 and fault == "dies":
            sys.exit("simulated: rank 1 of 2 has died")
        if count >= 2 and fault == "is_killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if count >= 2 and fault == "loses_a_rank":
            sys.exit(128 + signal.SIGKILL)  # as mpirun does
        if fault == "is_mute" or (count >= 2 and fault == "hangs"):
            time.sleep(3600)
        if count >= 2 and fault == "invalid":
            answer["error"] = "task 3 at timestep 7 ran twice"
        if count < 2 and fault == "stumbles":
            answer["elapsed_seconds"] = 1e5 * float(str(answer["elapsed_seconds"]))
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
