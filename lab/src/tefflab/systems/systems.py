"""The systems under test: the contents of their `system.toml`, and their start. Nothing in the lab names a system."""

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, Field, PrivateAttr, model_validator

from tefflab.errors import InputError
from tefflab.systems.naming import Named, owner_of, parsed
from tefflab.systems.needs import PLACEHOLDER, STAMP, Asked, Install, NonEmpty, Version, knowing

BENCH_FOLDER = Path("bench")  # the driver, and a folder for each kind of benchmark
SYSTEMS_FOLDER = BENCH_FOLDER / "systems"  # a folder for each system
BUILD_FOLDER = Path(".teff/build")
SKIPPED_FOLDER = BUILD_FOLDER / "skipped"  # CMake's reasons for systems and programs that it left out
BROKEN_FOLDER = BUILD_FOLDER / "broken"  # the lab's reasons for systems that can't be built

INSTALLED_FOLDER = Path(".teff/systems")  # the systems that `teff systems add` brought, a folder each

_STARTER = "{build}/bin/start_ranks"
PLACEHOLDERS = ("program", "benchmark", "workers", "python", "folder", "build", "installed")

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]*$")]
_Filled = Annotated[str, knowing(*PLACEHOLDERS)]


def _mentioning(*placeholders: str) -> AfterValidator:
    """A command, or variables, with these."""

    def check(command: list[str] | dict[str, str]) -> list[str] | dict[str, str]:
        words = command.values() if isinstance(command, dict) else command
        if lacking := [needed for needed in placeholders if not any(needed in word for word in words)]:
            raise ValueError(f"{lacking[0]} does not occur in it")
        return command

    return AfterValidator(check)


def root_of(folder: Path) -> Path:
    """The checkout that a system's folder is in."""
    return folder.parents[len(SYSTEMS_FOLDER.parts)]


_Command = Annotated[list[_Filled], _mentioning("{program}")]
_Constructs = Annotated[list[NonEmpty], Field(min_length=1)]  # that stand for a concept
_CommandForRanks = Annotated[list[Annotated[str, knowing("ranks", *PLACEHOLDERS)]], _mentioning("{ranks}", "{program}")]


class Attribution(BaseModel, extra="forbid"):
    """Which functions do what, for `teff explain spawn`, as `FILE:FUNCTION` or `FILE`: the Sandia report's
    categories."""

    task: list[NonEmpty] = []
    spawning: list[NonEmpty] = []
    scheduler: list[NonEmpty] = []
    yielding: list[NonEmpty] = []
    allocation: list[NonEmpty] = []
    load_balance: list[NonEmpty] = []
    context_swap: list[NonEmpty] = []
    synchronisation: list[NonEmpty] = []


class Program(BaseModel, extra="forbid"):
    """One way of running a system: a program, its command line and its environment."""

    benchmark: Name  # the kind of benchmark whose adapter this is; kinds that name it as their adapters run on it, too
    name: Name
    title: NonEmpty
    program: Annotated[NonEmpty, knowing("benchmark")]  # `{benchmark}` in it is the measured kind
    best: bool = False  # of its system's programs of this kind; by default the first one is
    slow_start: bool = False  # it may take seconds to answer first: other programs are started before it
    ceiling: NonEmpty | None = None  # the program that measures its ceiling; none: its kernels run on the cores
    command: _Command = ["{program}"]
    command_for_ranks: _CommandForRanks = []  # with `--ranks`; none: it does not choose how many processes there are
    environment: dict[NonEmpty, _Filled] = {}
    why: dict[NonEmpty, NonEmpty] = {}
    profile: Attribution | None = None  # none: its functions are not known, so it can't be profiled

    # By names that no file has. The id is for tables, stores and `--systems`: `SYSTEM/NAME`, or the system's name alone
    # for its best program of a benchmark. If a version was asked for, `@VERSION` follows.
    id: str = Field(default="", alias="(id)")
    folder: Path = Field(default=Path(), alias="(folder)")  # its system's
    asked: Asked | None = Field(default=None, alias="(asked)")  # the version that was asked for
    _measured: str = PrivateAttr("")
    _apart: bool = PrivateAttr(False)

    @property
    def long_name(self) -> str:
        """`SYSTEM/NAME`, by which each can be named, the first, too."""
        return str(replace(parsed(self.id), way=self.name))

    @property
    def system_name(self) -> str:
        """With the version, where one was asked for."""
        return owner_of(self.id)

    @property
    def identity(self) -> str:
        """The system in its program's identity, in any version."""
        return parsed(self.id).system

    @property
    def is_python(self) -> bool:
        """Whether the program is a script in the system's folder, which the lab's own Python runs."""
        return self.program.endswith(".py")

    @property
    def executable(self) -> str:
        """The program's name, the kind that is measured filled in."""
        return self.program.replace("{benchmark}", self.measured)

    @property
    def measured(self) -> str:
        """The kind of benchmark that it runs."""
        return self._measured or self.benchmark

    def measuring(self, benchmark: str) -> Self:
        """A copy of this program for a kind of benchmark that runs on its adapter."""
        one = self.model_copy()
        one._measured = benchmark
        return one

    def with_id(self, way: str) -> Self:
        """A copy of this program whose id is `SYSTEM/WAY`; its long name stays."""
        one = self.model_copy()
        one.id = str(replace(parsed(self.id), way=way))
        return one

    @property
    def program_path(self) -> Path:
        return (self.folder if self.is_python else self.build_folder / "bin") / self.executable

    @property
    def build_folder(self) -> Path:
        """What CMake built it in."""
        has_own = self.asked and not self.is_python  # its scripts call the core, which is the usual build's
        return self.asked.home / "build" if self.asked and has_own else root_of(self.folder) / BUILD_FOLDER

    def built_in(self, build: Path) -> list[Path]:
        """Its files in the build folder, for all kinds of benchmark."""
        return list((build / "bin").glob(self.program.replace("{benchmark}", "*")))

    @property
    def spreads_over_nodes(self) -> bool:
        """Whether `start_ranks` starts it, which can do so on several nodes, and their cores are its ceiling."""
        return not self.ceiling and any(_STARTER in words[:1] for words in (self.command, self.command_for_ranks))

    def command_line(self, workers: int, ranks: int | None = None, nodes: int | None = None) -> list[str]:
        """The words that start the program with `workers` workers; flags are to be appended. `ranks` is the number of
        processes that the user wants, which share the workers; only programs with a `command_for_ranks` can do that.
        Over several nodes a program that runs in one process has a rank on each."""
        if nodes is not None and _STARTER not in self.command[:1]:
            ranks = ranks or nodes
        words = self.command if ranks is None else self.command_for_ranks
        script_first = self.is_python and words[:1] == ["{program}"]
        return [*([self.python] * script_first), *(self._fill(word, workers, ranks) for word in words)]

    @property
    def python(self) -> str:
        """The interpreter of its scripts: the lab's, or that in the separate environment of its system or version."""
        if self.asked:
            return self.asked.python
        return str(self.installed / "venv/bin/python") if self._apart else sys.executable

    @property
    def installed(self) -> Path:
        """Where `teff systems add` puts what its system needs."""
        return self.asked.home if self.asked else root_of(self.folder) / INSTALLED_FOLDER / self.system_name

    def environment_for(self, workers: int) -> dict[str, str]:
        """The variables to be set besides those that are there; `start_ranks` hands their names to other machines."""
        own = {name: self._fill(value, workers) for name, value in self.environment.items()}
        names = " ".join(name for name in own if not name.startswith("OMPI_"))  # which are handed on without that
        return own | ({"TEFF_VARIABLES": names} if names and self.spreads_over_nodes else {})

    def _fill(self, text: str, workers: int, ranks: int | None = None) -> str:
        values = {
            "program": str(self.program_path),
            "benchmark": self.measured,
            "workers": str(workers),
            "ranks": str(ranks),
            "python": self.python,
            "folder": str(self.folder),
            "build": str(self.build_folder),
            "installed": str(self.installed),
        }
        return PLACEHOLDER.sub(lambda match: values[match[1]], text)


class System(BaseModel, extra="forbid"):
    """A runtime under test, as its `system.toml` describes it."""

    name: Name
    title: NonEmpty
    paradigm: NonEmpty
    parallelism: Literal["implicit", "explicit", "both"]
    distributed: bool
    on_one_machine: NonEmpty | None = None  # why no program of a distributed system can be started on several nodes
    language: NonEmpty
    homepage: Annotated[str, Field(pattern=r"^(https?://|docs/)\S+$")]  # or a page of ours
    color: Annotated[str, Field(pattern=r"^#[0-9A-Fa-f]{6}$")]
    install: Install = Install()
    environment: dict[NonEmpty, _Filled] = {}  # of all its programs
    why: dict[NonEmpty, NonEmpty] = {}
    # Variables with which its programs write a trace of their tasks to {file}.
    trace: Annotated[dict[NonEmpty, str], _mentioning("{file}")] = {}
    versions: list[Version] = Field(default=[], alias="version")
    programs: list[Program] = Field(alias="program", min_length=1)
    concepts: dict[NonEmpty, _Constructs] = {}

    folder: Path = Field(default=Path(), alias="(folder)")
    asked: Asked | None = Field(default=None, alias="(asked)")  # the version that was asked for

    @model_validator(mode="after")
    def _programs_have_its_environment(self) -> Self:
        for program in self.programs:
            program.environment, program.why = self.environment | program.environment, self.why | program.why
            if bare := [name for name in program.environment if name not in program.why]:
                raise ValueError(f"environment sets {bare[0]}, and [why] has no reason for it")
        return self

    @model_validator(mode="after")
    def _programs_have_names_of_their_own(self) -> Self:
        for version in self.versions:
            if other := [name for name in version.programs if name not in {program.name for program in self.programs}]:
                raise ValueError(f"version {version.name}: no program is named {other[0]!r}")
        names = [(program.benchmark, program.name) for program in self.programs]
        if twice := [each for each in names if names.count(each) > 1]:
            raise ValueError(f"two programs of {twice[0][0]} are named {twice[0][1]!r}")
        best = [program.benchmark for program in self.programs if program.best]
        if both := [benchmark for benchmark in best if best.count(benchmark) > 1]:
            raise ValueError(f"two programs of {both[0]} are the best")
        return self

    @property
    def listed(self) -> list[Program]:
        """The programs in a list of the systems: those with the benchmark of the first."""
        return [program for program in self.programs if program.benchmark == self.programs[0].benchmark]

    @property
    def is_sequential(self) -> bool:
        """Whether it has no tasks: its time is the floor under all others, which are not to be compared with it."""
        return self.paradigm == "sequential"

    def programs_for(self, benchmark: str, adapters: str | None = None) -> list[Program]:
        """The programs that run a kind of benchmark, by that kind's adapters or another kind's."""
        return [each.measuring(benchmark) for each in self.programs if each.benchmark == (adapters or benchmark)]

    @property
    def root(self) -> Path:
        """The checkout that its folder is in."""
        return root_of(self.folder)

    @property
    def installed_folder(self) -> Path:
        """What `teff systems add` puts it in."""
        return self.root / INSTALLED_FOLDER / self.name

    @property
    def is_installed(self) -> bool:
        """Whether `teff systems add` brought what its file asks for now."""
        stamp = self.installed_folder / STAMP
        return stamp.is_file() and stamp.read_text(encoding="utf-8") == self.wanted()

    def wanted(self) -> str:
        """The requirements that its stamp records."""
        return self.install.model_dump_json(include={"apt", "pip", "fetch"})

    def at(self, version: str) -> Self:
        """This system in a version, beside which others of it can be measured. TeffError where that is unknown."""
        asked = self._version_asked(Named(self.name, "", version))
        one = self.model_copy(deep=True)
        one.name, one.asked = str(asked.named), asked
        if asked.rule and asked.rule.programs:
            one.programs = [each for each in one.programs if each.name in asked.rule.programs]
        return one.placed_in(self.folder)

    def _version_asked(self, named: Named) -> Asked:
        if not named.folder:
            for rule in self.versions:
                if (number := rule.number_of(named.version)) is not None:
                    return Asked(self.root, named, number, rule.filled(number))
            there = ", ".join(f"{self.name}@{each.example} ({each.title})" for each in self.versions)
            can_be_had = f"there are: {there}" if there else "Teff can bring none of its versions by number"
            raise InputError(
                f"no version {named.version!r} of {self.name} is known; {can_be_had}; one that you have installed is "
                f"named by its folder, as {self.name}@/opt/{self.name}"
            )
        if Path(named.folder).is_dir():
            return Asked(self.root, named)
        way = named.version.rpartition("/")[2]
        is_way = any(program.name == way for program in self.programs)
        hint = f"; a way stands before the version: {self.name}/{way}@VERSION" if is_way else ""
        raise InputError(f"{named}: there is no folder {named.folder}{hint}")

    def placed_in(self, folder: Path) -> Self:
        """This system, knowing the folder it was read from."""
        self.folder = folder
        for program in self.programs:
            ways = [each for each in self.programs if each.benchmark == program.benchmark]
            is_short = program is ways[0] is best_of(ways)
            named = parsed(self.name)
            program.id = str(named if is_short else replace(named, way=program.name))
            program.folder = folder
            program._apart = self.install.apart
            program.asked = self.asked
        return self


def best_of(programs: Sequence[Program]) -> Program:
    """Of some programs of a system that run one kind of benchmark."""
    return next((each for each in programs if each.best), programs[0])


def usable_cores() -> int:
    """How many cores this process may use: the default of `--workers`."""
    return len(os.sched_getaffinity(0))
