"""The doctor reads the kernel's files right, and never guesses where there are none."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tefflab.cli import systems
from tefflab.host import doctor, findings, kernel_files
from tefflab.host.findings import Finding
from tefflab.host.machine import read_machine
from tefflab.systems.registry import Registry

BEFORE = "cpu  100 0 100 800 0 0 0 10 0 0\ncpu0 100 0 100 800 0 0 0 10 0 0\n"


def test_governors_that_save_power_are_warned_of_and_counted() -> None:
    found = findings.governor(["performance", "powersave", "powersave"])
    assert (found.status, found.value) == ("warn", "performance on 1, powersave on 2")
    assert "performance" in found.remedy


@pytest.mark.parametrize(
    "found",
    [
        findings.governor([]),
        findings.boost(None, None),
        findings.smt(None),
        findings.steal(None, virtual=False),
        findings.huge_pages(None),
        findings.address_layout(None),
        findings.numa(None),
        findings.swap(None),
        findings.clock(None),
        findings.gaps({}),
    ],
    ids=lambda found: found.name,
)
def test_what_the_kernel_does_not_tell_is_unknown(found: Finding) -> None:
    assert found.status == "unknown"
    assert found.value


@pytest.mark.parametrize(
    ("found", "status", "value"),
    [
        (findings.governor(["performance"]), "ok", "performance on 1"),
        (findings.boost("0\n", None), "warn", "on"),
        (findings.boost("1\n", None), "ok", "off"),
        (findings.boost(None, "1\n"), "warn", "on"),
        (findings.boost(None, "0\n"), "ok", "off"),
        (findings.smt("1\n"), "warn", "on"),
        (findings.smt("0\n"), "ok", "off"),
        (findings.hypervisor("QEMU"), "warn", "yes (QEMU)"),
        (findings.hypervisor(None), "ok", "none seen"),
        (findings.steal(0.0, virtual=False), "ok", "0.0%"),
        (findings.steal(0.02, virtual=True), "warn", "2.0%"),
        (
            findings.load({"gcc": 0.9, "sh": 0.01}, "1.50 1.0 0.5 1/100 7\n"),
            "warn",
            "0.91 cores (gcc 90%); load average 1.50",
        ),
        (findings.load({}, None), "ok", "0.00 cores"),
        (findings.quota(1.5), "warn", "1.5 cores"),
        (findings.quota(None), "ok", "none"),
        (findings.affinity({0, 1}, "0-3\n"), "warn", "2 of 4"),
        (findings.affinity({0, 1}, "0-1\n"), "ok", "2 of 2"),
        (findings.huge_pages("[always] madvise never\n"), "warn", "always"),
        (findings.huge_pages("always [madvise] never\n"), "ok", "madvise"),
        (findings.address_layout("2\n"), "ok", "randomised"),
        (findings.address_layout("0\n"), "ok", "fixed"),
        (findings.numa("0-1\n"), "warn", "2"),
        (findings.numa("0\n"), "ok", "1"),
        (findings.swap("Filename Type Size Used Priority\n"), "ok", "none"),
        (findings.swap("Filename Type Size Used Priority\n/dev/sda2 partition 4096 2048 -2\n"), "warn", "2 MiB in use"),
        (findings.clock("tsc\n"), "ok", "tsc"),
        (findings.clock("hpet\n"), "warn", "hpet"),
        (findings.gaps({0: 0.01, 1: 0.08}), "warn", "worst core 1: 8.0%, median 4.5% of a short spin"),
        (findings.gaps({0: 0.01}), "ok", "worst core 0: 1.0%, median 1.0% of a short spin"),
    ],
    ids=lambda value: value.name if isinstance(value, Finding) else None,
)
def test_what_the_kernel_says_becomes_a_finding(found: Finding, status: str, value: str) -> None:
    assert (found.status, found.value) == (status, value)


def test_every_warning_says_what_can_be_done() -> None:
    warned = [
        findings.smt("1"),
        findings.boost("0", None),
        findings.quota(1.0),
        findings.clock("hpet"),
        findings.numa("0-3"),
    ]
    assert all(found.remedy for found in warned)


def test_no_stolen_time_proves_nothing_on_a_virtual_machine() -> None:
    found = findings.steal(0.0, virtual=True)
    assert found.status == "unknown"
    assert "no proof" in found.value


def test_the_stolen_share_counts_only_the_time_between() -> None:
    after = BEFORE.replace("cpu  100 0 100 800 0 0 0 10", "cpu  120 0 110 850 0 0 0 30")
    assert findings.steal_share(BEFORE, after) == pytest.approx(0.2)
    assert findings.steal_share(BEFORE, BEFORE) is None
    assert findings.steal_share("", "") is None


def test_only_cores_that_may_be_used_count_as_busy() -> None:
    before = "cpu  0 0 0 0 0 0 0 0 0 0\n" + "".join(f"cpu{core} 0 0 0 0 0 0 0 0 0 0\n" for core in (0, 1, 10))
    after = before.replace("cpu0 0 0 0 0", "cpu0 90 0 10 0").replace("cpu1 0 0 0 0 0", "cpu1 25 0 0 50 25")
    assert findings.busy_cores(before, after, [0]) == 1
    assert findings.busy_cores(before, after, [1]) == pytest.approx(0.25)
    assert findings.busy_cores(before, after, [0, 1, 10, 99]) == pytest.approx(1.25)


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
    ("contents", "cores"),
    [
        (("150000 100000\n", None, None), 1.5),
        (("max 100000\n", None, None), None),
        ((None, "50000\n", "100000\n"), 0.5),
        ((None, "-1\n", "100000\n"), None),
        ((None, None, None), None),
    ],
)
def test_a_quota_is_read_from_both_versions_of_control_groups(
    contents: tuple[str | None, str | None, str | None], cores: float | None
) -> None:
    assert kernel_files.quota_cores(*contents) == cores


@pytest.mark.parametrize(("text", "cpus"), [("0\n", {0}), ("0-2,5\n", {0, 1, 2, 5}), ("\n", set())])
def test_lists_of_cores_are_read(text: str, cpus: set[int]) -> None:
    assert findings.cpu_list(text) == cpus


def write(root: Path, name: str, text: str) -> None:
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def test_the_tightest_quota_of_all_groups_around_us_counts(tmp_path: Path) -> None:
    write(tmp_path, "proc/self/cgroup", "0::/user/app\n")
    write(tmp_path, "sys/fs/cgroup/user/cpu.max", "100000 100000\n")
    write(tmp_path, "sys/fs/cgroup/user/app/cpu.max", "300000 100000\n")
    assert kernel_files.tightest_quota(tmp_path) == 1.0


def test_the_quota_of_an_old_control_group_is_found_beside_the_new(tmp_path: Path) -> None:
    write(tmp_path, "proc/self/cgroup", "5:cpu,cpuacct:/job\n3:cpuset:/job\n0::/\n")
    write(tmp_path, "sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "50000\n")
    write(tmp_path, "sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n")
    assert kernel_files.tightest_quota(tmp_path) == 0.5


def test_a_container_whose_group_is_not_there_still_sees_its_limit(tmp_path: Path) -> None:
    write(tmp_path, "proc/self/cgroup", "0::/docker/0123\n")
    write(tmp_path, "sys/fs/cgroup/cpu.max", "200000 100000\n")
    assert kernel_files.tightest_quota(tmp_path) == 2.0


def test_a_machine_that_tells_nothing_is_examined_all_the_same(tmp_path: Path) -> None:
    found = doctor.read_findings(tmp_path, others={}, stolen=None)
    assert {one.name for one in found if one.status == "warn"} == set()


def test_a_machine_that_saves_power_is_recognised(tmp_path: Path) -> None:
    cpu = "sys/devices/system/cpu"
    write(tmp_path, f"{cpu}/cpu0/cpufreq/scaling_governor", "powersave\n")
    write(tmp_path, f"{cpu}/intel_pstate/no_turbo", "0\n")
    write(tmp_path, f"{cpu}/smt/active", "1\n")
    found = doctor.read_findings(tmp_path, others={}, stolen=0.0)
    assert {one.name for one in found if one.status == "warn"} == {"CPU governor", "turbo", "SMT"}


def test_gaps_are_measured_on_every_core_we_may_use() -> None:
    cores = sorted(os.sched_getaffinity(0))
    shares = doctor.measure_gaps(cores, 0.02)
    assert list(shares) == cores
    assert all(0 <= share < 1 for share in shares.values())


def test_the_findings_are_a_json_list() -> None:
    listed = json.loads(doctor.to_json([findings.smt("1")]))
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
    monkeypatch.setattr("tefflab.host.doctor.examine", lambda: [findings.quota(1.0)])
    systems.doctor(Registry(Path()), as_json=False)
    said = capsys.readouterr()
    assert "CPU quota" in said.out
    assert "install" not in said.out + said.err
