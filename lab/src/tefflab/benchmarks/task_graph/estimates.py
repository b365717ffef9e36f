"""All estimates of a sitting of task graphs, made once for everything that shows them: rows, curves, sides of a
comparison. Pure: the same runs give the same estimates.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Self

from matplotlib.figure import Figure
from rich.console import RenderableType

from tefflab.analysis.comparison import ByRound, Quantity, Side, compare_systems
from tefflab.analysis.distance import Distance, is_at, places
from tefflab.analysis.results import BEYOND, BUSY, ELSEWHERE, NO_TURN, Curve, CurvePoint, MeasuredCase, MetgRow
from tefflab.analysis.statistics import (
    FEWEST_ROUNDS,
    Interval,
    MetgEstimate,
    Observation,
    empty_tasks,
    median_interval,
    metg,
    metg_ratio,
    metg_ratios,
    overhead,
)
from tefflab.analysis.trace import trace
from tefflab.benchmarks.benchmark import Estimates
from tefflab.benchmarks.task_graph.closing import curve_sentence, curve_suggestions, sentence, suggestions
from tefflab.benchmarks.task_graph.pictures import footer, pictures
from tefflab.benchmarks.task_graph.plan import GraphCase, GraphPlan
from tefflab.benchmarks.task_graph.readings import metg_name, placed_name
from tefflab.benchmarks.task_graph.record import GraphRecord
from tefflab.benchmarks.task_graph.report import write_metg_report
from tefflab.benchmarks.task_graph.tables import MetgTable, curve_table, series_table, to_json
from tefflab.carried import TYPED
from tefflab.output.last_words import LastWords
from tefflab.records.plan import Variant
from tefflab.records.run import Failure, Run, Sitting, counted, in_time, minutes_for
from tefflab.records.store import Damage

GraphRun = Run[GraphRecord]

_AGREED = 0.98  # of the better of two ceilings, from which the other is as good


def observations(runs: Iterable[GraphRun]) -> list[Observation]:
    """The runs of one system and case; noisy ones only of tasks without a calm run.

    Runs of empty tasks have iterations 0 and no efficiency.
    """
    return [
        Observation(run.round, run.record.iterations, run.record.granularity, _efficiency(run))
        for run in _counted(runs)
    ]


def at_distance(runs: Iterable[GraphRun], round_trip: float | None) -> list[GraphRun]:
    """The runs at a distance of the cores; all where it is not known."""
    return [run for run in runs if is_at(run.round_trips, round_trip)]


def estimate_row(variant: Variant, threshold: float, runs: Sequence[GraphRun], note: str = "") -> MetgRow:
    """The row of one system, from all its runs of one case."""
    seen = observations(runs)
    crossing = [each for each in seen if each.iterations]
    if any(run.record.iterations for run in runs) and not crossing:
        note = note or BUSY
    rates = [rate for run in runs if run.record.iterations for rate in run.ceilings or ()]
    units = [run.record.rate_unit for run in runs if run.record.iterations]
    return MetgRow(
        variant=variant,
        threshold=threshold,
        metg=_metg(tuple(crossing), threshold) if crossing else None,
        overhead=overhead(seen) if len(crossing) < len(seen) else None,
        ceiling=median_interval(rates) if rates else None,
        ceiling_unit=units[0] if units else "",
        rounds=len({run.round for run in runs}),
        runs=len(runs),
        noisy_share=sum(run.noisy for run in runs) / len(runs) if runs else 0.0,
        timesteps=min((run.record.graphs[0].steps for run in runs), default=0),
        note=note,
    )


@lru_cache(maxsize=1024)
def _metg(seen: tuple[Observation, ...], threshold: float) -> MetgEstimate:
    """Kept: the sitting's choices, the live display and the table in the end show one estimate of the same runs."""
    return metg(seen, threshold)


def estimate_curve(variant: Variant, threshold: float, runs: Sequence[GraphRun]) -> Curve | None:
    """The curve of one system, without points of a single round where half of them are of more. None without points."""
    by_iterations: dict[int, list[GraphRun]] = defaultdict(list)
    for run in _counted(runs):
        if iterations := run.record.iterations:
            by_iterations[iterations].append(run)
    if not by_iterations:
        return None
    often = {iterations: runs for iterations, runs in by_iterations.items() if len({run.round for run in runs}) > 1}
    kept = often if 2 * len(often) >= len(by_iterations) else by_iterations
    points = [_point(iterations, runs) for iterations, runs in sorted(kept.items())]
    unit = next(iter(by_iterations.values()))[0].record.rate_unit
    ceilings = [rate for point in by_iterations.values() for run in point for rate in run.ceilings or ()]
    line = trace(observations(runs), points, threshold)
    return Curve(variant, unit, tuple(points), median_interval(ceilings) if ceilings else None, line)


def estimate_case(
    plan: GraphPlan,
    case: GraphCase,
    runs: Iterable[GraphRun],
    failures: Mapping[str, Failure],
    where: Distance | None,
) -> MeasuredCase:
    """Everything that the runs say about one case, of those at the distance `where` if it is known.

    `failures` are by system's id. A system that failed at this case can't be trusted with it: it has neither
    value nor curve. If it failed at another case, its row says so.
    """
    flags, variants = case.configuration, plan.variants
    by_system: dict[str, list[GraphRun]] = defaultdict(list)
    for run in runs:
        if run.configuration == flags:
            by_system[run.system_id].append(run)
    round_trip = where.round_trip if where else None
    kept = {name: at_distance(own, round_trip) for name, own in by_system.items()}
    elsewhere = {name: ELSEWHERE for name, own in by_system.items() if own and not kept[name]}
    notes = elsewhere | {name: each.reason for name, each in failures.items()}
    kept |= {name: [] for name, each in failures.items() if each.at in ("", flags)}
    rows = [estimate_row(each, plan.threshold, kept.get(each.id, []), notes.get(each.id, "")) for each in variants]
    rows = [row if row.metg or row.note else replace(row, note=NO_TURN) for row in rows]
    rows.sort(key=lambda row: (row.metg is None, row.metg.value if row.metg else 0.0))
    waiting = sum(row.note == NO_TURN for row in rows)
    curves = {each.id: estimate_curve(each, plan.threshold, kept.get(each.id, [])) for each in variants}
    without_curve = tuple((each, notes.get(each.id, NO_TURN)) for each in variants if not curves[each.id])
    return MeasuredCase(
        name=case.name,
        flags=flags,
        threshold=plan.threshold,
        rows=tuple(rows) if plan.asks == "metg" else (),
        curves=tuple(each for each in curves.values() if each),
        missing=() if plan.asks == "metg" else without_curve,
        round_trip=round_trip,
        share=where.share if where else 1.0,
        steps=case.steps,
        minutes=minutes_for(FEWEST_ROUNDS * waiting, (run for own in by_system.values() for run in own)),
    )


def _counted(runs: Iterable[GraphRun]) -> list[GraphRun]:
    """The calm runs, and the noisy ones of tasks whose every run was noisy.

    Whether a run counts depends on the disturbances beside it, never on its result, so that nothing is chosen. But a
    run beyond its ceiling has no efficiency at all.
    """
    return counted((run for run in runs if _efficiency(run) <= BEYOND), lambda run: run.record.iterations)


def _efficiency(run: GraphRun) -> float:
    if run.ceilings is None or not run.record.iterations:
        return 0.0
    return run.record.rate / _yardstick(*run.ceilings)


def _yardstick(before: float, after: float) -> float:
    """The ceiling that a run is compared with. Noise can only lower a ceiling, so the better counts if they differ. If
    they agree both count: the better of two equally good ones is too good by half of their spread."""
    better = max(before, after)
    return (before + after) / 2 if min(before, after) > _AGREED * better else better


def _point(iterations: int, runs: Sequence[GraphRun]) -> CurvePoint:
    record = runs[0].record
    work = (record.flops or record.bytes or 0) / (record.tasks or 1)
    return CurvePoint(
        iterations=iterations,
        granularity=median_interval([run.record.granularity for run in runs]),
        efficiency=_interval([_efficiency(run) for run in runs]),
        rate=_interval([run.record.rate for run in runs]),
        work_per_task=work,
        runs=len(runs),
        noisy=sum(run.noisy for run in runs),
    )


def _interval(values: list[float]) -> Interval:
    return median_interval(values) if all(value > 0 for value in values) else Interval(0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Metg(Quantity):
    """METG at a threshold, and the runs that it comes from."""

    threshold: float
    seen: Sequence[Observation]

    def number_of_rounds(self) -> int:
        return len({each.round for each in self.seen})

    def over(self, other: Self) -> Interval:
        return metg_ratio(self.seen, other.seen, self.threshold)

    def ratios_to(self, other: Self) -> Sequence[float]:
        return metg_ratios(self.seen, other.seen, self.threshold)


def metg_sides(cases: Iterable[MeasuredCase], runs: Iterable[GraphRun]) -> list[Side]:
    """Every system with METG, at every case and at every distance of the cores."""
    seen: dict[tuple[str, str], list[GraphRun]] = {}
    for run in runs:
        seen.setdefault((run.system_id, run.configuration), []).append(run)
    return [
        metg_side(placed, row, observations(at_distance(own, placed.round_trip)))
        for case in cases
        for placed in (case, *case.others)
        for row in placed.rows
        if row.metg and (own := seen.get((row.variant.id, placed.flags)))
    ]


def metg_side(case: MeasuredCase, row: MetgRow, seen: Sequence[Observation]) -> Side:
    """A row that has METG, with the runs that it comes from."""
    metg = row.metg
    assert metg is not None
    ends = Interval(metg.value, metg.low, metg.high)
    return Side(
        place=placed_name(case),
        question=(case.flags, case.threshold, case.steps),
        round_trip=case.round_trip,
        row=row,
        quantity=Metg(metg_name(row.threshold), ends, metg.relation, metg.drift, row.threshold, seen),
        overhead=ByRound("overhead", row.overhead, "=", metg.drift, empty_tasks(seen)) if row.overhead else None,
        case=case.name,
    )


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
        """The estimates, case by case, at the sitting's distance of the cores; each holds the
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
        """METG of one case or the points of its curves, at the first distance of the cores; METG of several
        cases in one table."""
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
                yield row.to_json() | {"configuration": case.flags}

    def pictures(self) -> Iterator[tuple[str, Figure]]:
        yield from pictures(self.plan, self.cases, footer(self.sitting, self._placed))

    def write_report(self, path: Path, damage: Sequence[Damage]) -> None:
        write_metg_report(path, self.sitting, self._placed, damage, f"Teff: {self.plan.title}")

    def sides(self) -> Sequence[Side]:
        return metg_sides(self.cases, self._runs)

    def closing(self, again: str, store: str) -> RenderableType | None:
        """The meaning of the smallest METG, or of the curves; nothing after several cases."""
        if len(self.cases) > 1:
            return None
        if self.plan.asks == "curve":
            return LastWords(curve_sentence(self._placed[0]), curve_suggestions(self._placed[0], store))
        sides = metg_sides([replace(self.cases[0], others=())], self._runs)

        def ratio(a: str, b: str) -> Interval:
            (found,) = compare_systems(sides, a, b)
            return found.ratio

        case = self._placed[0]
        return LastWords(sentence(case, ratio), suggestions(case, f"{TYPED} {again}", store))

    @cached_property
    def _placed(self) -> list[MeasuredCase]:
        """The cases to show: of one case all distances of the cores, named; of several cases their
        first distance."""
        if len(self.cases) > 1:
            return list(self.cases)
        return [replace(each, name=placed_name(each)) for case in self.cases for each in (case, *case.others)]

    def _at(self, case: GraphCase, where: Distance | None) -> MeasuredCase:
        return estimate_case(self.plan, case, self._runs, self._failures, where)
