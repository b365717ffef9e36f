"""Looks at this machine for what disturbs measurement: reads the kernel's files, and spins on every core."""

import json
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

from tefflab import findings, spin
from tefflab.findings import Finding

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
    """What the kernel's files below `root` say; `others` and `stolen` have been measured."""
    cpu = root / "sys/devices/system/cpu"
    virtual = findings.hypervisor(_text(root / "proc/cpuinfo") or "", _text(root / "sys/class/dmi/id/sys_vendor"))
    governors = [file.read_text() for file in sorted(cpu.glob("cpu[0-9]*/cpufreq/scaling_governor"))]
    return [
        findings.governor(governors),
        findings.boost(_text(cpu / "intel_pstate/no_turbo"), _text(cpu / "cpufreq/boost")),
        findings.smt(_text(cpu / "smt/active")),
        virtual,
        findings.steal(stolen, virtual=virtual.status == "warn"),
        findings.load(others, _text(root / "proc/loadavg")),
        findings.quota(tightest_quota(root)),
        findings.affinity(os.sched_getaffinity(0), _text(cpu / "online")),
        findings.huge_pages(_text(root / "sys/kernel/mm/transparent_hugepage/enabled")),
        findings.address_layout(_text(root / "proc/sys/kernel/randomize_va_space")),
        findings.numa(_text(root / "sys/devices/system/node/online")),
        findings.swap(_text(root / "proc/swaps")),
        findings.clock(_text(root / "sys/devices/system/clocksource/clocksource0/current_clocksource")),
    ]


def tightest_quota(root: Path) -> float | None:
    """The least CPU quota [cores] of the control groups we are in and of those around them."""
    quotas = (_quota_of(folder) for folder in control_groups(_text(root / "proc/self/cgroup") or "", root))
    return min((cores for cores in quotas if cores is not None), default=None)


def control_groups(own: str, root: Path) -> list[Path]:
    """The folders that limit our CPU, from `/proc/self/cgroup`: our group's and all above it.

    In a container the group may be named as the host sees it; the folders that are not there limit nothing.
    """
    mount = root / "sys/fs/cgroup"
    folders: list[Path] = []
    for line in own.splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            tops = [mount, mount / "unified"]
        elif "cpu" in controllers.split(","):
            tops = [mount / "cpu", mount / controllers]
        else:
            continue
        inner = (Path(path), *Path(path).parents)
        folders += [top / str(part).lstrip("/") for top in tops for part in inner]
    return [folder for folder in dict.fromkeys(folders) if folder.is_dir()]


def _quota_of(folder: Path) -> float | None:
    contents = (_text(folder / name) for name in ("cpu.max", "cpu.cfs_quota_us", "cpu.cfs_period_us"))
    return findings.quota_cores(*contents)


def cpu_of_others(seconds: float) -> dict[str, float]:
    """CPU that processes other than ours used within `seconds` [cores], by name."""
    ours = {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}
    before = _cpu_times(ours)
    time.sleep(seconds)
    used: defaultdict[str, float] = defaultdict(float)
    for (pid, name), cpu in _cpu_times(ours).items():
        used[name] += max(0.0, cpu - before.get((pid, name), cpu)) / seconds
    return dict(used)


def _cpu_times(without: Iterable[int]) -> dict[tuple[int, str], float]:
    times = {}
    for process in psutil.process_iter(["pid", "name", "cpu_times"]):
        if process.pid not in without and process.info["cpu_times"]:
            cpu = process.info["cpu_times"]
            times[process.pid, str(process.info["name"])] = cpu.user + cpu.system
    return times


def measure_gaps(cores: Sequence[int], seconds: float) -> dict[int, float]:
    """Lost part of a spin of `seconds` on every core at once, each by a process of its own."""
    command = [sys.executable, "-I", "-S", str(Path(spin.__file__))]
    spins = [subprocess.Popen([*command, str(core), str(seconds)], stdout=subprocess.PIPE, text=True) for core in cores]
    answers = {core: one.communicate()[0] for core, one in zip(cores, spins, strict=True)}
    return {core: float(answer) for core, answer in answers.items() if answer.strip()}


def _text(file: Path) -> str | None:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def to_json(found: Sequence[Finding]) -> str:
    """A JSON list, an object a finding."""
    return json.dumps([asdict(finding) for finding in found], indent=2, ensure_ascii=False)


def to_table(found: Sequence[Finding]) -> Table:
    """A row a finding; why it matters and what to do stand below it where something is to be done."""
    table = Table(box=None, pad_edge=False, show_header=False)
    for finding in found:
        table.add_row(_SIGNS[finding.status], finding.name, escape(finding.value))
        if finding.remedy:
            table.add_row("", "", f"[dim]{escape(finding.why)}[/]\n[cyan]{escape(finding.remedy)}[/]")
    return table
