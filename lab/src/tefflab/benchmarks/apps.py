"""Mini-apps: time of a run, and its work a second. Of those on tiles of matrices, GEMM and Cholesky, also the share of
what all cores could do.

The ceiling is the rate of one core in one large multiplication by the library whose kernels all systems call. Each
program measures it just before each of its runs, so that the machine's drift cancels.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated, ClassVar, Literal

from matplotlib.figure import Figure
from pydantic import ConfigDict, Field

from tefflab.analysis.rows import Row
from tefflab.analysis.statistics import Interval
from tefflab.benchmarks.apps_experiment import AppsExperiment
from tefflab.benchmarks.benchmark import Experiment, Option, Request
from tefflab.benchmarks.case_rows import Fact, by_round, median_of_rounds
from tefflab.benchmarks.compared import (
    ComparedBenchmark,
    ComparedEstimates,
    Group,
    ratio_text,
)
from tefflab.output.plots.lines import SHARE, TIME, Quantity, Varied, varied_chart
from tefflab.output.plots.sheet import slug
from tefflab.output.quantities import percent, rate
from tefflab.output.table import Column
from tefflab.records.plan import Case, Plan, Variant, counted_workers
from tefflab.records.record import Count, Record, RecordError, Strict, Validation

_RATE = "flops_per_second"
_WORK_RATE = "work_per_second"
_SHARE = "efficiency"
_WAITING = "waiting_share"
_TIME_MEANING = "Time of a run, with 95 % intervals; smaller is better."
_RATE_MEANING = "Work a second, with 95 % intervals; larger is better."
_SHARE_MEANING = (
    "Share of the rate of as many cores in one large multiplication, with 95 % intervals; larger is better."
)


class Parameters(Strict):
    app: Annotated[str, Field(min_length=1)]
    size: Annotated[int, Field(ge=1)]
    block: Annotated[int, Field(ge=1)]
    blocks: Annotated[str, Field(min_length=1)] = "equal"
    grid: tuple[int, int]  # of ranks, down and across
    layers: Annotated[int, Field(ge=1)] = 1


class ParametersOfSteps(Strict):
    """Of an app over ways, which adds its own flags."""

    model_config = ConfigDict(extra="allow")

    app: Annotated[str, Field(min_length=1)]
    tasks: Annotated[int, Field(ge=1)]  # into which a step is cut


class AppsValidation(Validation, extra="forbid"):
    residual: Annotated[float, Field(ge=0)] | None = None  # None: not a number
    bound: Annotated[float, Field(ge=0)]


class AppsRecord(Record, extra="forbid"):
    """One run of a mini-app."""

    needed: ClassVar[tuple[str, ...]] = ("parameters",)

    benchmark: Literal["apps"]
    parameters: Parameters | ParametersOfSteps | None = None
    flops: Annotated[float, Field(gt=0)] | None = None  # of an app on tiles, with the next
    core_flops_per_second: Annotated[float, Field(gt=0)] | None = None
    way: str | None = None  # of an app over ways, with the next two
    work: Annotated[float, Field(gt=0)] | None = None
    unit: Annotated[str, Field(min_length=1)] | None = None  # of `work`
    tasks: Annotated[int, Field(ge=1)] | None = None  # None: libraries have no tasks or do not tell
    bytes_sent: Count | None = None
    waiting_share: Annotated[float, Field(ge=0)] | None = None  # of worker time; over ranks
    residuals: dict[str, float] | None = None  # of hpccg, by iteration
    iterations: Annotated[int, Field(ge=1)] | None = None  # of lulesh, with the next
    origin_energy: float | None = None
    reached: Annotated[int, Field(ge=1)] | None = None  # of sssp, with the next two
    sum: Count | None = None
    max: Count | None = None
    scaled_residual: Annotated[float, Field(ge=0)] | None = None  # of hpcg
    potential_first: float | None = None  # of leanmd, with the next three
    potential_last: float | None = None
    kinetic_first: float | None = None
    kinetic_last: float | None = None
    validation: AppsValidation | None = None

    def fault(self) -> str:
        on_tiles = isinstance(self.parameters, Parameters)
        if not (self.flops and self.core_flops_per_second if on_tiles else self.way and self.work and self.unit):
            return "it does not say how much work it did"
        seen = self.validation
        fine = seen and seen.passed and seen.residual is not None and seen.residual <= seen.bound
        return "" if fine else "the residual is above its bound"

    @property
    def counted_flops(self) -> float | None:
        """None if the app counts other work."""
        return self.work if self.unit == "FLOP" else self.flops

    @property
    def flops_per_second(self) -> float:
        if not self.counted_flops:
            raise RecordError(f"it counts no FLOPs: {self.error or self.unit}")
        return self.counted_flops / self.wall_seconds

    @property
    def work_per_second(self) -> float:
        if not (done := self.work or self.flops):
            raise RecordError(f"it counts no work: {self.error}")
        return done / self.wall_seconds

    @property
    def has_ceiling(self) -> bool:
        return self.ok and self.core_flops_per_second is not None

    @property
    def efficiency(self) -> float:
        """The share of the rate of as many cores, each as quick as a single core with one large multiplication."""
        if not self.core_flops_per_second or not self.workers:
            raise RecordError(f"a failed record has no numbers: {self.error}")
        return self.flops_per_second / (self.workers * self.core_flops_per_second)


class AppsEstimates(ComparedEstimates):
    """A table for each case. One picture of ratios for each number of workers; or, where something is varied, one of
    lines for each problem."""

    def tables_of(self, group: Group, to: Variant) -> Iterator[tuple[str, list[Column]]]:
        for case, own in group.rows.items():
            rows = sorted(own.values(), key=lambda row: row.value.value if row.value else 0.0)
            ratios = group.ratios(case, to.id)
            texts = ["1" if row.id == to.id else ratio_text(ratios.get(row.id)) for row in rows]
            yield f"{case}, {counted_workers(group.workers)}", self.columns(rows, Column(f"/ {to.id}", texts))

    def pictures(self) -> Iterator[tuple[str, Figure]]:
        yield from self._lines() if self.plan.x_label else super().pictures()

    def _lines(self) -> Iterator[tuple[str, Figure]]:
        """A picture for each problem, against the varied parameter."""
        is_time = "time" in self.plan.charts
        meaning = _TIME_MEANING if is_time else _RATE_MEANING if self._is_rate else _SHARE_MEANING
        for problem in dict.fromkeys(case.group for case in self.plan.cases):
            cases = [case for case in self.plan.cases if case.group == problem]
            rows = [self.groups[case] for case in cases]
            found = [
                {row.id: row.value if is_time else self._value(row, case) for row in own}
                for case, own in zip(cases, rows, strict=True)
            ]
            if any(value for each in found for value in each.values()):
                foot = self.foot([row for own in rows for row in own])
                yield (
                    slug(f"{self.stem} {problem}"),
                    varied_chart(
                        Varied(self.plan.x_label, [(case.x or 0.0, case.x_text) for case in cases], rows, found),
                        f"{self.plan.title} – {problem}",
                        meaning,
                        foot,
                        quantity=TIME if is_time else self._rate(cases) if self._is_rate else SHARE,
                        phases="phases" in self.plan.charts,
                    ),
                )

    @property
    def _is_rate(self) -> bool:
        return "rate" in self.plan.charts

    def _value(self, row: Row, case: Case) -> Interval | None:
        """The rate or the share of a row that has a time."""
        runs = next(cell.runs for cell in self.cells[case] if cell.variant == row.variant) if row.value else []
        if self._is_rate:
            return median_of_rounds(by_round(runs, lambda record: record.work_per_second))
        able = [run for run in runs if run.record.has_ceiling]
        return median_of_rounds(by_round(able, lambda record: record.efficiency))

    def _rate(self, cases: Sequence[Case]) -> Quantity:
        units = (run.record.unit for case in cases for cell in self.cells[case] for run in cell.runs if run.record.ok)
        unit = next(units) or "FLOP"
        return Quantity(lambda value: rate(value, f"{unit}/s"), more_is_better=True)


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
    help = "Measure mini-apps: HPCCG, LULESH, HPCG, SSSP, LeanMD, GEMM and Cholesky."
    example = "teff measure apps --cases cholesky --all-variants"
    lesson = "all systems call the same kernels: what differs is what a system loses to tasks and to waiting"
    facts = (
        Fact(_SHARE, lambda record: record.efficiency if record.has_ceiling else None, "of the\ncores'", percent),
        Fact(
            _RATE,
            lambda record: record.counted_flops,
            "rate",
            lambda value: rate(value, "FLOP/s"),
            over_time=True,
        ),
        Fact(
            _WORK_RATE,
            lambda record: None if record.counted_flops else record.work,
            "work/s",
            lambda value: rate(value, ""),
            over_time=True,
        ),
        Fact("tasks", lambda record: record.tasks, whole=True),
        Fact("bytes_sent", lambda record: record.bytes_sent, whole=True),
        Fact(_WAITING, lambda record: record.waiting_share, "waiting", percent),
        Fact("residual", lambda record: record.validation.residual if record.validation else None),
    )

    @property
    def case_options(self) -> Sequence[Option]:
        return (*super().case_options, Option("--trace", "Trace a run of each instead, as STORE/traces/*.json.", False))

    def value(self, record: AppsRecord) -> float:
        return record.wall_seconds

    def usual_workers(self, cores: int) -> Sequence[int]:
        return (cores,)

    def plan_of_experiment(self, experiment: Experiment, request: Request) -> Plan:
        if not isinstance(experiment, AppsExperiment) or experiment.vary is None:
            return super().plan_of_experiment(experiment, request)
        asked = replace(request, own=experiment.model_dump(exclude_unset=True))
        return experiment.plan_of_varied(asked, experiment.vary, self.against(asked))


BENCHMARK = Apps()
