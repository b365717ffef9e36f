"""The plan of a sitting of task graphs."""

import shlex
from typing import Literal

from tefflab.benchmarks.task_graph.configuration import Configuration, parse
from tefflab.benchmarks.task_graph.shape import STEPS
from tefflab.records.plan import Case, Plan

Asks = Literal["metg", "curve"]  # where efficiency crosses the threshold; or all of it, at the same sizes of task

METG_CHARTS = ("metg", "metg_dots", "metg_lines")
CHARTS = ("efficiency", "rate", *METG_CHARTS)


class GraphCase(Case):
    """One configuration: one or several graphs that run at once."""

    steps: int | None = None  # where the user wants so many

    @classmethod
    def of(cls, configuration: Configuration, workers: int, name: str | None = None) -> "GraphCase":
        title = name or configuration.title
        return cls(name=title, flags=configuration.flags, steps=configuration.steps, workers=workers)

    @property
    def configuration(self) -> Configuration:
        return Configuration(parse(shlex.split(self.flags), self.workers).graphs, self.steps)


class GraphPlan(Plan):
    asks: Asks
    cases: tuple[GraphCase, ...]
    threshold: float = 0.5
    longest_task: float = 3e-3  # seconds: where a curve ends
    points: int = 12  # of a curve

    @property
    def warning(self) -> str:
        """The effect of a chosen number of timesteps on the result."""
        said = [case.steps for case in self.cases if case.steps]
        if not said:
            return ""
        few = "; start and end of a graph weigh more the fewer they are" if said[0] < STEPS else ""
        return (
            f"-steps {said[0]}: compare this only with what was measured with the same, for every run has {said[0]} "
            f"timesteps{few}. Without -steps a run has at least {STEPS}"
        )

    @property
    def has_curves(self) -> bool:
        """Whether any picture shows more of a system than its METG."""
        return not self.charts or bool({"efficiency", "rate"} & set(self.charts))
