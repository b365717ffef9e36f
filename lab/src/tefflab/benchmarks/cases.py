"""Kinds of benchmark that ask the same question of every case in their programs' lists, round after round.

A run yields one time, of which the median over rounds is estimated. For each case and number of workers, the lab
ranks the variants: first, level or behind. A kind that derives from this reads that time, and other facts, from a
record.
"""

import statistics
from abc import abstractmethod
from collections.abc import Callable, Generator, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from matplotlib.figure import Figure
from pydantic import BaseModel, ConfigDict
from rich.console import Group, RenderableType
from rich.text import Text

from tefflab.analysis.comparison import ByRound, Side
from tefflab.analysis.results import NO_TURN, CaseRow, Progress, Verdict
from tefflab.analysis.statistics import FEWEST_ROUNDS, Interval, median_interval, ratio_interval
from tefflab.benchmarks import case_closing
from tefflab.benchmarks.benchmark import (
    Ask,
    Benchmark,
    Estimates,
    Experiment,
    Option,
    Question,
    Request,
    Round,
    Scales,
    find_benchmark,
)
from tefflab.carried import TYPED
from tefflab.errors import BAD_INPUT, TeffError
from tefflab.output.last_words import LastWords, remarks
from tefflab.output.plots import signature, slug, workers_chart
from tefflab.output.quantities import counted_minutes, digits, duration, interval_text, percent
from tefflab.output.report import TableSection, write_report
from tefflab.output.table import Column, Table, meanings
from tefflab.records.plan import Case, Plan, Variant
from tefflab.records.record import AnyRecord
from tefflab.records.run import Failure, Run, Sitting, counted, minutes_for
from tefflab.records.store import Damage
from tefflab.systems.programs import ask_cases

REPEATS = 3  # measured runs a round, after one that warms it up
ATTEMPTS = 2  # at each, where it is noisy

_Value = TypeVar("_Value", float, float | None)


class ListedCase(BaseModel):
    """A case as a program lists it."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    name: str
    flags: str
    title: str = ""
    default: bool = True
    group: str = ""
    workers: str | int = "any"  # or the one number that it makes sense for
    small: str = ""  # as `Case` has them
    small_times: float = 1.0

    def takes(self, workers: int) -> bool:
        return self.workers == "any" or str(self.workers) == str(workers)


@dataclass(frozen=True, slots=True)
class Fact(Generic[AnyRecord]):
    """A further number of a record: its key in JSON, and its column, where it has one.

    A rate is made of the row's time, so that both agree: the median of rates need not be the rate of the median time.
    """

    key: str
    read: Callable[[AnyRecord], float | None]
    title: str = ""
    text: Callable[[float], str] = digits
    whole: bool = False  # counts are whole numbers
    over_time: bool = False  # `read` gives an amount, and the fact is that amount divided by the time of the row
    meaning: str = ""  # of the column, if its title does not say it


class RepeatedQuestion(Question[AnyRecord]):
    """One case, again and again. A round is one process: memory that another case left behind is in no peak."""

    def __init__(self, case: Case, value: Callable[[AnyRecord], float]) -> None:
        super().__init__(case)
        self._value = value

    def round(self) -> Generator[Ask, Sequence[Run[AnyRecord]], None]:
        (latest,) = yield Ask(self.case.flags, role="probe", seconds=(yield from self._foreseen()))
        for _ in range(REPEATS):
            (*_, latest) = yield Ask(self.case.flags, attempts=ATTEMPTS, seconds=latest.record.wall_seconds)

    def _foreseen(self) -> Generator[Ask, Sequence[Run[AnyRecord]], float]:
        """About how long a run takes [s]; 0 where nothing says it. The first small run meets a cold program: the second
        counts."""
        if self.runs:
            return statistics.median(run.record.wall_seconds for run in self.runs)
        seconds = 0.0
        for _ in range(2 if self.case.small else 0):
            (run,) = yield Ask(self.case.small, role="probe")
            seconds = run.record.wall_seconds * self.case.small_times
        return seconds

    def progress(self, round_trip: float | None) -> Progress | None:
        del round_trip
        seen = median_of_rounds(by_round(self.runs, self._value))
        half = seen.relative_half_width if seen else 0.0
        return Progress(self.case.place, duration(seen.value), seen, half, self.rounds) if seen else None


def by_round(runs: Sequence[Run[AnyRecord]], value: Callable[[AnyRecord], _Value]) -> dict[int, list[_Value]]:
    """The values of the runs that count, by round."""
    rounds: dict[int, list[_Value]] = {}
    systems = (run for run in runs if run.role == "system")
    for run in counted(systems, lambda run: (run.round, run.flags, run.workers)):
        rounds.setdefault(run.round, []).append(value(run.record))
    return rounds


def median_of_rounds(rounds: Mapping[int, Sequence[float]]) -> Interval | None:
    """Each round counts once. None without any; of fewer than FEWEST_ROUNDS the interval is open."""
    if not rounds:
        return None
    return median_interval([statistics.median(samples) for samples in rounds.values()]).after(len(rounds))


@dataclass
class _Cell(Generic[AnyRecord]):
    """One variant at one case with its runs."""

    variant: Variant
    case: Case
    runs: Sequence[Run[AnyRecord]]
    rounds: Mapping[int, Sequence[float]]
    failure: str

    @property
    def is_measured(self) -> bool:
        """A system that failed later has shown that it can't be trusted with the case: it is out."""
        return bool(self.rounds) and not self.failure


class CaseFigure(Experiment):
    """A picture a case, against the workers: one, twice as many and so on, and all."""

    def plan(self, request: Request) -> Plan:
        kind = find_benchmark(self.benchmark)
        assert isinstance(kind, CaseBenchmark)
        return kind.plan_of_experiment(self, request)


class CaseExperiment(CaseFigure):
    cases: tuple[str, ...] = ()  # names or groups; all usual ones where none is given


class CaseEstimates(Estimates):
    """Rows, group by group: a group is a case with so many workers."""

    def __init__(
        self,
        kind: "CaseBenchmark[Any]",
        sitting: Sitting,
        plan: Plan,
        runs: Sequence[Run[Any]],
        failures: Sequence[Failure],
    ) -> None:
        super().__init__(sitting, plan)
        self.kind = kind
        measured: dict[tuple[str, str, int], list[Run[Any]]] = {}
        for run in runs:
            measured.setdefault((run.system_id, run.configuration, run.workers), []).append(run)
        reasons = {(each.system_id, each.configuration, each.workers): each.reason for each in failures}
        self._cells = {
            case: [
                _Cell(variant, case, own, by_round(own, kind.value), reasons.get(at, ""))
                for variant in plan.variants
                if kind.asks(variant, case)
                for at in [(variant.id, case.configuration, case.workers)]
                for own in [measured.get(at, [])]
            ]
            for case in plan.cases
        }
        cells = [cell for own in self._cells.values() for cell in own]
        waiting = sum(not cell.runs and not cell.failure for cell in cells)
        self._minutes = minutes_for(FEWEST_ROUNDS * waiting, runs)  # that those without a turn need, about

    @cached_property
    def groups(self) -> dict[Case, list[CaseRow]]:
        """The rows of each, the quickest first and those that failed last."""
        return {case: self._rows(cells) for case, cells in self._cells.items()}

    @property
    def rows(self) -> list[CaseRow]:
        return [row for rows in self.groups.values() for row in rows]

    @property
    def has_values(self) -> bool:
        return any(row.value for row in self.rows)

    def tables(self) -> Sequence[RenderableType]:
        return [
            Group(
                Table(columns, title),
                *(Text(note, style="dim") for note in remarks(notes, beside=len(meanings(columns)))),
            )
            for title, columns, notes in self._explained()
        ]

    def closing(self, again: str, store: str) -> RenderableType | None:
        groups = list(self.groups.values())
        kept = "" if store == "default" else f" --store {store}"
        said = case_closing.sentence(groups, self.kind.lesson)
        return LastWords(said, case_closing.suggestions(groups, f"{TYPED} {again}", kept))

    def printed(self) -> Iterator[tuple[str, list[Column], list[str]]]:
        """Title, columns and notes of each table, as terminal and report show them; then the cases for which there was
        no time."""
        groups = [(case, rows) for case, rows in self.groups.items() if rows]
        reached = [(case, rows) for case, rows in groups if any(row.note != NO_TURN for row in rows)]
        for case, rows in reached:
            measured = [row for row in rows if row.value]
            heading = f"{rows[0].place}: {case.title}" if case.title else rows[0].place
            yield heading, self._columns(measured) if measured else [], self.kind.notes(rows)
        if left := [rows[0].place for _, rows in groups if all(row.note == NO_TURN for row in rows)]:
            more = f": about {counted_minutes(self._minutes)} more" if self._minutes else ""
            yield f"No turn in the time; go on with --resume{more}", [], ["; ".join(left)]

    def _explained(self) -> list[tuple[str, list[Column], list[str]]]:
        """The printed tables. The last table with a question mark explains it, before all other notes."""
        tables = list(self.printed())
        doubtful = [notes for _, columns, notes in tables if any(map(_has_question_mark, columns))]
        for notes in doubtful[-1:]:
            notes.insert(
                0, f"?: of fewer than {FEWEST_ROUNDS} launches, or an interval that says nothing: measure longer"
            )
        return tables

    def objects(self) -> Iterator[dict[str, Any]]:
        for row in self.rows:
            yield row.to_json() | {"sitting": self.sitting.sitting}

    def lines(self) -> Iterator[dict[str, Any]]:
        for case, rows in self.groups.items():
            for row in rows:
                yield row.to_json() | {"configuration": case.configuration}

    def pictures(self) -> Iterator[tuple[str, Figure]]:
        """One a case, against the workers."""
        stem = self.plan.experiment or self.kind.name
        for name in dict.fromkeys(case.name for case in self.groups):
            alike = [row for row in self.rows if row.case == name]
            if any(row.value for row in alike):
                worst = max(row.noisy_share for row in alike)
                foot = signature(self.sitting, f"at most {percent(worst)} of a system's runs noisy")
                yield (
                    slug(f"{stem} {name}").replace("_", "-"),
                    workers_chart(alike, f"{self.plan.title} – {name}", self.kind.meaning, foot),
                )

    def write_report(self, path: Path, damage: Sequence[Damage]) -> None:
        sections = [
            TableSection(title, columns, [*meanings(columns), *notes]) for title, columns, notes in self._explained()
        ]
        sections += [TableSection(str(figure.get_label()), figure=figure) for _, figure in self.pictures()]
        write_report(path, self.sitting, damage, f"Teff: {self.plan.title}", sections)

    def sides(self) -> Sequence[Side]:
        """Every system that was measured, at every case. The machine's drift is in the interval of each, for no ceiling
        beside the runs takes it out."""
        rounds = {(cell.variant.id, case): cell.rounds for case, cells in self._cells.items() for cell in cells}
        return [
            Side(
                place=row.place,
                question=(case.configuration, case.workers),
                round_trip=None,
                row=row,
                quantity=ByRound(self.kind.quantity, row.value, "=", None, rounds[row.variant.id, case]),
            )
            for case, rows in self.groups.items()
            for row in rows
            if row.value
        ]

    def _columns(self, rows: Sequence[CaseRow]) -> list[Column]:
        values = [row.value for row in rows if row.value]
        return [
            Column("system", [row.variant.id for row in rows], "left"),
            Column(self.kind.quantity, [duration(each.value) for each in values]),
            Column("95 % interval", [interval_text(each) for each in values]),
            Column("to the first", [verdict_text(row) for row in rows]),
            *(
                Column(
                    fact.title,
                    ["" if (seen := row.facts[fact.key]) is None else fact.text(seen) for row in rows],
                    priority=1 + number,
                    meaning=fact.meaning,
                )
                for number, fact in enumerate(self.kind.facts)
                if fact.title
            ),
        ]

    def _rows(self, cells: Sequence[_Cell[Any]]) -> list[CaseRow]:
        known = {cell.variant.id: median_of_rounds(cell.rounds) for cell in cells if cell.is_measured}

        def time(cell: _Cell[Any]) -> float:
            value = known[cell.variant.id]
            return value.value if value else 0.0

        measured = sorted((cell for cell in cells if cell.is_measured), key=time)
        first = next((cell for cell in measured if not cell.variant.is_floor), None)
        rows = [self._row(cell, known[cell.variant.id], first) for cell in measured]
        return rows + [self._row(cell, None, None) for cell in cells if not cell.is_measured]

    def _row(self, cell: _Cell[Any], value: Interval | None, first: _Cell[Any] | None) -> CaseRow:
        ratio = None
        if value and first is not None:
            ratio = Interval(1, 1, 1) if cell is first else ratio_interval(cell.rounds, first.rounds)
        runs = [run for run in cell.runs if run.role == "system"]
        had = {run.record.workers for run in runs} - {cell.case.workers}
        told = f"took {had.pop()} workers" if had else ""
        noisy = [run.noisy for run in runs]
        return self.kind.row_type(
            variant=cell.variant,
            case=cell.case.name,
            workers=cell.case.workers,
            value=value,
            ratio=ratio,
            verdict=_verdict(cell, first, ratio) if value else "failed",
            facts={fact.key: _known(fact, runs, value) if value else None for fact in self.kind.facts},
            rounds=len(cell.rounds),
            noisy_share=sum(noisy) / len(noisy) if noisy else 0.0,
            note=told if value else cell.failure or NO_TURN,
            keys=self.kind.keys,
        )


class CaseBenchmark(Benchmark[AnyRecord]):
    """A kind whose programs list their cases."""

    quantity: ClassVar[str]  # the estimated quantity, as a column's title: "a task"
    meaning: ClassVar[str]  # of a picture's axis, in a sentence
    lesson: ClassVar[str]  # the meaning of its numbers for programmers, as the end of a sentence
    keys: ClassVar[tuple[str, str]] = ("case", "seconds")  # the JSON keys of a case and its value
    facts: Sequence[Fact[AnyRecord]] = ()
    row_type: type[CaseRow] = CaseRow
    experiment_type: ClassVar[type[Experiment]] = CaseExperiment
    estimates_type: ClassVar[type[CaseEstimates]] = CaseEstimates

    @property
    def case_options(self) -> Sequence[Option]:
        """The options of its command."""
        return (Option("--cases", "Names or groups of cases, by commas; an unknown one lists them. [the usual]"),)

    @abstractmethod
    def value(self, record: AnyRecord) -> float:
        """The time [s] that a run says."""

    def choose(self, listed: Sequence[ListedCase], own: Mapping[str, Any]) -> list[ListedCase]:
        """The cases that the command's options (or an experiment's keys) ask for. TeffError for an unknown one."""
        return choose(listed, words_of(own.get("cases", ())))

    def notes(self, rows: Sequence[CaseRow]) -> list[str]:
        """Faults and warnings, a line each."""
        noted: dict[str, list[str]] = {}
        for row in rows:
            if row.note:
                noted.setdefault(row.note, []).append(row.variant.id)
        lines = [f"{', '.join(ids)}: {note}" for note, ids in noted.items()]
        if measured := [row for row in rows if row.value]:
            noisy = percent(max(row.noisy_share for row in measured))
            rounds = min(row.rounds for row in measured)
            how = f"{rounds} round{'s' * (rounds != 1)}; at most {noisy} of a system's runs noisy"
            has_ratios = any(row.ratio and row.verdict not in ("first", "floor") for row in rows)
            lines.append(how + "; to the first: the median of the rounds' ratios" * has_ratios)
        return lines

    def plan(self, request: Request, title: str, workers: Sequence[int] = ()) -> Plan:
        """The cases asked for, with each number of workers: as asked, or one and all cores."""
        listed = [ListedCase.model_validate(each) for each in ask_cases(request.programs[0])]
        counts = request.workers or workers or tuple(sorted({1, request.cores}))
        return Plan(
            title=title,
            variants=request.variants,
            cases=tuple(
                Case(
                    name=each.name,
                    flags=each.flags,
                    group=each.group,
                    title=each.title,
                    small=each.small,
                    small_times=each.small_times,
                    workers=count,
                )
                for each in self.choose(listed, request.own)
                for count in counts
                if each.takes(count)
            ),
        )

    def rounds(self, plan: Plan, scales: Scales) -> Sequence[Round[AnyRecord]]:
        del scales
        return [
            Round(
                variant,
                case.workers,
                [RepeatedQuestion(case, self.value)],
                company=f"{case.name}, {case.workers}",
                case=case,
            )
            for case in plan.cases
            for variant in plan.variants
            if self.asks(variant, case)
        ]

    def asks(self, variant: Variant, case: Case) -> bool:
        """Whether a variant is asked about a case. The floor has one worker."""
        return case.workers == 1 or not variant.is_floor

    def round_of(self, run: Run[AnyRecord]) -> Hashable:
        return run.system_id, run.round, run.configuration, run.workers

    def estimate(self, head: Sitting, runs: Sequence[Run[AnyRecord]], failures: Sequence[Failure]) -> CaseEstimates:
        return self.estimates_type(self, head, self.plan_of(head), runs, failures)

    def plan_of_experiment(self, experiment: Experiment, request: Request) -> Plan:
        most = max(request.workers, default=0) or request.cores
        rising = (*(1 << power for power in range(most.bit_length()) if 1 << power < most), most)
        own = experiment.model_dump(exclude_unset=True)
        asked = Request(request.registry, request.variants, request.programs, (), request.cores, own)
        return self.plan(asked, experiment.title, rising).model_copy(update={"experiment": experiment.name})


def _has_question_mark(column: Column) -> bool:
    return any(str(cell).endswith("?") for cell in column.cells)


def words_of(said: str | Sequence[str]) -> list[str]:
    """Names by commas, or a list of them, each once."""
    words = said.split(",") if isinstance(said, str) else said
    return list(dict.fromkeys(word for word in words if word))


def choose(listed: Sequence[ListedCase], words: Sequence[str]) -> list[ListedCase]:
    """The cases of these names, and the usual cases of these groups; all usual cases without words. TeffError for
    others."""
    known = dict.fromkeys(word for each in listed for word in (each.name, each.group) if word)
    if unknown := [word for word in words if word not in known]:
        raise TeffError(f"no case is called {unknown[0]!r}; there are: {' '.join(known)}", exit_code=BAD_INPUT)
    return [each for each in listed if each.name in words or (each.default and (not words or each.group in words))]


def verdict_text(row: CaseRow) -> str:
    """`first`, `level`, or how far behind: `x 1.8`; `x 1.8 ?` after too few rounds. The floor does not compete: its
    ratio is in brackets."""
    if row.ratio is None:
        return row.verdict
    times = f"x {digits(row.ratio.value, 2)}"
    if row.verdict == "first":
        return "first" if row.is_told else "first ?"
    texts = {"floor": f"({times})", "behind": times, "unknown": f"{times} ?"}
    return texts.get(row.verdict, f"{row.verdict} ({times})")


def _verdict(cell: _Cell[Any], first: _Cell[Any] | None, ratio: Interval | None) -> Verdict:
    if cell.variant.is_floor or ratio is None:
        return "floor"
    if cell is first:
        return "first"
    if first is None or min(len(cell.rounds), len(first.rounds)) < FEWEST_ROUNDS or not ratio.is_told:
        return "unknown"
    return "behind" if ratio.significant else "level"


def _known(fact: Fact[AnyRecord], runs: Sequence[Run[AnyRecord]], time: Interval) -> float | None:
    """Of the runs that the time is of, where each round counts once, too."""
    said = [[each for each in samples if each is not None] for samples in by_round(runs, fact.read).values()]
    middles = [statistics.median(samples) for samples in said if samples]
    if not middles:
        return None
    middle = statistics.median(middles)
    if fact.over_time:
        return middle / time.value
    return round(middle) if fact.whole else middle
