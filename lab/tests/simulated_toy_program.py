"""A program of the toy benchmark, which naps without napping.

simulated_toy_program.py NAME SECONDS [--identity | --cases | --workers N --batch]
"""

import json
import random
import sys

CASES = [
    {
        "name": "short",
        "title": "after a short night",
        "flags": "-nap short",
        "default": True,
        "group": "",
        "workers": "any",
    },
    {"name": "long", "title": "long", "flags": "-nap long", "default": True, "group": "", "workers": "1"},
]


def record(name: str, seconds: float, workers: int, line: str, count: int) -> dict[str, object]:
    took = seconds * (10 if "long" in line else 1) * random.Random(f"{name} {line} {count}").gauss(1, 0.01)
    noise = dict.fromkeys(("cpu_seconds", "gap_share_before", "gap_share_after"), 0.0)
    return {
        "schema": "teff-record-2",
        "benchmark": "toy",
        "system": name,
        "variant": "simulated",
        "version": "1",
        "workers": workers,
        "ranks": 1,
        "started_at": "2026-11-20T22:00:00.123Z",
        "elapsed_seconds": 2 * took,
        "noise": noise | {"voluntary_switches": 0, "involuntary_switches": 0},
        "validation": {"passed": True},
        "nap_seconds": took,
        "slept_share": 0.9,
    }


def main() -> None:
    name, seconds = sys.argv[1], float(sys.argv[2])
    if "--identity" in sys.argv:
        print(json.dumps({"system": name, "variant": "simulated", "version": "1"}))
    elif "--cases" in sys.argv:
        print("\n".join(map(json.dumps, CASES)))
    else:
        workers = int(sys.argv[sys.argv.index("--workers") + 1])
        for count, line in enumerate(sys.stdin):
            print(json.dumps(record(name, seconds, workers, line, count)), flush=True)


if __name__ == "__main__":
    main()
