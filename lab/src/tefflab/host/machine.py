"""The machine and the source a result belongs to: facts kept beside every sitting.

All facts are read below a root folder (`/`), so that a test can show another machine. A fact that the
system does not tell is None, never a guess. Names of hosts and users are not read: stores get published.
"""

import hashlib
import os
import platform
import re
import subprocess
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from tefflab.carried import REVISION
from tefflab.host import kernel_files
from tefflab.host.kernel_files import governors, text, tightest_quota

_COMPILERS = ("gcc", "g++", "clang", "clang++", "rustc", "go", "cmake", "mpicc")
_SOURCES = ("bench", "runtime", "lab")  # what is built and measured: a file that git does not know yet is, too
_GIB = 1024**3
# Git sets them for its hooks: they name the user's own repository.
_OF_GIT = {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX"}


class _Frozen(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Machine(_Frozen):
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


class Revision(_Frozen):
    """The source that was measured; `dirty` where the work tree held changes besides."""

    commit: str | None
    dirty: bool

    @property
    def short(self) -> str:
        """`1a2b3c4d5e`, `1a2b3c4d5e+` with changes, or `no revision` outside a repository."""
        return (self.commit or "no revision")[: 10 if self.commit else None] + "+" * self.dirty


def read_machine(root: Path = Path("/")) -> Machine:
    """The facts of this machine. Starts each compiler once to ask its version; takes about 0.2 s."""
    cpu_text = _read(root / "proc/cpuinfo")
    cpu = _cpu(cpu_text) or platform.processor() or "unknown CPU"
    memory = _first(r"^MemTotal:\s*(\d+) kB$", _read(root / "proc/meminfo"))
    memory_bytes = int(memory) * 1024 if memory else None
    present = len(re.findall(r"^processor\s*:", cpu_text, re.MULTILINE)) or os.cpu_count() or 1
    hypervisor = kernel_files.hypervisor(root)
    if hypervisor == "unnamed":
        hypervisor = _hypervisor_by_cpuid(root) or hypervisor
    architecture = platform.machine()
    return Machine(
        id=_machine_id(architecture, cpu, present, memory_bytes, hypervisor),
        architecture=architecture,
        cpu=cpu,
        cores_present=present,
        cores_usable=len(os.sched_getaffinity(0)),
        cgroup_quota_cores=tightest_quota(root),
        memory_bytes=memory_bytes,
        memory_limit_bytes=_memory_limit(root, memory_bytes),
        hypervisor=hypervisor,
        governor=", ".join(sorted(set(governors(root)))) or None,
        simd=_simd(cpu_text),
        kernel=platform.release(),
        os=_first(r'^PRETTY_NAME="?([^"\n]+)"?$', _read(root / "etc/os-release")) or platform.system(),
        compilers={name: line for name in _COMPILERS if (line := _version_line(name))},
    )


def read_revision(folder: Path) -> Revision:
    """The git revision of `folder`; commit None where there is no repository, no commit or no git. Sources that a wheel
    carries name the commit that the wheel was made from."""
    if (said := folder / REVISION).is_file():
        return Revision.model_validate_json(said.read_text(encoding="utf-8"))
    top, _, commit = (_output(["git", "-C", str(folder), "rev-parse", "--show-toplevel", "HEAD"]) or "").partition("\n")
    if not commit or Path(top) != folder.resolve():
        return Revision(commit=None, dirty=False)
    changes = _output(["git", "-C", str(folder), "status", "--porcelain", "--untracked-files=no"])
    added = _output(["git", "-C", str(folder), "ls-files", "--others", "--exclude-standard", "--", *_SOURCES])
    return Revision(commit=commit, dirty=bool(changes or added))


def _machine_id(architecture: str, cpu: str, present: int, memory: int | None, hypervisor: str | None) -> str:
    """Twelve hex digits that stay the same over reboots, updates, containers and affinity."""
    gib = round(memory / _GIB) if memory else 0
    facts = f"{architecture}|{cpu}|{present}|{gib}|{hypervisor or 'metal'}"
    return hashlib.sha256(facts.encode()).hexdigest()[:12]


def _cpu(cpu_text: str) -> str:
    """The CPU's name; if the kernel gives none, as on ARM, the numbers of its maker and parts."""
    name = _first(r"(?i)^(?:model name|cpu|cpu model|uarch)\s*:\s*(.+)$", cpu_text)
    parts = re.findall(r"(?ms)^CPU implementer\s*:\s*(\S+)$.*?^CPU part\s*:\s*(\S+)$", cpu_text)
    return name or ", ".join(f"CPU of implementer {maker}, part {part}" for maker, part in sorted(set(parts)))


def _hypervisor_by_cpuid(root: Path) -> str | None:
    """The vendor the processor itself tells, which only `lscpu` asks it for."""
    if root != Path("/"):
        return None
    return _first(r"^Hypervisor vendor:\s*(.+)$", _output(["lscpu"]) or "")


def _simd(cpu_text: str) -> tuple[str, ...]:
    flags = set((_first(r"^(?:flags|Features)\s*:\s*(.+)$", cpu_text) or "").split())
    return tuple(name for name in ("sse2", "avx2", "fma", "avx512f", "asimd", "sve") if name in flags)


def _memory_limit(root: Path, present: int | None) -> int | None:
    """Memory limit of the control group [bytes]; None if it is no less than the present memory."""
    for file in ("sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory/memory.limit_in_bytes"):
        text = _read(root / file).strip()
        if text.isdecimal() and (present is None or int(text) < present):
            return int(text)
    return None


def _read(file: Path) -> str:
    return text(file) or ""


def _version_line(program: str) -> str | None:
    argument = "version" if program == "go" else "--version"
    answer = _output([program, argument])
    return answer.splitlines()[0].strip() if answer else None


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
