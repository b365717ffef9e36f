"""The micro-benchmarks of Cambier, Qian and Darve: the cost of a task without dependences and with some of them. Also
the share of the cores' time that is left to tasks of a given length.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, ClassVar, Literal

from matplotlib.figure import Figure
from pydantic import ConfigDict, Field

from tefflab.analysis.results import CaseRow
from tefflab.analysis.statistics import Interval
from tefflab.benchmarks.against import against_of, noise_of, notes_of, others_of, ratio_text
from tefflab.benchmarks.benchmark import Command, Option, Request
from tefflab.benchmarks.cases import CaseBenchmark, CaseExperiment, Fact
from tefflab.benchmarks.programs import Group, ProgramEstimates, ProgramsPlan
from tefflab.output.names import slug
from tefflab.output.plots import RatioRow, efficiency_lines_chart, ratios_chart, signature
from tefflab.output.quantities import duration, percent
from tefflab.output.table import Column
from tefflab.records.plan import Plan, Variant, counted_workers
from tefflab.records.record import Count, Hex64, Record, RecordError, Strict, Validation
from tefflab.records.run import Failure, Run, Sitting

_EFFICIENCY, _SPIN, _DEPENDENCES = "efficiency", "spin_seconds", "dependences"
_EFFICIENT = "Share of the workers' time in which tasks spin, with 95 % intervals; larger is better."


class Parameters(Strict):
    rows: Annotated[int, Field(ge=1)]
    columns: Annotated[int, Field(ge=1)]
    dependences: Count
    spin_seconds: Annotated[float, Field(ge=0)]
    inserted: bool


class MicroValidation(Validation):
    """The checksum of all tasks' values beside the checksum of one thread."""

    model_config = ConfigDict(extra="forbid")

    checksum: Hex64
    expected: Hex64


class MicroRecord(Record):
    """One run of a grid of tasks."""

    model_config = ConfigDict(extra="forbid")

    needed: ClassVar[tuple[str, ...]] = ("parameters", "tasks", "dependencies")

    benchmark: Literal["micro"]
    parameters: Parameters | None = None
    tasks: Annotated[int, Field(ge=1)] | None = None
    dependencies: Count | None = None
    validation: MicroValidation | None = None

    def fault(self) -> str:
        seen = self.validation
        fine = seen and seen.passed and seen.checksum == seen.expected
        return "" if fine else "the values are not those of one thread"

    @property
    def seconds_per_task(self) -> float:
        """Of a worker."""
        if not self.tasks or not self.workers:
            raise RecordError(f"a failed record has no numbers: {self.error}")
        return self.wall_seconds * self.workers / self.tasks

    @property
    def spin_seconds(self) -> float | None:
        """Of a task; None where they were empty."""
        return (self.parameters.spin_seconds or None) if self.parameters else None


class MicroEstimates(ProgramEstimates):
    """For each number of workers a table of times, a table of efficiencies and a picture of ratios. For each number of
    dependences, a picture of efficiency against the length of a task."""

    def printed(self) -> Iterator[tuple[str, list[Column], list[str]]]:
        to = self.measure
        if not self.measured or to is None:
            yield self.plan.title, [], notes_of(self.rows)
            return
        for number, group in enumerate(self.measured, 1):
            spinning = {case: own for case, own in group.rows.items() if _spins(own.values())}
            empty = {case: own for case, own in group.rows.items() if case not in spinning}
            last = notes_of(self.rows) if number == len(self.measured) else []
            place = f"{self.plan.title}, {counted_workers(group.workers)}"
            if empty:
                title = f"{place}: an empty task of {to.id}, and of the others divided by it"
                yield title, self._times(group, list(empty), to), [] if spinning else last
            if spinning:
                yield f"{place}: efficiency of tasks that spin", self._efficiencies(group, list(spinning), to), last

    def pictures(self) -> Iterator[tuple[str, Figure]]:
        to = self.measure
        stem = self.plan.experiment or self.kind.name
        for group in self.measured if to else ():
            empty = [case for case, own in group.rows.items() if not _spins(own.values())]
            if to and empty and (others := others_of(self.plan, group, to)):
                workers = counted_workers(group.workers)
                rows = [RatioRow(case, group.ratios(case, to.id)) for case in empty]
                foot = signature(self.sitting, noise_of(self.rows))
                title = f"{self.plan.title}, {workers}"
                yield slug(f"{stem} {workers}"), ratios_chart(rows, to, others, title, self.kind.meaning, foot)
            for dependences, efficiencies in sorted(_by_dependences(group).items()):
                each = (
                    "no dependences" if not dependences else f"{dependences} dependence{'s' * (dependences > 1)} a task"
                )
                title = f"{self.plan.title}, {counted_workers(group.workers)}: {each}"
                foot = signature(self.sitting, noise_of(self.rows))
                name = slug(f"{stem} {counted_workers(group.workers)} {dependences}")
                yield name, efficiency_lines_chart(efficiencies, title, _EFFICIENT, foot)

    def _times(self, group: Group, cases: Sequence[str], to: Variant) -> list[Column]:
        own = [group.rows[case].get(to.id) for case in cases]
        columns = [Column(self.kind.row_word, list(cases), "left"), Column(_head(to), [_time_text(row) for row in own])]
        for each in others_of(self.plan, group, to):
            ratios = [group.ratios(case, to.id).get(each.id) for case in cases]
            columns.append(Column(_head(each), [ratio_text(ratio) for ratio in ratios]))
        return columns

    def _efficiencies(self, group: Group, cases: Sequence[str], to: Variant) -> list[Column]:
        columns = [Column(self.kind.row_word, list(cases), "left")]
        for each in (to, *others_of(self.plan, group, to)):
            rows = [group.rows[case].get(each.id) for case in cases]
            shares = [row.facts[_EFFICIENCY] if row else None for row in rows]
            columns.append(Column(_head(each), ["-" if share is None else percent(share) for share in shares]))
        return columns


class Micro(CaseBenchmark[MicroRecord]):
    name = "micro"
    measured = "micro-benchmarks"
    record = MicroRecord
    plan_type = ProgramsPlan
    experiment_type = CaseExperiment
    quantity = "a task"
    meaning = "Time x workers / tasks, divided by that of one system, with 95 % intervals; smaller is better."
    lesson = "an empty task's time is what the system takes of a worker for each task, however short that is"
    keys = ("case", "seconds_per_task")
    facts = (
        Fact(_EFFICIENCY, lambda record: record.spin_seconds, over_time=True),
        Fact(_SPIN, lambda record: record.parameters.spin_seconds if record.parameters else None),
        Fact(_DEPENDENCES, lambda record: record.parameters.dependences if record.parameters else None, whole=True),
    )
    case_options = (
        *CaseBenchmark.case_options,
        Option(
            "--against",
            "The system by whose times the others' are divided. [the quickest that has most cases]",
            metavar="SYSTEM",
        ),
    )

    def __init__(self) -> None:
        self.commands = (
            Command(
                "micro",
                "Measure micro-benchmarks: what a task costs, with up to ten dependences.",
                "teff micro --cases empty-tasks --workers 2",
                lambda request: self.plan(request, "Micro-benchmarks"),
                self.case_options,
                workers="1 and all cores",
            ),
        )

    def value(self, record: MicroRecord) -> float:
        return record.seconds_per_task

    def plan(self, request: Request, title: str, workers: Sequence[int] = ()) -> Plan:
        asked = super().plan(request, title, workers)
        return ProgramsPlan(title=title, variants=asked.variants, cases=asked.cases, against=against_of(request))

    def estimate(self, head: Sitting, runs: Sequence[Run[MicroRecord]], failures: Sequence[Failure]) -> MicroEstimates:
        return MicroEstimates(self, head, self.plan_of(head), runs, failures)

    def notes(self, rows: Sequence[CaseRow]) -> list[str]:
        return notes_of(rows)


def _spins(rows: Iterable[CaseRow]) -> bool:
    return any(row.facts[_EFFICIENCY] is not None for row in rows)


def _by_dependences(group: Group) -> dict[int, dict[Variant, dict[float, Interval]]]:
    """The efficiency by the length of a task, of each system: as the table has it, as uncertain as the time."""
    found: dict[int, dict[Variant, dict[float, Interval]]] = {}
    for own in group.rows.values():
        for row in own.values():
            share, spin, dependences = (row.facts[each] for each in (_EFFICIENCY, _SPIN, _DEPENDENCES))
            if share and spin and dependences is not None and row.value:
                low, high = (
                    share * row.value.value / end if end else math.inf for end in (row.value.high, row.value.low)
                )
                found.setdefault(int(dependences), {}).setdefault(row.variant, {})[spin] = Interval(share, low, high)
    return found


def _head(variant: Variant) -> str:
    return variant.id.replace("/", "/\n")


def _time_text(row: CaseRow | None) -> str:
    return duration(row.value.value) if row and row.value else "-"


BENCHMARK = Micro()
