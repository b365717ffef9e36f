"""Looks at this machine for what disturbs measurement: reads the kernel's files, and spins on every core."""

import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import psutil
from rich.markup import escape
from rich.table import Table

from tefflab.host import findings, spin
from tefflab.host.findings import Finding
from tefflab.host.kernel_files import governors, hypervisor, text, tightest_quota
from tefflab.json_lines import json_lines

_TICKS = os.sysconf("SC_CLK_TCK")
LOOK = 0.3  # seconds to watch other processes for, and to spin for
_SIGNS = {"ok": "[green]✓[/]", "warn": "[yellow]![/]", "unknown": "[dim]?[/]"}


def examine() -> list[Finding]:
    """Everything that is known to disturb; takes about a second, during which every core is busy."""
    others = cpu_of_others(LOOK)
    stat = Path("/proc/stat")
    before = stat.read_text()
    shares = measure_gaps(sorted(os.sched_getaffinity(0)), LOOK)
    stolen = findings.steal_share(before, stat.read_text())
    return [*read_findings(Path("/"), others=others, stolen=stolen), findings.gaps(shares)]


def read_findings(root: Path, *, others: Mapping[str, float], stolen: float | None) -> list[Finding]:
    """The findings in the kernel's files below `root`; `others` and `stolen` have been measured."""
    cpu = root / "sys/devices/system/cpu"
    virtual = findings.hypervisor(hypervisor(root))
    return [
        findings.governor(governors(root)),
        findings.boost(text(cpu / "intel_pstate/no_turbo"), text(cpu / "cpufreq/boost")),
        findings.smt(text(cpu / "smt/active")),
        virtual,
        findings.steal(stolen, virtual=virtual.status == "warn"),
        findings.load(others, text(root / "proc/loadavg")),
        findings.quota(tightest_quota(root)),
        findings.affinity(os.sched_getaffinity(0), text(cpu / "online")),
        findings.huge_pages(text(root / "sys/kernel/mm/transparent_hugepage/enabled")),
        findings.address_layout(text(root / "proc/sys/kernel/randomize_va_space")),
        findings.numa(text(root / "sys/devices/system/node/online")),
        findings.swap(text(root / "proc/swaps")),
        findings.clock(text(root / "sys/devices/system/clocksource/clocksource0/current_clocksource")),
    ]


def cpu_of_others(seconds: float) -> dict[str, float]:
    """CPU that other programs used within `seconds` on the cores that we may use [cores], by name."""
    ours = {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}
    before = _cpu_times(ours)
    time.sleep(seconds)
    here = os.sched_getaffinity(0)
    used: defaultdict[str, float] = defaultdict(float)
    for (thread, name), (cpu, core) in _cpu_times(ours).items():
        if core in here:
            used[name] += max(0.0, cpu - before.get((thread, name), (cpu, core))[0]) / seconds
    return dict(used)


def _cpu_times(without: Iterable[int]) -> dict[tuple[Path, str], tuple[float, int]]:
    """Of each thread its CPU time so far [s], and the core on which it ran last."""
    times = {}
    for process in psutil.process_iter(["pid", "name"]):
        for file in Path(f"/proc/{process.pid}/task").glob("*/stat") if process.pid not in without else ():
            if words := (text(file) or "").rpartition(")")[2].split():
                times[file, str(process.info["name"])] = (int(words[11]) + int(words[12])) / _TICKS, int(words[36])
    return times


def busy_cores(seconds: float) -> float:
    """How many of the cores that we may use are busy, in `seconds`."""
    stat = Path("/proc/stat")
    before = text(stat) or ""
    time.sleep(seconds)
    return findings.busy_cores(before, text(stat) or "", os.sched_getaffinity(0))


def measure_gaps(cores: Sequence[int], seconds: float) -> dict[int, float]:
    """Lost part of a spin of `seconds` on every core at once, each in a separate process."""
    command = [sys.executable, "-I", "-S", str(Path(spin.__file__))]
    spins = [subprocess.Popen([*command, str(core), str(seconds)], stdout=subprocess.PIPE, text=True) for core in cores]
    answers = {core: one.communicate()[0] for core, one in zip(cores, spins, strict=True)}
    return {core: float(answer) for core, answer in answers.items() if answer.strip()}


def to_json(found: Sequence[Finding]) -> str:
    """A line a finding."""
    return json_lines(map(asdict, found))


def to_table(found: Sequence[Finding]) -> Table:
    """A row a finding; the effect and the remedy stand below it if there is a remedy."""
    table = Table(box=None, pad_edge=False, show_header=False)
    for finding in found:
        table.add_row(_SIGNS[finding.status], finding.name, escape(finding.value))
        if finding.remedy:
            table.add_row("", "", f"[dim]{escape(finding.why)}[/]\n[cyan]{escape(finding.remedy)}[/]")
    return table
