"""Installs Debian and Python packages for systems and the core, so that none breaks another."""

import json
import re
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from rich.console import Console
from rich.prompt import Confirm

from tefflab.systems.logged import Step, run_apart, run_logged
from tefflab.systems.packages import (
    PackageState,
    alternatives,
    apt_get,
    as_root,
    available,
    choose,
    cost_of,
    install_command,
    missing_by_owner,
)

RETRY_AFTER = 24 * 3600.0  # seconds until a requirement that could not be had is asked for again
# The packages that pip installed for systems. It stands inside the environment, so that both go together.
PIP_LEDGER = Path(sys.prefix) / "systems.json"
PIP_QUIETLY = ("--disable-pip-version-check", "--progress-bar", "off")
_APT_STEP = re.compile(r"^(?:(Get):\d+(?: \S+){3}|(Unpacking|Setting up)) (\S+)")
PIP_STEP = re.compile(r"^(Collecting|Building wheel for|Installing collected) (\S+)")

Wanted = Mapping[str, Sequence[str]]  # requirements by owner
# Whether packages may be installed: "ask" asks on a terminal, and elsewhere means "yes".
Installing = Literal["ask", "yes", "no"]


@dataclass
class Provision:
    """The result: the reason, for each owner whose requirements are not met.

    `command` is the command for a user with root's rights to type, if only that would help.
    """

    problems: dict[str, str] = field(default_factory=dict)
    command: str = ""

    def blame(self, owners: Iterable[str], reason: str) -> None:
        for owner in owners:
            self.problems.setdefault(owner, reason)

    def leave(self, lacking: Wanted, obtainable: frozenset[str]) -> None:
        """Names, for each owner, the Debian packages that are not installed."""
        for owner, requirements in lacking.items():
            packages = [choose(one, obtainable) or alternatives(one)[0] for one in requirements]
            self.blame([owner], f"needs {', '.join(packages)}")


class Unavailable:
    """Requirements that could not be had lately, so that they are not asked for at every call."""

    def __init__(self, file: Path) -> None:
        self._file = file
        try:
            noted: dict[str, float] = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            noted = {}
        self._noted = {what: when for what, when in noted.items() if time.time() - when < RETRY_AFTER}

    def note(self, requirements: Iterable[str]) -> None:
        self._noted |= dict.fromkeys(requirements, time.time())
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.write_text(json.dumps(self._noted, indent=2), encoding="utf-8")

    def sift(self, wanted: Wanted, provision: Provision) -> Wanted:
        """The requirements that are left to ask for; `provision` gets the reason for owners whose requirements can't be
        had."""
        for owner, requirements in wanted.items():
            if hopeless := [one for one in requirements if one in self._noted]:
                names = ", ".join(hopeless)
                provision.blame([owner], f"{names} can't be had here (asked again in a day, or without {self._file})")
        left = {owner: [one for one in wanted[owner] if one not in self._noted] for owner in wanted}
        return {owner: requirements for owner, requirements in left.items() if requirements}


def install_for_owners(wanted: Wanted, install: Callable[[Sequence[str]], bool]) -> list[str]:
    """Installs everything in one go, or owner by owner where that fails; returns the owners that failed."""
    together = list(dict.fromkeys(one for requirements in wanted.values() for one in requirements))
    if not together or install(together):
        return []
    if len(wanted) == 1:
        return list(wanted)
    return [owner for owner, requirements in wanted.items() if not install(requirements)]


def provide_apt(root: Path, wanted: Wanted, console: Console, installing: Installing = "yes") -> Provision:
    """Installs the Debian packages that are missing, where we are root or may become it unasked."""
    provision = Provision()
    memory = Unavailable(root / ".teff" / "stamps" / "unavailable-apt.json")
    state = PackageState.of([one for requirements in wanted.values() for one in requirements])
    lacking = memory.sift(missing_by_owner(wanted, state), provision)
    if not lacking:
        return provision
    prefix = as_root()
    everything = [one for requirements in lacking.values() for one in requirements]
    if prefix is None or installing == "no":
        obtainable = available(everything)
        provision.leave(lacking, obtainable)
        provision.command = "" if installing == "no" else install_command(everything, obtainable)
        return provision

    log = root / ".teff" / "log" / "apt.log"

    def apt(text: str, *words: str) -> bool:
        with Step(console, text) as step:
            step.show()
            return run_logged(apt_get(prefix, *words), log, on_line=follow(step, _APT_STEP), append=True) == 0

    log.unlink(missing_ok=True)
    apt("asking apt for its newest package lists", "update")
    obtainable = available(everything)
    memory.note(one for one in everything if choose(one, obtainable) is None)
    lacking = memory.sift(lacking, provision)
    chosen = dict.fromkeys(choose(one, obtainable) or one for some in lacking.values() for one in some)
    if chosen and installing == "ask" and not _agreed(list(chosen), console):
        provision.leave(lacking, obtainable)
        return provision

    def install(requirements: Sequence[str]) -> bool:
        packages = [choose(one, obtainable) or one for one in requirements]
        words = ("install", "--no-install-recommends", *packages)
        if not apt(f"downloading {_listed(packages)} by apt", *words, "--download-only"):
            return False
        try:
            with Step(console, f"installing {_listed(packages)} by apt") as step:
                step.show()
                return run_apart(apt_get(prefix, *words), log, follow(step, _APT_STEP)) == 0
        except KeyboardInterrupt:
            console.print("teff: apt goes on by itself: packages left half-installed would stop the next apt")
            raise

    for owner in install_for_owners(lacking, install):
        memory.note(lacking[owner])
        provision.blame([owner], f"apt could not install {' '.join(lacking[owner])}; see {log}")
    return provision


def _agreed(packages: Sequence[str], console: Console) -> bool:
    """On a terminal it says which packages apt would install and how large they are, and asks. Elsewhere: yes."""
    if not (console.is_terminal and sys.stdin.isatty()):
        return True
    console.print(f"teff: apt would install {' '.join(packages)}: {cost_of(packages)}", soft_wrap=True)
    try:
        return Confirm.ask("teff: install them? (without them, what is here is used)", console=console, default=True)
    except EOFError:
        return False


def provide_pip(root: Path, wanted: Wanted, console: Console, installing: Installing = "yes") -> Provision:
    """Installs Python packages into the environment that runs this, within the lab's own pins."""
    provision = Provision()
    memory = Unavailable(root / ".teff" / "stamps" / "unavailable-pip.json")
    installed: list[str] = json.loads(PIP_LEDGER.read_text()) if PIP_LEDGER.is_file() else []
    missing = {owner: [one for one in wanted[owner] if one not in installed] for owner in wanted}
    lacking = memory.sift({owner: some for owner, some in missing.items() if some}, provision)
    if installing == "no":
        for owner, requirements in lacking.items():
            provision.blame([owner], f"needs {', '.join(requirements)} from PyPI")
        return provision
    log = root / ".teff" / "log" / "pip.log"
    pins = root / "lab" / "constraints.txt"
    log.unlink(missing_ok=True) if lacking else None

    def install(requirements: Sequence[str]) -> bool:
        with Step(console, f"installing {_listed(requirements)} by pip") as step:
            step.show()
            # The command names installed packages again, so that pip does not trade one system for another.
            pip = [sys.executable, "-m", "pip", "install", *PIP_QUIETLY, "--constraint", str(pins)]
            command = [*pip, *installed, *requirements]
            done = run_logged(command, log, on_line=follow(step, PIP_STEP), append=True) == 0
        if done:
            installed.extend(one for one in requirements if one not in installed)
            PIP_LEDGER.write_text(json.dumps(installed))
        return done

    for owner in install_for_owners(lacking, install):
        memory.note(lacking[owner])
        provision.blame([owner], f"pip could not install {' '.join(lacking[owner])}; see {log}")
    return provision


def follow(step: Step, pattern: re.Pattern[str]) -> Callable[[str], None]:
    """Shows the lines that match behind a step."""

    def on_line(line: str) -> None:
        if found := pattern.match(line):
            step.show(" ".join(filter(None, found.groups())))

    return on_line


def _listed(names: Sequence[str], most: int = 3) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return " ".join(names[:most]) + more
