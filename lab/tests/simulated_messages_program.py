"""Two ranks without any: answers each line with the record of a run that never took place.

    simulated_messages_program.py NAME FACTOR --workers N --batch
    simulated_messages_program.py NAME FACTOR --identity
    simulated_messages_program.py NAME FACTOR --cases

A message takes FACTOR times its usual time. The system `lossy` loses some.
"""

import json
import random
import sys
from typing import Any

CASES = [
    {"name": "64KiB", "flags": "-pattern one_way -bytes 65536 -turns 9", "group": "lengths"},
    {
        "name": "flood",
        "flags": "-pattern burst -window 1000 -turns 9",
        "group": "floods",
        "title": "9 before an answer",
    },
    {"name": "rest", "flags": "-pattern idle -idle 0.5", "group": "", "title": "CPU time in 10 s"},
]
SECONDS = {"one_way": 20e-6, "burst": 80e-9, "idle": 20.0}
KEYS = {"-bytes": "bytes", "-window": "window", "-turns": "turns"}


def record(name: str, factor: float, line: str, count: int) -> dict[str, Any]:
    words = line.split()
    said = dict(zip(words[::2], words[1::2], strict=True))
    pattern = said["-pattern"]
    parameters: dict[str, object] = {"pattern": pattern}
    parameters |= {KEYS[flag]: int(value) for flag, value in said.items() if flag in KEYS}
    if "-idle" in said:
        parameters["idle_seconds"] = float(said["-idle"])
    noise = random.Random(f"{name} {line} {count}").gauss(1, 0.01)
    sum_ = "0x0123456789abcdef"
    ranks = [{"messages": 9, "checksum": sum_, "expected": sum_} for _ in range(2)]
    answer: dict[str, Any] = {
        "schema": "teff-record-2",
        "benchmark": "messages",
        "system": name,
        "variant": "simulated",
        "version": "1",
        "workers": 2,
        "ranks": 2,
        "started_at": "2026-11-20T22:00:00.123Z",
        "elapsed_seconds": 0.1,
        "noise": {
            "cpu_seconds": 0.1,
            "voluntary_switches": 0,
            "involuntary_switches": 0,
            "gap_share_before": 0.0,
            "gap_share_after": 0.0,
        },
        "validation": {"passed": name != "lossy", "ranks": ranks},
        "parameters": parameters,
        "seconds": SECONDS[pattern] * factor * noise,
    }
    if name == "lossy":
        answer["error"] = "rank 1 lost one"
    return answer


def main() -> None:
    name, factor = sys.argv[1], float(sys.argv[2])
    if "--identity" in sys.argv:
        print(json.dumps({"system": name, "variant": "simulated", "version": "1"}))
    elif "--cases" in sys.argv:
        print("\n".join(json.dumps({"title": each["name"], "workers": "2"} | each) for each in CASES))
    else:
        for count, line in enumerate(sys.stdin):
            print(json.dumps(record(name, factor, line, count)), flush=True)


if __name__ == "__main__":
    main()
