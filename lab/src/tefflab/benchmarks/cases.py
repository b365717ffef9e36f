"""Kinds of benchmark that ask the same question of every case in their programs' lists, round after round.

A run yields one time, of which the median over rounds is estimated. For each case and number of workers, the lab
ranks the variants: first, level or behind.
"""

import statistics
from collections.abc import Callable, Generator, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, ClassVar

from pydantic import ConfigDict

from tefflab.analysis.rows import NO_TURN, ByRound, Row
from tefflab.analysis.statistics import FEWEST_ROUNDS, Progress, rounds_to_tell
from tefflab.benchmarks import closing
from tefflab.benchmarks.benchmark import (
    AnyBenchmark,
    Ask,
    Benchmark,
    Command,
    Estimates,
    Experiment,
    Option,
    Question,
    Request,
    Round,
    Scales,
    find_benchmark,
)
from tefflab.benchmarks.case_rows import Fact, by_round, median_of_rounds, ranked, row_of, verdict_text
from tefflab.errors import InputError
from tefflab.output.charts.lines import values_chart
from tefflab.output.charts.sheet import Head, Picture, signature, slug
from tefflab.output.last_words import LastWords
from tefflab.output.quantities import counted_minutes, interval_text, value_text
from tefflab.output.sections import Section, explained, noise_of, notes_of
from tefflab.output.table import Column
from tefflab.records.plan import Case, Plan, Variant
from tefflab.records.record import AnyRecord
from tefflab.records.run import Run, minutes_for
from tefflab.systems.programs import ask_cases, built_cases
from tefflab.systems.registry import Registry
from tefflab.systems.systems import BENCH_FOLDER

REPEATS = 3  # measured runs a round, at most
LAUNCH = 0.3  # seconds that the measured runs of a round take, if one does not take longer
ATTEMPTS = 2  # at each, where it is noisy


class ListedCase(Case):
    """A case as a program lists it."""

    model_config = ConfigDict(extra="ignore")

    default: bool = True
    workers: Any = "any"  # or the one number that it makes sense for

    def takes(self, workers: int) -> bool:
        return self.workers == "any" or str(self.workers) == str(workers)

    def case(self, nodes: int | None, workers: int) -> Case:
        """With so many workers of a node. A case for one number of workers has that number on all nodes together."""
        own = self.model_dump(exclude={"default", "workers", "nodes"})
        total = workers * (nodes or 1) if self.workers == "any" or not nodes else int(self.workers)
        return Case(**own, nodes=nodes, workers=total)


class RepeatedQuestion(Question[AnyRecord]):
    """One case, again and again. A round is one process: memory that another case left behind is in no peak.

    The rounds make the interval, so of long runs a round has fewer, and none to warm up: a long run warms itself up.
    """

    def __init__(self, case: Case, value: Callable[[AnyRecord], float]) -> None:
        super().__init__(case)
        self._value = value

    def round(self) -> Generator[Ask, Sequence[Run[AnyRecord]], None]:
        seconds = statistics.median(run.record.wall_seconds for run in self.runs) if self.runs else 0.0
        for _ in range(2 if self.case.small and not self.runs else 0):  # the first meets a cold program
            (run,) = yield Ask(self.case.small, role="probe")
            seconds = run.record.wall_seconds * self.case.small_times
        if seconds < LAUNCH:
            (run,) = yield Ask(self.case.flags, role="probe", seconds=seconds)
            seconds = run.record.wall_seconds
        for _ in range(max(1, min(REPEATS, int(LAUNCH / seconds)))):
            is_long = seconds >= LAUNCH
            (*_, run) = yield Ask(self.case.flags, attempts=ATTEMPTS, seconds=seconds, warms_itself=is_long)
            seconds = run.record.wall_seconds

    def progress(self, round_trip: float | None) -> Progress | None:
        del round_trip
        seen = median_of_rounds(by_round(self.runs, self._value))
        half = seen.relative_half_width if seen else 0.0
        return Progress(self.case.place, seen, half, self.rounds) if seen else None


class CaseExperiment(Experiment):
    """A picture a case, against the workers: one, twice as many and so on, and all."""

    cases: tuple[str, ...] = ()  # names or groups; all usual ones where none is given

    def plan(self, request: Request) -> Plan:
        most = max(request.workers, default=0) or request.cores
        rising = (*(1 << power for power in range(most.bit_length()) if 1 << power < most), most)
        asked = replace(request, workers=(), own=self.model_dump(exclude_unset=True))
        kind = find_benchmark(self.benchmark)
        assert isinstance(kind, CaseBenchmark)
        return kind.plan(asked, self.title, rising).model_copy(update={"experiment": self.name})


class CaseEstimates(Estimates):
    """Rows, group by group: a group is a case with so many workers."""

    kind: "CaseBenchmark[Any]"

    @cached_property
    def _runs(self) -> Mapping[tuple[str, str, int], Sequence[Run[Any]]]:
        found: dict[tuple[str, str, int], list[Run[Any]]] = {}
        for run in self.every_run:
            found.setdefault((run.system_id, run.configuration, run.workers), []).append(run)
        return found

    @property
    def variants(self) -> Sequence[Variant]:
        """The variants that are compared."""
        return self.plan.variants

    def runs(self, variant: Variant, case: Case) -> Sequence[Run[Any]]:
        return self._runs.get((variant.id, case.configuration, case.workers), [])

    def row(self, variant: Variant, case: Case) -> Row:
        """A system that failed later has shown that it can't be trusted with the case: it has no value."""
        kind, runs = self.kind, self.runs(variant, case)
        asked = variant.id, case.configuration, case.workers
        own = [each for each in self.failures if (each.system_id, each.configuration, each.workers) == asked]
        failure = own[-1].reason if own else ""
        rounds = by_round(runs, kind.value)
        time = None if failure and not own[-1].lost else median_of_rounds(rounds)
        counted = [run for run in runs if run.role == "system"]
        had = {run.record.workers for run in counted} - {case.workers}
        told = f"took {had.pop()} workers" if had else ""
        return replace(
            row_of(kind.name, variant, case, kind.quantity, counted),
            where=case.where,
            value=time,
            rounds=len(rounds),
            note=failure or (told if time else NO_TURN),
            facts={fact.key: fact.of(runs, time) if time else None for fact in kind.facts},
            samples=ByRound(rounds) if time else None,
        )

    @cached_property
    def groups(self) -> dict[Case, list[Row]]:
        """The rows of each, the quickest first and those that failed last."""
        return {
            case: ranked(self.row(each, case) for each in self.variants if self.kind.asks(each, case))
            for case in self.plan.cases
        }

    @cached_property
    def rows(self) -> Sequence[Row]:
        return [row for rows in self.groups.values() for row in rows]

    def sections(self) -> Sequence[Section]:
        """A table of each case that was reached; then the cases for which there was no time."""
        found: list[Section] = []
        left: list[str] = []
        for case, rows in self.groups.items():
            if all(row.note == NO_TURN for row in rows):
                left += [case.place] if rows else []
                continue
            measured = [row for row in rows if row.value]
            title = f"{case.place}: {case.title}" if case.title else case.place
            verdicts = Column("to the first", [verdict_text(row) for row in measured])
            columns = self.columns(measured, verdicts) if measured else []
            is_compared = any(row.ratio and row.verdict not in ("first", "floor") for row in rows)
            how = "; to the first: the median of the rounds' ratios" if is_compared else ""
            found.append(Section(title, columns, self.notes(rows, how)))
        if left:
            waiting = sum(row.note == NO_TURN for row in self.rows)
            minutes = minutes_for(FEWEST_ROUNDS * waiting, self.every_run)
            more = f": about {counted_minutes(minutes)} more" if minutes else ""
            found.append(Section(f"No turn in the time; go on with --resume{more}", notes=["; ".join(left)]))
        return explained(found)

    def notes(self, rows: Sequence[Row], how: str = "") -> list[str]:
        """The faults and warnings of these rows, a line each; the rounds behind the rows, and `how`."""
        return notes_of(rows, how)

    def closing(self, again: str, store: str) -> LastWords | None:
        groups = list(self.groups.values())
        doubtful = (row for row in self.rows if row.note == NO_TURN or (row.value and row.verdict == "unknown"))
        minutes = minutes_for(sum(rounds_to_tell(row.rounds) for row in doubtful), self.every_run)
        told = closing.suggestions(groups, again, store, minutes=minutes)
        return LastWords(closing.sentence(groups, self.kind.lesson), told)

    def pictures(self) -> Iterator[tuple[str, Picture]]:
        """One a case, against the workers."""
        for name in dict.fromkeys(case.name for case in self.groups):
            alike = [row for row in self.rows if row.case == name]
            if any(row.value for row in alike):
                head = Head(f"{self.plan.title} – {name}", [self.kind.meaning], self.foot(alike))
                counts = {float(count): str(count) for count in sorted({row.workers for row in alike})}
                workers = partial(values_chart, x_of=lambda row: float(row.workers), at="with workers:")
                yield self.file_of(name), workers(alike, counts, "workers", head)

    def file_of(self, case: str) -> str:
        """The name of the picture of a case."""
        return slug(f"{self.stem} {case}").replace("_", "-")

    @property
    def stem(self) -> str:
        """How the names of its pictures begin."""
        return self.plan.experiment or self.kind.name

    def foot(self, rows: Sequence[Row]) -> str:
        """The line at the foot of a picture of these rows."""
        return signature(self.sitting, noise_of(rows))

    def columns(self, rows: Sequence[Row], compared: Column, subject: str = "system") -> list[Column]:
        """A row a system; `compared` says how it compares with others."""
        return [
            Column(subject, [row.id for row in rows], "left"),
            Column(self.kind.quantity, [value_text(row) for row in rows]),
            Column("95 % interval", [interval_text(row.value) for row in rows if row.value]),
            compared,
            *(
                Column(fact.title, [fact.shown(row) for row in rows], priority=1 + number, meaning=fact.meaning)
                for number, fact in enumerate(self.kind.facts)
                if fact.title and (fact.stays or any(row.facts.get(fact.key) is not None for row in rows))
            ),
        ]


class CaseBenchmark(Benchmark[AnyRecord]):
    """A kind whose programs list their cases, with a command of its name."""

    title: ClassVar[str]  # of its sittings
    help: ClassVar[str]  # of the command; the first sentence stands in the list of commands
    example: ClassVar[str]  # of the command
    quantity: ClassVar[str]  # the estimated quantity, as a column's title: "a task"
    meaning: ClassVar[str]  # of a picture's axis, in a sentence
    lesson: ClassVar[str]  # the meaning of its numbers for programmers, as the end of a sentence
    of_command: ClassVar[Mapping[str, Any]] = {}  # what else its command is
    facts: Sequence[Fact[AnyRecord]] = ()
    usual_workers: ClassVar[tuple[int, ...]] = (1, 0)  # if the user gives none; 0 is a worker a core
    options: ClassVar[Sequence[Option]] = (Option("--cases"),)  # of its command
    experiment_type: ClassVar[type[Experiment]] = CaseExperiment
    question_type: ClassVar[type[RepeatedQuestion[Any]]] = RepeatedQuestion
    estimates_type: ClassVar[type[Estimates]] = CaseEstimates

    def __init__(self) -> None:
        self.commands: Sequence[Command] = (
            Command(
                self.name,
                self.help,
                self.example,
                lambda request: self.plan(request, self.title),
                self.options,
                check=lambda registry, own, _: self.check(registry, own),
                **self.of_command,
            ),
        )

    def check(self, registry: Registry, own: Mapping[str, Any]) -> None:
        """TeffError for options of the command that can be seen to be wrong before anything is set up."""
        if listed := listed_here(registry, self):
            self.choose(listed, own)

    def value(self, record: AnyRecord) -> float:
        """The time [s] that a run says."""
        return record.wall_seconds

    def choose(self, listed: Sequence[ListedCase], own: Mapping[str, Any]) -> list[ListedCase]:
        """The cases that the command's options (or an experiment's keys) ask for. TeffError for an unknown one."""
        words = words_of(own.get("cases", ()))  # each `CASE` or `KIND:CASE`
        return choose(listed, [word.removeprefix(f"{self.name}:") for word in words])

    def plan(self, request: Request, title: str, workers: Sequence[int] = ()) -> Plan:
        """The cases asked for, with each number of workers of each number of nodes: as asked, or the usual ones."""
        listed = [ListedCase.model_validate(each) for each in ask_cases(request.programs[0])]
        counts = request.workers or workers or sorted({count or request.cores for count in self.usual_workers})
        places = [(nodes, count) for nodes in request.nodes or (None,) for count in counts]
        return Plan(
            title=title,
            variants=request.variants,
            cases=tuple(
                case
                for each in self.choose(listed, request.own)
                for case in dict.fromkeys(each.case(*place) for place in places)
                if each.takes(case.workers) and case.workers >= (case.nodes or 1)
            ),
        )

    def rounds(self, plan: Plan, scales: Scales) -> Sequence[Round[AnyRecord]]:
        del scales
        return [
            Round(
                variant,
                case.workers,
                [self.question_type(case, self.value)],
                company=self.company(case),
                case=case,
            )
            for case in plan.cases
            for variant in plan.variants
            if self.asks(variant, case)
        ]

    def company(self, case: Case) -> str:
        """The rounds of cases with one company are made beside each other."""
        return f"{case.name}, {case.nodes}, {case.workers}"

    def asks(self, variant: Variant, case: Case) -> bool:
        """Whether a variant is asked about a case. The floor has one worker."""
        return case.workers == 1 or not variant.is_floor

    def round_of(self, run: Run[AnyRecord]) -> Hashable:
        return run.system_id, run.round, run.configuration, run.workers


def listed_here(registry: Registry, kind: AnyBenchmark) -> list[ListedCase]:
    """The cases of a kind, where a program is here that knows them; nothing is built."""
    programs = (each for system in registry.systems for each in kind.programs(system))
    built = built_cases(programs, registry.root / BENCH_FOLDER / kind.name)
    return [ListedCase.model_validate(each) for each in built]


def words_of(said: str | Sequence[str]) -> list[str]:
    """Names by commas, or a list of them, each once."""
    words = said.split(",") if isinstance(said, str) else said
    return list(dict.fromkeys(word for word in words if word))


def choose(listed: Sequence[ListedCase], words: Sequence[str]) -> list[ListedCase]:
    """The cases of these names or kinds of bodies, and the usual ones of these groups; without words of all. TeffError
    for others."""
    refuse_unknown("case", words, [word for each in listed for word in (each.name, each.group, each.bodies)])
    named = [each for each in listed if {each.name, each.bodies}.intersection(words)]
    return [each for each in listed if each in named or (each.default and (not words or each.group in words))]


def refuse_unknown(what: str, words: Sequence[str], known: Sequence[str]) -> None:
    """InputError for a word that is not known, with those that are."""
    if unknown := [word for word in words if word not in known]:
        there = " ".join(dict.fromkeys(word for word in known if word))
        raise InputError(f"no {what} is called {unknown[0]!r}; there are: {there}")
