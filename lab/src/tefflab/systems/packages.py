"""Debian and Python packages: installs the wanted ones that are missing and can be had, if this user may do so.

A requirement of apt is a package's name, or several with `|` between them (`libomp-19-dev | libomp-dev`). It then means
the first that can be had: names differ between releases of Debian and Ubuntu.
"""

import functools
import json
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rich.console import Console
from rich.prompt import Confirm

from tefflab.host.processes import answer
from tefflab.systems.logged import run_step
from tefflab.whole_files import kept_json, write_whole

_APT_LISTS = Path("/var/lib/apt/lists/partial")  # which apt changes whenever it gets its lists
_OLD = 24 * 3600.0  # seconds after which they may have what they lacked
# The packages that pip installed for systems. It stands inside the environment, so that both go together.
PIP_LEDGER = Path(sys.prefix) / "systems.json"
PIP_QUIETLY = ("--disable-pip-version-check", "--no-user", "--progress-bar", "off", "--retries", "1")

Wanted = Mapping[str, Sequence[str]]  # requirements by owner
# Whether packages may be installed: "ask" asks on a terminal, and elsewhere means "yes".
Installing = Literal["ask", "yes", "no"]

_CANDIDATE = re.compile(r"^(\S+):\n  Installed: .*\n  Candidate: (?!\(none\))", re.MULTILINE)
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
        """Asks dpkg, once, about every package of `requirements`. Unpacked or removed packages do not count."""
        names, is_known = _names(requirements), shutil.which("dpkg-query") is not None
        query = ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\\n", *names]
        said = answer(query, environment=PLAIN).stdout if names and is_known else ""
        return cls(frozenset(re.findall(r"^(\S+) installed$", said, re.MULTILINE)), is_known)

    def missing(self, requirements: Iterable[str]) -> list[str]:
        """The requirements of which no alternative is installed, each once, in order."""
        wanted = dict.fromkeys(requirements) if self.known else ()
        return [one for one in wanted if self.installed.isdisjoint(alternatives(one))]


def _names(requirements: Iterable[str]) -> list[str]:
    return sorted({name for requirement in requirements for name in alternatives(requirement)})


def available(requirements: Iterable[str]) -> frozenset[str]:
    """The packages of `requirements` that apt knows where to get."""
    policy = answer(["apt-cache", "policy", *_names(requirements)], environment=PLAIN).stdout
    return frozenset(_CANDIDATE.findall(policy))


def choose(requirement: str, obtainable: frozenset[str]) -> str | None:
    """The first alternative that can be had, if any can."""
    return next((name for name in alternatives(requirement) if name in obtainable), None)


@functools.cache
def as_root() -> tuple[str, ...] | None:
    """The prefix of a command that needs root: empty for root, sudo if it asks no password."""
    if os.geteuid() == 0:
        return ()
    if shutil.which("sudo") and answer(["sudo", "-n", "true"]).returncode == 0:
        return ("sudo", "-n")
    return None


def sudo() -> str:
    """The prefix of a command that the user types to run it as root; empty if there is no sudo."""
    return "sudo " if shutil.which("sudo") else ""


def install_command(requirements: Sequence[str], obtainable: frozenset[str]) -> str:
    """The command, for the user to type, that installs what can be had. An apt that knows nothing has no lists yet."""
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


class Provision:
    """The outcome of a `client`'s work, apt's or pip's."""

    def __init__(self, root: Path, client: Literal["apt", "pip"]) -> None:
        self.client = client
        self.problems: dict[str, str] = {}  # the reason, for each owner whose requirements are not met
        self.for_root = ""  # what root has to type, if only that would help
        self.log = root / ".teff" / "log" / f"{client}.log"

    def install(self, wanted: Wanted, install: Callable[[Sequence[str]], bool]) -> None:
        """Installs everything in one go, or owner by owner where that fails."""
        together = list(dict.fromkeys(one for requirements in wanted.values() for one in requirements))
        if not together or install(together):
            return
        for owner, requirements in wanted.items():
            if len(wanted) == 1 or not install(requirements):
                why = f"{self.client} could not install {' '.join(requirements)}; see {self.log}"
                self.problems.setdefault(owner, why)


def provide_apt(root: Path, wanted: Wanted, console: Console, installing: Installing = "yes") -> Provision:
    """Installs the Debian packages that are missing, where we are root or may become it unasked."""
    provision = Provision(root, "apt")
    state = PackageState.of([one for requirements in wanted.values() for one in requirements])
    lacking = {owner: left for owner, requirements in wanted.items() if (left := state.missing(requirements))}
    if not lacking:
        return provision
    prefix = as_root()
    is_ours = prefix is not None and installing != "no"
    everything = [one for requirements in lacking.values() for one in requirements]

    def apt(text: str, *words: str, apart: bool = False) -> bool:
        return run_step(console, text, apt_get(prefix or (), *words), provision.log, apart=apart) == 0

    obtainable = available(everything)
    if is_ours:
        provision.log.unlink(missing_ok=True)
        if not all(choose(one, obtainable) for one in everything) and _lists_are_old():
            apt("asking apt for its newest package lists", "update")
            obtainable = available(everything)
        for owner, some in lacking.items():
            if hopeless := ", ".join(one for one in some if choose(one, obtainable) is None):
                provision.problems[owner] = f"{hopeless} can't be had here"
        found = {owner: [one for one in some if choose(one, obtainable)] for owner, some in lacking.items()}
        lacking = {owner: some for owner, some in found.items() if some}
    chosen = dict.fromkeys(choose(one, obtainable) or one for some in lacking.values() for one in some)
    if not is_ours or (chosen and installing == "ask" and not _agreed(list(chosen), console)):
        for owner, requirements in lacking.items():
            packages = [choose(one, obtainable) or alternatives(one)[0] for one in requirements]
            provision.problems.setdefault(owner, f"needs {', '.join(packages)}")
        if prefix is None and installing != "no":
            how, command = "type" if sudo() else "type as root", install_command(everything, obtainable)
            provision.for_root = f"only root may install packages; {how}: {command}"
        return provision

    def install(requirements: Sequence[str]) -> bool:
        packages = [choose(one, obtainable) or one for one in requirements]
        words = ("install", "--no-install-recommends", *packages)
        if not apt(f"downloading {_listed(packages)} by apt", *words, "--download-only"):
            return False
        try:
            return apt(f"installing {_listed(packages)} by apt", *words, apart=True)
        except KeyboardInterrupt:
            console.print("teff: apt goes on by itself: packages left half-installed would stop the next apt")
            raise

    provision.install(lacking, install)
    return provision


def _lists_are_old() -> bool:
    return not _APT_LISTS.is_dir() or time.time() - _APT_LISTS.stat().st_mtime > _OLD


def _agreed(packages: Sequence[str], console: Console) -> bool:
    """On a terminal it says which packages apt would install, and asks. Elsewhere: yes."""
    if not (console.file.isatty() and sys.stdin.isatty()):
        return True
    console.print(f"teff: apt would install {' '.join(packages)}", soft_wrap=True)
    try:
        return Confirm.ask("teff: install them? (without them, what is here is used)", console=console, default=True)
    except EOFError:
        return False


def provide_pip(root: Path, wanted: Wanted, console: Console, installing: Installing = "yes") -> Provision:
    """Installs Python packages into the environment that runs this, within the lab's own pins."""
    provision = Provision(root, "pip")
    installed: list[str] = kept_json(PIP_LEDGER) or []
    missing = {owner: [one for one in wanted[owner] if one not in installed] for owner in wanted}
    lacking = {owner: requirements for owner, requirements in missing.items() if requirements}
    if installing == "no":
        provision.problems = {owner: f"needs {', '.join(lacking[owner])} from PyPI" for owner in lacking}
        return provision
    if lacking:
        provision.log.unlink(missing_ok=True)

    def install(requirements: Sequence[str]) -> bool:
        # The command names installed packages again, so that pip does not trade one system for another.
        pip = [sys.executable, "-m", "pip", "install", *PIP_QUIETLY, "--constraint", str(root / "lab/constraints.txt")]
        text = f"installing {_listed(requirements)} by pip"
        done = run_step(console, text, [*pip, *installed, *requirements], provision.log) == 0
        if done:
            installed.extend(one for one in requirements if one not in installed)
            write_whole(PIP_LEDGER, json.dumps(installed))
        return done

    provision.install(lacking, install)
    return provision


def into_venv(venv: Path, requirements: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """The commands, each with the name of its client, that install Python packages into an environment of their own."""
    yield "venv", [sys.executable, "-m", "venv", str(venv)]
    yield "pip", [str(venv / "bin/python"), "-m", "pip", "install", *PIP_QUIETLY, *requirements]


def _listed(names: Sequence[str], most: int = 3) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return " ".join(names[:most]) + more
