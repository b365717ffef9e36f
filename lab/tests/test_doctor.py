"""The doctor reads the kernel's files right, and never guesses where there are none."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tefflab.cli import systems
from tefflab.host import doctor, machine
from tefflab.host.doctor import Finding
from tefflab.host.machine import read_machine
from tefflab.systems.registry import Registry

CPU = "sys/devices/system/cpu"
CLOCK = "sys/devices/system/clocksource/clocksource0/current_clocksource"
PAGES = "sys/kernel/mm/transparent_hugepage/enabled"
LAYOUT = "proc/sys/kernel/randomize_va_space"
NODES = "sys/devices/system/node/online"
SWAPS = "Filename Type Size Used Priority\n"


def test_governors_that_save_power_are_warned_of_and_counted() -> None:
    found = doctor.governor(["performance", "powersave", "powersave"])
    assert (found.status, found.value) == ("warn", "performance on 1, powersave on 2")
    assert "performance" in found.remedy


def test_what_the_kernel_does_not_tell_is_unknown(tmp_path: Path) -> None:
    found = {each.name: each for each in [*doctor.read_findings(tmp_path, others={}, stolen=None), doctor.gaps({})]}
    told = {"hypervisor", "other processes", "CPU quota", "usable cores"}
    assert {name for name, each in found.items() if each.status == "unknown"} == found.keys() - told
    assert len(found) == 14
    assert all(each.value for each in found.values())


@pytest.mark.parametrize(
    ("file", "content", "name", "status", "value"),
    [
        (f"{CPU}/intel_pstate/no_turbo", "0\n", "turbo", "warn", "on"),
        (f"{CPU}/intel_pstate/no_turbo", "1\n", "turbo", "ok", "off"),
        (f"{CPU}/cpufreq/boost", "1\n", "turbo", "warn", "on"),
        (f"{CPU}/cpufreq/boost", "0\n", "turbo", "ok", "off"),
        (f"{CPU}/smt/active", "1\n", "SMT", "warn", "on"),
        (f"{CPU}/smt/active", "0\n", "SMT", "ok", "off"),
        ("sys/hypervisor/type", "xen\n", "hypervisor", "warn", "yes (unnamed)"),
        (PAGES, "[always] madvise never\n", "transparent huge pages", "warn", "always"),
        (PAGES, "always [madvise] never\n", "transparent huge pages", "ok", "madvise"),
        (LAYOUT, "2\n", "address layout", "ok", "randomised"),
        (LAYOUT, "0\n", "address layout", "ok", "fixed"),
        (NODES, "0-1\n", "NUMA nodes", "warn", "2"),
        (NODES, "0\n", "NUMA nodes", "ok", "1"),
        ("proc/swaps", SWAPS, "swap", "ok", "none"),
        ("proc/swaps", f"{SWAPS}/dev/sda2 partition 4096 2048 -2\n", "swap", "warn", "2 MiB in use"),
        (CLOCK, "tsc\n", "clock", "ok", "tsc"),
        (CLOCK, "hpet\n", "clock", "warn", "hpet"),
    ],
)
def test_what_a_file_of_the_kernel_says_becomes_a_finding(
    tmp_path: Path, file: str, content: str, name: str, status: str, value: str
) -> None:
    write(tmp_path, file, content)
    found = next(each for each in doctor.read_findings(tmp_path, others={}, stolen=None) if each.name == name)
    assert (found.status, found.value, bool(found.remedy)) == (status, value, status == "warn")


@pytest.mark.parametrize(
    ("found", "status", "value"),
    [
        (doctor.governor(["performance"]), "ok", "performance on 1"),
        (doctor.steal(0.0, virtual=False), "ok", "0.0%"),
        (doctor.steal(0.02, virtual=True), "warn", "2.0%"),
        (
            doctor.load({"gcc": 0.9, "sh": 0.01}, "1.50 1.0 0.5 1/100 7\n"),
            "warn",
            "0.91 cores (gcc 90%); load average 1.50",
        ),
        (doctor.load({}, ""), "ok", "0.00 cores"),
        (doctor.quota(1.5), "warn", "1.5 cores"),
        (doctor.quota(None), "ok", "none"),
        (doctor.affinity({0, 1}, "0-3\n"), "warn", "2 of 4"),
        (doctor.affinity({0, 1}, "0-1\n"), "ok", "2 of 2"),
        (doctor.gaps({0: 0.01, 1: 0.08}), "warn", "worst core 1: 8.0%, median 4.5% of a short spin"),
        (doctor.gaps({0: 0.01}), "ok", "worst core 0: 1.0%, median 1.0% of a short spin"),
    ],
    ids=lambda value: value.name if isinstance(value, Finding) else None,
)
def test_what_the_kernel_says_becomes_a_finding(found: Finding, status: str, value: str) -> None:
    assert (found.status, found.value) == (status, value)


def test_no_stolen_time_proves_nothing_on_a_virtual_machine() -> None:
    found = doctor.steal(0.0, virtual=True)
    assert found.status == "unknown"
    assert "no proof" in found.value


def test_only_cores_that_may_be_used_count_as_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    online = machine.text(Path(f"/{CPU}/online"))
    share = {core: 100.0 - core for core in machine.cpu_list(online)}
    monkeypatch.setattr(doctor.psutil, "cpu_percent", lambda *_, **__: list(share.values()))
    for here in ({0}, {*share, 99_999}):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _, here=here: here)
        assert doctor.busy_cores(0.0) == pytest.approx(sum(share[core] for core in here & share.keys()) / 100)


def test_without_proc_no_core_is_known_to_be_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(*_: object, **__: object) -> list[float]:
        raise FileNotFoundError("/proc/stat")

    monkeypatch.setattr(doctor.psutil, "cpu_percent", read)
    assert doctor.busy_cores(0.0) == 0


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="there is one core")
def test_a_program_on_a_core_that_may_not_be_used_disturbs_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, *_ = sorted(os.sched_getaffinity(0))
    (tmp_path / "spinner").symlink_to(sys.executable)
    spin = f"import os; os.sched_setaffinity(0, {{{first}}}); print(flush=True)\nwhile True: pass"
    with subprocess.Popen([tmp_path / "spinner", "-ISc", spin], stdout=subprocess.PIPE) as spinning:
        assert spinning.stdout
        spinning.stdout.readline()
        used = {}
        for core in (first, second):
            monkeypatch.setattr(os, "sched_getaffinity", lambda _, core=core: {core})
            used[core] = doctor.cpu_of_others(0.3).get("spinner", 0.0)
        spinning.kill()
    assert used[first] > 0
    assert used[second] == 0


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        ({"max": "150000 100000\n"}, 1.5),
        ({"max": "max 100000\n"}, None),
        ({"cfs_quota_us": "50000\n", "cfs_period_us": "100000\n"}, 0.5),
        ({"cfs_quota_us": "-1\n", "cfs_period_us": "100000\n"}, None),
        ({}, None),
    ],
)
def test_a_quota_is_read_from_both_versions_of_control_groups(
    tmp_path: Path, files: dict[str, str], cores: float | None
) -> None:
    write(tmp_path, "proc/self/cgroup", "0::/\n")
    for name, content in files.items():
        write(tmp_path, f"sys/fs/cgroup/cpu.{name}", content)
    assert machine.tightest_quota(tmp_path) == cores


@pytest.mark.parametrize(("text", "cpus"), [("0\n", {0}), ("0-2,5\n", {0, 1, 2, 5}), ("\n", set())])
def test_lists_of_cores_are_read(text: str, cpus: set[int]) -> None:
    assert machine.cpu_list(text) == cpus


def write(root: Path, name: str, text: str) -> None:
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def test_the_tightest_quota_of_all_groups_around_us_counts(tmp_path: Path) -> None:
    write(tmp_path, "proc/self/cgroup", "0::/user/app\n")
    write(tmp_path, "sys/fs/cgroup/user/cpu.max", "100000 100000\n")
    write(tmp_path, "sys/fs/cgroup/user/app/cpu.max", "300000 100000\n")
    assert machine.tightest_quota(tmp_path) == 1.0


def test_the_quota_of_an_old_control_group_is_found_beside_the_new(tmp_path: Path) -> None:
    write(tmp_path, "proc/self/cgroup", "5:cpu,cpuacct:/job\n3:cpuset:/job\n0::/\n")
    write(tmp_path, "sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "50000\n")
    write(tmp_path, "sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n")
    assert machine.tightest_quota(tmp_path) == 0.5


def test_a_container_whose_group_is_not_there_still_sees_its_limit(tmp_path: Path) -> None:
    write(tmp_path, "proc/self/cgroup", "0::/docker/0123\n")
    write(tmp_path, "sys/fs/cgroup/cpu.max", "200000 100000\n")
    assert machine.tightest_quota(tmp_path) == 2.0


def test_a_machine_that_tells_nothing_is_examined_all_the_same(tmp_path: Path) -> None:
    found = doctor.read_findings(tmp_path, others={}, stolen=None)
    assert {one.name for one in found if one.status == "warn"} == set()


def test_a_machine_that_saves_power_is_recognised(tmp_path: Path) -> None:
    write(tmp_path, f"{CPU}/cpu0/cpufreq/scaling_governor", "powersave\n")
    write(tmp_path, f"{CPU}/intel_pstate/no_turbo", "0\n")
    write(tmp_path, f"{CPU}/smt/active", "1\n")
    found = doctor.read_findings(tmp_path, others={}, stolen=0.0)
    assert {one.name for one in found if one.status == "warn"} == {"CPU governor", "turbo", "SMT"}


def test_gaps_are_measured_on_every_core_we_may_use() -> None:
    cores = sorted(os.sched_getaffinity(0))
    found = doctor.measure_gaps(cores, 0.02)
    assert list(found) == cores
    for share, decades in found.values():
        assert 0 <= share < 1
        assert sum(seconds for _, seconds in decades) == pytest.approx(share * 0.02, rel=0.5)


def test_gaps_are_detours_of_a_core_by_their_length(monkeypatch: pytest.MonkeyPatch) -> None:
    two = {0: (0.1, [[100, 2e-4], [1, 5e-3]]), 1: (0.0, [[20, 4e-5]])}
    monkeypatch.setattr(doctor.os, "sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr(doctor, "measure_gaps", lambda *_: two)
    assert doctor.detours_here(10) == [pytest.approx(each) for each in ((5, 2e-6), (0.05, 5e-3), (1, 2e-6))]


def test_the_findings_are_a_json_list(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("tefflab.host.doctor.examine", lambda: [doctor.quota(1.0)])
    systems.doctor(Registry(Path()), as_json=True)
    listed = json.loads(capsys.readouterr().out)
    assert listed.keys() == {"name", "status", "value", "why", "remedy"}


def test_the_machine_kept_with_results_and_the_doctor_see_the_same(tmp_path: Path) -> None:
    for core, governor in enumerate(("powersave", "performance", "powersave")):
        write(tmp_path, f"sys/devices/system/cpu/cpu{core}/cpufreq/scaling_governor", f"{governor}\n")
    write(tmp_path, "proc/self/cgroup", "0::/user/app\n")
    write(tmp_path, "sys/fs/cgroup/user/cpu.max", "150000 100000\n")
    write(tmp_path, "sys/fs/cgroup/user/app/cpu.max", "max 100000\n")
    machine = read_machine(tmp_path)
    found = {one.name: one.value for one in doctor.read_findings(tmp_path, others={}, stolen=None)}
    assert machine.governor == "performance, powersave"
    assert found["CPU governor"] == "performance on 1, powersave on 2"
    assert machine.cgroup_quota_cores == 1.5
    assert found["CPU quota"] == "1.5 cores"


def test_doctor_speaks_of_disturbances_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tefflab.host.doctor.examine", lambda: [doctor.quota(1.0)])
    systems.doctor(Registry(Path()), as_json=False)
    said = capsys.readouterr()
    assert "CPU quota" in said.out
    assert "install" not in said.out + said.err
