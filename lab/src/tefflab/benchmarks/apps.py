"""Mini-apps: time of a run, and its work a second. Of those on tiles of matrices, GEMM and Cholesky, also the share of
what all cores could do.

The ceiling is the rate of one core in one large multiplication by the library whose kernels all systems call. Each
program measures it just before each of its runs, so that the machine's drift cancels.
"""

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from tefflab.analysis.rows import Row
from tefflab.benchmarks.benchmark import NonEmpty, Option, Request
from tefflab.benchmarks.case_rows import Fact, by_round, median_of_rounds
from tefflab.benchmarks.cases import CaseExperiment
from tefflab.benchmarks.compared import (
    ComparedBenchmark,
    ComparedEstimates,
    ComparedPlan,
    Group,
    against_of,
    ratio_text,
)
from tefflab.errors import InputError, TeffError
from tefflab.output.charts.lines import values_chart
from tefflab.output.charts.sheet import Head, Picture, slug
from tefflab.output.quantities import percent, rate
from tefflab.output.table import Column
from tefflab.records.plan import Case, Frozen, Plan
from tefflab.records.record import Record
from tefflab.systems.systems import System

_RATE = "flops_per_second"
_WORK_RATE = "work_per_second"
_SHARE = "efficiency"
_MEANINGS = {  # of the charts of lines
    "time": "Time of a run, with 95 % intervals; smaller is better.",
    "rate": "Work a second, with 95 % intervals; larger is better.",
    "share": "Share of the rate of as many cores in one large multiplication, with 95 % intervals; larger is better.",
}


class AppsRecord(Record):
    """One run of a mini-app, with its `work` in its `unit`."""

    schema = "apps"

    def fault(self) -> str:
        residual, bound = (self.get("validation", each) for each in ("residual", "bound"))
        return "" if residual is not None and residual <= bound else "the residual is above its bound"

    @property
    def flops(self) -> float | None:
        """None if the app counts other work."""
        done: float | None = self.get("work")
        return done if self.get("unit") == "FLOP" else None

    @property
    def work_per_second(self) -> float:
        return float((self.get("work") or self.has_no_numbers()) / self.wall_seconds)

    @property
    def efficiency(self) -> float | None:
        """The share of the rate of as many cores, each as quick as a single core with one large multiplication; None
        where that was not measured."""
        ceiling = self.get("core_flops_per_second")
        return self.work_per_second / (self.workers * ceiling) if ceiling else None


class Varied(Frozen):
    """The axis of the pictures."""

    name: NonEmpty
    values: Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(min_length=2)]
    flags: str | tuple[str, ...] = ""  # of each value, with {value} in them; or a list: for each value its own
    workers: bool = False  # each value is how many workers (or ranks) there are
    ranks: bool = False  # each value is how many ranks there are, of a worker each or as many as --workers says

    @model_validator(mode="after")
    def _varies_something(self) -> Self:
        if any(low >= high for low, high in itertools.pairwise(self.values)):
            raise ValueError("values must rise")
        if isinstance(self.flags, tuple) and len(self.flags) != len(self.values):
            raise ValueError("a list of flags has one for each value")
        if self.workers and self.ranks:
            raise ValueError("each value is a number of workers or of ranks: give either")
        counts = self.workers or self.ranks
        if isinstance(self.flags, str) and "{value}" not in self.flags and not (counts and not self.flags):
            raise ValueError("flags need {value} in them, unless workers or ranks are true and there are none")
        return self

    def flags_of(self, place: int) -> str:
        own = self.flags if isinstance(self.flags, str) else self.flags[place]
        return own.replace("{value}", str(self.values[place]))


class AppsExperiment(CaseExperiment):
    """A picture for each problem, against the varied parameter; without a `[vary]` for each number of workers."""

    problems: dict[NonEmpty, str] = Field(default_factory=dict)  # name -> flags
    vary: Varied | None = None
    chart: Literal["share", "time", "rate"] = "share"  # of the cores' rate; the time of a run; its work a second
    phases: bool = False  # the varied values are numbers of tasks: shade where tasks are too coarse, good and too fine
    distributed: bool = False  # only systems that can use several machines

    @model_validator(mode="after")
    def _varies_problems(self) -> Self:
        if (self.vary is None) != (not self.problems):
            raise ValueError("problems and [vary] go together")
        if self.vary is not None and self.cases:
            raise ValueError("cases are those of problems and [vary]: give either")
        if self.phases and (self.vary is None or self.chart == "time"):
            raise ValueError('phases: they need a [vary], and chart = "rate" or "share"')
        return self

    def takes(self, system: System) -> bool:
        if self.vary is not None and self.vary.ranks:
            return any(each.command_for_ranks for each in system.programs_for(self.benchmark))
        return system.distributed or not self.distributed

    def plan(self, request: Request) -> Plan:
        if (vary := self.vary) is None:
            return super().plan(request)
        if request.nodes:
            raise InputError(
                f"experiment {self.name}: it varies {vary.name}; leave out --nodes, name machines by --hosts"
            )
        said = max(request.workers, default=0)
        pairs = zip(request.variants, request.programs, strict=True)
        variants = tuple(variant for variant, program in pairs if program.command_for_ranks or not vary.ranks)
        if not variants:
            raise TeffError(f"experiment {self.name}: no system that is here spreads over ranks; see `teff systems`")
        return ComparedPlan(
            title=self.title,
            variants=variants,
            cases=tuple(
                Case(
                    name=f"{problem}, {vary.name} {value}",
                    flags=f"{flags} {vary.flags_of(place)}".strip(),
                    workers=value * (said or 1) if vary.ranks else value if vary.workers else said or request.cores,
                    ranks=value if vary.ranks else None,
                    x=value,
                    x_text=str(value),
                    group=problem,
                )
                for problem, flags in self.problems.items()
                for place, value in enumerate(vary.values)
            ),
            experiment=self.name,
            charts=(self.chart, *(["phases"] if self.phases else [])),
            x_label=vary.name,
            against=against_of(request, ""),
        )


class AppsEstimates(ComparedEstimates):
    """A table for each case. Pictures of ratios; or, where something is varied, of lines for each problem."""

    def tables_of(self, group: Group) -> Iterator[tuple[str, list[Column]]]:
        for case, own in group.rows.items():
            rows = sorted(own.values(), key=lambda row: row.value.value if row.value else 0.0)
            ratios = group.ratios[case]
            texts = ["1" if row.variant == group.to else ratio_text(ratios.get(row.id)) for row in rows]
            yield f"{case}, {self.place(group)}", self.columns(rows, Column(f"/ {group.to.id}", texts))

    def pictures(self) -> Iterator[tuple[str, Picture]]:
        if not self.plan.x_label:
            yield from super().pictures()
            return
        meaning = _MEANINGS[next(iter(self.plan.charts), "share")]
        for problem in dict.fromkeys(case.group for case in self.plan.cases):
            texts = {case.x or 0.0: case.x_text for case in self.plan.cases if case.group == problem}
            rows = [self._drawn(row, case) for case, own in self.groups.items() if case.group == problem for row in own]
            if any(row.value for row in rows):
                head = Head(f"{self.plan.title} – {problem}", [meaning], self.foot(rows))
                chart = values_chart(rows, texts, self.plan.x_label, head, phases="phases" in self.plan.charts)
                yield slug(f"{self.stem} {problem}"), chart

    def _drawn(self, row: Row, case: Case) -> Row:
        """Its time, rate or share of the cores' rate, as the charts ask."""
        if "time" in self.plan.charts or not row.value:
            return row
        runs = self.runs(row.variant, case)
        if "rate" in self.plan.charts:
            units = (run.record.get("unit") for run in runs if run.record.ok)
            value = median_of_rounds(by_round(runs, lambda record: record.work_per_second))
            return replace(row, value=value, unit=f"{next(units) or 'FLOP'}/s")
        able = [run for run in runs if run.record.ok and run.record.efficiency is not None]
        return replace(row, value=median_of_rounds(by_round(able, lambda record: record.efficiency)), unit="1")


class Apps(ComparedBenchmark[AppsRecord]):
    name = "apps"
    runs_beside_load = True
    apt = ("libopenblas-dev",)
    measured = "mini-apps"
    record = AppsRecord
    estimates_type = AppsEstimates
    experiment_type = AppsExperiment
    quantity = "a run"
    meaning = "Time of a run, divided by that of one system, with 95 % intervals; smaller is better."
    title = "Mini-apps"
    help = "Measure mini-apps: whole computations, each written once over loops, tasks, data flow and ranks."
    example = "teff measure apps --cases cholesky --all-variants"
    usual_workers = (0,)
    of_command: ClassVar = {"takes_nodes": True}
    lesson = "all systems call the same kernels: what differs is what a system loses to tasks and to waiting"
    options = (
        *ComparedBenchmark.options,
        Option("--trace", "Trace a run of each instead, as STORE/traces/*.json.", default=False),
    )
    facts = (
        Fact(_SHARE, "of the\ncores'", percent, lambda record: record.efficiency),
        Fact(_RATE, "rate", lambda value: rate(value, "FLOP/s"), lambda record: record.flops, over_time=True),
        Fact(
            _WORK_RATE,
            "work/s",
            lambda value: rate(value, ""),
            lambda record: None if record.flops else record.get("work"),
            over_time=True,
        ),
        Fact("tasks", whole=True),
        Fact("bytes_sent", whole=True),
        Fact("waiting_share", "waiting", percent),
        Fact("residual", read="validation.residual"),
    )


BENCHMARK = Apps()
