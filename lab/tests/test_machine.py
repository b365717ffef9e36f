"""The source that is kept with a sitting."""

import errno
import subprocess
from pathlib import Path

import pytest

from tefflab.host.doctor import read_findings
from tefflab.host.file_locks import lock
from tefflab.host.machine import read_machine, read_revision

ARM = "processor : 0\nFeatures : fp asimd\nCPU implementer : 0x41\nCPU part : {}\n"
X86 = "processor : 0\nmodel name : Xeon\nflags : fpu{}\n"


def write(root: Path, **files: str) -> Path:
    """A machine with this /proc/cpuinfo and these names of its firmware."""
    (root / "proc").mkdir(parents=True)
    (root / "proc/cpuinfo").write_text(files.pop("cpuinfo"))
    (root / "sys/class/dmi/id").mkdir(parents=True)
    for name, text in files.items():
        (root / "sys/class/dmi/id" / name).write_text(f"{text}\n")
    return root


def test_a_cpu_without_a_name_is_told_by_its_maker_and_parts(tmp_path: Path) -> None:
    neoverse = {name: read_machine(write(tmp_path / name, cpuinfo=ARM.format(name) * 2)) for name in ("0xd0c", "0xd40")}
    assert neoverse["0xd0c"].cpu == "CPU of implementer 0x41, part 0xd0c"
    assert neoverse["0xd0c"].id != neoverse["0xd40"].id
    both = read_machine(write(tmp_path / "both", cpuinfo=ARM.format("0xd0c") + ARM.format("0xd05")))
    assert both.cpu == "CPU of implementer 0x41, part 0xd05, CPU of implementer 0x41, part 0xd0c"
    assert both.cores_present == 2
    power = "processor : 0\ncpu : POWER9, altivec supported\n"
    assert read_machine(write(tmp_path / "power", cpuinfo=power)).cpu == "POWER9, altivec supported"
    assert read_machine(write(tmp_path / "x86", cpuinfo=X86.format(""))).cpu == "Xeon"


@pytest.mark.parametrize(
    ("cpuinfo", "vendor", "product", "named"),
    [
        (ARM.format("0xd0c"), "QEMU", "KVM Virtual Machine", "QEMU KVM Virtual Machine"),
        (ARM.format("0xd0c"), "Amazon EC2", "m6g.large", "Amazon EC2 m6g.large"),
        (ARM.format("0xd0c"), "Amazon EC2", "m6g.metal", None),
        (ARM.format("0xd0c"), "Ampere", "Mt. Jade", None),
        (X86.format(" hypervisor"), "", "", "unnamed"),
        (X86.format(" hypervisor"), "Maker", "Box", "Maker Box"),
        (X86.format(""), "QEMU", "", None),
    ],
)
def test_a_virtual_machine_is_seen_whatever_its_processor(
    tmp_path: Path, cpuinfo: str, vendor: str, product: str, named: str | None
) -> None:
    root = write(tmp_path, cpuinfo=cpuinfo, sys_vendor=vendor, product_name=product)
    assert read_machine(root).hypervisor == named
    found = {one.name: one for one in read_findings(root, others={}, stolen=None)}["hypervisor"]
    assert (found.status, found.value) == (("warn", f"yes ({named})") if named else ("ok", "none seen"))


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A clone with one commit."""
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "old.cpp").touch()
    (tmp_path / ".gitignore").write_text("*.pyc\n")
    for words in ("init -q", "add .", "-c user.name=a -c user.email=a commit -q -m first"):
        subprocess.run(["git", *words.split()], cwd=tmp_path, check=True)
    return tmp_path


def test_a_source_that_git_does_not_know_yet_makes_the_revision_dirty(checkout: Path) -> None:
    assert not read_revision(checkout).dirty
    (checkout / "bench" / "new.cpp").touch()
    assert read_revision(checkout).dirty


def test_neither_results_nor_ignored_files_make_it_dirty(checkout: Path) -> None:
    for name in ("notes.txt", "bench/cached.pyc"):
        (checkout / name).touch()
    assert not read_revision(checkout).dirty


def test_a_source_that_was_changed_makes_it_dirty(checkout: Path) -> None:
    (checkout / "bench" / "old.cpp").write_text("int main() {}")
    assert read_revision(checkout).dirty


def test_the_revision_is_that_of_the_own_checkout(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = read_revision(checkout)
    other = checkout / "other"
    subprocess.run(["git", "init", "-q", str(other)], check=True)
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))  # as git does for its hooks
    assert read_revision(checkout) == own
    (checkout / "inside").mkdir()
    assert read_revision(checkout / "inside").commit is None, "the repository around is none of ours"


def test_a_file_system_without_locks_is_said_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def flock(_fd: int, _operation: int) -> None:
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr("fcntl.flock", flock)
    with (tmp_path / "a.lock").open("w") as file:
        for _ in range(2):
            lock(file.fileno(), tmp_path / "a.lock")
    assert capsys.readouterr().err.count(f"the file system of {tmp_path} has no locks") == 1
