"""The plan of a sitting of task graphs, how long a run is, and experiments of task graphs.

A run is so long that start and end hardly count. `experiments/README.md` explains the keys of an experiment.
"""

import itertools
import math
import shlex
from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from tefflab.analysis.prediction import Program
from tefflab.benchmarks.benchmark import Experiment, NonEmpty, Request
from tefflab.benchmarks.graphs import GraphCase, check, parse, read_flags
from tefflab.benchmarks.task_graph.record import expect_rates
from tefflab.durations import seconds
from tefflab.errors import InputError, TeffError
from tefflab.output.quantities import percent, size
from tefflab.records.plan import Frozen, Plan, Variant
from tefflab.systems.simulated import is_disturbed
from tefflab.systems.systems import System

LEAST_SECONDS = 0.05  # of a run
STEPS = 1000  # at least, unless that takes longer than
MOST_SECONDS = 0.5
FEWEST_STEPS = 100  # however long they take
PROBE_STEPS = 50
_SIMULATED = "message passing"  # the paradigm of all simulated systems
NODES = "nodes"  # the axis of METG over several numbers of nodes

Asks = Literal["metg", "curve"]  # where efficiency crosses the threshold; or all of it, at the same sizes of task
Chart = Literal["efficiency", "rate", "metg", "metg_dots", "metg_lines", "limits", "weak", "strong"]
_Graphs = Annotated[tuple[str, ...], Field(min_length=1)]  # the flags of each that runs at once


def steps_for(granularity: float, width: int, workers: int) -> int:
    """Timesteps of a run whose tasks take `granularity` seconds of a core, `width` of them in a timestep."""
    timestep = granularity * width / workers
    wanted = max(STEPS, math.ceil(LEAST_SECONDS / timestep))
    if wanted * timestep > MOST_SECONDS:
        wanted = max(FEWEST_STEPS, math.floor(MOST_SECONDS / timestep))
    unit = int(10 ** max(len(str(wanted)) - 2, 0))  # to two digits, upwards: a person reads these
    return -(-wanted // unit) * unit


class GraphPlan(Plan):
    asks: Asks
    cases: tuple[GraphCase, ...]
    threshold: float = 0.5
    longest_task: float = 3e-3  # seconds: where a curve ends
    points: int = 12  # of a curve
    program: Program | None = None  # whose limits METG over nodes predicts

    @property
    def disturbed(self) -> list[str]:
        """The simulated systems of which two runs differ."""
        return [machine["id"] for machine in self.simulated if is_disturbed(machine)]

    @property
    def warning(self) -> str:
        """The effect of a chosen number of timesteps on the result."""
        said = [case.steps for case in self.cases if case.steps]
        if not said or self.simulated:
            return ""
        few = "; start and end of a graph weigh more the fewer they are" if said[0] < STEPS else ""
        return (
            f"-steps {said[0]}: compare this only with what was measured with the same, for every run has {said[0]} "
            f"timesteps{few}. Without -steps a run has at least {STEPS}"
        )


class _Setting(Frozen):
    """One value of a varied parameter: its text, its place on an axis, and its effect on the flags."""

    text: str
    x: float | None
    graphs: tuple[str, ...]  # the flags of each that runs at once
    columns: int | None = None  # a worker has


class Vary(Frozen):
    """A varied parameter: numbers, which a picture may have as its axis, or named cases."""

    name: NonEmpty
    values: Annotated[list[float], Field(min_length=1)] | None = None  # rising
    flags: str | None = None  # for each value, with {value} in it
    copies: bool = False  # each value is how many of the graph run at once
    columns: bool = False  # each value is how many columns a worker has
    unit: Literal["", "bytes"] = ""
    cases: Annotated[dict[NonEmpty, str | _Graphs], Field(min_length=1)] | None = None  # name -> flags

    @model_validator(mode="after")
    def _says_values_or_cases(self) -> Self:
        if (self.values is None) == (self.cases is None):
            raise ValueError("give either values or cases")
        if self.values is None:
            if self.flags is not None or self.copies or self.columns or self.unit:
                raise ValueError("flags, copies, columns and unit go with values; a case has its own flags")
            return self
        if self.copies + self.columns + (self.flags is not None) != 1:
            raise ValueError("values need one of flags with {value} in them, copies = true and columns = true")
        if self.flags is not None and "{value}" not in self.flags:
            raise ValueError(f"flags {self.flags!r} have no {{value}} in them")
        if any(low >= high for low, high in itertools.pairwise(self.values)):
            raise ValueError("values must rise")
        if self.flags is None and any(value < 1 or value != int(value) for value in self.values):
            raise ValueError("copies and columns are whole numbers from 1")
        return self

    @property
    def settings(self) -> list[_Setting]:
        if self.cases is not None:
            named = {name: (flags,) if isinstance(flags, str) else flags for name, flags in self.cases.items()}
            return [_Setting(text=name, x=None, graphs=each) for name, each in named.items()]
        found = []
        for value in self.values or ():
            number = f"{value:g}" if value != int(value) else str(int(value))
            text = size(int(value)) if self.unit == "bytes" else number
            graphs = ((self.flags or "").replace("{value}", number),) * (int(value) if self.copies else 1)
            found.append(_Setting(text=text, x=value, graphs=graphs, columns=int(value) if self.columns else None))
        return found


class GraphExperiment(Experiment):
    """A figure of task graphs: its questions and systems, its time, and its pictures."""

    kind: Literal["curve", "metg"]
    flags: str = ""
    columns_per_worker: Annotated[int, Field(ge=1)] = 1  # the width, where flags do not say it
    vary: tuple[Vary, ...] = ()
    charts: Annotated[tuple[Chart, ...], Field(min_length=1)]
    paradigm: str | None = None  # only systems of this one
    threshold: Annotated[float, Field(gt=0, lt=1)] = 0.5
    points: Annotated[int, Field(ge=3)] = 12  # of a curve
    longest: str = "3ms"  # task of a curve
    program: Program | None = None  # one run of it on one node

    @model_validator(mode="after")
    def _charts_can_be_drawn(self) -> Self:
        ranked = [chart for chart in self.charts if chart.startswith("metg") or chart == "limits"]
        if ranked and self.kind == "curve":
            raise ValueError(f'charts: {ranked[0]} needs kind = "metg"')
        numbers = [vary.name for vary in self.vary if vary.values is not None]
        numbers += [NODES] if self.nodes else []
        if "metg_lines" in self.charts and len(numbers) != 1:
            raise ValueError(f"charts: metg_lines needs one [[vary]] with values, or nodes; there are {len(numbers)}")
        if over := [chart for chart in self.charts if chart in ("limits", "weak", "strong") and not self.nodes]:
            raise ValueError(f"charts: {over[0]} needs nodes = [...]")
        if "limits" in self.charts and not self.program:
            raise ValueError("charts: limits needs program = { seconds = ..., tasks = ... }")
        if sum(vary.columns for vary in self.vary) > 1:
            raise ValueError("vary: only one can be of columns")
        try:
            seconds(self.longest)
        except TeffError as error:
            raise ValueError(f"longest: {error}") from None
        return self

    def takes(self, system: System) -> bool:
        return self.paradigm in (None, system.paradigm)

    def cases(self, workers: int, nodes: Sequence[int] = ()) -> tuple[GraphCase, ...]:
        """Every combination of the varied values, the last [[vary]] fastest, on each number of nodes."""
        every = itertools.product(*(one.settings for one in self.vary))
        return tuple(self._case(each, workers, count) for each in every for count in nodes or (None,))

    def plan(self, request: Request) -> GraphPlan:
        if request.simulated and self.paradigm not in (None, _SIMULATED):
            raise InputError(f"experiment {self.name} is of {self.paradigm}, which --simulate does not simulate")
        workers = one_number_of_workers(request)
        return planned(
            request,
            self.cases(workers, request.nodes),
            asks=self.kind,
            title=self.title,
            threshold=self.threshold,
            longest_task=seconds(self.longest),
            points=self.points,
            program=self.program,
            experiment=self.name,
            charts=self.charts,
            x_label=next((vary.name for vary in self.vary if vary.values is not None), NODES if self.nodes else ""),
        )

    def _case(self, settings: Sequence[_Setting], workers: int, nodes: int | None) -> GraphCase:
        columns = next((one.columns for one in settings if one.columns is not None), self.columns_per_worker)
        words: list[str] = []
        for each in itertools.product(*(one.graphs for one in settings)):  # of two that are of several, all pairs run
            flags = shlex.split(" ".join((self.flags, *each)))
            has_width = any(name == "width" for name, *_ in read_flags(flags))
            width = [] if has_width else ["-width", str(columns * workers * (nodes or 1))]
            words += [*(["-and"] if words else []), *flags, *width]
        named = list(zip(self.vary, settings, strict=True))
        name = ", ".join(one.text if vary.cases else f"{vary.name} {one.text}" for vary, one in named)
        if nodes is not None and not named:  # one name for all nodes, whose widths differ
            name = parse(shlex.split(self.flags), workers, nodes=1).group
        case = parse(words, workers, name, nodes)
        if nodes is not None:
            return case
        number = next((one for vary, one in named if vary.values is not None), None)
        return case.model_copy(
            update={
                "x": number.x if number else None,
                "x_text": number.text if number else "",
                "group": ", ".join(one.text for vary, one in named if vary.values is None) if number else "",
            }
        )


def one_number_of_workers(request: Request) -> int:
    """All cores by default. TeffError for several: each would need a separate ceiling."""
    if len(request.workers) > 1:
        said = ",".join(map(str, request.workers))
        raise InputError(f"--workers {said}: one number is measured at a time here")
    return next(iter(request.workers), 0) or request.cores


def planned(request: Request, cases: tuple[GraphCase, ...], typed: Sequence[str] = (), **how: Any) -> GraphPlan:
    """The plan of these cases. TeffError for graphs that the core does not take, or whose kernels have no rate."""
    for case in cases:
        check(request.registry.root, case, typed)
        if how["asks"] == "metg":
            _expect_reachable(case, how["threshold"], request.variants)
    expect_rates(request.registry.root, cases)
    if request.simulated:  # no clock is read, so longer runs only take longer
        cases = tuple(case.model_copy(update={"steps": case.steps or STEPS}) for case in cases)
        how |= {"title": f"{how['title']}: {request.variants[0].cluster}", "simulated": request.simulated}
    return GraphPlan(cases=cases, variants=request.variants, **how)


def _expect_reachable(case: GraphCase, threshold: float, variants: Sequence[Variant]) -> None:
    """InputError if so many cores have no column that no task is long enough. An accelerator may need fewer columns."""
    share = case.width / case.workers
    if share <= threshold and not any(each.ceiling for each in variants):
        raise InputError(
            f"-width {case.width} on {case.workers} workers: at most {percent(share)} of the cores have a task, so "
            f"efficiency never reaches {percent(threshold)}; give -width {case.workers}, or fewer --workers"
        )
