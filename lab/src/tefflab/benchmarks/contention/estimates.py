"""Curves of time against a competitor's share of a core. They give ratios to the ideal time, and the share from which a
program should leave the core. Beside measured curves stand the simulated curves of policies."""

import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import Any

from tefflab.analysis.crossing import Relation
from tefflab.analysis.rows import Row
from tefflab.analysis.sharing import BreakEven, break_even, exactly, ideal_slowdown, scaled
from tefflab.analysis.simulation import Cores, Policy, Work, simulate
from tefflab.analysis.statistics import Interval
from tefflab.benchmarks import closing
from tefflab.benchmarks.case_rows import ratio, row_of
from tefflab.benchmarks.cases import CaseEstimates
from tefflab.benchmarks.compared import ratio_text
from tefflab.output.charts.lines import values_chart
from tefflab.output.charts.looks import DASHED, DOTTED
from tefflab.output.charts.sheet import SOFT, Head, Picture
from tefflab.output.last_words import LastWords
from tefflab.output.quantities import digits, duration, percent
from tefflab.output.sections import Section, explained
from tefflab.output.table import Column
from tefflab.records.plan import Case, Plan, Variant
from tefflab.records.run import counted
from tefflab.systems.naming import Named, parsed

_PERIODS = 10  # of the load that a run should last at least
_COLOURS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b")  # of the policies
_WHO = {"system": "system_id", "policy": "policy"}  # by the title of the column
_Share = tuple[float, float]  # asked, got


class ContentionPlan(Plan):
    """A case's `group` is its kind, its `x` the share in per cent; its `cores` are set if it leaves the loaded ones."""

    loaded: tuple[int, ...]  # cores
    period: float  # of the load [s]


@dataclass(frozen=True)
class Curve:
    """A variant at one case: rows of its slowdown, times its time alone. Their `x` is the share asked of each loaded
    core, from 0 to 1; of `left`, without the loaded cores, there may be none."""

    variant: Variant
    case: str
    points: Sequence[Row]  # by rising shares; the first is without a load
    left: Row | None

    @property
    def system(self) -> str:
        """`SYSTEM`, or `SYSTEM/WAY` where that is not the best one of its kind of benchmark."""
        named = parsed(self.variant.id)
        return str(Named(named.system, named.way.partition(".")[2], named.version))

    @property
    def is_told(self) -> bool:
        """Whether there is an interval for every value."""
        return all(each.is_told for each in self.points) and (self.left is None or self.left.is_told)

    @property
    def break_even(self) -> BreakEven | None:
        """None if a curve has no load, or its time without the loaded cores was not measured."""
        if self.left is None or self.left.value is None or len(self.points) < 2:
            return None
        return break_even([(got(each), each.value) for each in self.points if each.value], self.left.value)

    @property
    def rows(self) -> Sequence[Row]:
        """Its points, and the share from which its program should leave the loaded cores."""
        found = [*self.points, *([self.left] if self.left else [])]
        if even := self.break_even:
            value = got(self.points[-1]) if even.value is None else even.value
            relation: Relation = ">" if even.value is None else "="
            share = Interval(value, even.low or 0.0, even.high or math.inf, relation)
            found.append(replace(self.points[0], quantity="break-even", value=share, x=None, facts={}))
        return found


def got(point: Row) -> float:
    """The share of each loaded core that the load got."""
    return point.facts.get("share_got") or 0.0


def alone(curve: Curve) -> float:
    """The time of a run without a load [s]."""
    return curve.points[0].facts["seconds"] or 0.0


def ideal(point: Row) -> float:
    """The slowdown of a program that uses all that is left."""
    return point.facts["ideal_slowdown"] or 1.0


class ContentionEstimates(CaseEstimates):
    plan: ContentionPlan

    @cached_property
    def rows(self) -> Sequence[Row]:
        """With the share of the loaded cores as `x`, from 0 to 1."""
        times = [replace(row, x=None if row.x is None else row.x / 100) for row in super().rows]
        return [*times, *(row for curve in self.curves for row in curve.rows)]

    @cached_property
    def curves(self) -> list[Curve]:
        """Of each case those that have a time alone, in the order of the plan."""
        found = []
        for name, cases in self._by_case.items():
            for variant in self.plan.variants:
                times = [(case, row) for case in cases for row in self.groups[case] if row.variant == variant]
                alone = next((row for case, row in times if row.value and not case.load), None)
                slowdowns = [self._slowdown(case, row, alone) for case, row in times if alone and row.value]
                points = sorted((each for each in slowdowns if each.x is not None), key=lambda each: each.x or 0.0)
                left = next((each for each in slowdowns if each.x is None), None)
                found += [Curve(variant, name, points, left)] if alone else []
        return found

    @cached_property
    def _by_case(self) -> dict[str, list[Case]]:
        return {name: list(own) for name, own in groupby(self.plan.cases, key=lambda case: case.name)}

    def _slowdown(self, case: Case, row: Row, alone: Row) -> Row:
        facts: dict[str, float | None] = {"share_got": None, "ideal_slowdown": None, "seconds": None}
        x = None
        if not self._is_left(case):
            x = (case.x or 0.0) / 100
            systems = (run for run in self.runs(row.variant, case) if run.role == "system")
            counting = counted(systems, lambda run: run.round)
            shares = [run.beside.got for run in counting if run.beside]
            share = statistics.median(shares) if shares else 0.0
            best = ideal_slowdown(max(self.plan.workers), len(self.plan.loaded), min(share, 1.0))
            facts |= {"share_got": share, "ideal_slowdown": best}
        return replace(
            row,
            quantity="slowdown",
            unit="1",
            is_beside=True,
            value=exactly(1.0) if row is alone else ratio(row, alone),
            x=x,
            ratio=None,
            facts=facts | {"seconds": row.value.value if row.value else None},
            samples=None,
        )

    def _is_left(self, case: Case) -> bool:
        """Whether it runs without the loaded cores."""
        return bool(case.cores) and not set(self.plan.loaded) & set(case.cores)

    def sections(self) -> Sequence[Section]:
        found = []
        for name, cases in self._by_case.items():
            own = [each for each in self.curves if each.case == name]
            if rows := [row for case in cases for row in self.groups[case]]:
                left = next((case.workers for case in cases if self._is_left(case)), None)
                title = f"{name}: {cases[0].title}" if cases[0].title else name
                columns = columns_of(own, left) if own else []
                off = [abs(got(each) - (each.x or 0.0)) for curve in own for each in curve.points[1:]]
                how = [f"the load got what was asked within {percent(max(off))} of a core"] if off else []
                load = cases[-1].load.partition("/")[0]
                shorter = f"say a shorter period, as --load {load}/1ms, or take a longer case"
                notes = [*self.notes(rows), *how, *too_short(own, self.plan.period, shorter)]
                found.append(Section(title, columns, notes, "; ".join(self.plan.commands)))
        return explained(found)

    def pictures(self) -> Iterator[tuple[str, Picture]]:
        """One a case: slowdown against the share."""
        for name, cases in self._by_case.items():
            curves = [each for each in self.curves if each.case == name and len(each.points) > 1]
            if curves:
                footer = self.foot([row for case in cases for row in self.groups[case]])
                yield self.file_of(name), chart(f"{self.plan.title} – {name}", footer, curves)

    def closing(self, again: str, store: str) -> LastWords | None:
        told = [each for each in self.curves if each.is_told and each.break_even]
        said = [f"{each.system} {break_even_text(each)} ({each.case})" for each in told]
        cores = f"core {','.join(map(str, self.plan.loaded))}"
        if not said:
            sentence = f"Too little is known yet to say when a program should leave {cores} rather than share it."
        elif len(self.plan.commands) == 1:
            sentence = f"It can lose {break_even_text(told[0])} of {cores} before it is quicker without it."
        else:
            sentence = f"Shares of {cores} that a system can lose before it is quicker without it: {'; '.join(said)}."
        return LastWords(sentence, closing.suggestions(list(self.groups.values()), again, store))


def shares_got(curves: Sequence[Curve]) -> dict[float, float]:
    """The share of each loaded core that the load got, in the median, by the share that was asked, in rising order."""
    found: dict[float, list[float]] = {}
    for point in sorted((each for curve in curves for each in curve.points), key=lambda each: each.x or 0.0):
        found.setdefault(point.x or 0.0, []).append(got(point))
    return {asked: statistics.median(shares) for asked, shares in found.items()}


def columns_of(curves: Sequence[Curve], left: int | None) -> list[Column]:
    """A row for each curve; `left`: the cores that are left without the loaded ones."""
    at = [{each.x or 0.0: each for each in curve.points[1:]} for curve in curves]
    columns = [
        Column("system", [curve.system for curve in curves], "left"),
        Column("alone", [duration(alone(curve)) for curve in curves]),
    ]
    for asked, share in list(shares_got(curves).items())[1:]:
        points = [own.get(asked) for own in at]
        lost = f"{percent(share)} lost"
        columns += [
            Column(f"x alone,\n{lost}", [_slowdown_text(each) for each in points]),
            Column(f"x ideal,\n{lost}", [_slowdown_text(each, ideal) for each in points], priority=1),
        ]
    if left:
        cores = f"{left} core{'s' * (left != 1)}"
        columns += [
            Column(f"x alone,\non {cores}", [_slowdown_text(curve.left) for curve in curves]),
            Column("break-even", [break_even_text(curve) for curve in curves]),
        ]
    return columns


def _slowdown_text(point: Row | None, by: Callable[[Row], float] = lambda _: 1.0) -> str:
    """Divided `by` another, and without an interval where it is exact."""
    ratio = scaled(point.value, 1 / by(point)) if point and point.value else None
    return digits(ratio.value) if ratio and ratio.low == ratio.high else ratio_text(ratio)


def too_short(curves: Sequence[Curve], period: float, otherwise: str) -> list[str]:
    """A note if runs without a load are short beside its period; `otherwise` are the ways out."""
    shortest = min(map(alone, curves), default=math.inf)
    if shortest > (_PERIODS - 0.5) * period:
        return []
    return [
        f"runs of {duration(shortest)} are short beside a period of {duration(period)}: each meets another part of it; "
        f"{otherwise}"
    ]


def chart(title: str, footer: str, curves: Sequence[Curve]) -> Picture:
    """Slowdown against the share, at the shares that the load got in the median."""
    shares = shares_got(curves)
    best = Variant("", "ideal", "", SOFT, DASHED)
    rows, bare = [], []
    for asked, share in shares.items():
        points = [each for curve in curves for each in curve.points if (each.x or 0.0) == asked]
        rows += [replace(each, x=share, unit="×") for each in points]
        bare.append(replace(points[0], variant=best, x=share, value=exactly(statistics.median(map(ideal, points)))))
    for each in (curve.left for curve in curves if curve.left):
        dotted = replace(each.variant, id=f"{each.id} without", variant_index=DOTTED)
        bare += [replace(each, variant=dotted, x=share) for share in shares.values()]
    is_measured = any(at.value and at.value.low != at.value.high for curve in curves for at in curve.points)
    intervals = ", with 95 % intervals" if is_measured else ""
    meaning = (
        f"Time divided by the own time alone{intervals}; smaller is better. Dotted: without the loaded cores. "
        "Where a curve crosses its dotted line, leaving becomes better than sharing."
    )
    details = {each.variant.id: f"break-even {break_even_text(each)}" if each.left else "" for each in curves}
    return values_chart(
        rows,
        {share: percent(share) for share in shares.values()},
        "share of each loaded core that the load got",
        Head(title, [meaning], footer),
        details=details | {best.id: "all that is left is used"},
        bare=bare,
    )


def break_even_text(curve: Curve) -> str:
    """`43 % (38 % – 47 %)`; beyond what was measured `> 90 %`."""
    even = curve.break_even
    if even is None:
        return "-"
    most = f"> {percent(got(curve.points[-1]))}"
    if not curve.is_told:
        return f"{most if even.value is None else percent(even.value)} ?"
    if even.value is None:
        return most if even.low is None else f"{most} (or from {percent(even.low)})"
    if even.low == even.high:  # exact
        return percent(even.value)
    low = "?" if even.low is None else percent(even.low)
    return f"{percent(even.value)} ({low} – {most if even.high is None else percent(even.high)})"


@dataclass(frozen=True, slots=True)
class Measured:
    """The curves of one case of a sitting, and the cores of the sitting. `shares`: of the load, rising."""

    name: str
    curves: Sequence[Curve]
    shares: Sequence[_Share]
    cores: Cores


def predict(
    work: Work, policy: Policy, cores: Cores, shares: Sequence[_Share], look: Callable[[], None], colour: int = 0
) -> Curve:
    """The policy's curve: exact values, at the shares that the load got. It calls `look` before each simulation."""

    def seconds(of: Cores) -> float:
        look()
        return simulate(work, policy, of).seconds

    alone = seconds(Cores(cores.number))
    variant = Variant(policy.name, policy.title, "", _COLOURS[colour], colour)
    case = Case(name="simulation", flags="", workers=cores.number)
    bare = row_of("simulation", variant, case, "slowdown")

    def row(taken: float, asked: float | None, share: float) -> Row:
        ideal = ideal_slowdown(cores.number, cores.loaded, share)
        facts = {"share_got": share, "ideal_slowdown": ideal, "seconds": taken}
        return replace(bare, value=exactly(taken / alone), unit="1", x=asked, facts=facts)

    points = [row(alone, 0.0, 0.0)]
    points += [row(seconds(replace(cores, share=share)), asked, share) for asked, share in shares]
    left = cores.number - cores.loaded
    return Curve(variant, "simulation", points, row(seconds(Cores(left)), None, 0.0) if left else None)


def compared(measured: Measured | None, found: Sequence[Curve]) -> Iterator[dict[str, Any]]:
    """For each measured curve and each predicted one: the ratios of predicted to measured slowdowns."""
    for curve in measured.curves if measured else ():
        for each in found:
            predicted = {point.x: point.value.value for point in each.points if point.value}
            yield {
                "policy": each.variant.id,
                "system_id": curve.variant.id,
                "case": curve.case,
                "points": [
                    {"share_asked": point.x, "predicted_to_measured": predicted[point.x] / point.value.value}
                    for point in curve.points[1:]
                    if point.value
                ],
            }


def columns_beside(measured: Measured, rows: Sequence[dict[str, Any]]) -> list[Column]:
    """A row for each measured curve and each predicted one."""
    at = [{point["share_asked"]: point["predicted_to_measured"] for point in row["points"]} for row in rows]
    columns = [Column(title, [row[key] for row in rows], "left") for title, key in _WHO.items()]
    for asked, share in measured.shares:
        off = [f"{100 * (own[asked] - 1):+.0f} %" if asked in own else "-" for own in at]
        columns.append(Column(f"{percent(share)} lost", off))
    return columns
