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


def governor(contents: Sequence[str]) -> Finding:
    """The governors of the cores; none of them on most virtual machines."""
    counts = Counter(contents)
    value = ", ".join(f"{name} on {count}" for name, count in sorted(counts.items()))
    steady = set(counts) == {"performance"}
    return Finding(
        "CPU governor",
        "unknown" if not counts else "ok" if steady else "warn",
        value or "not told (usual on virtual machines)",
        "a governor that saves power clocks a core up only after the work has begun",
        "" if steady or not counts else "sudo cpupower frequency-set --governor performance",
    )


def boost(intel_no_turbo: str | None, cpufreq_boost: str | None) -> Finding:
    """`intel_pstate/no_turbo` (1 is off) and `cpufreq/boost` (1 is on)."""
    if intel_no_turbo is not None:
        on: bool | None = intel_no_turbo.strip() == "0"
    else:
        on = None if cpufreq_boost is None else cpufreq_boost.strip() == "1"
    off_by = (
        "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost"
        if intel_no_turbo is None
        else "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo"
    )
    why = "a core alone runs faster than it does beside others, so the ceiling depends on how many work"
    return _switch("turbo", on, why, off_by)


def smt(active: str | None) -> Finding:
    """`smt/active`."""
    return _switch(
        "SMT",
        None if active is None else active.strip() == "1",
        "two hardware threads share a core's units, so two workers there are slower than on two cores",
        "use a worker a core (taskset), or: echo off | sudo tee /sys/devices/system/cpu/smt/control",
    )


def _switch(name: str, on: bool | None, why: str, off_by: str) -> Finding:
    """Of a property that should be off."""
    status: Status = "unknown" if on is None else "warn" if on else "ok"
    return Finding(name, status, "not told" if on is None else "on" if on else "off", why, off_by if on else "")


def hypervisor(name: str | None) -> Finding:
    """As the machine's firmware names it."""
    virtual = name is not None
    return Finding(
        "hypervisor",
        "warn" if virtual else "ok",
        f"yes ({name})" if virtual else "none seen",
        "the host may take a core away at any time, and the guest's counters need not show it",
        "compare ratios of one sitting only; measure on bare metal where absolute times matter" if virtual else "",
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
    if share is None or (virtual and share == 0):
        status: Status = "unknown"
        value = "reads 0, which is no proof on a virtual machine" if share == 0 else "not told"
    else:
        status, value = ("warn" if share > 0.005 else "ok"), f"{share:.1%}"
    return Finding(
        "steal time",
        status,
        value,
        "time in which the host ran something else on our core",
        "look at the gaps below instead" if status == "unknown" else "use another host" if share else "",
    )


def load(others: Mapping[str, float], average: str | None) -> Finding:
    """CPU that other processes use [cores], by their names, and `/proc/loadavg`."""
    busy = {name: cores for name, cores in others.items() if cores >= 0.02}
    total = sum(others.values())
    top = sorted(busy.items(), key=lambda item: -item[1])[:3]
    named = ", ".join(f"{name} {cores:.0%}" for name, cores in top)
    minute = f"; load average {average.split()[0]}" if average else ""
    return Finding(
        "other processes",
        "warn" if total > 0.1 else "ok",
        f"{total:.2f} cores{f' ({named})' if named else ''}{minute}",
        "whatever else runs takes cores from the workers, most of all from those that wait for each other",
        "end what is not needed, or wait until it is done" if total > 0.1 else "",
    )


def quota(cores: float | None) -> Finding:
    """The tightest CPU quota of the control groups we are in."""
    return Finding(
        "CPU quota",
        "ok" if cores is None else "warn",
        "none" if cores is None else f"{cores:g} cores",
        "a group that has used its quota is stopped for the rest of each tenth of a second",
        "" if cores is None else "start the container with --cpuset-cpus in place of --cpus",
    )


def cpu_list(text: str) -> set[int]:
    """Reads the kernel's `0-3,8`."""
    parts = (part.partition("-") for part in text.strip().split(",") if part)
    return {cpu for low, _, high in parts for cpu in range(int(low), int(high or low) + 1)}


def affinity(usable: set[int], online: str | None) -> Finding:
    """The cores we may use (affinity and cpuset together) against those that are there."""
    there = cpu_list(online) if online else usable
    kept = len(usable) < len(there)
    return Finding(
        "usable cores",
        "warn" if kept else "ok",
        f"{len(usable)} of {len(there)}",
        "work on the other cores still shares caches, memory and power with ours",
        "lift it (taskset, cpuset) unless it is meant; nothing else should run on the rest" if kept else "",
    )


def huge_pages(enabled: str | None) -> Finding:
    """`transparent_hugepage/enabled`: the choice stands in brackets."""
    choice = enabled.partition("[")[2].partition("]")[0] if enabled else ""
    always = choice == "always"
    return Finding(
        "transparent huge pages",
        "unknown" if not choice else "warn" if always else "ok",
        choice or "not told",
        "pages merged in the background make memory faster in the middle of a run",
        "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled" if always else "",
    )


def address_layout(randomize: str | None) -> Finding:
    """`randomize_va_space`: a fact for comparisons, never a warning."""
    on = randomize is not None and randomize.strip() != "0"
    return Finding(
        "address layout",
        "unknown" if randomize is None else "ok",
        "not told" if randomize is None else "randomised" if on else "fixed",
        "a program's layout shifts its speed by a few percent; randomised, repeats average over it",
        "",
    )


def numa(online: str | None) -> Finding:
    """`node/online`."""
    nodes = len(cpu_list(online)) if online else 0
    return Finding(
        "NUMA nodes",
        "unknown" if not nodes else "warn" if nodes > 1 else "ok",
        str(nodes or "not told"),
        "memory of another node is slower, and the first thread to touch a page places it",
        "bind to one node (numactl --cpunodebind=0 --membind=0), or pin workers" if nodes > 1 else "",
    )


def swap(swaps: str | None) -> Finding:
    """`/proc/swaps`: a heading, then a line a device with size and use [KiB]."""
    rows = [line.split() for line in (swaps or "").splitlines()[1:] if line.strip()]
    used = sum(int(row[3]) for row in rows)
    return Finding(
        "swap",
        "unknown" if swaps is None else "warn" if used else "ok",
        "not told" if swaps is None else f"{used // 1024} MiB in use" if rows else "none",
        "a page that has to be fetched back stops its worker for milliseconds",
        "sudo swapoff -a, where memory suffices" if used else "",
    )


def clock(source: str | None) -> Finding:
    """`current_clocksource`."""
    name = (source or "").strip()
    quick = name in ("tsc", "kvm-clock", "arch_sys_counter")
    return Finding(
        "clock",
        "unknown" if not name else "ok" if quick else "warn",
        name or "not told",
        "a clock that is no register of the core costs microseconds at every reading",
        ""
        if quick or not name
        else "echo tsc | sudo tee /sys/devices/system/clocksource/clocksource0/"
        "current_clocksource, where it is available",
    )


def gaps(shares: Mapping[int, float]) -> Finding:
    """Lost part of a spin, by core."""
    worst = max(shares, key=lambda core: shares[core], default=None)
    noisy = worst is not None and shares[worst] > 0.02
    return Finding(
        "gaps",
        "unknown" if worst is None else "warn" if noisy else "ok",
        "not measured"
        if worst is None
        else f"worst core {worst}: {shares[worst]:.1%}, median {median(shares.values()):.1%} of a short spin",
        "in these parts of it the core did something else: what is left of all the above",
        "quieten what is warned of above, and trust repeats and intervals, not single runs" if noisy else "",
    )
