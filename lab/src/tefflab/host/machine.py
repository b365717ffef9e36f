"""The machine and the source a result belongs to. All facts are read below a root folder (`/`), so that a test can show
another machine. A fact that the system does not tell is None. Names of hosts and users are not read: stores get
published."""

import hashlib
import os
import platform
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel

from tefflab.carried import REVISION

_COMPILERS = ("gcc", "g++", "clang", "clang++", "rustc", "go", "cmake", "mpicc")
_SOURCES = ("bench", "runtime", "lab")  # what is built and measured: a file that git does not know yet is, too
_GIB = 1024**3
# Git sets them for its hooks: they name the user's own repository.
_OF_GIT = {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX"}
# Names that firmware gives virtual machines, as systemd-detect-virt knows them. A cloud rents whole machines as metal.
_VIRTUAL = re.compile(
    r"^(?!.*metal$).*"
    r"(KVM|QEMU|Amazon EC2|Google Compute Engine|VMware|VirtualBox|Xen|Parallels|Hyper-V|OpenStack|Virtual)"
)


class Machine(BaseModel, extra="forbid", frozen=True):
    """The machine of a measurement. Two machines of one make and size share an `id`."""

    id: str
    architecture: str
    cpu: str
    cores_present: int
    cores_usable: int  # by affinity; a quota is kept apart
    cgroup_quota_cores: float | None
    memory_bytes: int | None
    memory_limit_bytes: int | None
    hypervisor: str | None  # None on bare metal
    governor: str | None
    simd: tuple[str, ...]
    kernel: str
    os: str
    compilers: dict[str, str]

    @property
    def summary(self) -> str:
        """One line for the foot of a picture: `AMD EPYC, 2 cores, 7.8 GiB, KVM, Linux 6.1`."""
        parts = [self.cpu, f"{self.cores_usable} core{'s' if self.cores_usable != 1 else ''}"]
        if self.cores_usable != self.cores_present:
            parts[-1] += f" of {self.cores_present}"
        if self.cgroup_quota_cores is not None:
            parts.append(f"quota {self.cgroup_quota_cores:g}")
        if self.memory_bytes:
            parts.append(f"{self.memory_bytes / _GIB:.3g} GiB")
        if self.hypervisor:
            parts.append(f"virtual ({self.hypervisor})")
        parts.append(f"Linux {self.kernel}" if self.kernel[:1].isdecimal() else self.kernel)
        return ", ".join(parts)


class Revision(BaseModel, extra="forbid", frozen=True):
    """The source that was measured; `dirty` where the work tree held changes besides."""

    commit: str | None
    dirty: bool

    @property
    def short(self) -> str:
        """`1a2b3c4d5e`, `1a2b3c4d5e+` with changes, or `no revision` outside a repository."""
        return (self.commit or "no revision")[: 10 if self.commit else None] + "+" * self.dirty


def read_machine(root: Path = Path("/")) -> Machine:
    """The facts of this machine. Starts each compiler once to ask its version; takes about 0.2 s."""
    cpu_text = text(root / "proc/cpuinfo")
    cpu = _cpu(cpu_text) or platform.processor() or "unknown CPU"
    memory = _first(r"^MemTotal:\s*(\d+) kB$", text(root / "proc/meminfo"))
    memory_bytes = int(memory) * 1024 if memory else None
    present = len(re.findall(r"^processor\s*:", cpu_text, re.MULTILINE)) or os.cpu_count() or 1
    maker = hypervisor(root)
    if maker == "unnamed" and root == Path("/"):  # the processor itself may tell it, which only `lscpu` asks
        maker = _first(r"^Hypervisor vendor:\s*(.+)$", _output(["lscpu"]) or "") or maker
    architecture = platform.machine()
    flags = (_first(r"^(?:flags|Features)\s*:\s*(.+)$", cpu_text) or "").split()
    # Stays the same over reboots, updates, containers and affinity.
    facts = f"{architecture}|{cpu}|{present}|{round((memory_bytes or 0) / _GIB)}|{maker or 'metal'}"
    return Machine(
        id=hashlib.sha256(facts.encode()).hexdigest()[:12],
        architecture=architecture,
        cpu=cpu,
        cores_present=present,
        cores_usable=len(os.sched_getaffinity(0)),
        cgroup_quota_cores=tightest_quota(root),
        memory_bytes=memory_bytes,
        memory_limit_bytes=_memory_limit(root, memory_bytes),
        hypervisor=maker,
        governor=", ".join(sorted(set(governors(root)))) or None,
        simd=tuple(name for name in ("sse2", "avx2", "fma", "avx512f", "asimd", "sve") if name in flags),
        kernel=platform.release(),
        os=_first(r'^PRETTY_NAME="?([^"\n]+)"?$', text(root / "etc/os-release")) or platform.system(),
        compilers={
            name: said.splitlines()[0].strip()
            for name in _COMPILERS
            if (said := _output([name, "version" if name == "go" else "--version"]))
        },
    )


def read_revision(folder: Path) -> Revision:
    """The git revision of `folder`; commit None where there is no repository, no commit or no git. Sources that a wheel
    carries name the commit that the wheel was made from."""
    if (said := folder / REVISION).is_file():
        return Revision.model_validate_json(said.read_text(encoding="utf-8"))
    git = ["git", "-C", str(folder)]
    top, _, commit = (_output([*git, "rev-parse", "--show-toplevel", "HEAD"]) or "").partition("\n")
    if not commit or Path(top) != folder.resolve():
        return Revision(commit=None, dirty=False)
    changes = _output([*git, "status", "--porcelain", "--untracked-files=no"])
    added = _output([*git, "ls-files", "--others", "--exclude-standard", "--", *_SOURCES])
    return Revision(commit=commit, dirty=bool(changes or added))


def text(file: Path) -> str:
    """The contents of a file of the kernel; empty where it has no such file or does not show it."""
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def hypervisor(root: Path) -> str | None:
    """The name of the hypervisor as the firmware tells it, else `unnamed`; None on bare metal. Only an x86 processor
    itself says that it is virtual; elsewhere the firmware's names or the kernel's files do."""
    names = (text(root / f"sys/class/dmi/id/{name}").strip() for name in ("sys_vendor", "product_name"))
    named = " ".join(dict.fromkeys(filter(None, names)))
    if flags := _first(r"^flags\s*:(.*)$", text(root / "proc/cpuinfo")):
        is_virtual = "hypervisor" in flags.split()
    else:
        signs = ("proc/device-tree/hypervisor", "sys/hypervisor/type")
        is_virtual = bool(_VIRTUAL.search(named)) or any((root / sign).exists() for sign in signs)
    return (named or "unnamed") if is_virtual else None


def governors(root: Path) -> list[str]:
    """The frequency governor of every core; none on most virtual machines."""
    files = sorted((root / "sys/devices/system/cpu").glob("cpu[0-9]*/cpufreq/scaling_governor"))
    return [name for file in files if (name := text(file).strip())]


def cpu_list(said: str) -> set[int]:
    """Reads the kernel's `0-3,8`."""
    parts = (part.partition("-") for part in said.strip().split(",") if part)
    return {cpu for low, _, high in parts for cpu in range(int(low), int(high or low) + 1)}


def tightest_quota(root: Path) -> float | None:
    """The least CPU quota [cores] of the control groups we are in and of those around them; None without any."""
    found = []
    for folder in _control_groups(root):
        old = (text(folder / f"cpu.cfs_{name}_us").strip() for name in ("quota", "period"))
        quota, _, period = (text(folder / "cpu.max") or " ".join(old)).partition(" ")
        if quota.isdecimal() and period:
            found.append(int(quota) / int(period))
    return min(found, default=None)


def _control_groups(root: Path) -> Iterator[Path]:
    """The folders that may limit our CPU: our group's and all above it. In a container some are not there."""
    mount = root / "sys/fs/cgroup"
    for line in text(root / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers or "cpu" in controllers.split(","):
            tops = (mount / "cpu", mount / controllers) if controllers else (mount, mount / "unified")
            yield from (top / str(part).lstrip("/") for top in tops for part in (Path(path), *Path(path).parents))


def _cpu(cpu_text: str) -> str:
    """The CPU's name; if the kernel gives none, as on ARM, the numbers of its maker and parts."""
    name = _first(r"(?i)^(?:model name|cpu|cpu model|uarch)\s*:\s*(.+)$", cpu_text)
    parts = re.findall(r"(?ms)^CPU implementer\s*:\s*(\S+)$.*?^CPU part\s*:\s*(\S+)$", cpu_text)
    return name or ", ".join(f"CPU of implementer {maker}, part {part}" for maker, part in sorted(set(parts)))


def _memory_limit(root: Path, present: int | None) -> int | None:
    """Memory limit of the control group [bytes]; None if it is no less than the present memory."""
    for file in ("sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory/memory.limit_in_bytes"):
        limit = text(root / file).strip()
        if limit.isdecimal() and (present is None or int(limit) < present):
            return int(limit)
    return None


def _output(command: list[str]) -> str | None:
    """The output of `command`; None if it is not there, fails or hangs. It is parsed, so in one language."""
    plain = {name: value for name, value in os.environ.items() if name not in _OF_GIT} | {"LC_ALL": "C"}
    try:
        done = subprocess.run(command, capture_output=True, errors="replace", timeout=10, env=plain)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _first(pattern: str, text: str) -> str | None:
    found = re.search(pattern, text, re.MULTILINE)
    return found.group(1).strip() if found else None
