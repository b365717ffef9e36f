"""How well a machine can measure, from the files of the kernel; pure functions of their contents.

If the kernel has no such file, its content is None and the finding is `unknown`, never a guess.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

Status = Literal["ok", "warn", "unknown"]


@dataclass(frozen=True)
class Finding:
    """One property of the machine: its value, its effect on a measurement, and the remedy."""

    name: str
    status: Status
    value: str
    why: str
    remedy: str


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


def boost(intel_no_turbo: str | None, cpufreq_boost: str | None) -> Finding:
    """`intel_pstate/no_turbo` (1 is off) and `cpufreq/boost` (1 is on)."""
    is_intel = intel_no_turbo is not None
    return _switch(
        "turbo",
        intel_no_turbo if is_intel else cpufreq_boost,
        "a core alone runs faster than it does beside others, so the ceiling depends on how many work",
        "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo"
        if is_intel
        else "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost",
        on="0" if is_intel else "1",
    )


def smt(active: str | None) -> Finding:
    """`smt/active`."""
    return _switch(
        "SMT",
        active,
        "two hardware threads share a core's units, so two workers there are slower than on two cores",
        "use a worker a core (taskset), or: echo off | sudo tee /sys/devices/system/cpu/smt/control",
    )


def _switch(name: str, content: str | None, why: str, off_by: str, on: str = "1") -> Finding:
    """Of a property that should be off."""
    is_on = None if content is None else content.strip() == on
    return _judged(name, is_on, "" if is_on is None else "on" if is_on else "off", why, off_by)


def hypervisor(name: str | None) -> Finding:
    """As the machine's firmware names it."""
    return _judged(
        "hypervisor",
        name is not None,
        "none seen" if name is None else f"yes ({name})",
        "the host may take a core away at any time, and the guest's counters need not show it",
        "compare ratios of one sitting only; measure on bare metal where absolute times matter",
    )


def steal_share(before: str, after: str) -> float | None:
    """Stolen part of the time between two contents of `/proc/stat`; None where no time has passed."""
    ticks = _ticks_between(before, after, "cpu")
    return ticks[7] / sum(ticks) if ticks else None


def busy_cores(before: str, after: str, cores: Iterable[int]) -> float:
    """How many of these cores' worth of CPU was used between two contents of `/proc/stat`."""
    found = filter(None, (_ticks_between(before, after, f"cpu{core}") for core in cores))
    return sum(1 - (ticks[3] + ticks[4]) / sum(ticks) for ticks in found)  # idle, and waiting for a disk


def _ticks_between(before: str, after: str, name: str) -> list[int]:
    """The eight times of the line of this name; guest times are part of the first two already. The list is empty
    where no time has passed."""
    first, second = (
        next((line.split()[1:9] for line in stat.splitlines() if line.startswith(f"{name} ")), [])
        for stat in (before, after)
    )
    ticks = [int(late) - int(early) for early, late in zip(first, second, strict=False)]
    return ticks if len(ticks) == 8 and sum(ticks) > 0 else []


def steal(share: float | None, *, virtual: bool) -> Finding:
    """The meaning of a stolen share; on a virtual machine, a share of 0 proves nothing."""
    why = "time in which the host ran something else on our core"
    if share is None or (virtual and share == 0):
        value = "not told" if share is None else "reads 0, which is no proof on a virtual machine"
        return Finding("steal time", "unknown", value, why, "look at the gaps below instead")
    return Finding(
        "steal time", "warn" if share > 0.005 else "ok", f"{share:.1%}", why, "use another host" if share else ""
    )


def load(others: Mapping[str, float], average: str | None) -> Finding:
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


def cpu_list(text: str) -> set[int]:
    """Reads the kernel's `0-3,8`."""
    parts = (part.partition("-") for part in text.strip().split(",") if part)
    return {cpu for low, _, high in parts for cpu in range(int(low), int(high or low) + 1)}


def affinity(usable: set[int], online: str | None) -> Finding:
    """The cores we may use (affinity and cpuset together) against those that are there."""
    there = cpu_list(online) if online else usable
    return _judged(
        "usable cores",
        len(usable) < len(there),
        f"{len(usable)} of {len(there)}",
        "work on the other cores still shares caches, memory and power with ours",
        "lift it (taskset, cpuset) unless it is meant; nothing else should run on the rest",
    )


def huge_pages(enabled: str | None) -> Finding:
    """`transparent_hugepage/enabled`: the choice stands in brackets."""
    choice = (enabled or "").partition("[")[2].partition("]")[0]
    return _judged(
        "transparent huge pages",
        choice == "always" if choice else None,
        choice,
        "pages merged in the background make memory faster in the middle of a run",
        "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled",
    )


def address_layout(randomize: str | None) -> Finding:
    """`randomize_va_space`: a fact for comparisons, never a warning."""
    return _judged(
        "address layout",
        None if randomize is None else False,
        "" if randomize is None else "fixed" if randomize.strip() == "0" else "randomised",
        "a program's layout shifts its speed by a few percent; randomised, repeats average over it",
    )


def numa(online: str | None) -> Finding:
    """`node/online`."""
    nodes = len(cpu_list(online or ""))
    return _judged(
        "NUMA nodes",
        nodes > 1 if nodes else None,
        str(nodes or ""),
        "memory of another node is slower, and the first thread to touch a page places it",
        "bind to one node (numactl --cpunodebind=0 --membind=0), or pin workers",
    )


def swap(swaps: str | None) -> Finding:
    """`/proc/swaps`: a heading, then a line a device with size and use [KiB]."""
    rows = [line.split() for line in (swaps or "").splitlines()[1:] if line.strip()]
    used = sum(int(row[3]) for row in rows)
    return _judged(
        "swap",
        None if swaps is None else used > 0,
        "" if swaps is None else f"{used // 1024} MiB in use" if rows else "none",
        "a page that has to be fetched back stops its worker for milliseconds",
        "sudo swapoff -a, where memory suffices",
    )


def clock(source: str | None) -> Finding:
    """`current_clocksource`."""
    name = (source or "").strip()
    return _judged(
        "clock",
        name not in ("tsc", "kvm-clock", "arch_sys_counter") if name else None,
        name,
        "a clock that is no register of the core costs microseconds at every reading",
        "echo tsc | sudo tee /sys/devices/system/clocksource/clocksource0/current_clocksource, where it is available",
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
