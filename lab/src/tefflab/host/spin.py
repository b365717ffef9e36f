"""Spins on a core and prints the part of the time that was lost in gaps: `python spin.py CORE SECONDS`. It also prints
the gaps by their length: of 1 to 10 us, to 100 us and so on how many there were, and the seconds that they took.

The bench measures the same beside each run. `teff systems doctor` needs no build, so it starts this program, in which
no other thread makes gaps.
"""

import gc
import json
import os
import sys
from time import perf_counter_ns

GAP = 1_000  # ns, as in the bench: longer than a round of the interpreter, shorter than a switch to another process


def gaps(core: int, seconds: float) -> tuple[float, list[tuple[int, float]]]:
    """Part of `seconds` on `core` that was lost in gaps over one microsecond; and their counts and times by decades."""
    os.sched_setaffinity(0, {core})
    gc.disable()
    found: list[int] = []
    start = last = perf_counter_ns()
    end = start + int(seconds * 1e9)
    while last < end:
        now = perf_counter_ns()
        if now - last > GAP:
            found.append(now - last)
        last = now
    decades: dict[int, list[int]] = {}
    for each in found:
        decades.setdefault(len(str(each)), []).append(each)
    return sum(found) / (last - start), [(len(own), sum(own) / 1e9) for _, own in sorted(decades.items())]


if __name__ == "__main__":
    print(json.dumps(gaps(int(sys.argv[1]), float(sys.argv[2]))))
