"""Real programs, each written once and run by every system: their times, and geometric means over all of them.

One system is the measure: the times of the others are divided by its times, program by program.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal

from matplotlib.figure import Figure
from pydantic import ConfigDict, Field

from tefflab.analysis.comparison import ByRound
from tefflab.analysis.results import CaseRow
from tefflab.analysis.statistics import Interval, geometric_mean
from tefflab.benchmarks.against import against_of, notes_of, ratio_text
from tefflab.benchmarks.benchmark import Command, Option, Request
from tefflab.benchmarks.cases import CaseBenchmark, CaseEstimates, CaseExperiment, Fact
from tefflab.errors import BAD_INPUT, TeffError
from tefflab.output.names import slug
from tefflab.output.plots import RatioRow, ratios_chart, signature
from tefflab.output.quantities import duration, percent
from tefflab.output.table import Column
from tefflab.records.plan import Plan, Variant, counted_workers
from tefflab.records.record import Hex64, Record, Validation
from tefflab.records.run import Failure, Run, Sitting

_MEAN = "geometric mean"
_MIB = 1 << 20
_SCALES = ("tiny", "usual", "large")
Name = Annotated[str, Field(min_length=1)]


class ProgramValidation(Validation):
    """The checksum of the result beside the checksum of one thread."""

    model_config = ConfigDict(extra="forbid")

    checksum: Hex64
    expected: Hex64


class ProgramRecord(Record):
    """One run of one program."""

    model_config = ConfigDict(extra="forbid")

    needed: ClassVar[tuple[str, ...]] = ("program", "way", "size", "unit", "peak_rss_bytes")

    benchmark: Literal["programs"]
    program: Name | None = None
    way: Name | None = None
    size: Annotated[int, Field(ge=1)] | None = None
    unit: Name | None = None
    validation: ProgramValidation | None = None

    def fault(self) -> str:
        seen = self.validation
        if seen is None or not seen.passed or seen.checksum != seen.expected:
            return "the result is not that of one thread"
        return "" if self.elapsed_seconds else "there was no time"


class ProgramsPlan(Plan):
    against: str = ""  # the id of the system that is the measure; empty: the quickest of those with most cases


class ProgramsExperiment(CaseExperiment):
    """A picture for each number of workers."""

    against: str = ""
    scale: str = ""


@dataclass(frozen=True)
class Group:
    """All programs with one number of workers: for each the rows and rounds of its systems, by their ids."""

    workers: int
    rows: Mapping[str, Mapping[str, CaseRow]]  # of those that were measured, by program
    rounds: Mapping[tuple[str, str], ByRound]  # by program and system

    def ratios(self, program: str, to: str) -> dict[str, Interval]:
        """The times of the other systems divided by the time of the system `to`; empty if that has none."""
        if to not in self.rows[program]:
            return {}
        one = self.rounds[program, to]
        others = {id_: self.rounds[program, id_] for id_ in self.rows[program] if id_ != to}
        return {id_: each.over(one).after(min(each.launches(), one.launches())) for id_, each in others.items()}


class ProgramEstimates(CaseEstimates):
    """A table and a picture for each number of workers."""

    @cached_property
    def measured(self) -> Sequence[Group]:
        rounds: dict[tuple[int, str, str], ByRound] = {}
        rows: dict[int, dict[str, dict[str, CaseRow]]] = {}
        for side in self.sides():
            row = side.row
            if isinstance(row, CaseRow) and isinstance(side.quantity, ByRound):
                rounds[row.workers, row.case, row.variant.id] = side.quantity
                rows.setdefault(row.workers, {}).setdefault(row.case, {})[row.variant.id] = row
        return [
            Group(count, rows[count], {(case, id_): each for (own, case, id_), each in rounds.items() if own == count})
            for count in sorted(rows)
        ]

    @cached_property
    def measure(self) -> Variant | None:
        """The system that is the measure: the requested one. By default it is one of the systems with most cases, since
        a row that the measure lacks has no ratios. Of these it has the smallest mean ratio to the first systems."""
        plan = self.plan
        asked = plan.against if isinstance(plan, ProgramsPlan) else ""
        ratios: dict[str, list[Interval]] = {}
        for row in self.rows:
            if row.ratio and (row.variant.id == asked if asked else row.verdict != "floor"):
                ratios.setdefault(row.variant.id, []).append(row.ratio)
        most = max(map(len, ratios.values()), default=0)
        means = {id_: geometric_mean(own).value for id_, own in ratios.items() if len(own) == most}
        best = min(means, key=lambda id_: means[id_], default=None)
        return next((each for each in plan.variants if each.id == best), None)

    def printed(self) -> Iterator[tuple[str, list[Column], list[str]]]:
        if not self.measured or self.measure is None:
            yield self.plan.title, [], self._notes()
            return
        for number, group in enumerate(self.measured, 1):
            to = self.measure
            title = (
                f"{self.plan.title}, {counted_workers(group.workers)}: time of {to.id}, and of the others divided by it"
            )
            notes = self._notes() if number == len(self.measured) else []
            yield title, self._columns_of(group, to), notes

    def pictures(self) -> Iterator[tuple[str, Figure]]:
        stem = self.plan.experiment or self.kind.name
        worst = max((row.noisy_share for row in self.rows), default=0.0)
        foot = signature(self.sitting, f"at most {percent(worst)} of a system's runs noisy")
        to = self.measure
        for group in self.measured:
            others = self._others(group, to) if to else []
            if to and others:
                rows = [RatioRow(program, group.ratios(program, to.id)) for program in group.rows]
                rows.append(RatioRow(_MEAN, _means(group, to), is_mean=True))
                yield (
                    slug(f"{stem} {counted_workers(group.workers)}"),
                    ratios_chart(
                        rows,
                        to,
                        others,
                        f"{self.plan.title}, {counted_workers(group.workers)}",
                        self.kind.meaning,
                        foot,
                    ),
                )

    def _columns_of(self, group: Group, to: Variant) -> list[Column]:
        means = _means(group, to)
        ratios = {program: group.ratios(program, to.id) for program in group.rows}
        own = {program: rows[to.id].value for program, rows in group.rows.items() if to.id in rows}
        return [
            Column(self.kind.row_word, [*group.rows, _MEAN], "left"),
            Column(to.id, [*(duration(value.value) if (value := own.get(each)) else "-" for each in group.rows), ""]),
            *(
                Column(
                    each.id.replace("/", "/\n"),
                    [
                        *(ratio_text(ratios[program].get(each.id)) for program in group.rows),
                        ratio_text(means[each.id]),
                    ],
                )
                for each in self._others(group, to)
            ),
        ]

    def _others(self, group: Group, to: Variant) -> list[Variant]:
        """The variants that have a ratio, the quickest first."""
        means = _means(group, to)
        return sorted((each for each in self.plan.variants if each.id in means), key=lambda each: means[each.id].value)

    def _notes(self) -> list[str]:
        lines = notes_of(self.rows)
        if any(row.note and row.value is None for row in self.rows):
            lines.append(f"a {_MEAN} is over the programs that both systems have")
        return lines


def check_scale(own: Mapping[str, Any]) -> None:
    """TeffError for a scale that there is not."""
    if (scale := own.get("scale", "")) not in ("", *_SCALES):
        raise TeffError(f"no scale is called {scale!r}; there are: {' '.join(_SCALES)}", exit_code=BAD_INPUT)


class Programs(CaseBenchmark[ProgramRecord]):
    name = "programs"
    measured = "programs"
    row_word = "program"
    record = ProgramRecord
    plan_type = ProgramsPlan
    experiment_type = ProgramsExperiment
    quantity = "a run"
    meaning = "Time of a run, divided by that of one system, with 95 % intervals; smaller is better."
    lesson = "a ratio is what the choice of a system makes of a whole program, its work and its tasks together"
    keys = ("program", "seconds")
    facts = (Fact("peak_rss_bytes", lambda record: record.peak_rss_bytes, "RSS,\nMiB", lambda b: f"{b / _MIB:.0f}"),)
    case_options = (
        *CaseBenchmark.case_options,
        Option("--scale", "How large the inputs are: tiny, usual or large. [usual]", metavar="WORD"),
        Option(
            "--against",
            "The system by whose times the others' are divided. [the quickest that has most cases]",
            metavar="SYSTEM",
        ),
    )

    def __init__(self) -> None:
        self.commands = (
            Command(
                "programs",
                "Measure real programs on every system, and their geometric mean against one of them.",
                "teff programs --workers 2 --minutes 10",
                lambda request: self.plan(request, "Real programs"),
                self.case_options,
                check=lambda own, _: check_scale(own),
                workers="1 and all cores",
            ),
        )

    def value(self, record: ProgramRecord) -> float:
        return record.wall_seconds

    def plan(self, request: Request, title: str, workers: Sequence[int] = ()) -> Plan:
        scale, against = str(request.own.get("scale", "")), against_of(request)
        check_scale(request.own)
        asked = super().plan(request, title, workers)
        flags = f" -scale {scale}" if scale else ""
        cases = [each.model_copy(update={"flags": each.flags + flags}) for each in asked.cases]
        return ProgramsPlan(title=title, variants=asked.variants, cases=tuple(cases), against=against)

    def estimate(
        self, head: Sitting, runs: Sequence[Run[ProgramRecord]], failures: Sequence[Failure]
    ) -> ProgramEstimates:
        return ProgramEstimates(self, head, self.plan_of(head), runs, failures)


def _means(group: Group, to: Variant) -> dict[str, Interval]:
    ratios: dict[str, list[Interval]] = {}
    for program in group.rows:
        for id_, ratio in group.ratios(program, to.id).items():
            ratios.setdefault(id_, []).append(ratio)
    return {id_: geometric_mean(own) for id_, own in ratios.items()}


BENCHMARK = Programs()
