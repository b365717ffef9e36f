"""All estimates of a sitting of task graphs, made once for everything that shows them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from rich.console import RenderableType

from tefflab.analysis.comparison import Side, compare_systems
from tefflab.analysis.distance import Distance, places
from tefflab.analysis.results import MeasuredCase
from tefflab.analysis.statistics import Interval
from tefflab.benchmarks.benchmark import Estimates
from tefflab.benchmarks.task_graph.closing import Closing, curve_sentence, curve_suggestions
from tefflab.benchmarks.task_graph.estimate import GraphRun, estimate_case
from tefflab.benchmarks.task_graph.pictures import footer, pictures
from tefflab.benchmarks.task_graph.plan import GraphCase, GraphPlan
from tefflab.benchmarks.task_graph.readings import placed_name
from tefflab.benchmarks.task_graph.report import write_metg_report
from tefflab.benchmarks.task_graph.series_tables import curve_table, series_table
from tefflab.benchmarks.task_graph.sides import metg_sides
from tefflab.benchmarks.task_graph.tables import MetgTable, to_json
from tefflab.carried import TYPED
from tefflab.output.last_words import LastWords
from tefflab.records.run import Failure, Sitting, in_time
from tefflab.records.store import Damage


class GraphEstimates(Estimates):
    """`failures` are by system's id."""

    plan: GraphPlan

    def __init__(
        self, sitting: Sitting, plan: GraphPlan, runs: Sequence[GraphRun], failures: Mapping[str, Failure]
    ) -> None:
        super().__init__(sitting, plan)
        self._runs = [run for run in runs if run.role == "system"]
        self._failures = failures

    @cached_property
    def cases(self) -> tuple[MeasuredCase, ...]:
        """The estimates, configuration by configuration, at the sitting's distance of the cores; each holds the
        estimates at other distances."""
        where = places(run.round_trips for run in in_time(self._runs))
        return tuple(
            replace(self._at(case, where[0]), others=tuple(self._at(case, distance) for distance in where[1:]))
            for case in self.plan.cases
        )

    @property
    def has_values(self) -> bool:
        return any(case.curves or any(row.metg for row in case.rows) for case in self.cases)

    def tables(self) -> Sequence[RenderableType]:
        """METG of one configuration or the points of its curves, at the first distance of the cores; METG of several
        configurations in one table."""
        if self.plan.asks == "curve":
            cases = self._placed if len(self.plan.cases) > 1 else self._placed[:1]
            return [curve_table(each) for each in cases if each.curves]
        return [series_table(self._placed) if len(self.plan.cases) > 1 else MetgTable(self._placed[0])]

    def objects(self) -> Iterator[dict[str, Any]]:
        for case in self._placed:
            yield to_json(case) | {"others": list(self.plan.others)}

    def lines(self) -> Iterator[dict[str, Any]]:
        """The rows as they are shown first; those at other distances can be made again from the runs."""
        for case in self.cases:
            for row in case.rows:
                yield row.to_json() | {"configuration": case.configuration}

    def pictures(self) -> Iterator[tuple[str, Figure]]:
        yield from pictures(self.plan, self.cases, footer(self.sitting, self._placed))

    def write_report(self, path: Path, damage: Sequence[Damage]) -> None:
        write_metg_report(path, self.sitting, self._placed, damage, f"Teff: {self.plan.title}")

    def sides(self) -> Sequence[Side]:
        return metg_sides(self.cases, self._runs)

    def closing(self, again: str, store: str) -> RenderableType | None:
        """The meaning of the smallest METG, or of the curves; nothing after several configurations."""
        if len(self.cases) > 1:
            return None
        if self.plan.asks == "curve":
            return LastWords(curve_sentence(self._placed[0]), curve_suggestions(self._placed[0], store))
        sides = metg_sides([replace(self.cases[0], others=())], self._runs)

        def ratio(a: str, b: str) -> Interval:
            (found,) = compare_systems(sides, a, b)
            return found.ratio

        return Closing(self._placed[0], ratio, f"{TYPED} {again}", store)

    @cached_property
    def _placed(self) -> list[MeasuredCase]:
        """The cases to show: of one configuration all distances of the cores, named; of several configurations their
        first distance."""
        if len(self.cases) > 1:
            return list(self.cases)
        return [replace(each, name=placed_name(each)) for case in self.cases for each in (case, *case.others)]

    def _at(self, case: GraphCase, where: Distance | None) -> MeasuredCase:
        return estimate_case(
            case.name,
            case.flags,
            self.plan.threshold,
            self.plan.variants,
            self._runs,
            with_metg=self.plan.asks == "metg",
            failures=self._failures,
            where=where,
            steps=case.steps,
        )
