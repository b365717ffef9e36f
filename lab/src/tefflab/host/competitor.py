"""Takes a share of one core, period after period: `python competitor.py KIND CORE SHARE PERIOD PARENT [SOURCE...]`.

KIND is its work: `spin` reads a clock, `primes` sieves, and `compile` starts the compiler for one SOURCE after another.
SHARE is from 0 to 1, PERIOD is in seconds. It begins suspended, SIGCONT lets it go on, and SIGUSR1 suspends it again
with its compiler. Each time it prints the CPU seconds that it has used, and the time. It ends with the process PARENT.

In each period it works until its CPU time is up, and sleeps for the rest. It does not make up for a share that it did
not get. Like `spin.py`, this is a separate program without the lab.
"""

import contextlib
import ctypes
import gc
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from itertools import cycle
from pathlib import Path

_SET_PDEATHSIG = 1  # of <linux/prctl.h>
SEGMENT = 1 << 12  # numbers that are sieved between two looks at the clock: some 50 us
FIRST, _LAST = 1 << 10, 1 << 20  # numbers that are sieved, again and again
_LOOK = 0.001  # seconds at most between two looks at a compiler's CPU time
_NS = 1e9
_HANDLED = (signal.SIGUSR1, signal.SIGTERM)


class Work:
    """The use of the core: work of this thread, in steps of microseconds."""

    def __init__(self, step: Callable[[], object]) -> None:
        self._step = step

    def used(self) -> float:
        """CPU seconds so far."""
        return time.thread_time_ns() / _NS

    def go_on(self, most: float) -> None:
        """Works for a moment, and for hardly more than `most` CPU seconds."""
        end = time.thread_time_ns() + most * _NS
        deadline = time.monotonic_ns() + most * _NS
        while time.thread_time_ns() < end and time.monotonic_ns() < deadline:
            self._step()

    def pause(self) -> None:
        """Works no more until `go_on`."""

    def end(self) -> None:
        """Leaves nothing that runs."""


class Compiling(Work):
    """A process of the compiler after another. Each leads a process group, which the competitor stops as a whole."""

    def __init__(self, sources: Sequence[str]) -> None:
        self._sources = cycle(sources)
        self._running: subprocess.Popen[bytes] | None = None
        self._left = self._number = len(sources)  # failures in a row until none compiles
        self._most = 0.0

    def used(self) -> float:
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        live = sum(map(_seconds_of, _family(self._running.pid))) if self._running else 0.0
        # A compiler's time is nowhere while the driver that started it has waited for it and has not ended.
        self._most = max(self._most, time.process_time() + ended.ru_utime + ended.ru_stime + live)
        return self._most

    def go_on(self, most: float) -> None:
        if self._has_ended():
            source = next(self._sources)
            command = ["c++", "-std=c++20", "-fsyntax-only", "-w", *_includes(source), source]
            # A signal to suspend or to end that came between the fork and the assignment would miss the compiler.
            signal.pthread_sigmask(signal.SIG_BLOCK, _HANDLED)
            self._running = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, process_group=0
            )
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _HANDLED)
        else:
            self._send(signal.SIGCONT)
        time.sleep(max(min(most, _LOOK), 0.0))

    def pause(self) -> None:
        self._send(signal.SIGSTOP)

    def end(self) -> None:
        self._send(signal.SIGKILL)

    def _has_ended(self) -> bool:
        code = self._running.poll() if self._running else 0
        if code is not None:
            self._left = self._left - 1 if code else self._number
        if not self._left:
            sys.exit("no source compiles")
        return code is not None

    def _send(self, number: signal.Signals) -> None:
        if self._running is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._running.pid, number)


def _family(pid: int) -> list[str]:
    with contextlib.suppress(OSError):
        return [str(pid), *Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return [str(pid)]


def _seconds_of(pid: str) -> float:
    """CPU seconds of a process; none if it has ended."""
    with contextlib.suppress(OSError, ValueError):
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / _NS
    return 0.0


def _includes(source: str) -> list[str]:
    """Every folder above a source that has headers for it."""
    folders = (folder / name for folder in Path(source).parents for name in ("include", "src"))
    return [f"-I{folder}" for folder in folders if folder.is_dir()]


def sieve() -> Callable[[], object]:
    """Each call sieves the next segment of numbers for primes."""
    small = [number for number in range(2, FIRST) if all(number % each for each in range(2, int(number**0.5) + 1))]
    segments = (start for _ in iter(int, 1) for start in range(FIRST, _LAST - SEGMENT, SEGMENT))

    def step() -> int:
        start = next(segments)
        is_prime = bytearray(b"\1") * SEGMENT
        for prime in small:
            first = -start % prime
            is_prime[first::prime] = bytes(len(range(first, SEGMENT, prime)))
        return sum(is_prime)

    return step


def take(work: Work, share: float, period: float) -> None:
    """For ever."""
    allowed = work.used()
    end = time.monotonic()
    while True:
        # Work beyond the share counts against the next period. A share that the competitor did not get is lost.
        used = work.used()
        allowed = min(allowed, used) + share * period
        end = max(end, time.monotonic() - period) + period
        while used < allowed and time.monotonic() < end:
            work.go_on(allowed - used)
            used = work.used()
        left = end - time.monotonic()
        if share < 1 and left > 0:
            work.pause()
            time.sleep(left)


def main() -> None:
    kind, core, share, period, parent, *sources = sys.argv[1:]
    work = Compiling(sources) if kind == "compile" else Work(sieve() if kind == "primes" else time.thread_time_ns)

    def suspend(*_: object) -> None:
        work.pause()
        print(work.used(), time.monotonic(), flush=True)
        os.kill(os.getpid(), signal.SIGSTOP)

    def leave(*_: object) -> None:
        work.end()
        os._exit(0)

    signal.signal(signal.SIGUSR1, suspend)
    signal.signal(signal.SIGTERM, leave)
    ctypes.CDLL(None, use_errno=True).prctl(_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != int(parent):  # it has ended before
        sys.exit(1)
    os.sched_setaffinity(0, {int(core)})
    with contextlib.suppress(OSError):  # it takes precedence over other programs where that is permitted
        os.setpriority(os.PRIO_PROCESS, 0, -20)
    with contextlib.suppress(OSError):  # where the kernel gives each session one weight, this is that weight
        Path("/proc/self/autogroup").write_text("-20")
    gc.disable()
    suspend()
    take(work, float(share), float(period))


if __name__ == "__main__":
    main()
