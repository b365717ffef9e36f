"""What a sitting knows that can be compared: METG and overheads, or a task's time in spawn patterns. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from tefflab.analysis.comparison import Quantity, Side
from tefflab.analysis.distance import at_distance
from tefflab.analysis.results import Judgement, MetgRow
from tefflab.analysis.statistics import Interval, Observation, metg_ratio, ratio_interval
from tefflab.benchmarks.judge import observations
from tefflab.benchmarks.spawn_judge import SpawnCell, judge_spawns
from tefflab.output.readings import metg_name, placed_name
from tefflab.records.store import Envelope


@dataclass(frozen=True, slots=True)
class Metg(Quantity):
    """METG at a threshold, and the runs that it comes from."""

    threshold: float
    seen: Sequence[Observation]

    def over(self, other: Self) -> Interval:
        return metg_ratio(self.seen, other.seen, self.threshold)


@dataclass(frozen=True, slots=True)
class TaskTime(Quantity):
    """Seconds a task, and the runs that it comes from, by round."""

    rounds: Mapping[int, Sequence[float]]

    def over(self, other: Self) -> Interval:
        return ratio_interval(self.rounds, other.rounds)


def metg_sides(judgements: Iterable[Judgement], runs: Iterable[Envelope]) -> list[Side]:
    """Every system with METG, in every configuration and at every distance of the cores."""
    seen: dict[tuple[str, str], list[Envelope]] = {}
    for run in runs:
        if run.role == "system":
            seen.setdefault((run.system_id, run.configuration), []).append(run)
    return [
        metg_side(placed, row, observations(at_distance(own, placed.round_trip)))
        for judgement in judgements
        for placed in (judgement, *judgement.others)
        for row in placed.rows
        if row.metg and (own := seen.get((row.contender.id, placed.configuration)))
    ]


def metg_side(judgement: Judgement, row: MetgRow, seen: Sequence[Observation]) -> Side:
    """A row that has METG, with the runs that it comes from."""
    metg = row.metg
    assert metg is not None
    ends = Interval(metg.value, metg.low, metg.high)
    return Side(
        place=placed_name(judgement),
        question=(judgement.configuration, judgement.threshold),
        round_trip=judgement.round_trip,
        row=row,
        quantity=Metg(metg_name(row.threshold), ends, metg.relation, metg.drift, row.threshold, seen),
        overhead=TaskTime("overhead", row.overhead, "=", metg.drift, _empty(seen)) if row.overhead else None,
    )


def spawn_sides(cells: Sequence[SpawnCell], flags: Mapping[str, str]) -> list[Side]:
    """Every system that was measured, at every pattern (`flags` by its name) and number of workers. The machine's drift
    is in the interval of each, for no ceiling beside the runs takes it out."""
    rounds = {(cell.contender.id, *cell.group): cell.rounds for cell in cells}
    return [
        Side(
            place=row.place,
            question=(flags[row.question], row.workers),
            round_trip=None,
            row=row,
            quantity=TaskTime(
                "a task", row.seconds_per_task, "=", None, rounds[row.contender.id, row.question, row.workers]
            ),
        )
        for row in judge_spawns(cells)
        if row.seconds_per_task
    ]


def _empty(seen: Iterable[Observation]) -> dict[int, list[float]]:
    """The granularities of empty tasks, by round."""
    rounds: dict[int, list[float]] = {}
    for each in seen:
        if each.iterations == 0:
            rounds.setdefault(each.round, []).append(each.granularity)
    return rounds
