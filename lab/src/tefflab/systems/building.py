"""The compiled programs: configured by CMake when something changed, built by ninja, which knows what to do.

A system that can't be configured or compiled is left out with its reason, and the others are built.

CMake itself looks into CMAKE_PREFIX_PATH and above each `bin` of PATH, which suffices for environment modules and Spack
views. The lab adds the variables of an active environment.
"""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from tefflab.errors import TeffError
from tefflab.host.processes import answer
from tefflab.systems.logged import TAIL_LINES, Step, run_logged, tail
from tefflab.systems.naming import parsed
from tefflab.systems.needs import STAMP
from tefflab.systems.packages import PIP_LEDGER
from tefflab.systems.registry import Registry
from tefflab.systems.systems import BROKEN_FOLDER, INSTALLED_FOLDER, SYSTEMS_FOLDER, Program, System
from tefflab.whole_files import kept_json, write_whole

DPKG_STATUS = Path("/var/lib/dpkg/status")
_COMPILERS = ("c++", "g++", "clang++", *(f"g++-{release}" for release in range(12, 17)))
_PROGRESS = re.compile(r"^\[(\d+)/(\d+)\] ")
_GLOBBING = "Re-checking globbed directories"  # said at every call, even where nothing is to do
_MANIFEST = "build.ninja"
_LAB_KIND = "lab_kind_"  # begins the names of targets in TeffSystems.cmake
LOOKS_AT = ("CMAKE_PREFIX_PATH", "PKG_CONFIG_PATH", "CONDA_PREFIX", "SPACK_ENV", "LOADEDMODULES", "PATH", "CXX", "CC")
_PKG_CONFIG = ("lib/pkgconfig", "lib64/pkgconfig", "share/pkgconfig")
_IS_CMAKE = re.compile(r"^CMakeLists\.txt$|\.cmake$")
_OTHERS = r"FAILED: |ninja: |\[\d+/\d+\] "  # begin what is not a command's output
_FAILED = re.compile(  # its targets, the command itself, its output
    rf"^FAILED: (?:\[code=\d+\] )?(?P<outputs>.*)\n.*\n(?P<said>(?:(?!{_OTHERS}).*\n)*)", re.MULTILINE
)
_OF_SYSTEM = re.compile(r"(?:^|[\s/])bench/systems/([^/\s]+)/")
_CONFIGURE_ERROR = re.compile(r"^CMake Error.*\n(?:(?: .*|Call Stack.*)?\n)*", re.MULTILINE)  # with its call stack
_PLACE = re.compile(r"^(?:CMake Error at |  )(\S.*:\d+) \(\w+\):?$", re.MULTILINE)


# The programs of a system that a command runs, in groups: of each group the first program that can be built is built.
Ways = Callable[[System], Sequence[Sequence[Program]]]


class Build:
    """One CMake preset's build of a checkout, with its logs in `.teff/log`."""

    def __init__(self, registry: Registry, console: Console, *, preset: str = "release") -> None:
        self._registry = registry
        self.root = root = registry.root
        self.preset = preset
        self.folder = root / ".teff" / ("build" if preset == "release" else preset)
        self._console = console
        self._stamp = root / ".teff" / "stamps" / f"configured-{preset}.json"
        self._configure_log = root / ".teff" / "log" / f"configure-{preset}.log"
        self._build_log = root / ".teff" / "log" / f"build-{preset}.log"
        self._ninja = working_tool("ninja")
        # CMake says the same in twenty lines, and only after all else has been set up.
        if not os.environ.get("CXX") and not any(map(shutil.which, _COMPILERS)):
            raise TeffError(
                "nothing can be built without a C++ compiler, and there is no c++, g++ or clang++ in PATH;"
                " install one (apt-get install g++), or name it in CXX"
            )

    def make(
        self,
        systems: Sequence[System] | None = None,
        ways: Ways | None = None,
        *,
        prefix: Sequence[str] = (),
        target: str = "all",
    ) -> dict[str, str]:
        """Brings the programs of `systems` up to date, or only their `ways`, with what these need of the bench. Returns
        the reason for each system that failed. Without systems it builds everything, also tests and examples of
        libteff, or the ninja `target` alone. `prefix` goes before the commands (`setarch -R`). TeffError where what
        systems need does not build."""
        shutil.rmtree(self.folder / BROKEN_FOLDER.name, ignore_errors=True)
        left_out = self._left_out_before()
        if left_out is None:
            left_out = self._configure(prefix)
        else:
            self._leave_out(left_out)
        if self._run_ninja(prefix, [_MANIFEST]):
            left_out = self._configure(prefix)
        targets = [target] if systems is None else self._targets(systems, ways)
        code = self._run_ninja(prefix, targets) if targets else 0
        return left_out | self._sort_out_failures() if code else left_out

    def _targets(self, systems: Sequence[System], ways: Ways | None) -> list[str]:
        """The targets of these programs. Versions of a system have a separate build."""
        listed = answer([self._ninja, "-C", str(self.folder), "-t", "targets", "all"])
        there = {line.partition(":")[0] for line in listed.stdout.splitlines()}
        usual = [each for each in systems if not parsed(each.name).version]
        if ways is None:
            of_kinds = (each for each in there if each.startswith(_LAB_KIND))
            return sorted({*of_kinds, *(f"lab_{each.name}" for each in usual)} & there)
        groups = [group for system in systems for group in ways(system)]
        wanted = {f"{_LAB_KIND}{program.measured}" for group in groups for program in group}
        for group in (group for system in usual for group in ways(system)):
            made = next((each for each in group if each.is_python or each.executable in there), None)
            if made:  # a script may need a library that its folder compiles
                wanted |= {f"lab_{made.identity}" if made.is_python else made.executable, made.ceiling or ""}
        return sorted(wanted & there)

    def _left_out_before(self) -> dict[str, str] | None:
        """The systems that CMake left out in its last run, with the reasons; None if it has to run again."""
        stamp = kept_json(self._stamp)
        if not (self.folder / _MANIFEST).is_file() or not isinstance(stamp, dict):
            return None
        left_out: dict[str, str] = stamp["left_out"]
        return left_out if stamp == self._stamped(left_out) else None

    def _stamped(self, left_out: dict[str, str]) -> dict[str, Any]:
        """The state that holds as long as CMake need not run again: it changes whenever CMake might find something
        else. A system that was left out is tried again once a CMake file of its folder, or of all, has changed."""
        packages = DPKG_STATUS.stat().st_mtime_ns if DPKG_STATUS.is_file() else 0
        contents = [file.read_bytes() for file in (self.root / "CMakePresets.json", PIP_LEDGER) if file.is_file()]
        folders = [self.root / "cmake", *(self.root / SYSTEMS_FOLDER / name for name in left_out)] if left_out else []
        files = [file for folder in folders for file in folder.rglob("*") if _IS_CMAKE.search(file.name)]
        stamps = (self.root / INSTALLED_FOLDER).glob(f"*/{STAMP}")
        times = sorted((str(file), file.stat().st_mtime_ns) for file in (*files, *stamps))
        told = {name: os.environ.get(name) for name in LOOKS_AT}
        seen = repr((packages, contents, str(self.root), told, times))
        return {"left_out": left_out, "seen": hashlib.sha256(seen.encode()).hexdigest()}

    def _configure(self, prefix: Sequence[str]) -> dict[str, str]:
        """Runs CMake; a system whose CMakeLists.txt fails is left out, and CMake is run again."""
        self._stamp.unlink(missing_ok=True)
        cache = self.folder / "CMakeCache.txt"
        home = f"CMAKE_HOME_DIRECTORY:INTERNAL={self.root}\n"
        if cache.is_file() and home not in cache.read_text(encoding="utf-8", errors="replace"):
            shutil.rmtree(self.folder)  # CMake refuses one made for another place, say before the checkout was moved
        command = [*prefix, working_tool("cmake"), "--preset", self.preset, f"-DCMAKE_MAKE_PROGRAM={self._ninja}"]
        left_out: dict[str, str] = {}
        with Step(self._console, f"configuring ({self.preset})") as step:
            step.show()
            while run_logged(
                [*command, f"-DTEFF_LEFT_OUT={';'.join(left_out)}"],
                self._configure_log,
                folder=self.root,
                environment=search_environment(),
                append=bool(left_out),
            ):
                whose = culprit(self._configure_log.read_text(encoding="utf-8", errors="replace"))
                if whose is None or whose in left_out:
                    raise _broken(tail(self._configure_log), "CMake failed", self._configure_log)
                left_out[whose] = f"{SYSTEMS_FOLDER / whose}/CMakeLists.txt fails; see {self._configure_log}"
        self._leave_out(left_out)
        write_whole(self._stamp, json.dumps(self._stamped(left_out)))
        return left_out

    def _run_ninja(self, prefix: Sequence[str], targets: Sequence[str]) -> int:
        with Step(self._console, f"building ({self.preset})") as step:
            return run_ninja(self.folder, self._build_log, step, prefix=[*prefix, self._ninja], targets=targets)

    def _sort_out_failures(self) -> dict[str, str]:
        """Reasons by system."""
        failed = failures(self._build_log.read_text(encoding="utf-8", errors="replace"))
        if not failed:
            raise _broken(tail(self._build_log), "the build failed", self._build_log)
        programs = [program for system in self._registry.systems for program in system.programs]
        reasons: dict[str, str] = {}
        for outputs, lines in failed:
            whose = owner_of(outputs, programs)
            if whose is None:
                raise _broken("\n".join(lines[-TAIL_LINES:]), f"the build failed at {outputs}", self._build_log)
            telling = [line for line in lines if "error" in line.lower()]
            first = (telling or [*lines, "failed without a word"])[0].strip()
            reasons.setdefault(whose, f"does not compile: {first} (see {self._build_log})")
        self._leave_out(reasons)
        return reasons

    def _leave_out(self, reasons: Mapping[str, str]) -> None:
        """Leaves the reasons for `teff systems`. Old programs go: code that no longer compiles is not measured."""
        left_out = [each for each in self._registry.systems if each.name in reasons]
        for program in (each for system in left_out for each in system.programs):
            for file in program.built_in(self.folder):
                file.unlink(missing_ok=True)
        for name, reason in reasons.items():
            write_whole(self.folder / BROKEN_FOLDER.name / name, f"{reason}\n")


def failures(ninja_output: str) -> list[tuple[str, list[str]]]:
    """Reads the commands that failed from what ninja printed: of each its targets, and the lines of its output."""
    return [(each["outputs"].strip(), each["said"].splitlines()) for each in _FAILED.finditer(f"{ninja_output}\n")]


def owner_of(outputs: str, programs: Sequence[Program]) -> str | None:
    """The system in whose folder the outputs of a command are, or whose program one of them is."""
    if in_system := _OF_SYSTEM.search(outputs):
        return in_system[1]
    for name in (Path(output).name for output in outputs.split() if Path(output).parent.name == "bin"):
        for each in sorted(programs, key=lambda program: -len(program.program)):
            if re.fullmatch(re.escape(each.program).replace(re.escape("{benchmark}"), "[a-z][a-z0-9_-]*"), name):
                return each.system_name
    return None


def culprit(configure_log: str) -> str | None:
    """The system in whose folder the newest of CMake's errors arose, or from which it was called."""
    for error in reversed(_CONFIGURE_ERROR.findall(f"{configure_log}\n")):
        for place in _PLACE.findall(error):
            if whose := _OF_SYSTEM.search(place):
                return str(whose[1])
    return None


def run_ninja(
    folder: Path, log: Path, step: Step, *, prefix: Sequence[str], targets: Sequence[str] = (), append: bool = False
) -> int:
    """Builds all targets, or some, with its progress shown behind the step; returns the exit code."""

    def on_line(line: str) -> None:
        if (progress := _PROGRESS.match(line)) and _GLOBBING not in line:
            step.show(f"{progress[1]} of {progress[2]} steps")

    command = [*prefix, "-C", str(folder), "-k", "0", *targets]
    environment = {"NINJA_STATUS": "[%f/%t] "} | search_environment()  # for it may call CMake
    return run_logged(command, log, environment=environment, on_line=on_line, append=append)


def working_tool(name: str) -> str:
    """The path of a tool that runs; a version manager's stand-in that only fails is passed over."""
    for candidate in (shutil.which(name), f"/usr/bin/{name}"):
        if candidate and Path(candidate).is_file() and answer([candidate, "--version"]).returncode == 0:
            return candidate
    package = {"ninja": "ninja-build"}.get(name, name)
    raise TeffError(f"nothing can be built without {name} (in Debian's package {package})")


def _broken(said: str, what: str, log: Path) -> TeffError:
    return TeffError(f"{what}; all of it is in {log}, and this is its end:\n{said}")


def search_environment() -> dict[str, str]:
    """The variables by which CMake and pkg-config find an active environment's packages, the user's values first."""
    conda, spack = (os.environ.get(name, "") for name in ("CONDA_PREFIX", "SPACK_ENV"))
    views = (conda, spack and f"{spack}/.spack-env/view")
    prefixes = [Path(view) for view in views if view and Path(view).is_dir()]
    configs = [prefix / each for prefix in prefixes for each in _PKG_CONFIG if (prefix / each).is_dir()]
    said: dict[str, str] = {}
    for name, paths in (("CMAKE_PREFIX_PATH", prefixes), ("PKG_CONFIG_PATH", configs)):
        every = [*os.environ.get(name, "").split(os.pathsep), *map(str, paths)]
        said[name] = os.pathsep.join(dict.fromkeys(filter(None, every)))
    return said if prefixes else {}
