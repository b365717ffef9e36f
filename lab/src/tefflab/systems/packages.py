"""Debian packages: which of the wanted ones are installed, which can be installed, and whether this user may do so.

A requirement is a package's name, or several with `|` between them (`libomp-19-dev | libomp-dev`). It then means the
first that can be had: names differ between releases of Debian and Ubuntu.
"""

import functools
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

_DOWNLOAD = re.compile(r"^Need to get (?:\S+ ?\S*/)?(?P<size>[\d.,]+ ?\w+) of archives", re.MULTILINE)
_ON_DISK = re.compile(r"^After this operation, (?P<size>[\d.,]+ ?\w+) of additional disk space", re.MULTILINE)
_NEW = re.compile(r"(?P<number>\d+) newly installed")
PLAIN = {"LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"}


def alternatives(requirement: str) -> tuple[str, ...]:
    """The packages of which one is wanted, best first."""
    return tuple(name.strip() for name in requirement.split("|"))


@dataclass(frozen=True)
class PackageState:
    """Which packages are installed. On a machine without dpkg nothing is known, so nothing is missing."""

    installed: frozenset[str]
    known: bool

    @classmethod
    def of(cls, requirements: Iterable[str]) -> "PackageState":
        """Asks dpkg, once, about every package of `requirements`."""
        names = sorted({name for requirement in requirements for name in alternatives(requirement)})
        if shutil.which("dpkg-query") is None:
            return cls(frozenset(), known=False)
        if not names:
            return cls(frozenset(), known=True)
        query = ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\\n", *names]
        answer = subprocess.run(query, capture_output=True, text=True, check=False, env=os.environ | PLAIN)
        return cls(installed_packages(answer.stdout), known=True)

    def missing(self, requirements: Iterable[str]) -> list[str]:
        """The requirements of which no alternative is installed, each once, in order."""
        if not self.known:
            return []
        wanted = dict.fromkeys(requirements)
        return [one for one in wanted if self.installed.isdisjoint(alternatives(one))]


def installed_packages(dpkg_answer: str) -> frozenset[str]:
    """Reads lines of `package status`; unpacked or removed packages do not count."""
    lines = (line.split() for line in dpkg_answer.splitlines())
    return frozenset(words[0] for words in lines if words[1:] == ["installed"])


def candidates(policy_answer: str) -> frozenset[str]:
    """Reads `apt-cache policy`: the packages that can be installed."""
    found: set[str] = set()
    package = ""
    for line in policy_answer.splitlines():
        if line and not line[0].isspace():
            package = line.rstrip(":")
        elif line.strip().startswith("Candidate:") and "(none)" not in line:
            found.add(package)
    return frozenset(found)


def available(requirements: Iterable[str]) -> frozenset[str]:
    """The packages of `requirements` that apt knows where to get."""
    names = sorted({name for requirement in requirements for name in alternatives(requirement)})
    answer = subprocess.run(
        ["apt-cache", "policy", *names], capture_output=True, text=True, check=False, env=os.environ | PLAIN
    )
    return candidates(answer.stdout)


def choose(requirement: str, obtainable: frozenset[str]) -> str | None:
    """The first alternative that can be had, if any can."""
    return next((name for name in alternatives(requirement) if name in obtainable), None)


@functools.cache
def as_root() -> tuple[str, ...] | None:
    """The prefix of a command that needs root: empty for root, sudo if it asks no password."""
    if os.geteuid() == 0:
        return ()
    if shutil.which("sudo"):
        granted = subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False)
        if granted.returncode == 0:
            return ("sudo", "-n")
    return None


def sudo() -> str:
    """The prefix of a command that the user types to run it as root; empty if there is no sudo."""
    return "sudo " if shutil.which("sudo") else ""


def install_command(requirements: Sequence[str], obtainable: frozenset[str]) -> str:
    """The command that installs those requirements that can be had, for the user to type.

    An apt that knows none of them has not fetched its lists yet, as on a fresh machine; then all are named.
    """
    install = f"{sudo()}apt-get install --no-install-recommends "
    chosen = [package for one in requirements if (package := choose(one, obtainable))]
    if chosen:
        return install + " ".join(dict.fromkeys(chosen))
    first = dict.fromkeys(alternatives(one)[0] for one in requirements)
    return f"{sudo()}apt-get update && {install}{' '.join(first)}"


def apt_get(prefix: Sequence[str], *words: str) -> list[str]:
    """An apt-get command line that asks nothing and waits for another apt that is at work."""
    settings = [f"{name}={value}" for name, value in PLAIN.items()]
    return [*prefix, "env", *settings, "apt-get", "-y", "-o", "DPkg::Lock::Timeout=300", *words]


def cost_of(packages: Sequence[str]) -> str:
    """The cost of these packages, with all that they need, by apt: `34 packages, 123 MB to download, 456 MB on the
    disk`."""
    prefix = as_root() or ()
    command = [word for word in apt_get(prefix, "install", "--no-install-recommends", *packages) if word != "-y"]
    answer = subprocess.run(
        [*command, "--assume-no"], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    return said_cost(answer.stdout)


def said_cost(apt_answer: str) -> str:
    """Reads what apt-get says before it would ask."""
    number, download, on_disk = (rule.search(apt_answer) for rule in (_NEW, _DOWNLOAD, _ON_DISK))
    parts = [
        f"{number['number']} packages" if number else "",
        f"{download['size']} to download" if download else "",
        f"{on_disk['size']} on the disk" if on_disk else "",
    ]
    return ", ".join(filter(None, parts)) or "apt does not say how large they are"


def missing_by_owner(wanted: Mapping[str, Sequence[str]], state: PackageState) -> dict[str, list[str]]:
    """The missing requirements of each owner (a system, or the core) that lacks any."""
    lacks = {owner: state.missing(requirements) for owner, requirements in wanted.items()}
    return {owner: missing for owner, missing in lacks.items() if missing}
