"""Spins on a core and prints the part of the time that was lost in gaps: `python spin.py CORE SECONDS`.

The bench measures the same beside each run. `teff systems doctor` needs no build, so it starts this program, in which
no other thread makes gaps.
"""

import gc
import os
import sys
from time import perf_counter_ns

GAP = 1_000  # ns, as in the bench: longer than a round of the interpreter, shorter than a switch to another process


def gap_share(core: int, seconds: float) -> float:
    """Part of `seconds` on `core` that was lost in gaps over one microsecond."""
    os.sched_setaffinity(0, {core})
    gc.disable()
    lost = 0
    start = last = perf_counter_ns()
    end = start + int(seconds * 1e9)
    while last < end:
        now = perf_counter_ns()
        if now - last > GAP:
            lost += now - last
        last = now
    return lost / (last - start)


if __name__ == "__main__":
    print(gap_share(int(sys.argv[1]), float(sys.argv[2])))
