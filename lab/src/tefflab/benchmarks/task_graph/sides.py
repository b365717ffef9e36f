"""The comparable quantities of a sitting of task graphs: METG and overheads. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from tefflab.analysis.comparison import ByRound, Quantity, Side
from tefflab.analysis.results import MeasuredCase, MetgRow
from tefflab.analysis.statistics import Interval, Observation, metg_ratio, metg_ratios
from tefflab.benchmarks.task_graph.estimate import GraphRun, at_distance, observations
from tefflab.benchmarks.task_graph.readings import metg_name, placed_name


@dataclass(frozen=True, slots=True)
class Metg(Quantity):
    """METG at a threshold, and the runs that it comes from."""

    threshold: float
    seen: Sequence[Observation]

    def launches(self) -> int:
        return len({each.round for each in self.seen})

    def over(self, other: Self) -> Interval:
        return metg_ratio(self.seen, other.seen, self.threshold)

    def ratios_to(self, other: Self) -> list[float]:
        """Of each round that both have."""
        return metg_ratios(self.seen, other.seen, self.threshold)


def metg_sides(cases: Iterable[MeasuredCase], runs: Iterable[GraphRun]) -> list[Side]:
    """Every system with METG, in every configuration and at every distance of the cores."""
    seen: dict[tuple[str, str], list[GraphRun]] = {}
    for run in runs:
        if run.role == "system":
            seen.setdefault((run.system_id, run.configuration), []).append(run)
    return [
        metg_side(placed, row, observations(at_distance(own, placed.round_trip)))
        for case in cases
        for placed in (case, *case.others)
        for row in placed.rows
        if row.metg and (own := seen.get((row.variant.id, placed.configuration)))
    ]


def metg_side(case: MeasuredCase, row: MetgRow, seen: Sequence[Observation]) -> Side:
    """A row that has METG, with the runs that it comes from."""
    metg = row.metg
    assert metg is not None
    ends = Interval(metg.value, metg.low, metg.high)
    return Side(
        place=placed_name(case),
        question=(case.configuration, case.threshold, case.steps),
        round_trip=case.round_trip,
        row=row,
        quantity=Metg(metg_name(row.threshold), ends, metg.relation, metg.drift, row.threshold, seen),
        overhead=ByRound("overhead", row.overhead, "=", metg.drift, _empty(seen)) if row.overhead else None,
    )


def _empty(seen: Iterable[Observation]) -> dict[int, list[float]]:
    """The granularities of empty tasks, by round."""
    rounds: dict[int, list[float]] = {}
    for each in seen:
        if each.iterations == 0:
            rounds.setdefault(each.round, []).append(each.granularity)
    return rounds
