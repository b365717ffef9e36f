"""Looks at this machine for what disturbs measurement: reads the kernel's files, and spins on every core. A property
whose file the kernel does not have is `unknown`, never a guess."""

import json
import os
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Literal

import psutil
from rich.markup import escape
from rich.table import Table

from tefflab.host import spin
from tefflab.host.machine import cpu_list, governors, hypervisor, text, tightest_quota

Status = Literal["ok", "warn", "unknown"]

LOOK = 0.3  # seconds to watch other processes for, and to spin for
_CPU = "sys/devices/system/cpu"
_SIGNS = {"ok": "[green]✓[/]", "warn": "[yellow]![/]", "unknown": "[dim]?[/]"}


@dataclass(frozen=True)
class Finding:
    """One property of the machine: its value, its effect on a measurement, and the remedy."""

    name: str
    status: Status
    value: str
    why: str
    remedy: str


@dataclass(frozen=True)
class _Property:
    """A property that one file of the kernel tells. `judge` says whether its content is bad, and how it is shown."""

    name: str
    file: str  # below the root
    judge: Callable[[str], tuple[bool, str]]
    why: str
    remedy: str = ""


def _pages(enabled: str) -> tuple[bool, str]:
    choice = enabled.partition("[")[2].partition("]")[0]
    return choice == "always", choice


def _swap(swaps: str) -> tuple[bool, str]:
    """Of a heading, then a line a device with size and use [KiB]."""
    used = [int(line.split()[3]) for line in swaps.splitlines()[1:]]
    return sum(used) > 0, f"{sum(used) // 1024} MiB in use" if used else "none"


_SMT = _Property(
    "SMT",
    f"{_CPU}/smt/active",
    lambda active: (active == "1", "on" if active == "1" else "off"),
    "two hardware threads share a core's units, so two workers there are slower than on two cores",
    f"use a worker a core (taskset), or: echo off | sudo tee /{_CPU}/smt/control",
)
_MEMORY = (
    _Property(
        "transparent huge pages",
        "sys/kernel/mm/transparent_hugepage/enabled",
        _pages,
        "pages merged in the background make memory faster in the middle of a run",
        "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled",
    ),
    _Property(
        "address layout",
        "proc/sys/kernel/randomize_va_space",
        lambda randomize: (False, "fixed" if randomize == "0" else "randomised"),  # a fact for comparisons
        "a program's layout shifts its speed by a few percent; randomised, repeats average over it",
    ),
    _Property(
        "NUMA nodes",
        "sys/devices/system/node/online",
        lambda online: (len(cpu_list(online)) > 1, str(len(cpu_list(online)))),
        "memory of another node is slower, and the first thread to touch a page places it",
        "bind to one node (numactl --cpunodebind=0 --membind=0), or pin workers",
    ),
    _Property(
        "swap",
        "proc/swaps",
        _swap,
        "a page that has to be fetched back stops its worker for milliseconds",
        "sudo swapoff -a, where memory suffices",
    ),
    _Property(
        "clock",
        "sys/devices/system/clocksource/clocksource0/current_clocksource",
        lambda source: (source not in ("tsc", "kvm-clock", "arch_sys_counter"), source),
        "a clock that is no register of the core costs microseconds at every reading",
        "echo tsc | sudo tee /sys/devices/system/clocksource/clocksource0/current_clocksource, where it is available",
    ),
)


def examine() -> list[Finding]:
    """Everything that is known to disturb; takes about a second, during which every core is busy."""
    others = cpu_of_others(LOOK)
    psutil.cpu_times_percent()  # the next call counts from here
    shares = {core: share for core, (share, _) in measure_gaps(sorted(os.sched_getaffinity(0)), LOOK).items()}
    spent = psutil.cpu_times_percent()
    stolen = spent.steal / 100 if any(spent) else None
    return [*read_findings(Path("/"), others=others, stolen=stolen), gaps(shares)]


def read_findings(root: Path, *, others: Mapping[str, float], stolen: float | None) -> list[Finding]:
    """The findings in the kernel's files below `root`; `others` and `stolen` have been measured."""
    name = hypervisor(root)
    return [
        governor(governors(root)),
        _turbo(*(text(root / f"{_CPU}/{file}") for file in ("intel_pstate/no_turbo", "cpufreq/boost"))),
        _read(_SMT, root),
        _judged(
            "hypervisor",
            name is not None,
            "none seen" if name is None else f"yes ({name})",
            "the host may take a core away at any time, and the guest's counters need not show it",
            "compare ratios of one sitting only; measure on bare metal where absolute times matter",
        ),
        steal(stolen, virtual=name is not None),
        load(others, text(root / "proc/loadavg")),
        quota(tightest_quota(root)),
        affinity(os.sched_getaffinity(0), text(root / f"{_CPU}/online")),
        *(_read(each, root) for each in _MEMORY),
    ]


def _read(kind: _Property, root: Path) -> Finding:
    content = text(root / kind.file).strip()
    is_bad, value = kind.judge(content) if content else (None, "")
    return _judged(kind.name, is_bad, value, kind.why, kind.remedy)


def _judged(name: str, is_bad: bool | None, value: str, why: str, remedy: str = "") -> Finding:
    """Of a property that is bad, or not, or (None) not told; only a bad one needs a remedy."""
    status: Status = "unknown" if is_bad is None else "warn" if is_bad else "ok"
    return Finding(name, status, value or "not told", why, remedy if is_bad else "")


def governor(contents: Sequence[str]) -> Finding:
    """The governors of the cores; none of them on most virtual machines."""
    counts = Counter(contents)
    return _judged(
        "CPU governor",
        set(counts) != {"performance"} if counts else None,
        ", ".join(f"{name} on {count}" for name, count in sorted(counts.items()))
        or "not told (usual on virtual machines)",
        "a governor that saves power clocks a core up only after the work has begun",
        "sudo cpupower frequency-set --governor performance",
    )


def _turbo(no_turbo: str, boost: str) -> Finding:
    """Of `intel_pstate/no_turbo` (1 is off) or else `cpufreq/boost` (1 is on)."""
    is_on = no_turbo.strip() == "0" if no_turbo else boost.strip() == "1" if boost else None
    return _judged(
        "turbo",
        is_on,
        "" if is_on is None else "on" if is_on else "off",
        "a core alone runs faster than it does beside others, so the ceiling depends on how many work",
        f"echo 1 | sudo tee /{_CPU}/intel_pstate/no_turbo" if no_turbo else f"echo 0 | sudo tee /{_CPU}/cpufreq/boost",
    )


def steal(share: float | None, *, virtual: bool) -> Finding:
    """The meaning of a stolen share of the time; on a virtual machine, a share of 0 proves nothing."""
    why = "time in which the host ran something else on our core"
    if share is None or (virtual and share == 0):
        value = "not told" if share is None else "reads 0, which is no proof on a virtual machine"
        return Finding("steal time", "unknown", value, why, "look at the gaps below instead")
    return Finding(
        "steal time", "warn" if share > 0.005 else "ok", f"{share:.1%}", why, "use another host" if share else ""
    )


def load(others: Mapping[str, float], average: str) -> Finding:
    """CPU that other processes use [cores], by their names, and `/proc/loadavg`."""
    total = sum(others.values())
    top = sorted(((cores, name) for name, cores in others.items() if cores >= 0.02), reverse=True)[:3]
    named = ", ".join(f"{name} {cores:.0%}" for cores, name in top)
    minute = f"; load average {average.split()[0]}" if average else ""
    return _judged(
        "other processes",
        total > 0.1,
        f"{total:.2f} cores{f' ({named})' if named else ''}{minute}",
        "whatever else runs takes cores from the workers, most of all from those that wait for each other",
        "end what is not needed, or wait until it is done",
    )


def quota(cores: float | None) -> Finding:
    """The tightest CPU quota of the control groups we are in."""
    return _judged(
        "CPU quota",
        cores is not None,
        "none" if cores is None else f"{cores:g} cores",
        "a group that has used its quota is stopped for the rest of each tenth of a second",
        "start the container with --cpuset-cpus in place of --cpus",
    )


def affinity(usable: set[int], online: str) -> Finding:
    """The cores we may use (affinity and cpuset together) against those that are there."""
    there = cpu_list(online) or usable
    return _judged(
        "usable cores",
        len(usable) < len(there),
        f"{len(usable)} of {len(there)}",
        "work on the other cores still shares caches, memory and power with ours",
        "lift it (taskset, cpuset) unless it is meant; nothing else should run on the rest",
    )


def gaps(shares: Mapping[int, float]) -> Finding:
    """Lost part of a spin, by core."""
    worst = max(shares, key=lambda core: shares[core], default=None)
    return _judged(
        "gaps",
        None if worst is None else shares[worst] > 0.02,
        "not measured"
        if worst is None
        else f"worst core {worst}: {shares[worst]:.1%}, median {median(shares.values()):.1%} of a short spin",
        "in these parts of it the core did something else: what is left of all the above",
        "quieten what is warned of above, and trust repeats and intervals, not single runs",
    )


def cpu_of_others(seconds: float) -> dict[str, float]:
    """CPU that other programs used within `seconds` on the cores that we may use [cores], by name."""
    before = _cpu_times()
    time.sleep(seconds)
    used: defaultdict[str, float] = defaultdict(float)
    for process, (cpu, name) in _cpu_times().items():
        used[name] += max(0.0, cpu - before.get(process, (cpu, name))[0]) / seconds
    return dict(used)


def _cpu_times() -> dict[int, tuple[float, str]]:
    """CPU time so far [s] and name of each process but ours and our parents that ran last on one of our cores."""
    ours, here = {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}, os.sched_getaffinity(0)
    every = (each.info for each in psutil.process_iter(["pid", "name", "cpu_times", "cpu_num"]))
    others = (each for each in every if each["pid"] not in ours and each["cpu_num"] in here and each["cpu_times"])
    return {each["pid"]: (sum(each["cpu_times"][:2]), str(each["name"])) for each in others}


def busy_cores(seconds: float) -> float:
    """How many of the cores that we may use are busy, in `seconds`. Nobody knows it without /proc."""
    online = sorted(cpu_list(text(Path(f"/{_CPU}/online"))))  # in whose order psutil tells them
    try:
        busy = dict(zip(online, psutil.cpu_percent(seconds, percpu=True), strict=False))
    except OSError:
        return 0.0
    return sum(busy.get(core, 0.0) for core in os.sched_getaffinity(0)) / 100


def detours_here(seconds: float = 10) -> list[tuple[float, float]]:
    """The gaps of a core, by their length: how many a second, and how long they are in the mean [s]."""
    cores = sorted(os.sched_getaffinity(0))
    found = [each for _, decades in measure_gaps(cores, seconds).values() for each in decades]
    return [(count / seconds / len(cores), time / count) for count, time in found]


def measure_gaps(cores: Sequence[int], seconds: float) -> dict[int, tuple[float, list[tuple[int, float]]]]:
    """The lines that `spin.py` prints of a spin of `seconds` on every core at once, each in a separate process."""
    command = [sys.executable, "-I", "-S", str(Path(spin.__file__))]
    spins = [subprocess.Popen([*command, str(core), str(seconds)], stdout=subprocess.PIPE, text=True) for core in cores]
    answers = {core: one.communicate()[0] for core, one in zip(cores, spins, strict=True)}
    return {core: json.loads(answer) for core, answer in answers.items() if answer.strip()}


def to_table(found: Sequence[Finding]) -> Table:
    """A row a finding; the effect and the remedy stand below it if there is a remedy."""
    table = Table(box=None, pad_edge=False, show_header=False)
    for finding in found:
        table.add_row(_SIGNS[finding.status], finding.name, escape(finding.value))
        if finding.remedy:
            table.add_row("", "", f"[dim]{escape(finding.why)}[/]\n[cyan]{escape(finding.remedy)}[/]")
    return table
