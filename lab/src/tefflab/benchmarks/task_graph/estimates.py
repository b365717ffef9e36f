"""All estimates of a sitting of task graphs, made once for everything that shows them: rows, and the curves behind
them. Pure: the same runs give the same estimates.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Self

from tefflab.analysis.curves import BEYOND, Curve, CurvePoint
from tefflab.analysis.distance import Distance, is_at, places
from tefflab.analysis.rows import BUSY, ELSEWHERE, NO_TURN, ByRound, Row, Samples
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
from tefflab.benchmarks.case_rows import ranked
from tefflab.benchmarks.closing import suggestions
from tefflab.benchmarks.task_graph.measured import CEILING, OVERHEAD, Measured, apart, metg_name, why_unknown
from tefflab.benchmarks.task_graph.notes import WANTED
from tefflab.benchmarks.task_graph.pictures import pictures
from tefflab.benchmarks.task_graph.plan import GraphCase, GraphPlan
from tefflab.benchmarks.task_graph.record import GraphRecord
from tefflab.benchmarks.task_graph.sections import curve_section, metg_section, series_section
from tefflab.benchmarks.task_graph.sentences import curve_sentence, curve_suggestions, metg_sentence
from tefflab.output.charts.sheet import Picture
from tefflab.output.last_words import LastWords
from tefflab.output.sections import Section
from tefflab.records.plan import Variant
from tefflab.records.run import Failure, Run, Sitting, counted, in_time, minutes_for

TASK_GRAPH = "task_graph"  # the kind
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


@lru_cache(maxsize=1024)
def _metg(seen: tuple[Observation, ...], threshold: float) -> MetgEstimate:
    """Kept: the sitting's choices, the live display and the table in the end show one estimate of the same runs."""
    return metg(seen, threshold)


def metg_of(seen: Sequence[Observation], threshold: float) -> MetgEstimate | None:
    """None where there are only runs of empty tasks."""
    crossing = tuple(each for each in seen if each.iterations)
    return _metg(crossing, threshold) if crossing else None


@dataclass(frozen=True, slots=True)
class MetgSamples(Samples):
    """The runs that METG at a threshold comes from."""

    seen: Sequence[Observation]
    threshold: float

    @property
    def rounds(self) -> int:
        return len({each.round for each in self.seen})

    def over(self, other: Self) -> Interval:
        return metg_ratio(self.seen, other.seen, self.threshold)

    def ratios_to(self, other: Self) -> Sequence[float]:
        return metg_ratios(self.seen, other.seen, self.threshold)


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
    work = record.work / (record.tasks or 1)
    return CurvePoint(
        iterations=iterations,
        granularity=median_interval([run.record.granularity for run in runs]),
        efficiency=_interval([_efficiency(run) for run in runs]),
        rate=_interval([run.record.rate for run in runs]),
        work_per_task=work,
        runs=len(runs),
        noisy=sum(run.noisy for run in runs),
        rounds=len({run.round for run in runs}),
    )


def _interval(values: list[float]) -> Interval:
    return median_interval(values) if all(value > 0 for value in values) else Interval(0.0, 0.0, 0.0)


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
    def cases(self) -> Sequence[Measured]:
        """Case by case, at the sitting's distance of the cores. Of a case alone, the other distances follow."""
        first, *others = places(run.round_trips for run in in_time(self._runs))
        trips = [each.round_trip for each in others if each]
        found = [replace(self._at(case, first), others=trips) for case in self.plan.cases]
        return found if len(found) > 1 else [*found, *(self._at(self.plan.cases[0], each) for each in others)]

    @cached_property
    def rows(self) -> Sequence[Row]:
        """METG with what stands beside it, and the points of curves that were asked for."""
        metgs = [row for case in self.cases for of in case.rows for row in (of, *case.beside_row(of))]
        if self.plan.asks == "metg":
            return metgs
        return [*metgs, *(row for case in self.cases for curve in case.curves for row in self._points(case, curve))]

    def sections(self) -> Sequence[Section]:
        """METG of one case at each distance of the cores, or of several cases in one table; the points of curves. The
        terminal has no room for other distances than the first."""
        curves = [curve_section(each) for each in self.cases if each.curves]
        if self.plan.asks == "curve":
            return [replace(each, is_detail=number >= len(self.plan.cases)) for number, each in enumerate(curves)]
        if len(self.plan.cases) > 1:
            tables = [series_section(self.cases)]
        else:
            tables = [replace(metg_section(each), is_detail=number > 0) for number, each in enumerate(self.cases)]
        return [*tables, *(replace(each, is_detail=True) for each in curves)]

    def pictures(self) -> Iterator[tuple[str, Picture]]:
        return pictures(self.sitting, self.plan, self.cases)

    def closing(self, again: str, store: str) -> LastWords | None:
        """The meaning of the smallest METG, or of the curves; nothing after several cases."""
        if len(self.plan.cases) > 1:
            return None
        case = self.cases[0]
        if self.plan.asks == "curve":
            return LastWords(curve_sentence(case), curve_suggestions(case, store))
        is_busy = any(why_unknown(row) for row in case.rows)
        minutes = max(case.minutes or 0, 5)
        next_commands = suggestions([case.rows], again, store, wanted=WANTED, is_busy=is_busy, minutes=minutes)
        return LastWords(metg_sentence(case), next_commands)

    def _at(self, case: GraphCase, where: Distance | None) -> Measured:
        """Everything that the runs say about one case, of those at the distance `where` if it is known.

        A system that failed at this case can't be trusted with it: it has neither value nor curve. If it failed at
        another case, its row says so.
        """
        by_system: dict[str, list[GraphRun]] = defaultdict(list)
        for run in self._runs:
            if run.configuration == case.configuration:
                by_system[run.system_id].append(run)
        variants, failures = self.plan.variants, self._failures
        kept = {id_: at_distance(own, where.round_trip if where else None) for id_, own in by_system.items()}
        notes = {id_: ELSEWHERE for id_, own in by_system.items() if own and not kept[id_]}
        notes |= {id_: each.reason for id_, each in failures.items()}
        kept |= {id_: [] for id_, each in failures.items() if each.at in ("", case.configuration)}
        curves = [estimate_curve(each, self.plan.threshold, kept.get(each.id, [])) for each in variants]
        rows, beside = self._rows(case, where, kept, notes)
        drawn = [each for each in curves if each]
        if self.plan.asks == "curve":
            ids = {each.variant.id for each in drawn}
            rows, beside = [replace(row, value=None, samples=None) for row in rows if row.id not in ids], {}
        waiting = sum(row.note == NO_TURN for row in rows)
        runs = (run for own in by_system.values() for run in own)
        return Measured(
            case, self.plan.threshold, rows, drawn, beside, where, minutes=minutes_for(FEWEST_ROUNDS * waiting, runs)
        )

    def _rows(
        self,
        case: GraphCase,
        where: Distance | None,
        kept: Mapping[str, Sequence[GraphRun]],
        notes: Mapping[str, str],
    ) -> tuple[list[Row], dict[tuple[str, str], Row]]:
        """METG of each system, ranked; and the rows beside them."""
        rows: list[Row] = []
        beside: dict[tuple[str, str], Row] = {}
        for variant in self.plan.variants:
            runs = kept.get(variant.id, ())
            row, *others = metg_rows(self.plan, case, variant, runs, notes.get(variant.id, ""))
            row, *others = (_placed(each, where) for each in (row, *others))
            rows.append(row)
            beside |= {(each.id, each.quantity): each for each in others}
        return ranked(rows), beside

    def _points(self, case: Measured, curve: Curve) -> Iterator[Row]:
        """Three rows each; `x` is the number of iterations."""
        of_case = Row(
            kind=self.sitting.benchmark,
            variant=curve.variant,
            case=case.case.name,
            configuration=case.case.question,
            quantity="efficiency",
            workers=case.case.workers,
            group=case.case.group,
        )
        of_curve = _placed(of_case, case.where)
        for each in curve.points:
            facts = {"work_per_task": each.work_per_task}
            point = replace(
                of_curve,
                x=each.iterations,
                rounds=each.rounds,
                runs=each.runs,
                noisy_share=each.noisy / each.runs,
                facts=facts,
            )
            yield replace(point, value=each.efficiency, unit="1")
            yield replace(point, quantity="granularity", value=each.granularity, is_beside=True)
            yield replace(point, quantity="rate", value=each.rate, unit=curve.rate_unit, is_beside=True)


def _placed(row: Row, where: Distance | None) -> Row:
    """The row, of runs at a distance of the cores."""
    return replace(row, where=apart(where.round_trip), round_trip=where.round_trip) if where else row


def metg_rows(
    plan: GraphPlan, case: GraphCase, variant: Variant, runs: Sequence[GraphRun], note: str = ""
) -> Iterator[Row]:
    """METG of one system from all its runs of a case; then its overhead and the ceiling beside it, where known."""
    seen = observations(runs)
    found = metg_of(seen, plan.threshold)
    tasks = [run for run in runs if run.record.iterations]
    if tasks and found is None:
        note = note or BUSY
    metg_row = Row(
        kind=TASK_GRAPH,
        variant=variant,
        case=case.name,
        configuration=case.question,
        quantity=metg_name(plan.threshold),
        value=found,
        workers=case.workers,
        x=case.x,
        group=case.group,
        rounds=len({run.round for run in runs}),
        runs=len(runs),
        noisy_share=sum(run.noisy for run in runs) / len(runs) if runs else 0.0,
        note=note or ("" if found else NO_TURN),
        facts={
            "threshold": plan.threshold,
            "drift": found.drift if found else None,
            "iterations": found.iterations if found else None,
            "rounds_counted": found.rounds if found else 0,
            "observations": found.observations if found else 0,
            "timesteps": min((run.record.timesteps for run in runs), default=None),
        },
        samples=MetgSamples(seen, plan.threshold) if found else None,
    )
    yield metg_row
    empty = empty_tasks(seen)
    if empty:
        value = overhead(seen)
        samples = ByRound(empty) if found else None
        yield replace(metg_row, quantity=OVERHEAD, is_beside=True, value=value, note="", samples=samples)
    if rates := [each for run in tasks for each in run.ceilings or ()]:
        unit, value = tasks[0].record.rate_unit, median_interval(rates)
        beside = replace(metg_row, quantity=CEILING, is_beside=True, value=value, unit=unit, note="", facts={})
        yield replace(beside, samples=None)
