"""Measures the cost of collecting: `python cost.py LIBRARY PROGRAM...`, where PROGRAM is programs.c, compiled.

Plain and collected runs take turns. For each case and length of a body, it prints the ratio of the medians with its
interval of 95 % by bootstrap. It also prints the ratio of the shortest runs, which a busy machine disturbs less.
"""

import json
import os
import subprocess
import sys
import tempfile

import numpy as np

PAIRS = 15
CASES = ("dynamic_loop", "recursion", "tasks", "stencil", "taskloop")
LENGTHS = (500, 1000, 2000, 4000, 8000, 16000)  # ns
TIME = 30e6  # ns of bodies in a run


def wall(program: str, case: str, number: int, iterations: int, library: str = "") -> float:
    with tempfile.TemporaryDirectory() as folder:
        collected = {"LD_PRELOAD": library, "TEFF_COLLECT": folder} if library else {}
        environment = {"OMP_NUM_THREADS": "2", "OMP_PROC_BIND": "true"} | dict(os.environ) | collected
        words = [program, case, "1", str(number), str(iterations)]
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    return float(json.loads(done.stdout)["wall"])


def main(library: str, *programs: str) -> None:
    random = np.random.default_rng(1)
    for program in programs:
        least = min(wall(program, "recursion", 1, 10_000_000) for _ in range(5))
        ns = least / 10_000_000
        for case in CASES:
            for length in LENGTHS:
                work = (int(TIME / length), max(1, int(length / ns)))
                pairs = [(wall(program, case, *work), wall(program, case, *work, library)) for _ in range(PAIRS)]
                plain, collected = np.array(pairs).T
                again = random.integers(0, PAIRS, (1000, PAIRS))
                ratios = np.median(collected[again], axis=1) / np.median(plain[again], axis=1)
                low, high = np.percentile(ratios, [2.5, 97.5])
                ratio = np.median(collected) / np.median(plain)
                least = collected.min() / plain.min()
                efficiency = work[0] * length / 2 / np.median(plain)
                interval = f"{ratio:.3f} ({low:.3f} to {high:.3f})"
                print(
                    f"{program} {case} {length} ns: {interval}, least {least:.3f}, efficiency {efficiency:.0%}",
                    flush=True,
                )


if __name__ == "__main__":
    main(*sys.argv[1:])
