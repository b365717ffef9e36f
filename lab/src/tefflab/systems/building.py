"""The compiled programs: configured by CMake when something changed, built by ninja, which knows what to do.

A system that can't be configured or compiled is left out with its reason, and the others are built.
"""

import fnmatch
import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from tefflab.errors import TeffError
from tefflab.systems.logged import TAIL_LINES, Step, run_logged, tail
from tefflab.systems.naming import parsed
from tefflab.systems.prefixes import fingerprint, search_environment
from tefflab.systems.provision import PIP_LEDGER
from tefflab.systems.systems import BROKEN_FOLDER, INSTALLED_FOLDER, STAMP, System, load_systems

DPKG_STATUS = Path("/var/lib/dpkg/status")
_COMPILERS = ("c++", "g++", "clang++", *(f"g++-{release}" for release in range(12, 17)))
_PROGRESS = re.compile(r"^\[(\d+)/(\d+)\] ")
_GLOBBING = "Re-checking globbed directories"  # said at every call, even where nothing is to do
_FAILED = re.compile(r"^FAILED: (?:\[code=\d+\] )?(.*)")
_OF_SYSTEM = re.compile(r"(?:^|[\s/])bench/systems/([^/\s]+)/")
_CONFIGURE_ERROR = re.compile(r"^CMake Error at \S*?bench/systems/([^/\s]+)/")


@dataclass(frozen=True)
class Failure:
    """A command of ninja's that failed: what it should have made, and what it said."""

    outputs: str
    lines: tuple[str, ...]


def failures(ninja_output: str) -> list[Failure]:
    """Reads the commands that failed from what ninja printed."""
    found: list[Failure] = []
    outputs, lines = "", list[str]()
    for line in [*ninja_output.splitlines(), "ninja: end"]:
        begins = _FAILED.match(line)
        ends = begins or _PROGRESS.match(line) or line.startswith("ninja: ")
        if ends and outputs:
            found.append(Failure(outputs, tuple(lines[1:])))  # the first line is the command itself
            outputs = ""
        if begins:
            outputs, lines = begins[1].strip(), []
        elif outputs:
            lines.append(line)
    return found


def owner_of(failure: Failure, programs: dict[str, str]) -> str | None:
    """The system a failure belongs to, by its folder or its program's name; None is the core."""
    for output in failure.outputs.split():
        in_folder = _OF_SYSTEM.search(output)
        if in_folder:
            return in_folder[1]
        for program, system in programs.items():
            if fnmatch.fnmatchcase(Path(output).name, _pattern(program)):
                return system
    return None


def _pattern(program: str) -> str:
    """Of a program's names, one a kind of benchmark that runs on it."""
    return program.replace("{benchmark}", "*")


def first_line(failure: Failure) -> str:
    """The line that says what went wrong, if one does."""
    telling = [line for line in failure.lines if "error" in line.lower()]
    return (telling or list(failure.lines) or ["failed without a word"])[0].strip()


class Build:
    """One CMake preset's build of the checkout at `root`, with its logs in `.teff/log`."""

    def __init__(self, root: Path, console: Console, *, preset: str = "release") -> None:
        self.root = root
        self.preset = preset
        self.folder = root / ".teff" / ("build" if preset == "release" else preset)
        self._console = console
        self._stamp = root / ".teff" / "stamps" / f"configured-{preset}.json"
        self._configure_log = root / ".teff" / "log" / f"configure-{preset}.log"
        self._build_log = root / ".teff" / "log" / f"build-{preset}.log"
        self._ninja = working_tool("ninja")
        _expect_compiler()

    def make(self, systems: Sequence[System] | None = None, *, prefix: Sequence[str] = ()) -> dict[str, str]:
        """Brings the core and the programs of `systems` up to date; returns, for each system that failed, the reason.

        Where they are None, all that there is: also tests, examples and benchmarks of libteff. `prefix` goes before the
        commands (`setarch -R`). Raises TeffError where the core does not build.
        """
        targets = ["all"] if systems is None else _targets(systems)
        shutil.rmtree(self.folder / BROKEN_FOLDER.name, ignore_errors=True)
        left_out = self._configure(prefix) if not self._is_configured() else {}
        code = self._run_ninja(prefix, targets)
        if code and "rebuilding 'build.ninja'" in tail(self._build_log, 2):
            left_out = self._configure(prefix)
            code = self._run_ninja(prefix, targets)
        return left_out | self._sort_out_failures() if code else left_out

    def _is_configured(self) -> bool:
        return (
            (self.folder / "build.ninja").is_file()
            and self._stamp.is_file()
            and json.loads(self._stamp.read_text()) == {"fingerprint": self._fingerprint(), "left_out": []}
        )

    def _fingerprint(self) -> str:
        """Changes whenever CMake might find something else than it did: new packages, presets, places."""
        packages = DPKG_STATUS.stat().st_mtime_ns if DPKG_STATUS.is_file() else 0
        files = [self.root / "CMakePresets.json", PIP_LEDGER]
        contents = [file.read_bytes() for file in files if file.is_file()]
        stamps = sorted((self.root / INSTALLED_FOLDER).glob(f"*/{STAMP}"))
        places = [str(self.root), fingerprint(), [(str(each), each.stat().st_mtime_ns) for each in stamps]]
        return hashlib.sha256(repr((packages, contents, places)).encode()).hexdigest()

    def _configure(self, prefix: Sequence[str]) -> dict[str, str]:
        """Runs CMake; a system whose CMakeLists.txt fails is left out, and CMake is run again."""
        self._stamp.unlink(missing_ok=True)
        self._forget_another_checkout()
        left_out: dict[str, str] = {}
        with Step(self._console, f"configuring ({self.preset})") as step:
            step.show()
            while self._run_cmake(prefix, left_out):
                culprit = self._culprit()
                if culprit is None or culprit in left_out:
                    raise _broken(tail(self._configure_log), "CMake failed", self._configure_log)
                left_out[culprit] = f"its CMakeLists.txt fails; see {self._configure_log}"
        self._keep_reasons(left_out)
        self._stamp.parent.mkdir(parents=True, exist_ok=True)
        self._stamp.write_text(json.dumps({"fingerprint": self._fingerprint(), "left_out": sorted(left_out)}))
        return left_out

    def _run_cmake(self, prefix: Sequence[str], left_out: dict[str, str]) -> int:
        settings = [f"-DCMAKE_MAKE_PROGRAM={self._ninja}", f"-DTEFF_LEFT_OUT={';'.join(left_out)}"]
        command = [*prefix, working_tool("cmake"), "--preset", self.preset, *settings]
        return run_logged(
            command,
            self._configure_log,
            folder=self.root,
            environment=search_environment(),
            append=bool(left_out),
        )

    def _culprit(self) -> str | None:
        """The system named by the newest error of the log."""
        lines = self._configure_log.read_text(encoding="utf-8", errors="replace").splitlines()
        return next((found[1] for line in reversed(lines) if (found := _CONFIGURE_ERROR.match(line))), None)

    def _forget_another_checkout(self) -> None:
        """CMake refuses a binary folder made for another place, say before the checkout was moved."""
        cache = self.folder / "CMakeCache.txt"
        home = f"CMAKE_HOME_DIRECTORY:INTERNAL={self.root}\n"
        if cache.is_file() and home not in cache.read_text(encoding="utf-8", errors="replace"):
            shutil.rmtree(self.folder)

    def _run_ninja(self, prefix: Sequence[str], targets: Sequence[str]) -> int:
        with Step(self._console, f"building ({self.preset})") as step:
            return run_ninja(self.folder, self._build_log, step, prefix=[*prefix, self._ninja], targets=targets)

    def _sort_out_failures(self) -> dict[str, str]:
        """Reasons by system; a system's old programs go, lest what no longer compiles be measured."""
        systems = load_systems(self.root)
        programs = {program.program: system.name for system in systems for program in system.programs}
        reasons: dict[str, str] = {}
        found = failures(self._build_log.read_text(encoding="utf-8", errors="replace"))
        for failure in found:
            owner = owner_of(failure, programs)
            if owner is None:
                said = "\n".join(failure.lines[-TAIL_LINES:])
                raise _broken(said, f"the build failed at {failure.outputs}", self._build_log)
            reasons.setdefault(owner, f"does not compile: {first_line(failure)} (see {self._build_log})")
        if not found:
            raise _broken(tail(self._build_log), "the build failed", self._build_log)
        for program, owner in programs.items():
            if owner in reasons:
                for file in (self.folder / "bin").glob(_pattern(program)):
                    file.unlink()
        self._keep_reasons(reasons)
        return reasons

    def _keep_reasons(self, reasons: dict[str, str]) -> None:
        """Leaves the reasons where `teff systems` finds them."""
        folder = self.folder / BROKEN_FOLDER.name
        folder.mkdir(exist_ok=True)
        for name, reason in reasons.items():
            (folder / name).write_text(reason + "\n", encoding="utf-8")


def _targets(systems: Sequence[System]) -> list[str]:
    """What TeffSystems.cmake calls the programs of these systems. Versions of one have a build of their own."""
    compiled = [one.name for one in systems if (one.folder / "CMakeLists.txt").is_file()]
    return ["lab_core", *(f"lab_{name}" for name in compiled if not parsed(name).version)]


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
        if candidate and Path(candidate).is_file():
            tried = subprocess.run([candidate, "--version"], capture_output=True, check=False)
            if tried.returncode == 0:
                return candidate
    package = {"ninja": "ninja-build"}.get(name, name)
    raise TeffError(f"nothing can be built without {name} (in Debian's package {package})")


def _expect_compiler() -> None:
    """CMake says the same in twenty lines, and only after all else has been set up."""
    if not os.environ.get("CXX") and not any(map(shutil.which, _COMPILERS)):
        raise TeffError(
            "nothing can be built without a C++ compiler, and there is no c++, g++ or clang++ in PATH;"
            " install one (apt-get install g++), or name it in CXX"
        )


def _broken(said: str, what: str, log: Path) -> TeffError:
    return TeffError(f"{what}; all of it is in {log}, and this is its end:\n{said}")
