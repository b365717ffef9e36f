"""Brings the requested versions of systems: installs them, compiles their adapters, and checks the linked libraries.
A version has a separate build folder, whose CMake sees the version first."""

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from tefflab.errors import InputError, TeffError
from tefflab.host.processes import answer
from tefflab.systems.building import run_ninja, search_environment, working_tool
from tefflab.systems.logged import Step, run_logged
from tefflab.systems.needs import STAMP, Asked, Version
from tefflab.systems.packages import into_venv
from tefflab.systems.probing import is_unexplained, probe, why_not_there
from tefflab.systems.registry import Registry
from tefflab.systems.setup import alone, provide, telling
from tefflab.systems.systems import Program
from tefflab.whole_files import write_whole

_LINKED = re.compile(r"^\s*(\S+) => (/\S+)", re.MULTILINE)  # as ldd says it
# As pip says it; of a package that it does not find, and without a network, the versions are "none".
_NO_SUCH = re.compile(r"satisfies the requirement (?P<package>[\w.-]+)\S* .*\(from versions: (?!none)(?P<all>[^)]+)\)")
_SHOWN = 12  # versions
_LIBRARIES = ("lib", "lib64", "lib/*-linux-gnu")  # where a folder has them
# The compiler's and the C library: the ones here do for whatever is installed in a folder, which may have others.
_OF_COMPILER = re.compile(r"(?:libstdc\+\+|libgcc_s|libc|libm|libdl|libpthread|librt|ld-linux[\w-]*)\.so")


def bring_version(registry: Registry, programs: Sequence[Program], console: Console) -> None:
    """Makes these programs of a version, if it is one, ready. TeffError if it can't be had, or another is linked."""
    asked = programs[0].asked
    if asked is None:
        return
    with alone(registry.root, console):
        _bring(asked, programs, console)
    for program in programs:
        found = probe(program, registry.owner(program))
        if not found.found:
            raise TeffError(f"{program.id}: {found.reason}")


def _bring(asked: Asked, programs: Sequence[Program], console: Console) -> None:
    log = asked.root / ".teff" / "log" / f"version-{asked.named.slug}.log"
    log.unlink(missing_ok=True)
    if not asked.is_installed:
        shutil.rmtree(asked.home, ignore_errors=True)
        if asked.rule:
            _install(asked, asked.rule, log, console)
    compiled, prefix = [program for program in programs if not program.is_python], asked.prefix
    if not compiled and not (prefix and (prefix / "bin/python").exists()):
        raise TeffError(f"{asked.named}: there is no {prefix or ''}/bin/python, which would run it")
    write_whole(asked.home / STAMP, asked.wanted)
    if compiled:
        _build(asked, compiled, log, console)
    for program in compiled if prefix else ():
        if prefix and (reason := _foreign(program, prefix)):
            raise TeffError(f"{program.id}: {reason}")


def _install(asked: Asked, rule: Version, log: Path, console: Console) -> None:
    name = str(asked.named)
    commands = into_venv(asked.home / "venv", rule.pip) if rule.pip else ()
    if reason := provide(asked.root, name, rule.apt, commands, log, console):
        shutil.rmtree(asked.home, ignore_errors=True)
        said = log.read_text(encoding="utf-8", errors="replace") if log.is_file() else ""
        if there := _NO_SUCH.search(said):
            every = there["all"].split(", ")  # the oldest first
            earlier = f" (and {len(every) - _SHOWN} earlier ones)" if len(every) > _SHOWN else ""
            none = f"PyPI has no such version of {there['package']} for this Python"
            raise InputError(f"{name}: {none}; there are: {' '.join(every[-_SHOWN:])}{earlier}")
        raise TeffError(f"{name}: {reason}")


def _build(asked: Asked, programs: Sequence[Program], log: Path, console: Console) -> None:
    """Configures and compiles the programs, and none of the system's others."""
    folder = asked.home / "build"
    ninja = working_tool("ninja")
    with Step(console, f"building {asked.named}") as step:
        if not (folder / "build.ninja").is_file():
            step.show()
            words = [working_tool("cmake"), "--preset", "release", "-B", str(folder)]
            words += [f"-D{name}={value}" for name, value in _settings(asked, ninja).items()]
            if run_logged(words, log, folder=asked.root, environment=search_environment(), append=True):
                shutil.rmtree(folder, ignore_errors=True)
                raise TeffError(f"{asked.named}: CMake failed{telling(log)}")
        for program in programs:
            if (said := why_not_there(program)) and not is_unexplained(said):
                shutil.rmtree(folder, ignore_errors=True)  # it may be there next time
                where = f" in {asked.prefix}" if asked.prefix else ""
                raise TeffError(f"{program.id}: CMake did not find it{where}: {said}")
        targets = [program.executable for program in programs]
        if run_ninja(folder, log, step, prefix=[ninja], targets=targets, append=True):
            raise TeffError(f"{asked.named}: its adapter does not compile{telling(log)}")


def _settings(asked: Asked, ninja: str) -> dict[str, str]:
    """The settings that make a build contain one system in one version."""
    own = {
        "CMAKE_MAKE_PROGRAM": ninja,
        "TEFF_VERSION_OF": asked.named.system,
        "TEFF_WERROR": "OFF",  # warnings in a version's headers are no errors
        "CMAKE_EXE_LINKER_FLAGS": "-Wl,--disable-new-dtags",  # its libraries come before LD_LIBRARY_PATH
    }
    own |= {"CMAKE_PREFIX_PATH": str(asked.prefix)} if asked.prefix else {}
    return own | (asked.rule.cmake if asked.rule else {})


def _foreign(program: Program, prefix: Path) -> str:
    """The foreign part of a program, which is not of the requested folder; empty if all is from there that could be."""
    own = (str(prefix), str(prefix.resolve()))
    said = _LINKED.findall(answer(["ldd", str(program.program_path)]).stdout)
    linked = {library: path for library, path in said if not _OF_COMPILER.match(library)}
    ours = {
        library for library, path in linked.items() if path.startswith(own) or str(Path(path).resolve()).startswith(own)
    }
    for library in linked.keys() - ours:
        if twin := next((file for each in _LIBRARIES for file in prefix.glob(f"{each}/{library}")), None):
            return f"its {library} is {linked[library]}, not {twin}"
    if ours:
        return ""
    headers = answer([working_tool("ninja"), "-C", str(program.build_folder), "-t", "deps"]).stdout.split()
    cache = (program.build_folder / "CMakeCache.txt").read_text(encoding="utf-8", errors="replace").splitlines()
    found = [line.partition("=")[2] for line in cache if not line.startswith("CMAKE_PREFIX_PATH")]
    if any(path.startswith(own) for path in (*headers, *found)):
        return ""
    return f"nothing of {prefix} is in {program.executable}: CMake found the system elsewhere"
