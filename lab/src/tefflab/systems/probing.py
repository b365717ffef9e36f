"""Whether systems are here: `PROGRAM --identity` answers with one JSON line."""

import json
import subprocess
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tefflab.carried import TYPED
from tefflab.host.processes import answer, how_it_ended
from tefflab.host.ranks import hint_at_launcher, last_words
from tefflab.systems.packages import PackageState, as_root, available, install_command
from tefflab.systems.systems import BROKEN_FOLDER, SKIPPED_FOLDER, Program, System, usable_cores

COMPILED_TIMEOUT = 10.0  # seconds for a program's identity
PYTHON_TIMEOUT = 30.0  # some frameworks take ten seconds to import

_Source = Literal["", "install", "elsewhere", "setup"]
_NOT_BUILT = "has not been built"
_SET_UP = f"{TYPED} systems --set-up sets it up"


@dataclass(frozen=True)
class Probe:
    """Whether a program is there and answers; `reason` says why where it is not. `how_to_install` is empty where
    nothing that could be installed would help. `source` is the way to get it: `teff systems add`, the user
    (`elsewhere`: no registry has it), or the next command (`setup`)."""

    found: bool = False
    version: str | None = None
    reason: str | None = None
    how_to_install: str = ""
    source: _Source = ""

    @property
    def awaits_set_up(self) -> bool:
        """Whether the next set-up may bring it: it has not been built, or its Python packages are not there."""
        return is_unexplained(self.reason) or self.how_to_install == _SET_UP


def probe(program: Program, system: System, *, packages: PackageState | None = None) -> Probe:
    """Asks a program for its identity. Nothing is installed or built; a program that hangs is ended."""
    source, how = _way_to_get(program, system, packages or PackageState.of(system.install.apt))
    version, reason = _identity(program)
    return Probe(reason is None, version, reason, how, source)


def probe_all(systems: Sequence[System], programs: Callable[[System], Sequence[Program]]) -> dict[str, Probe]:
    """Probes the `programs` of every system, two at a time; the keys are their ids."""
    packages = PackageState.of([name for system in systems for name in system.install.apt])
    with ThreadPoolExecutor(max_workers=2) as pool:
        asked = {
            program.id: pool.submit(probe, program, system, packages=packages)
            for system in systems
            for program in programs(system)
        }
        try:
            return {name: answer.result() for name, answer in asked.items()}
        except KeyboardInterrupt:  # has ended the programs that were asked, too
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _identity(program: Program) -> tuple[str | None, str | None]:
    """The version that the program says, and the reason where it gives no identity, or another's."""
    if reason := why_not_there(program):
        return None, reason
    workers = usable_cores()
    command = [*program.command_line(workers), "--identity"]
    timeout = PYTHON_TIMEOUT if program.is_python else COMPILED_TIMEOUT
    try:
        asked = answer(command, environment=program.environment_for(workers), timeout=timeout)
    except OSError as error:
        return None, f"{command[0]} can't be started: {error.strerror}"
    except subprocess.TimeoutExpired:
        return None, f"gave no identity within {timeout:g} s"
    if asked.returncode != 0:
        words = f"{last_words(asked.stderr)}{hint_at_launcher(asked.stderr)}"
        return None, f"--identity {how_it_ended(asked.returncode)}{words}"
    # Launchers like to talk before it.
    line = next((line for line in reversed(asked.stdout.splitlines()) if line.lstrip().startswith("{")), "")
    try:
        told = json.loads(line)
        system, version = str(told["system"]), told.get("version")
    except (ValueError, LookupError):
        return None, f"answers --identity with something else{last_words(asked.stdout)}"
    other = f"the program says it is {system!r}" if system != program.identity else ""
    refusal = other or (program.asked.refusal(version) if program.asked else "")
    return (None, refusal) if refusal else (version, None)


def why_not_there(program: Program) -> str:
    """Why it has not been built; empty where it has."""
    if not Path(program.python).exists():
        return "is not installed"
    if program.program_path.is_file():
        return ""
    if program.is_python:
        return f"{program.executable} is not in its folder"
    broken, skipped = (program.build_folder / each.name for each in (BROKEN_FOLDER, SKIPPED_FOLDER))
    places = (broken / program.identity, skipped / program.identity, skipped / program.executable)
    reasons = (each.read_text(encoding="utf-8").strip() for each in places if each.is_file())
    return next(reasons, f"{program.executable} {_NOT_BUILT}")


def is_absent(system: System, packages: PackageState | None = None) -> bool:
    """Whether it comes on request and is not here. The user may have installed what it
    needs, if that is only Debian packages: then a program of it is here, or the next command builds one."""
    if not system.install.on_request or system.is_installed:
        return False
    if system.install.apart or system.install.fetch:
        return True
    packages = packages or PackageState.of(system.install.apt)
    reasons = [why_not_there(one) for one in system.listed]
    has_packages = packages.known and not packages.missing(system.install.apt)
    return all(reasons) and not (has_packages and any(map(is_unexplained, reasons)))


def absence(program: Program, system: System) -> str:
    """Why it is not here and, where something else than the set-up brings it, how to get it; empty where it is."""
    reason = why_not_there(program)
    if not reason:
        return ""
    source, how = _way_to_get(program, system, PackageState.of(system.install.apt))
    is_told = source not in ("install", "elsewhere") or how in reason
    return reason if is_told else f"not here: {reason}; to get it: {how}"


def is_unexplained(reason: str | None) -> bool:
    """Whether a program is not there though nothing has left it out: its system's file names it, and none builds it."""
    return (reason or "").endswith(_NOT_BUILT)


def _way_to_get(program: Program, system: System, packages: PackageState) -> tuple[_Source, str]:
    """Empty where nothing that could be installed would help: the adapter is broken, or all that it needs is there. If
    a compiled program still does not answer, as without the GPU that it is for, its message tells the remedy."""
    missing, on_request = packages.missing(system.install.apt), system.install.on_request
    is_left_out = not missing and (system.root / SKIPPED_FOLDER / program.executable).is_file()
    is_brought = system.is_installed if on_request else not missing
    has_all = is_brought and not program.is_python and not why_not_there(program)
    is_broken = (system.root / BROKEN_FOLDER / system.name).is_file()
    if is_broken or is_left_out or has_all:
        return "", ""
    if is_absent(system, packages):
        return "install", f"{TYPED} systems add {system.name}"
    is_ours = on_request and not system.is_installed
    if not is_ours and (system.root / SKIPPED_FOLDER / system.name).is_file() and not system.install.registries:
        return "elsewhere", "; ".join(filter(None, [system.install.found_elsewhere, system.homepage]))
    if not is_ours and missing and as_root() is None:
        return "setup", install_command(missing, available(missing))
    return "setup", _SET_UP
