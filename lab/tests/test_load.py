"""Loads: how they are written, the share that a competitor takes, and its end."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tefflab.durations import seconds
from tefflab.errors import TeffError
from tefflab.host import competitor
from tefflab.host.load import Competitors, Load

ROOT = Path(__file__).parents[2]
CORE = min(os.sched_getaffinity(0))
FEW = 0.02  # seconds of CPU time, of which a stopped compiler uses none
SOON = 30.0  # seconds after which a process will not end any more
_HOLDS_LOAD = """
import os, sys
from pathlib import Path
from tefflab.host.load import Competitors, Load

with Competitors(Load.parse(sys.argv[1]), Path(sys.argv[2])) as competitors:
    with competitors.running():
        print("runs", flush=True)
        sys.stdin.read()
"""


@pytest.mark.parametrize("text", [f"spin:50@{CORE}", f"primes:12.5@{CORE}", f"compile:100@{CORE}/100ms"])
def test_a_load_is_written_as_it_is_read(text: str) -> None:
    assert str(Load.parse(text)) == text


def test_a_time_is_read_with_either_of_the_two_letters_for_micro() -> None:
    sign, greek = chr(0xB5), chr(0x3BC)
    assert seconds(f"300{sign}s") == seconds(f"300 {greek}s") == seconds("300us") == pytest.approx(3e-4)
    assert Load.parse(f"spin:50@{CORE}/2000{greek}s").seconds == pytest.approx(2e-3)
    with pytest.raises(TeffError, match=f"'3 days' is no duration: say it like 3ms or 50us .s ms us {sign}s ns.$"):
        seconds("3 days")


@pytest.mark.parametrize(
    "text",
    [
        "spin",
        "spin:50@",
        "spin:x@0",
        "dig:50@0",
        "spin:0@0",
        "spin:101@0",
        "spin:nan@0",
        "spin:50@4097",
        f"spin:50@{CORE}/1s",
    ],
)
def test_a_load_that_is_none_is_refused_with_the_rule(text: str) -> None:
    with pytest.raises(TeffError) as refused:
        Load.parse(text)
    said = str(refused.value)
    assert said.startswith(f"{text!r} is no load here: say kind, percentage and cores, as spin:50@1")
    assert f" kinds spin primes compile, percentages above 0 and up to 100, the cores {CORE}" in said
    assert said.endswith(" periods from 1ms to 100ms")


class Clock:
    """The time of a core that a competitor may use for `free` of each moment, from `full_from` on for all of it. Its
    steps are long beside a short period."""

    STEP = 3e-4  # seconds

    def __init__(self, end: float, free: float = 1.0, full_from: float = 0.0) -> None:
        self.now, self.cpu = 0.0, 0.0
        self._end, self._free, self._full_from = end, free, full_from

    def used(self) -> float:
        return self.cpu

    def go_on(self, most: float) -> None:
        del most
        self.cpu += self.STEP * (self._free if self.now < self._full_from else 1.0)
        self._pass(self.STEP)

    def pause(self) -> None:
        """It uses nothing until it goes on anyway."""

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self._pass(seconds + 6e-5)  # which every sleep takes longer

    def _pass(self, seconds: float) -> None:
        self.now += seconds
        if self.now >= self._end:
            raise TimeoutError


@pytest.mark.parametrize("share", [0.05, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("period", [0.001, 0.01, 0.1])
def test_a_competitor_takes_its_share_of_every_period(
    monkeypatch: pytest.MonkeyPatch, share: float, period: float
) -> None:
    clock = Clock(end=100.1 * period)
    monkeypatch.setattr(competitor, "time", clock)
    with pytest.raises(TimeoutError):
        competitor.take(clock, share, period)
    assert clock.cpu / clock.now == pytest.approx(share, abs=0.03)


def test_a_competitor_does_not_make_up_for_a_share_that_it_did_not_get(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(end=2.0, free=0.25, full_from=1.0)
    monkeypatch.setattr(competitor, "time", clock)
    with pytest.raises(TimeoutError):
        competitor.take(clock, 0.5, 0.01)
    assert clock.cpu == pytest.approx(0.25 + 0.5, abs=0.03)


def test_primes_are_counted_right() -> None:
    step = competitor.sieve()
    counted = [step() for _ in range(3)]
    for number, found in enumerate(counted):
        first = competitor.FIRST + number * competitor.SEGMENT
        real = sum(
            all(each % by for by in range(2, each) if by * by <= each)
            for each in range(first, first + competitor.SEGMENT)
        )
        assert found == real


@pytest.mark.parametrize("kind", ["spin", "primes", "compile"])
def test_competitors_run_within_running_only(kind: str) -> None:
    with Competitors(Load.parse(f"{kind}:100@{CORE}"), ROOT) as competitors:
        (pid,) = (each.pid for each in psutil.Process().children())
        while not competitors.share:
            with competitors.running():
                assert psutil.Process(pid).status() != psutil.STATUS_STOPPED
        assert psutil.Process(pid).status() == psutil.STATUS_STOPPED
        before = cpu_seconds(pid)
        while any(each.status() == psutil.STATUS_RUNNING for each in family(pid)):
            """A compiler that shares the core stops when it is scheduled next."""
        assert sum(range(10**6))
        assert cpu_seconds(pid) - before < FEW
    assert not psutil.pid_exists(pid)


def cpu_seconds(pid: int) -> float:
    return sum(sum(each.cpu_times()) for each in family(pid))


def family(pid: int) -> list[psutil.Process]:
    return [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]


@pytest.mark.parametrize("load", [f"spin:50@{CORE}", f"compile:50@{CORE}"])
def test_a_competitor_ends_with_the_process_that_started_it(load: str) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", _HOLDS_LOAD, load, str(ROOT)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "runs\n"
    competitors = psutil.Process(holder.pid).children(recursive=True)
    assert competitors
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    _, left = psutil.wait_procs(competitors, timeout=SOON)
    assert not left


def test_a_load_that_ends_is_an_error_and_no_quiet_run() -> None:
    with Competitors(Load.parse(f"spin:50@{CORE}"), ROOT) as competitors:
        (pid,) = (each.pid for each in psutil.Process().children())
        running = competitors.running()
        running.__enter__()
        psutil.Process(pid).kill()
        with pytest.raises(TeffError, match="a load does not run"):
            running.__exit__(None, None, None)


def test_a_checkout_without_sources_can_not_compile_them(tmp_path: Path) -> None:
    with pytest.raises(TeffError, match=r"reads the sources in .*, and there are none"):
        Competitors(Load.parse(f"compile:50@{CORE}"), tmp_path)
