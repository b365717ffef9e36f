"""The systems under test: what their `system.toml` says, how they are started, whether they are installed.

Everything known about a system stands in its own folder below `bench/systems`; nothing here, nor anywhere
else in the lab, names one.
"""

import os
import re
import sys
import tomllib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationError,
    field_validator,
    model_validator,
)

from tefflab.errors import BAD_INPUT, TeffError, first_fault
from tefflab.systems.identity import Identity, IdentityError, ask_identity
from tefflab.systems.packages import PackageState, as_root, available, install_command

SYSTEMS_FOLDER = Path("bench/systems")
BUILD_FOLDER = Path(".teff/build")
SKIPPED_FOLDER = BUILD_FOLDER / "skipped"  # CMake leaves the reason here for a system or program it left out,
BROKEN_FOLDER = BUILD_FOLDER / "broken"  # and the lab for one that can not be built

PLACEHOLDERS = ("program", "benchmark", "workers", "python", "folder", "build")
COMPILED_TIMEOUT = 10.0  # seconds for a program to say who it is
PYTHON_TIMEOUT = 30.0  # some frameworks take ten seconds to import
_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]*$")]
_SEQUENTIAL = "sequential"  # the paradigm of systems without tasks

NonEmpty = Annotated[str, Field(min_length=1)]


def _check_placeholders(text: str) -> str:
    for name in _PLACEHOLDER.findall(text):
        if name not in PLACEHOLDERS:
            known = " ".join(f"{{{known}}}" for known in PLACEHOLDERS)
            raise ValueError(f"{{{name}}} is no placeholder; there are {known}")
    return text


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Install(_Strict):
    """What has to be there before a system builds and runs. `a | b` means the first that can be had."""

    apt: list[NonEmpty] = []
    pip: list[NonEmpty] = []


class Attribution(_Strict):
    """Which of a system's functions do what, for `teff profile`: by the Sandia report's categories, rules of the form
    `FILE:FUNCTION` or `FILE`, with wildcards."""

    task: list[NonEmpty] = []
    spawning: list[NonEmpty] = []
    scheduler: list[NonEmpty] = []
    yielding: list[NonEmpty] = []
    allocation: list[NonEmpty] = []
    load_balance: list[NonEmpty] = []
    context_swap: list[NonEmpty] = []
    synchronisation: list[NonEmpty] = []


class Program(_Strict):
    """One way of running a system: a program, its command line and its environment."""

    benchmark: Name  # the kind of benchmark whose adapter this is; kinds that name it as their adapters run on it, too
    name: Name
    title: NonEmpty
    program: NonEmpty  # `{benchmark}` in it is the kind that is measured
    command: list[NonEmpty] = ["{program}"]
    environment: dict[NonEmpty, str] = {}
    why: dict[NonEmpty, NonEmpty] = {}
    profile: Attribution | None = None  # none: its functions are not known, so it can't be profiled

    _id: str = PrivateAttr("")
    _folder: Path = PrivateAttr(Path())
    _measured: str = PrivateAttr("")

    @field_validator("program")
    @classmethod
    def _program_names_the_benchmark_alone(cls, program: str) -> str:
        if other := [name for name in _PLACEHOLDER.findall(program) if name != "benchmark"]:
            raise ValueError(f"{{{other[0]}}} can't stand in it; {{benchmark}} can")
        return program

    @field_validator("command")
    @classmethod
    def _command_starts_the_program(cls, command: list[str]) -> list[str]:
        for word in command:
            _check_placeholders(word)
        if not any("{program}" in word for word in command):
            raise ValueError("{program} does not occur in it")
        return command

    @model_validator(mode="after")
    def _environment_has_reasons(self) -> Self:
        for name, value in self.environment.items():
            _check_placeholders(value)
            if name not in self.why:
                raise ValueError(f"environment sets {name}, and [program.why] has no reason for it")
        return self

    @property
    def id(self) -> str:
        """The system's name for its first program of a benchmark, `SYSTEM/NAME` for each further one."""
        return self._id

    @property
    def system_name(self) -> str:
        return self._id.partition("/")[0]

    @property
    def is_python(self) -> bool:
        """Whether the program is a script in the system's folder, which the lab's own Python runs."""
        return self.program.endswith(".py")

    @property
    def executable(self) -> str:
        """The program's name, the kind that is measured filled in."""
        return self.program.replace("{benchmark}", self._measured or self.benchmark)

    def measuring(self, benchmark: str) -> Self:
        """This program as it stands for a kind of benchmark that runs on the adapters of its own."""
        one = self.model_copy()
        one._measured = benchmark
        return one

    def program_path(self, root: Path) -> Path:
        return self._folder / self.executable if self.is_python else root / BUILD_FOLDER / "bin" / self.executable

    def command_line(self, root: Path, workers: int) -> list[str]:
        """The words that start the program with `workers` workers; flags are to be appended."""
        filled = [self._fill(word, root, workers) for word in self.command]
        script_first = self.is_python and self.command[0] == "{program}"
        return [sys.executable, *filled] if script_first else filled

    def environment_for(self, root: Path, workers: int) -> dict[str, str]:
        """The variables to be set besides those that are there."""
        return {name: self._fill(value, root, workers) for name, value in self.environment.items()}

    def _fill(self, text: str, root: Path, workers: int) -> str:
        values = {
            "program": str(self.program_path(root)),
            "benchmark": self._measured or self.benchmark,
            "workers": str(workers),
            "python": sys.executable,
            "folder": str(self._folder),
            "build": str(root / BUILD_FOLDER),
        }
        return _PLACEHOLDER.sub(lambda match: values[match[1]], text)


class System(_Strict):
    """A runtime under test, as its `system.toml` describes it."""

    name: Name
    title: NonEmpty
    paradigm: NonEmpty
    parallelism: Literal["implicit", "explicit", "both"]
    distributed: bool
    language: NonEmpty
    homepage: Annotated[str, Field(pattern=r"^(https?://|docs/)\S+$")]  # or a page of ours
    color: Annotated[str, Field(pattern=r"^#[0-9A-Fa-f]{6}$")]
    install: Install = Install()
    programs: list[Program] = Field(default=[], alias="program")

    _folder: Path = PrivateAttr(Path())

    @model_validator(mode="after")
    def _programs_of_a_benchmark_have_names_of_their_own(self) -> Self:
        if not self.programs:
            raise ValueError("there is no [[program]]")
        known = [(program.benchmark, program.name) for program in self.programs]
        for benchmark, name in known:
            if known.count((benchmark, name)) > 1:
                raise ValueError(f"two programs of {benchmark} are named {name!r}")
        return self

    @property
    def folder(self) -> Path:
        return self._folder

    @property
    def listed(self) -> list[Program]:
        """What a list of the systems shows: the programs of the benchmark that comes first."""
        return [program for program in self.programs if program.benchmark == self.programs[0].benchmark]

    @property
    def is_sequential(self) -> bool:
        """Whether it has no tasks: what it takes is the floor under all others, who are not to be compared with it."""
        return self.paradigm == _SEQUENTIAL

    def programs_for(self, benchmark: str, adapters: str | None = None) -> list[Program]:
        """Those that run a kind of benchmark, whose adapters are its own or another kind's."""
        return [each.measuring(benchmark) for each in self.programs if each.benchmark == (adapters or benchmark)]

    def placed_in(self, folder: Path) -> Self:
        """This system, knowing the folder it was read from."""
        self._folder = folder
        seen: set[str] = set()
        for program in self.programs:
            program._id = f"{self.name}/{program.name}" if program.benchmark in seen else self.name
            program._folder = folder
            seen.add(program.benchmark)
        return self


def load_system(path: Path) -> System:
    """Reads one `system.toml`; what is wrong with it is a TeffError with file, key and rule."""
    try:
        system = System.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except tomllib.TOMLDecodeError as error:
        raise TeffError(f"{path}: is no TOML: {error}", exit_code=BAD_INPUT) from None
    except ValidationError as error:
        raise TeffError(f"{path}: {first_fault(error)}", exit_code=BAD_INPUT) from None
    if system.name != path.parent.name:
        raise TeffError(
            f"{path}: name: {system.name!r} is not the folder's name, {path.parent.name!r}",
            exit_code=BAD_INPUT,
        )
    return system.placed_in(path.parent)


def load_systems(root: Path) -> list[System]:
    """Every system of the checkout at `root`, by name."""
    return [load_system(path) for path in sorted((root / SYSTEMS_FOLDER).glob("*/system.toml"))]


def usable_cores() -> int:
    """How many cores this process may use: what `--workers` is when nothing is said."""
    return len(os.sched_getaffinity(0))


@dataclass(frozen=True)
class Probe:
    """Whether a program is there and answers; `reason` says why where it is not.

    `how_to_install` is empty where nothing that could be installed would help: the adapter is broken.
    """

    found: bool
    version: str | None
    reason: str | None
    how_to_install: str


def probe(program: Program, system: System, root: Path, *, packages: PackageState | None = None) -> Probe:
    """Asks a program who it is. Nothing is installed or built; a program that hangs is ended."""
    packages = packages or PackageState.of(system.install.apt)
    broken = (root / BROKEN_FOLDER / system.name).is_file()
    left_out = (root / SKIPPED_FOLDER / program.executable).is_file() and not packages.missing(system.install.apt)
    how = "" if broken or left_out else _how_to_install(system, root, packages)
    identity = _identity_of(program, root)
    if isinstance(identity, str):
        return Probe(found=False, version=None, reason=identity, how_to_install=how)
    return Probe(found=True, version=identity.version, reason=None, how_to_install=how)


def probe_all(
    systems: Sequence[System], root: Path, programs: Callable[[System], Sequence[Program]]
) -> dict[str, Probe]:
    """Probes the `programs` of every system, two at a time; the keys are their ids."""
    packages = PackageState.of([name for system in systems for name in system.install.apt])
    with ThreadPoolExecutor(max_workers=2) as pool:
        asked = {
            program.id: pool.submit(probe, program, system, root, packages=packages)
            for system in systems
            for program in programs(system)
        }
        try:
            return {name: answer.result() for name, answer in asked.items()}
        except KeyboardInterrupt:  # has ended the programs that were asked, too
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _identity_of(program: Program, root: Path) -> Identity | str:
    """What the program says of itself, or why it does not."""
    if reason := why_not_there(program, root):
        return reason
    workers = usable_cores()
    try:
        identity = ask_identity(
            [*program.command_line(root, workers), "--identity"],
            environment=program.environment_for(root, workers),
            timeout=PYTHON_TIMEOUT if program.is_python else COMPILED_TIMEOUT,
        )
    except IdentityError as error:
        return str(error)
    if identity.system != program.system_name:
        return f"the program says it is {identity.system!r}"
    return identity


def why_not_there(program: Program, root: Path) -> str:
    """Why it has not been built; empty where it has."""
    if program.program_path(root).is_file():
        return ""
    if program.is_python:
        return f"{program.executable} is not in its folder"
    for place in (
        BROKEN_FOLDER / program.system_name,
        SKIPPED_FOLDER / program.system_name,
        SKIPPED_FOLDER / program.executable,
    ):
        reason = root / place
        if reason.is_file():
            return reason.read_text(encoding="utf-8").strip()
    return f"{program.executable} has not been built"


def _how_to_install(system: System, root: Path, packages: PackageState) -> str:
    if (root / SKIPPED_FOLDER / system.name).is_file() and not system.install.apt and not system.install.pip:
        return f"install it from {system.homepage}, with CMAKE_PREFIX_PATH saying where it is"
    missing = packages.missing(system.install.apt)
    if missing and as_root() is None:
        return install_command(missing, available(missing))
    return "./teff systems sets it up"
