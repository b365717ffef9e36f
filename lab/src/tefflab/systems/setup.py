"""Sets up the missing requirements of a command: Debian packages, Python packages, compiled programs.

It leaves existing packages alone. It reports packages that can't be installed, and does not try again for a day. A
system that can't be set up never keeps the others from being used.
"""

import fcntl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rich.console import Console
from rich.markup import escape

from tefflab.systems.blame import is_kind
from tefflab.systems.building import Build, Ways
from tefflab.systems.packages import sudo
from tefflab.systems.provision import Installing, provide_apt, provide_pip
from tefflab.systems.systems import System

CORE = "core"  # the owner of the requirements of every program
CORE_APT = (
    "cmake",
    "g++",
    "g++-14 | g++-13 | g++-12 | g++-15 | g++-16",  # beside a usual g++ that is too old, as Ubuntu 22.04's
    "libbenchmark-dev",
    "libcli11-dev",
    "libfmt-dev",
    "libgmock-dev",
    "libgtest-dev",
    "libhwloc-dev",
    "ninja-build",
    "nlohmann-json3-dev",
    "pkg-config",
)


@dataclass(frozen=True)
class SetupReport:
    """The failed parts of the setup: the reason in one line, by system, by a kind's folder (`bench/KIND`), and by
    `core`."""

    problems: dict[str, str]


def ensure(
    root: Path,
    systems: Sequence[System],
    *,
    console: Console,
    ways: Ways | None = None,
    need_programs: bool = True,
    extra_apt: Sequence[str] = (),
    installing: Installing = "ask",
) -> SetupReport:
    """Makes `systems` usable as far as that can be done; progress and warnings go to `console`.

    It builds the programs that `ways` names, or all of the systems. `extra_apt` are packages that only the calling
    command needs. Raises TeffError only where nothing at all would work: no compiler, or a core that does not build.
    """
    with alone(root, console):
        ours = [*(CORE_APT if need_programs else ()), *extra_apt]
        unasked = [one for one in systems if not one.install.on_request]
        wanted = {CORE: ours} | {one.name: one.install.apt for one in unasked}
        by_apt = provide_apt(root, wanted, console, installing)
        build = Build(root, console) if need_programs else None  # raises where nothing can be built
        by_pip = provide_pip(root, {one.name: one.install.pip for one in unasked}, console, installing)
        problems = by_pip.problems | by_apt.problems
        for owner, reason in problems.items():
            warn(console, owner, reason)
        if by_apt.command:
            words = "type" if sudo() else "type as root"
            console.print(f"teff: only root may install packages; {words}: [bold]{by_apt.command}[/]", soft_wrap=True)
        if build:
            failed = build.make(systems, ways)
            asked = {one.name for one in systems}
            for owner, reason in failed.items():
                if owner in asked or is_kind(owner):
                    warn(console, owner, reason)
            problems = failed | problems
    return SetupReport(problems)


def warn(console: Console, owner: str, reason: str) -> None:
    """One line on a part that will not be there."""
    console.print(f"teff: [yellow]{escape(owner)}[/]: {escape(reason)}", soft_wrap=True)


@contextmanager
def alone(root: Path, console: Console, *, task: Literal["setup", "test"] = "setup") -> Iterator[None]:
    """Only one teff sets up at a time, or tests; another waits, and then finds everything done."""
    (root / ".teff").mkdir(exist_ok=True)
    doing = {"setup": "setting up", "test": "testing"}[task]
    with (root / ".teff" / f"{task}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            console.print(f"teff: waiting for another teff that is {doing}")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
