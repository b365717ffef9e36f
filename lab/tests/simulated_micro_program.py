"""Micro-benchmarks without any: answers each line with the record of a run that never took place.

    simulated_micro_program.py NAME NANOSECONDS --workers N --batch
    simulated_micro_program.py NAME NANOSECONDS --identity
    simulated_micro_program.py NAME NANOSECONDS --cases

A task takes so long besides what it spins. The system `eager` can't make tasks before they begin.
"""

import json
import random
import sys
from typing import Any

CASES = [
    {"name": "loose", "flags": "-rows 10 -columns 100", "group": "brief"},
    {"name": "early", "flags": "-rows 10 -columns 100 -inserted", "group": "brief"},
    {"name": "tied_2", "flags": "-rows 10 -columns 100 -dependences 2", "group": "brief"},
    {"name": "tied_2_us", "flags": "-rows 10 -columns 100 -dependences 2 -spin 1e-06", "group": "long"},
    *(
        {
            "name": f"taken_{us}_us",
            "flags": f"-rows 10 -columns 100 -spin {us}e-06",
            "bodies": "chunk",
            "default": False,
        }
        for us in (1, 2, 3)
    ),
]


def record(name: str, nanoseconds: float, workers: int, line: str, count: int) -> dict[str, Any]:
    words = [word for word in line.split() if word != "-inserted"]
    said = dict(zip(words[::2], words[1::2], strict=True))
    columns, rows = int(said["-columns"]), int(said["-rows"])
    dependences, spin = int(said.get("-dependences", 0)), float(said.get("-spin", 0))
    inserted = "-inserted" in line
    noise = random.Random(f"{name} {line} {count}").gauss(1, 0.01)
    answer: dict[str, Any] = {
        "schema": "teff-record-2",
        "benchmark": "micro",
        "system": name,
        "variant": "simulated",
        "version": "1",
        "workers": workers,
        "ranks": 1,
        "started_at": "2026-11-20T22:00:00.123Z",
        "elapsed_seconds": rows * columns / workers * (spin + nanoseconds * 1e-9 * (1 + dependences)) * noise,
        "noise": {
            "cpu_seconds": 0.1,
            "voluntary_switches": 0,
            "involuntary_switches": 0,
            "gap_share_before": 0.0,
            "gap_share_after": 0.0,
        },
        "validation": {"passed": True, "checksum": "0x0123456789abcdef", "expected": "0x0123456789abcdef"},
        "parameters": {
            "rows": rows,
            "columns": columns,
            "dependences": dependences,
            "spin_seconds": spin,
            "inserted": inserted,
        },
        "tasks": rows * columns,
        "dependencies": rows * (columns - 1) * dependences,
    }
    if name == "eager" and inserted:
        answer |= {"error": "its tasks begin when they are made", "lacks": True}
    return answer


def main() -> None:
    name, nanoseconds = sys.argv[1], float(sys.argv[2])
    if "--identity" in sys.argv:
        print(json.dumps({"system": name, "variant": "simulated", "version": "1"}))
    elif "--cases" in sys.argv:
        print("\n".join(json.dumps({"title": each["name"], "workers": "any"} | each) for each in CASES))
    else:
        workers = int(sys.argv[sys.argv.index("--workers") + 1])
        for count, line in enumerate(sys.stdin):
            print(json.dumps(record(name, nanoseconds, workers, line, count)), flush=True)


if __name__ == "__main__":
    main()
