"""A program of the spawn patterns without any: answers each line with the record of a run that never took place.

    simulated_spawn_program.py NAME NANOSECONDS FAULT --workers N --batch
    simulated_spawn_program.py NAME NANOSECONDS FAULT --identity
    simulated_spawn_program.py NAME NANOSECONDS FAULT --cases

NANOSECONDS a task on one worker, half of it on two. FAULT: `fine`; `dies` or `lies` (an invalid record) at its third
answer; `drops` a task, so that every record has an error. With `noisy`, every other run is noisy and takes tenfold,
memory too. With `drifts:FILE`, no two launches are equally quick; FILE counts them.
"""

import json
import random
import sys
from pathlib import Path

DRIFT = (0.95, 1.1, 0.9, 1.05)
TASKS = 1 << 20
TREES = ("T1", "T1L", "T2", "T3", "T5")
CASES = [
    {"name": "serial", "flags": "-pattern serial"},
    {"name": "parallel", "flags": "-pattern parallel"},
    {"name": "fib-both", "flags": "-pattern fibonacci -spawn both", "group": "fibonacci"},
    {"name": "fib-one", "flags": "-pattern fibonacci -spawn one", "group": "fibonacci"},
    *(
        {"name": f"tree-{tree}", "flags": f"-pattern tree -tree {tree}", "group": "tree", "default": tree == "T3"}
        for tree in TREES
    ),
]


def record(name: str, nanoseconds: float, fault: str, workers: int, line: str, count: int) -> dict[str, object]:
    noise = random.Random(f"{name} {line} {count}").gauss(1, 0.01)
    noisy = fault == "noisy" and count % 2 == 1
    _, _, said = line.partition(" -tasks ")
    tasks = int(said or TASKS)
    ran = tasks - 1 if fault == "drops" else tasks
    answer: dict[str, object] = {
        "schema": "teff-record-2",
        "benchmark": "spawn",
        "system": name,
        "variant": "simulated",
        "version": "1",
        "workers": workers,
        "ranks": 1,
        "pattern": "serial",
        "parameters": {"tasks": tasks},
        "tasks": ran,
        "elapsed_seconds": tasks * nanoseconds * 1e-9 / workers * noise * (10 if noisy else 1),
        "peak_rss_bytes": (100 if noisy else 10) << 20,
        "peak_rss_above_empty_bytes": 6 << 20,
        "validation": {"passed": ran == tasks, "found": {"tasks": ran}, "expected": {"tasks": tasks}},
        "noise": {
            "cpu_seconds": 0.1,
            "voluntary_switches": 0,
            "involuntary_switches": 0,
            "gap_share_before": 0.5 if noisy else 0.0,
            "gap_share_after": 0.0,
        },
        "started_at": "2026-11-20T22:00:00.123Z",
    }
    if fault == "drops":
        answer["error"] = f"{ran} null tasks ran where {tasks} were spawned"
    return answer


def main() -> None:
    name, nanoseconds, fault = sys.argv[1], float(sys.argv[2]), sys.argv[3]
    if "--identity" in sys.argv:
        print(json.dumps({"system": name, "variant": "simulated", "version": "1"}))
        return
    if "--cases" in sys.argv:
        print("\n".join(json.dumps({"title": each["name"], "workers": "any"} | each) for each in CASES))
        return
    workers = int(sys.argv[sys.argv.index("--workers") + 1])
    if fault.startswith("drifts:"):
        counter = Path(f"{fault.removeprefix('drifts:')}.{workers}")
        launch = len(counter.read_bytes()) if counter.exists() else 0
        counter.write_bytes(b"." * (launch + 1))
        nanoseconds *= DRIFT[launch % len(DRIFT)]
    for count, line in enumerate(sys.stdin):
        answer = record(name, nanoseconds, fault, workers, line, count)
        if count >= 2 and fault == "dies":
            sys.exit("simulated: a worker has died")
        if count >= 2 and fault == "lies":
            answer["validation"] = {"passed": True, "found": {"tasks": 1}, "expected": {"tasks": 2}}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
