"""A bench of real programs without any: answers each line with the record of a run that never took place.

    simulated_real_program.py NAME FACTOR FAULT --workers N --batch
    simulated_real_program.py NAME FACTOR FAULT --identity
    simulated_real_program.py NAME FACTOR FAULT --cases

A program takes FACTOR times its usual time. FAULT: `fine`; `wrong`, its results differ from the results of one thread;
`lacks`, it can't run the second program.
"""

import json
import random
import sys

MILLISECONDS = {"weave": 10.0, "knit_2": 20.0, "spin": 5.0}
CASES = [{"name": name, "flags": f"-program {name}", "group": "textile"} for name in MILLISECONDS]


def record(name: str, factor: float, fault: str, workers: int, line: str, count: int) -> dict[str, object]:
    program = line.split()[1]
    noise = random.Random(f"{name} {line} {count}").gauss(1, 0.01)
    found = "0x0123456789abcde" + ("e" if fault == "wrong" else "f")
    answer: dict[str, object] = {
        "schema": "teff-record-2",
        "benchmark": "programs",
        "system": name,
        "variant": "simulated",
        "version": "1",
        "workers": workers,
        "ranks": 1,
        "started_at": "2026-11-20T22:00:00.123Z",
        "elapsed_seconds": MILLISECONDS[program] * 1e-3 * factor / workers * noise,
        "noise": {
            "cpu_seconds": 0.1,
            "voluntary_switches": 0,
            "involuntary_switches": 0,
            "gap_share_before": 0.0,
            "gap_share_after": 0.0,
        },
        "validation": {"passed": fault != "wrong", "checksum": found, "expected": "0x0123456789abcdef"},
        "peak_rss_bytes": 10 << 20,
        "program": program,
        "way": "looms",
        "size": 7,
        "unit": "threads",
    }
    if fault == "wrong":
        answer["error"] = "wrong result: it is not that of one thread"
    if fault == "lacks" and program == "knit_2":
        answer |= {"error": "it has no looms", "lacks": True}
    return answer


def main() -> None:
    name, factor, fault = sys.argv[1], float(sys.argv[2]), sys.argv[3]
    if "--identity" in sys.argv:
        print(json.dumps({"system": name, "variant": "simulated", "version": "1"}))
    elif "--cases" in sys.argv:
        print("\n".join(json.dumps({"title": each["name"], "workers": "any"} | each) for each in CASES))
    else:
        workers = int(sys.argv[sys.argv.index("--workers") + 1])
        for count, line in enumerate(sys.stdin):
            print(json.dumps(record(name, factor, fault, workers, line, count)), flush=True)


if __name__ == "__main__":
    main()
