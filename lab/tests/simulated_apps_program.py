"""Mini-apps without any: answers each line with the record of a run that never took place.

    simulated_apps_program.py NAME SHARE --workers N --batch
    simulated_apps_program.py NAME SHARE --workers N FLAGS
    simulated_apps_program.py NAME SHARE --identity
    simulated_apps_program.py NAME SHARE --cases

With SIMULATED_TRACE=FILE in the environment, it leaves an empty trace. It computes at that share of the cores' rate.
The system `wrong` loses a tile of Cholesky; `library` has no tasks.
"""

import json
import os
import random
import sys
from pathlib import Path
from typing import Any

CORE = 50e9  # FLOP/s
BOUND = 7.3e-12
CASES: list[dict[str, Any]] = [
    {"name": "gemm-64", "flags": "-app gemm -size 2048 -block 64", "group": "gemm"},
    {"name": "gemm-128", "flags": "-app gemm -size 2048 -block 128", "group": "gemm", "default": False},
    {"name": "cholesky-64", "flags": "-app cholesky -size 2048 -block 64", "group": "cholesky"},
]


def record(name: str, share: float, workers: int, line: str, count: int) -> dict[str, Any]:
    words = line.split()
    said = dict(zip(words[::2], words[1::2], strict=True))
    size, block = int(said["-size"]), int(said["-block"])
    flops = 2.0 * size**3 if said["-app"] == "gemm" else size**3 / 3
    is_wrong = name == "wrong" and said["-app"] == "cholesky"
    answer: dict[str, Any] = {
        "schema": "teff-record-2",
        "benchmark": "apps",
        "system": name,
        "variant": "simulated",
        "version": "1",
        "workers": workers,
        "ranks": 1,
        "started_at": "2026-11-23T00:20:00.123Z",
        "elapsed_seconds": flops / (CORE * workers * share) * random.Random(f"{name} {line} {count}").gauss(1, 0.01),
        "noise": {
            "cpu_seconds": 0.1,
            "voluntary_switches": 0,
            "involuntary_switches": 0,
            "gap_share_before": 0.0,
            "gap_share_after": 0.0,
        },
        "validation": {"passed": not is_wrong, "residual": 1e-3 if is_wrong else 1e-15, "bound": BOUND},
        "parameters": {
            "app": said["-app"],
            "size": size,
            "block": block,
            "blocks": "equal",
            "grid": [1, 1],
            "layers": 1,
        },
        "work": flops,
        "unit": "FLOP",
        "own": {},
        "core_flops_per_second": CORE,
    }
    if name != "library":
        answer |= {"tasks": (size // block) ** 3, "bytes_sent": 0}
    if is_wrong:
        answer["error"] = "the residual is 1.0e-03: rounding explains at most 7.3e-12"
    return answer


def main() -> None:
    name, share = sys.argv[1], float(sys.argv[2])
    if "--identity" in sys.argv:
        print(json.dumps({"system": name, "variant": "simulated", "version": "1"}))
    elif "--cases" in sys.argv:
        print("\n".join(json.dumps({"title": each["name"], "workers": "any"} | each) for each in CASES))
    else:
        at = sys.argv.index("--workers")
        workers, rest = int(sys.argv[at + 1]), sys.argv[at + 2 :]
        for count, line in enumerate(sys.stdin if rest == ["--batch"] else [" ".join(rest)]):
            print(json.dumps(record(name, share, workers, line, count)), flush=True)
        if file := os.environ.get("SIMULATED_TRACE"):
            Path(file).write_text('{"traceEvents": []}')


if __name__ == "__main__":
    main()
