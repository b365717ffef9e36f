"""Experiments of mini-apps in which something is varied: tiles' size, the matrix's, or the number of workers."""

import itertools
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from tefflab.benchmarks.benchmark import NonEmpty, Request
from tefflab.benchmarks.cases import CaseExperiment
from tefflab.benchmarks.compared import ComparedPlan
from tefflab.errors import TeffError
from tefflab.records.plan import Case, Frozen
from tefflab.systems.systems import System


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
    """A picture for each problem, against the varied parameter; without a `[vary]` a picture for each number of
    workers."""

    against: str = ""
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

    def plan_of_varied(self, request: Request, vary: Varied, against: str) -> ComparedPlan:
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
            against=against,
        )
