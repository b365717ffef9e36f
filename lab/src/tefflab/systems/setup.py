"""Sets up the missing requirements of a command: Debian packages, Python packages, compiled programs. A system that
can't be set up never keeps the others from being used.

`teff systems add` installs systems that no other command sets up, each into a separate folder in `.teff/systems`. A
folder counts once its stamp is there, which is written last. A failed installation leaves no folder. An interrupted one
goes on where it was, since the registries' clients keep their downloads.
"""

import re
import shutil
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Literal

from rich.console import Console
from rich.markup import escape

from tefflab.carried import TYPED
from tefflab.errors import shortened
from tefflab.host.file_locks import held
from tefflab.systems.building import Build, Ways
from tefflab.systems.logged import run_step, tail
from tefflab.systems.needs import STAMP
from tefflab.systems.packages import Installing, PackageState, into_venv, provide_apt, provide_pip, sudo
from tefflab.systems.probing import is_absent, probe
from tefflab.systems.registry import Registry
from tefflab.systems.systems import BUILD_FOLDER, INSTALLED_FOLDER, Program, System
from tefflab.whole_files import write_whole

Commands = Iterable[tuple[str, list[str]]]  # each with the name of its client
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
_TELLING = re.compile(r"error|fatal|no matching|not found|cannot|could not|can't|unable|denied|no space", re.IGNORECASE)
_TOLD = 4  # lines of a log
_TOLD_AT_LENGTH = 3  # systems that come on request
_SPARE = 1.5  # times what is said, on the disk: clients unpack beside what they download


def ensure(
    registry: Registry,
    systems: Sequence[System],
    *,
    console: Console,
    ways: Ways | None = None,
    need_programs: bool = True,
    extra_apt: Sequence[str] = (),
    installing: Installing = "ask",
) -> None:
    """Makes `systems` usable as far as that can be done. Progress goes to `console`, and a line for each part that
    failed: a system, or `core`. It builds the programs that `ways` names, or all. `extra_apt` are packages that only
    the calling command needs. TeffError only where nothing at all would work: no compiler, or a core that does not
    build."""
    with alone(registry.root, console):
        ours = [*(CORE_APT if need_programs else ()), *extra_apt]
        unasked = [one for one in systems if not one.install.on_request]
        wanted = {CORE: ours} | {one.name: one.install.apt for one in unasked}
        by_apt = provide_apt(registry.root, wanted, console, installing)
        build = Build(registry, console) if need_programs else None  # raises where nothing can be built
        by_pip = provide_pip(registry.root, {one.name: one.install.pip for one in unasked}, console, installing)
        for owner, reason in (by_pip.problems | by_apt.problems).items():
            warn(console, owner, reason)
        if by_apt.for_root:
            console.print(f"teff: {escape(by_apt.for_root)}", soft_wrap=True)
        failed = build.make(systems, ways) if build else {}
        for name in (each.name for each in systems if each.name in failed):
            warn(console, name, failed[name])


def warn(console: Console, owner: str, reason: str) -> None:
    """One line on a part that will not be there."""
    console.print(f"teff: [yellow]{escape(owner)}[/]: {escape(reason)}", soft_wrap=True)


def alone(root: Path, console: Console, *, task: Literal["setup", "test"] = "setup") -> AbstractContextManager[None]:
    """Only one teff sets up at a time, or tests; another waits, and then finds everything done."""
    (root / ".teff").mkdir(exist_ok=True)
    waits = f"teff: waiting for another teff that is {'testing' if task == 'test' else 'setting up'}"
    return held(root / ".teff" / f"{task}.lock", lambda _: console.print(waits))


def offered(systems: Sequence[System]) -> list[System]:
    """The systems that come on request."""
    return [each for each in systems if each.install.on_request]


def not_here(systems: Sequence[System]) -> str:
    """`lake (79 MB, MIT); ./teff systems add lake` of the systems that come on request. Many have only names."""
    offers = offered(systems)
    if len(offers) > _TOLD_AT_LENGTH:
        return f"{', '.join(each.name for each in offers)}; {TYPED} systems add says more"
    sizes = ", ".join(f"{each.name} ({each.install.cost})" for each in offers)
    return f"{sizes}; {TYPED} systems add {' '.join(each.name for each in offers)}" if offers else ""


def install(registry: Registry, systems: Sequence[System], console: Console) -> dict[str, str]:
    """Installs the systems, builds them, asks for their identities, and says which are here then. The reason, for each
    that is not."""
    problems: dict[str, str] = {}
    todo = [each for each in offered(systems) if not each.is_installed]
    for each in todo:
        come = each.install
        where = f", in {INSTALLED_FOLDER / each.name}" if come.apart or come.fetch else ""
        text = f"{each.name}: {each.title}, {come.cost}, about {come.seconds:g} s, by {' and '.join(come.registries)}"
        console.print(f"teff: {escape(text)}{where}", soft_wrap=True)
    with alone(registry.root, console):
        for each in todo:
            if reason := _bring(each, console):
                problems[each.name] = reason
    if brought := [each for each in systems if each.name not in problems]:
        ensure(registry, brought, console=console, ways=_listed)
    for each in brought:
        probes = [probe(program, each) for program in each.listed]
        if not any(one.found for one in probes):
            problems[each.name] = probes[0].reason or ""
    for each in systems:
        if each.name in problems:
            warn(console, each.name, problems[each.name])
        else:
            console.print(f"teff: {each.name} is here", soft_wrap=True)
    return problems


def bring_missing(registry: Registry, systems: Sequence[System], console: Console) -> None:
    """Installs the systems that come on request and are not here, and reports the systems that can't be had."""
    offers = offered(systems)
    if offers:
        ensure(registry, offers, console=console, ways=_listed)  # some may be here without it
    if missing := [each for each in offers if is_absent(each)]:
        install(registry, missing, console)


def _listed(system: System) -> list[list[Program]]:
    return [[each] for each in system.listed]


def remove(system: System, console: Console) -> None:
    """Removes the files of `install` and the programs built with them. Debian packages stay: others may use them."""
    with alone(system.root, console):
        shutil.rmtree(system.installed_folder, ignore_errors=True)
        for program in system.programs:
            for file in program.built_in(system.root / BUILD_FOLDER):
                file.unlink()
    console.print(f"teff: {system.name} is removed", soft_wrap=True)
    state = PackageState.of(system.install.apt)
    if left := sorted(state.installed):
        console.print(
            f"teff: Debian packages stay; to remove them: {sudo()}apt-get remove {' '.join(left)}", soft_wrap=True
        )


def _bring(system: System, console: Console) -> str:
    """Empty where all went well. A reason has the lines of the log that say most."""
    folder = system.installed_folder
    wanted, free = (system.install.megabytes or 0) * _SPARE, shutil.disk_usage(system.root).free / 1e6
    if free < wanted:
        return f"needs about {wanted:.0f} MB on the disk, and {free:.0f} MB are free"
    folder.mkdir(parents=True, exist_ok=True)
    log = system.root / ".teff" / "log" / f"install-{system.name}.log"
    log.unlink(missing_ok=True)
    try:
        again = f"{TYPED} systems add {system.name}"
        reason = provide(system.root, system.name, system.install.apt, _commands(system), log, console, again)
        if not reason:
            write_whole(folder / STAMP, system.wanted())
    except Exception:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    if reason:
        shutil.rmtree(folder, ignore_errors=True)
    return reason


def provide(
    root: Path, name: str, apt: Sequence[str], commands: Commands, log: Path, console: Console, then: str = ""
) -> str:
    """Installs a system's Debian packages, and runs these commands of registries' clients. Why not all of it is here;
    empty if it is. `then` is to be typed after root's command."""
    outcome = provide_apt(root, {name: apt}, console)
    if outcome.for_root:
        return f"{outcome.for_root}{then and f', then {then}'}"
    if reason := outcome.problems.get(name):
        return f"{reason}{telling(outcome.log)}"
    for client, command in commands:
        if run_step(console, f"installing {name} by {client}", command, log):
            return f"{client} failed{telling(log)}"
    return ""


def _commands(system: System) -> Commands:
    folder = system.installed_folder
    if system.install.apart:
        yield from into_venv(folder / "venv", system.install.pip)
    for words in system.install.fetch:
        filled = [word.replace("{folder}", str(system.folder)).replace("{installed}", str(folder)) for word in words]
        yield Path(words[0]).name, filled


def telling(log: Path) -> str:
    """The lines of a log that tell the fault, each on a separate line, and the path of the log."""
    if not log.is_file():
        return ""
    lines = [line.strip() for line in tail(log, 200).splitlines() if not line.startswith("$ ")]
    said = [line for line in lines if _TELLING.search(line)] or [line for line in lines if line]
    return "".join(f"\n  {line}" for line in dict.fromkeys(map(shortened, said[-_TOLD:]))) + f"\n  all of it: {log}"
