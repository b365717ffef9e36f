"""A load: competitors that take a share of chosen cores while a program is measured, and the share that they got.

`spin:50@1` spins and takes 50 % of core 1. `primes:25@0,1/100ms` sieves and takes 25 % of each of two cores, in periods
of 100 ms. `spin:25,50@1` are two loads. For each core the lab starts a process, the competitor (`competitor.py`).
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
from tefflab.host.processes import end

KINDS = ("spin", "primes", "compile")
PERIOD = "10ms"  # of a load that does not say it
_LEAST_PERIOD, _MOST_PERIOD = 0.001, 0.1  # seconds
_STARTS = 10.0  # seconds in which a competitor says that it is ready
_LOOK = 0.0005  # seconds between two looks whether one is suspended


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
        here = os.sched_getaffinity(0)
        with contextlib.suppress(ValueError):
            on = tuple(dict.fromkeys(map(int, cores.split(",")))) if has_cores else (max(here),)
            rising = sorted({float(share) for share in (shares or percents).split(",")})
            found = [cls(kind, share, on, period or PERIOD) for share in rising]
            is_right = kind in KINDS and here.issuperset(on) and all(0 < share <= 100 for share in rising)
            if is_right and _LEAST_PERIOD <= found[0].seconds <= _MOST_PERIOD:
                return found
        kinds, ours = " ".join(KINDS), " ".join(map(str, sorted(here)))
        raise InputError(
            f"{text!r} is no load here: say kind, percentage and cores, as spin:50@1 or primes:25@0,1/100ms; there are "
            f"the kinds {kinds}, percentages above 0 and up to 100, the cores {ours}, and periods from 1ms to 100ms"
        )

    def __str__(self) -> str:
        period = "" if self.period == PERIOD else f"/{self.period}"
        return f"{self.kind}:{self.percent:g}@{','.join(map(str, self.cores))}{period}"

    @property
    def share(self) -> float:
        return self.percent / 100

    @property
    def seconds(self) -> float:
        """The period."""
        return seconds(self.period)


class Competitors(AbstractContextManager["Competitors"]):
    """The processes of a load, which run within `running` only, and end with the `with` or with this process."""

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
            self._before = self._suspended()
        except BaseException:
            self.close()
            raise

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Within it they take their share; afterwards `share` says what they got. TeffError if one has ended."""
        self._signal(signal.SIGCONT)
        began = time.monotonic()
        try:
            yield
        finally:
            self._signal(signal.SIGUSR1)
            after = self._suspended()
            got = [(used - one) / (at - began) for (one, _), (used, at) in zip(self._before, after, strict=True)]
            self.share = sum(got) / len(got)
            self._before = after

    def close(self) -> None:
        """Ends them."""
        while self._processes:
            end(self._processes.pop())

    def _signal(self, number: signal.Signals) -> None:
        for process in self._processes:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(number)

    def _suspended(self) -> list[tuple[float, float]]:
        """The CPU seconds that each has used, and the time when it was suspended."""
        found = []
        for process in self._processes:
            said = process.stdout.readline().split() if process.stdout else []
            _await_stop(process)
            found.append((float(said[0]), float(said[1])))
        return found


def _await_stop(process: "subprocess.Popen[str]") -> None:
    """Waits until it is suspended: a signal to go on that comes before would be lost. TeffError where it has ended."""
    deadline = time.monotonic() + _STARTS
    while process.poll() is None and time.monotonic() < deadline:
        if psutil.Process(process.pid).status() == psutil.STATUS_STOPPED:
            return
        time.sleep(_LOOK)
    process.kill()
    process.wait()
    said = process.stderr.read().strip().splitlines() if process.stderr else []
    raise TeffError(f"a load does not run: {said[-1] if said else f'exit code {process.returncode}'}")
