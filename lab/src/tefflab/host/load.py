"""A load: competitors that take a share of chosen cores while a program is measured, and the share that they got.

The load `spin:50@1` spins and takes 50 % of core 1. The load `primes:25@0,1/100ms` sieves and takes 25 % of each of two
cores, in periods of 100 ms. `spin:25,50@1` are two loads, one after the other. For each core the lab starts a process,
the competitor (`competitor.py`).
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import psutil

from tefflab.durations import seconds
from tefflab.errors import InputError, TeffError
from tefflab.host.processes import end, family

KINDS = ("spin", "primes", "compile")
PERIOD = "10ms"  # of a load that does not say it
_LEAST_PERIOD, _MOST_PERIOD = 0.001, 0.1  # seconds
_TICKS = os.sysconf("SC_CLK_TCK")
_STARTS = 10.0  # seconds in which a competitor says that it is ready
_LOOK = 0.0005  # seconds between two looks whether one is suspended
_NS = 1e9


@dataclass(frozen=True, slots=True)
class Load:
    """`percent` of each of the `cores`, in every `period`."""

    kind: str
    percent: float
    cores: tuple[int, ...]
    period: str = PERIOD

    @classmethod
    def parse(cls, text: str) -> Self:
        """The only load of a text. InputError for a text that is no load, or not one of this machine."""
        (found,) = cls.parse_all(text)
        return found

    @classmethod
    def parse_all(cls, text: str, percents: str = "") -> list[Self]:
        """The loads of `KIND:PERCENT,PERCENT@CORE,CORE/PERIOD`, rising; none of an empty text. Without cores they are
        on the last one, and without percentages they take `percents`. InputError as `parse`."""
        if not text:
            return []
        words, _, period = text.partition("/")
        before, has_cores, cores = words.partition("@")
        kind, _, shares = before.partition(":")
        try:
            on = tuple(dict.fromkeys(map(int, cores.split(",")))) if has_cores else (max(os.sched_getaffinity(0)),)
            rising = sorted({float(share) for share in (shares or percents).split(",")})
        except ValueError:
            raise InputError(
                f"{text!r} is no load: say kind, percentage and cores, as spin:50@1 or primes:25@0,1/100ms"
            ) from None
        return [cls(kind, share, on, period or PERIOD) for share in rising]

    def __str__(self) -> str:
        period = "" if self.period == PERIOD else f"/{self.period}"
        return f"{self.kind}:{self.percent:g}@{','.join(map(str, self.cores))}{period}"

    def __post_init__(self) -> None:
        """InputError for a kind, a percentage, a core or a period that there is not."""
        if self.kind not in KINDS:
            raise InputError(f"no load is called {self.kind!r}; there are: {' '.join(KINDS)}")
        if not 0 < self.percent <= 100:
            raise InputError(f"a load of {self.percent:g} %: give a percentage above 0 and up to 100")
        here = sorted(os.sched_getaffinity(0))
        if unknown := [core for core in self.cores if core not in here]:
            raise InputError(f"core {unknown[0]} can't be used here; there are: {' '.join(map(str, here))}")
        if not _LEAST_PERIOD <= self.seconds <= _MOST_PERIOD:
            raise InputError(f"a period of {self.period}: give one from 1ms to 100ms")

    @property
    def share(self) -> float:
        return self.percent / 100

    @property
    def seconds(self) -> float:
        """The period."""
        return seconds(self.period)


class Competitors(AbstractContextManager["Competitors"]):
    """The processes of a load; they run within `running` only. Use it in a `with`: they are ended when that is left,
    and whenever this process ends."""

    def __init__(self, load: Load, root: Path) -> None:
        """`root`: the checkout whose sources are compiled. TeffError where a competitor can't be started."""
        self.load = load
        self.share = 0.0  # of each core that they got in the latest `running`, on average
        self._processes: list[subprocess.Popen[str]] = []
        sources = sorted((root / "runtime" / "src").rglob("*.cpp")) if load.kind == "compile" else []
        if load.kind == "compile" and not sources:
            raise TeffError(f"the load compile reads the sources in {root / 'runtime' / 'src'}, and there are none")
        command = [sys.executable, str(Path(__file__).with_name("competitor.py")), load.kind]
        try:
            for core in load.cores:
                words = [str(core), str(load.share), str(load.seconds), str(os.getpid()), *map(str, sources)]
                process = subprocess.Popen(
                    [*command, *words],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    errors="replace",
                    start_new_session=True,  # its weight is its session's, and Ctrl-C is the lab's
                )
                self._processes.append(process)
            for process in self._processes:
                if not (process.stdout and process.stdout.readline().strip() == "ready"):
                    raise TeffError(f"a load can't be started: {_words(process)}")
                _await_stop(process)
        except BaseException:
            self.close()
            raise

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def pids(self) -> list[int]:
        return [process.pid for process in self._processes]

    @contextmanager
    def running(self) -> Iterator[None]:
        """Within it the competitors take their share; afterwards `share` says what they got. TeffError if one has
        ended."""
        self._signal(signal.SIGCONT)
        before, began = self._seconds(), time.monotonic()
        try:
            yield
        finally:
            took = time.monotonic() - began
            self.share = max(self._seconds() - before, 0.0) / (took * len(self._processes))
            self._signal(signal.SIGUSR1)
            for process in self._processes:
                _await_stop(process)

    def close(self) -> None:
        """Ends them."""
        while self._processes:
            end(self._processes.pop())

    def _signal(self, number: signal.Signals) -> None:
        for process in self._processes:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(number)

    def _seconds(self) -> float:
        return sum(map(cpu_seconds, self.pids))


def cpu_seconds(pid: int) -> float:
    """CPU time of a process and of all processes that it has started [s]. The scheduler counts it for live processes;
    for ended ones it is rounded to the kernel's clock tick."""
    return sum(_of_one(each.pid) for each in family(pid))


def _of_one(pid: int) -> float:
    with contextlib.suppress(OSError, ValueError, IndexError):
        own = int(Path(f"/proc/{pid}/schedstat").read_text(encoding="utf-8").split()[0]) / _NS
        of_stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return own + (int(of_stat[13]) + int(of_stat[14])) / _TICKS  # cutime and cstime
    return 0.0


def _await_stop(process: "subprocess.Popen[str]") -> None:
    """Waits until it is suspended: a signal to go on that comes before would be lost. TeffError where it has ended."""
    deadline = time.monotonic() + _STARTS
    while process.poll() is None and time.monotonic() < deadline:
        if psutil.Process(process.pid).status() == psutil.STATUS_STOPPED:
            return
        time.sleep(_LOOK)
    raise TeffError(f"a load does not run: {_words(process)}")


def _words(process: "subprocess.Popen[str]") -> str:
    assert process.stderr is not None
    process.kill()
    process.wait()
    lines = process.stderr.read().strip().splitlines()
    return lines[-1] if lines else f"exit code {process.returncode}"
