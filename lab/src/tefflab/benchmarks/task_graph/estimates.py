"""All estimates of a sitting of task graphs. Pure: the same runs give the same estimates."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from statistics import median
from typing import Any, Self

from tefflab.analysis.curves import BEYOND, Curve, CurvePoint, trace
from tefflab.analysis.distance import Distance, is_at, places
from tefflab.analysis.rows import BUSY, ELSEWHERE, NO_TURN, ByRound, Row, Samples
from tefflab.analysis.sharing import exactly
from tefflab.analysis.statistics import (
    FEWEST_ROUNDS,
    Interval,
    MetgEstimate,
    Observation,
    empty_tasks,
    mean_metg,
    median_interval,
    metg,
    metg_ratio,
    metg_ratios,
)
from tefflab.benchmarks.benchmark import Estimates, noise
from tefflab.benchmarks.case_rows import ranked, row_of
from tefflab.benchmarks.closing import suggestions
from tefflab.benchmarks.graphs import GraphCase
from tefflab.benchmarks.task_graph import tables
from tefflab.benchmarks.task_graph.pictures import pictures
from tefflab.benchmarks.task_graph.plan import GraphPlan
from tefflab.benchmarks.task_graph.record import GraphRecord
from tefflab.benchmarks.task_graph.scaling import predictions, section
from tefflab.benchmarks.task_graph.tables import CEILING, OVERHEAD, Measured, apart, mean_name, metg_name
from tefflab.carried import TYPED
from tefflab.output.charts.sheet import Picture, signature
from tefflab.output.last_words import LastWords, of_store
from tefflab.output.sections import Section
from tefflab.records.plan import Variant
from tefflab.records.run import Run, counted, in_time, minutes_for

GraphRun = Run[GraphRecord]

SIMULATED_ROUNDS = 30  # before which an interval says too little: detours that few runs meet make the mean run
_ALIKE = 1 + 1e-6  # a factor between the ends of an interval of runs that are equal
_AGREED = 0.98  # of the better of two ceilings, from which the other is as good


def observations(runs: Iterable[GraphRun]) -> tuple[Observation, ...]:
    """The runs of one system and case that count. A run of empty tasks has iterations 0 and no efficiency."""
    return tuple(
        Observation(run.round, run.record.iterations, run.record.granularity, _efficiency(run))
        for run in _counted(runs)
    )


def at_distance(runs: Iterable[GraphRun], round_trip: float | None) -> list[GraphRun]:
    """The runs at a distance of the cores; all where it is not known."""
    return [run for run in runs if is_at(run.round_trips, round_trip)]


@lru_cache(maxsize=1024)
def metg_of(seen: tuple[Observation, ...], threshold: float) -> MetgEstimate | None:
    """None where all tasks were empty. It is kept: the display and the table show the same estimate."""
    crossing = [each for each in seen if each.iterations]
    return metg(crossing, threshold) if crossing else None


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
    tasks = [run for run in _counted(runs) if run.record.iterations]
    for run in tasks:
        by_iterations[run.record.iterations].append(run)
    if not tasks:
        return None
    every = [_point(iterations, runs) for iterations, runs in sorted(by_iterations.items())]
    often = [point for point in every if point.rounds > 1]
    points = often if 2 * len(often) >= len(every) else every
    unit = tasks[0].record.rate_unit
    ceilings = [rate for runs in by_iterations.values() for run in runs for rate in run.ceilings or ()]
    line = trace(observations(runs), points, threshold)
    return Curve(variant, unit, tuple(points), median_interval(ceilings) if ceilings else None, line)


def _counted(runs: Iterable[GraphRun]) -> list[GraphRun]:
    """The calm runs, and the noisy ones of tasks whose every run was noisy. Whether a run counts depends on the
    disturbances beside it, never on its result; but a run beyond its ceiling has no efficiency at all."""
    return counted((run for run in runs if _efficiency(run) <= BEYOND), lambda run: run.record.iterations)


def _efficiency(run: GraphRun) -> float:
    """Against the ceilings beside it. Noise can only lower a ceiling, so the better counts if they differ. If they
    agree both count: the better of two equally good ones is too good by half of their spread."""
    if run.ceilings is None or not run.record.iterations:
        return 0.0
    low, high = sorted(run.ceilings)
    return run.record.rate / ((low + high) / 2 if low > _AGREED * high else high)


def _point(iterations: int, runs: Sequence[GraphRun]) -> CurvePoint:
    record = runs[0].record
    efficiencies, rates = [_efficiency(run) for run in runs], [run.record.rate for run in runs]
    return CurvePoint(
        iterations=iterations,
        granularity=median_interval([run.record.granularity for run in runs]),
        efficiency=median_interval(efficiencies) if min(efficiencies) > 0 else exactly(0.0),
        rate=median_interval(rates) if min(rates) > 0 else exactly(0.0),
        work_per_task=record.work / (record.tasks or 1),
        runs=len(runs),
        noisy=sum(run.noisy for run in runs),
        rounds=len({run.round for run in runs}),
    )


class GraphEstimates(Estimates):
    plan: GraphPlan

    @cached_property
    def _runs(self) -> Sequence[GraphRun]:
        return [run for run in self.every_run if run.role == "system"]

    @cached_property
    def cases(self) -> Sequence[Measured]:
        """Case by case, at the sitting's distance of the cores, which several nodes do not have. Of a case alone, the
        other distances follow."""
        first, *others = places(run.round_trips for run in in_time(self._runs))
        trips = [each.round_trip for each in others if each]

        def measured(case: GraphCase) -> Measured:
            return self._at(case, None) if case.is_distributed else replace(self._at(case, first), others=trips)

        found = list(map(measured, self.plan.cases))
        return found if len(found) > 1 else [*found, *(self._at(self.plan.cases[0], each) for each in others)]

    @cached_property
    def rows(self) -> Sequence[Row]:
        return [row for case in self.cases for row in self._rows_of(case)]

    def _rows_of(self, case: Measured) -> list[Row]:
        """METG with what stands beside it, and the points of curves that were asked for."""
        metgs = [row for of in case.rows for row in (of, *(case.beside[key] for key in case.beside if key[0] == of.id))]
        is_asked = self.plan.asks == "curve"
        return [*metgs, *(row for curve in case.curves if is_asked for row in self._points(case, curve))]

    def sections(self) -> Sequence[Section]:
        """METG at each distance of the cores (a terminal shows one), or of several cases; the points of curves."""
        curves = [tables.curve_section(each) for each in self.cases if each.curves]
        if self.plan.asks == "curve":
            return [replace(each, is_detail=number >= len(self.plan.cases)) for number, each in enumerate(curves)]
        further = [replace(each, is_detail=True) for each in curves]
        if len(self.plan.cases) > 1:
            found = predictions(self.rows, self.plan.program, self.plan.threshold) if self.plan.program else []
            limits = [section(found)] if found else []
            return [tables.metg_section(*self.cases), *limits, *further]
        own = [replace(tables.metg_section(each), is_detail=number > 0) for number, each in enumerate(self.cases)]
        return [*own, *further]

    def pictures(self) -> Iterator[tuple[str, Picture]]:
        shown = self.cases[: len(self.plan.cases)]
        where = [apart(each.where.round_trip) for each in shown[:1] if each.where]
        noisy, runs = noise([row for case in shown for row in self._rows_of(case) if row.counts_noise])
        footer = signature(self.sitting, *where, f"{noisy} of {runs} runs noisy" if runs else "")
        return pictures(self.plan, shown, footer)

    def closing(self, again: str, store: str) -> LastWords | None:
        """The meaning of the smallest METG on this machine, or of the curves; nothing after several cases."""
        if len(self.plan.cases) > 1 or self.plan.simulated:
            return None
        case = self.cases[0]
        if self.plan.asks == "curve":
            crossing = (f"{TYPED} metg{of_store(store)}", "the size where they cross, with its interval")
            return LastWords(tables.curve_sentence(case), [crossing])
        minutes = max(case.minutes or 0, 5)
        next_commands = suggestions([case.rows], again, store, minutes)
        return LastWords(tables.metg_sentence(case), next_commands)

    def _at(self, case: GraphCase, where: Distance | None) -> Measured:
        """Everything that the runs say about one case, of those at the distance `where` if it is known.

        A system that failed at this case can't be trusted with it: it has neither value nor curve. If it failed at
        another case, its row says so.
        """
        failures = {each.system_id: each for each in self.failures if each.configuration in ("", case.configuration)}
        every = [run for run in self._runs if run.configuration == case.configuration]
        rows: list[Row] = []
        beside: dict[tuple[str, str], Row] = {}
        curves: list[Curve] = []
        for variant in self.plan.variants:
            own = [run for run in every if run.system_id == variant.id]
            runs = at_distance(own, where.round_trip if where else None)
            note = ELSEWHERE if own and not runs else ""
            if failure := failures.get(variant.id):
                note = failure.reason
                runs = [] if failure.at in ("", case.configuration) and not failure.lost else runs
            row, *others = self._metg(case, variant, where, runs, note)
            curve = estimate_curve(variant, self.plan.threshold, runs)
            curves += [curve] if curve else []
            if self.plan.asks == "metg":
                rows.append(row)
                beside |= {(each.id, each.quantity): each for each in others}
            elif not curve:
                rows.append(replace(row, value=None, samples=None))
        waiting = sum(row.note == NO_TURN for row in rows)
        minutes = minutes_for(FEWEST_ROUNDS * waiting, every)
        return Measured(case, self.plan.threshold, ranked(rows), curves, beside, where, minutes=minutes)

    def _metg(
        self, case: GraphCase, variant: Variant, where: Distance | None, runs: Sequence[GraphRun], note: str
    ) -> Iterator[Row]:
        """METG of one system from its runs of a case; then its overhead and the ceiling beside it, where known."""
        threshold, seen = self.plan.threshold, observations(runs)
        found = metg_of(seen, threshold)
        tasks = [run for run in runs if run.record.iterations]
        row = replace(
            row_of(self.sitting.benchmark, variant, case, metg_name(threshold), runs),
            **_at(where, case),
            value=found,
            rounds=len({run.round for run in runs}),
            note=note or ("" if found else BUSY if tasks else NO_TURN),
            facts={
                "threshold": threshold,
                "drift": found.drift if found and not self.plan.simulated else None,
                "iterations": found.iterations if found else None,
                "rounds_counted": found.rounds if found else 0,
                "observations": found.observations if found else 0,
                "timesteps": min((run.record.timesteps for run in runs), default=None),
            },
            samples=MetgSamples(seen, threshold) if found else None,
        )
        yield row
        beside = replace(row, is_beside=True, note="", samples=None)
        if found and case.nodes:
            mean = mean_metg(seen, threshold)
            if variant.id in self.plan.disturbed and row.rounds < SIMULATED_ROUNDS and mean.high < mean.low * _ALIKE:
                mean = replace(mean, high=math.inf)  # no run has met a detour yet
            yield replace(beside, quantity=mean_name(threshold), value=mean)
        if empty := empty_tasks(seen):
            samples = ByRound(empty) if found else None
            value = median_interval([median(repeats) for repeats in empty.values()])
            yield replace(beside, quantity=OVERHEAD, value=value, samples=samples)
        if rates := [each for run in tasks for each in run.ceilings or ()]:
            value, unit = median_interval(rates), tasks[0].record.rate_unit
            yield replace(beside, quantity=CEILING, value=value, unit=unit, facts={})

    def _points(self, case: Measured, curve: Curve) -> Iterator[Row]:
        """Three rows each; `x` is the number of iterations."""
        of_curve = row_of(self.sitting.benchmark, curve.variant, case.case, "efficiency")
        for each in curve.points:
            point = replace(
                of_curve,
                **_at(case.where, case.case),
                x=each.iterations,
                rounds=each.rounds,
                runs=each.runs,
                noisy_share=each.noisy / each.runs,
                facts={"work_per_task": each.work_per_task},
            )
            yield replace(point, value=each.efficiency, unit="1")
            yield replace(point, quantity="granularity", value=each.granularity, is_beside=True)
            yield replace(point, quantity="rate", value=each.rate, unit=curve.rate_unit, is_beside=True)


def _at(where: Distance | None, case: GraphCase) -> dict[str, Any]:
    """A case's configuration and the distance of the cores, as its rows have them."""
    here = {"where": apart(where.round_trip), "round_trip": where.round_trip} if where else {}
    return {"configuration": case.question} | here
