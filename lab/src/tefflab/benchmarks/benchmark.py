"""A kind of benchmark: everything that the lab has to know to measure, store, compare and show it.

A kind is a module (or package) of `tefflab.benchmarks` with a `BENCHMARK` in it. Rounds, store, noise, resuming, live
display, tables, pictures, report and comparison then work for it without further code. Most kinds ask the same thing of
each case that their programs list, again and again: they derive from `tefflab.benchmarks.cases.CaseBenchmark`.
"""

import importlib
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, Generic, Literal, Self

from pydantic import Field, ValidationError

from tefflab.analysis.rows import Row
from tefflab.analysis.statistics import Progress
from tefflab.errors import InputError, TeffError, first_fault
from tefflab.output.charts.sheet import Picture
from tefflab.output.last_words import LastWords
from tefflab.output.nodes import nodes_section
from tefflab.output.report import write_report
from tefflab.output.sections import Section, absences
from tefflab.output.table import Column, Table
from tefflab.records.plan import Case, Frozen, Plan, Variant
from tefflab.records.record import AnyRecord
from tefflab.records.run import Failure, Role, Run, Sitting
from tefflab.records.store import Damage
from tefflab.systems.own_command import OwnCommand
from tefflab.systems.registry import Registry
from tefflab.systems.systems import Program, System
from tefflab.systems.toml_files import read_toml, readable

EXPERIMENTS_FOLDER = Path("experiments")  # which has a TOML file for each; its README.md explains the keys
_USUAL = "task_graph"  # kind of an experiment
NonEmpty = Annotated[str, Field(min_length=1)]
Scales = Mapping[tuple[str, Case], float]  # of cases, by a variant's ceiling


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a command alone. If several kinds have it, `tefflab.cli.options` declares it: the flag is enough."""

    flag: str  # "--cases"
    help: str = ""
    default: str | int | float | bool = ""
    least: float | None = None
    most: float | None = None
    metavar: str = "NAMES"  # what stands for its value in the help, where that is no number
    now: str = ""  # of an option of earlier versions: the form that has taken its place
    into: str = ""  # the name under which the command has its value, if that is not the flag's

    @property
    def name(self) -> str:
        return self.into or self.flag.lstrip("-").replace("-", "_")


@dataclass(frozen=True, slots=True)
class Request:
    """A user's request, once the variants that are here are known."""

    registry: Registry
    variants: tuple[Variant, ...]
    programs: tuple[Program, ...]  # of the variants
    workers: tuple[int, ...]  # as asked for, of a node; empty where nothing is said
    cores: int  # that are here
    nodes: tuple[int, ...] = ()  # as asked for; empty: this machine
    simulated: tuple[Mapping[str, Any], ...] = ()  # machines, in the place of this one
    own: Mapping[str, Any] = field(default_factory=dict)  # the command's own options, by name
    flags: Sequence[str] = ()  # further words, of a command that takes flags


@dataclass(frozen=True, slots=True)
class Command:
    """A command that measures a kind of benchmark."""

    name: str
    help: str  # the first sentence stands in the list of commands
    example: str
    plan: Callable[[Request], Plan]
    options: Sequence[Option] = ()
    takes_flags: bool = False
    # TeffError for own options and flags that can be seen to be wrong before anything is set up.
    check: Callable[[Registry, Mapping[str, Any], Sequence[str]], object] = lambda _registry, _own, _flags: None
    minutes: float = 5
    rounds: int = 25  # of each system, at most
    takes_one_number: bool = False  # of workers: each would need a separate ceiling
    takes_nodes: bool = False  # its programs have ranks
    is_alone: bool = False  # `teff NAME`, not `teff measure NAME`
    takes_programs: bool = False  # behind `--`
    measures_systems: bool = True

    @property
    def path(self) -> str:
        """What the user types behind `teff`."""
        return self.name if self.is_alone else f"measure {self.name}"


@dataclass(frozen=True, slots=True)
class Ask:
    """One run that a question wants now; where it is noisy, so many attempts at most."""

    line: str  # flags
    role: Role = "system"
    attempts: int = 1
    seconds: float = 0.0  # that it takes, as far as is known: it is not begun where no more so many are left
    warms_itself: bool = False  # it takes so long that a cold program does no harm


class Question(ABC, Generic[AnyRecord]):
    """The questions to one variant about one case, round after round."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.runs: list[Run[AnyRecord]] = []

    @abstractmethod
    def round(self) -> Generator[Ask, Sequence[Run[AnyRecord]], None]:
        """Asks for the runs of one round more, and is sent the attempts at each. `runs` has all earlier runs."""

    def add(self, runs: Sequence[Run[AnyRecord]]) -> None:
        """A round is over."""
        self.runs += runs

    @property
    def rounds(self) -> int:
        return len({run.round for run in self.runs})

    def progress(self, round_trip: float | None) -> Progress | None:
        """The value so far, of the runs at this distance of the cores; None if there is none (yet)."""


@dataclass(frozen=True)
class Round(Generic[AnyRecord]):
    """A variant's questions in each of its rounds, until all is known. Rounds of one `company` are made beside each
    other."""

    variant: Variant
    workers: int
    questions: Sequence[Question[AnyRecord]]
    company: str
    case: Case | None = None  # the only case of the round: a failure excludes the variant from that case only

    @property
    def nodes(self) -> int:
        """How many share its programs; 0 for the machine of the lab."""
        return max(question.case.nodes or 0 for question in self.questions)


@dataclass(eq=False)
class Estimates(ABC):
    """The estimates from the runs of a sitting: made once, shown everywhere. Pure: the same runs give the same."""

    kind: "Benchmark[Any]"
    sitting: Sitting
    plan: Plan
    every_run: Sequence[Run[Any]]
    failures: Sequence[Failure]

    @property
    @abstractmethod
    def rows(self) -> Sequence[Row]:
        """All that is known, and what could not be measured. They are printed by `--json`."""

    @abstractmethod
    def sections(self) -> Sequence[Section]:
        """The tables, as terminal and report show them."""

    @abstractmethod
    def pictures(self) -> Iterator[tuple[str, Picture]]:
        """Each with the name of its files. What holds nothing is not drawn."""

    @cached_property
    def drawn(self) -> Mapping[str, Picture]:
        """The pictures by the names of their files."""
        return dict(self.pictures())

    @abstractmethod
    def closing(self, again: str, store: str) -> LastWords | None:
        """The meaning for the reader, and the next command to try; `again` is the command that measured it."""

    @property
    def has_values(self) -> bool:
        return any(row.value for row in self.rows if not row.is_beside)

    def objects(self) -> Iterator[dict[str, Any]]:
        """The rows as JSON has them."""
        for row in self.rows:
            yield row.to_json() | {"sitting": self.sitting.sitting}

    def lines(self) -> Iterator[dict[str, Any]]:
        """The rows that the store keeps: those at the distance of the cores that is shown first."""
        first = next((row.round_trip for row in self.rows), None)
        return (each for each in self.objects() if each["round_trip"] == first)

    @property
    def all_sections(self) -> Sequence[Section]:
        """With the nodes, if there are several."""
        return [*self.sections(), *nodes_section(self.sitting.nodes)]

    def write_report(self, path: Path, damage: Sequence[Damage]) -> None:
        title, drawn = f"Teff: {self.plan.title}", list(self.drawn.values())
        write_report(path, self.sitting, damage, title, self.all_sections, drawn, absences(self.rows), noise(self.rows))


def noise(rows: Sequence[Row]) -> tuple[int, int]:
    """How many runs were noisy, and of how many."""
    own = [row for row in rows if not row.is_beside]
    return sum(round(row.runs * row.noisy_share) for row in own), sum(row.runs for row in own)


class Experiment(Frozen):
    """A TOML file below `experiments/`, with the keys of all kinds; a kind adds its questions and its pictures."""

    title: NonEmpty
    description: NonEmpty  # one line
    benchmark: str = _USUAL
    figure: str | None = None  # its number in the paper
    variants: Literal["best", "all"] = "best"  # of each system
    nodes: tuple[Annotated[int, Field(ge=1)], ...] = ()  # numbers of nodes; empty: this machine
    rounds: Annotated[int, Field(ge=2)]
    minutes: Annotated[float, Field(gt=0)]

    name: str = ""  # the file's, never in it

    def takes(self, system: System) -> bool:
        """Whether it is measured on this system by default."""
        del system
        return True

    def plan(self, request: Request) -> Plan:
        raise NotImplementedError


class Benchmark(ABC, Generic[AnyRecord]):
    """A kind of benchmark."""

    name: ClassVar[str]  # of its folder in bench/
    word: ClassVar[str] = ""  # what users call it; empty: its name
    adapters: ClassVar[str] = ""  # the kind whose adapters it runs on; empty: this kind's
    measured: ClassVar[str]  # "METG", as in "the sitting has METG"
    row_word: ClassVar[str] = "case"  # the subject of a line of a comparison, besides a system
    alike: ClassVar[str] = "with one number of workers"  # when sittings can be compared
    record: type[AnyRecord]
    timeout: float = 300.0  # seconds for one answer
    # Debian packages that all programs of the kind need, besides CORE_APT.
    apt: ClassVar[tuple[str, ...]] = ()
    runs_beside_load: ClassVar[bool] = False  # `teff contention` takes its cases
    of_fixed_size: ClassVar[str] = ""  # further flags, if its listed cases have no size: {width} is filled in
    plan_type: ClassVar[type[Plan]] = Plan
    experiment_type: ClassVar[type[Experiment]]
    estimates_type: ClassVar[type[Estimates]]
    commands: Sequence[Command]
    reference: Any = None  # that each run is compared with, as `task_graph.record.Ceiling` is

    def programs(self, system: System) -> list[Program]:
        """The programs of a system that run it."""
        return system.programs_for(self.name, self.adapters or self.name)

    own_commands: Sequence[OwnCommand] = ()  # which it measures in the place of systems: the user's, or simulated ones
    simulated: Sequence[Mapping[str, Any]] = ()  # machines that it simulates, in the place of this one
    simulated_cores: int = 0  # of a node of these; 0: it simulates none
    enough: Callable[[Estimates], bool] | None = None  # when to end, if all variants have their rounds in turns

    def narrowed(self, own: Mapping[str, Any]) -> Self:
        """This kind, with only the programs that a command needs with these options."""
        del own
        return self

    def resumed(self, plan: Plan) -> Self:
        """This kind, with the programs of a plan."""
        del plan
        return self

    def plan_of(self, head: Sitting) -> Plan:
        """InputError for a plan of another version of the lab, which has other keys."""
        try:
            return self.plan_type.model_validate(head.plan)
        except ValidationError as error:
            why = f"another version of the lab has measured it ({first_fault(error)})"
            raise InputError(f"sitting {head.sitting} can't be read: {why}; read it by that version") from None

    @abstractmethod
    def rounds(self, plan: Plan, scales: Scales) -> Sequence[Round[AnyRecord]]:
        """The questions to each variant, for all its rounds."""

    def round_of(self, run: Run[AnyRecord]) -> Hashable:
        """Equal of the runs that one round made."""
        return run.system_id, run.round

    def estimate(self, head: Sitting, runs: Sequence[Run[AnyRecord]], failures: Sequence[Failure]) -> Estimates:
        return self.estimates_type(self, head, self.plan_of(head), runs, failures)


AnyBenchmark = Benchmark[Any]


@cache
def benchmarks() -> tuple[AnyBenchmark, ...]:
    """Every kind that has a module here, the task graphs first."""
    folder = [str(Path(__file__).parent)]
    modules = [importlib.import_module(f"tefflab.benchmarks.{each.name}") for each in pkgutil.iter_modules(folder)]
    found = [module.BENCHMARK for module in modules if hasattr(module, "BENCHMARK")]
    return tuple(sorted(found, key=lambda kind: (kind.name != _USUAL, kind.name)))


def find_benchmark(name: str) -> AnyBenchmark:
    """By its name or the users' word for it. TeffError, naming those there are, for another."""
    for kind in benchmarks():
        if name in (kind.name, kind.word):
            return kind
    known = " ".join(kind.word or kind.name for kind in benchmarks())
    raise InputError(f"no kind of benchmark is called {name!r}; there are: {known}")


def find_command(path: str) -> tuple[AnyBenchmark, Command]:
    """The command that measures, and its kind."""
    return next((kind, each) for kind in benchmarks() for each in kind.commands if each.path == path)


def load_experiment(path: Path) -> Experiment:
    """Raises TeffError, naming the file, the key and the rule."""
    keys = read_toml(path)
    try:
        if "name" in keys:
            raise InputError("name: an experiment is called as its file is")
        kind = find_benchmark(str(keys.get("benchmark", _USUAL)))
        return kind.experiment_type.model_validate(keys | {"name": path.stem})
    except TeffError as error:
        raise InputError(f"{path}: {error}") from None
    except ValidationError as error:
        raise InputError(f"{path}: {first_fault(error)}") from None


def load_experiments(root: Path) -> list[Experiment]:
    """Every experiment of the checkout that can be read, numbers as numbers; a warning names the others."""
    files = (root / EXPERIMENTS_FOLDER).glob("*.toml")
    return readable(sorted(files, key=lambda file: (len(file.stem), file.stem)), load_experiment)


def find_experiment(root: Path, name: str) -> Experiment:
    """The experiment of this name. TeffError, naming those there are, for another."""
    path = root / EXPERIMENTS_FOLDER / f"{name}.toml"
    if Path(name).name != name or not path.is_file():
        known = sorted((file.stem for file in path.parent.glob("*.toml")), key=lambda stem: (len(stem), stem))
        raise InputError(f"no experiment is called {name!r}; there are: {' '.join(known)}")
    return load_experiment(path)


def experiment_list(root: Path) -> Table:
    """A line an experiment."""
    there = load_experiments(root)
    if not there:
        raise TeffError(f"there are no experiments in {root / EXPERIMENTS_FOLDER}")
    return Table(
        [
            Column("experiment", [each.name for each in there], "left"),
            Column("what it shows", [each.description for each in there], "left"),
            Column("paper", [f"figure {each.figure}" if each.figure else "" for each in there], "left", priority=2),
            Column("minutes", [f"{each.minutes:g}" for each in there], priority=1),
        ]
    )
