"""Kinds of benchmark that compare all systems with one system, the measure: its times divide the others' times."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

from tefflab.analysis.rows import Row
from tefflab.analysis.statistics import Interval, geometric_mean
from tefflab.benchmarks.benchmark import Option, Request
from tefflab.benchmarks.case_rows import MUCH, ratio
from tefflab.benchmarks.cases import CaseBenchmark, CaseEstimates
from tefflab.errors import InputError
from tefflab.output.charts.rows import rows_chart
from tefflab.output.charts.sheet import Head, Picture, slug
from tefflab.output.quantities import digits, percent, value_text
from tefflab.output.sections import Section, explained
from tefflab.output.table import Column
from tefflab.records.plan import Plan, Variant, counted_nodes, counted_workers
from tefflab.records.record import AnyRecord
from tefflab.systems.naming import canonical, parsed


class ComparedPlan(Plan):
    against: str = ""  # the id of the system that is the measure; empty: the quickest of those with most cases


@dataclass(frozen=True)
class Group:
    """All cases with one number of nodes and of workers. By case and by a system's id it has the rows with a value, and
    the times of the `others` divided by the time of the system `to`. The geometric means stand there as a case."""

    nodes: int | None
    workers: int
    to: Variant
    rows: Mapping[str, Mapping[str, Row]]
    ratios: Mapping[str, Mapping[str, Interval]]
    others: Sequence[Variant]  # in the order of the plan; the quickest first where there are means


class ComparedEstimates(CaseEstimates):
    """Tables, and a picture of ratios, for each number of workers."""

    plan: ComparedPlan
    kind: "ComparedBenchmark[Any]"
    tells_workers: ClassVar[bool] = True  # in titles, for they tell two groups apart

    def tables_of(self, group: Group) -> Iterator[tuple[str, list[Column]]]:
        """Each with its title."""
        title = f"{self.plan.title}, {self.place(group)}: time of {group.to.id}, and of the others divided by it"
        yield title, self.ratios_of(group, list(group.ratios))

    def ratios_of(self, group: Group, cases: Sequence[str]) -> list[Column]:
        """A row a case, with the measure's time and the others' ratios to it."""
        times = [value_text(group.rows[case].get(group.to.id)) if case in group.rows else "" for case in cases]
        columns = [Column(self.kind.row_word, list(cases), "left"), Column(head(group.to), times)]
        for each in group.others:
            columns.append(Column(head(each), [ratio_text(group.ratios[case].get(each.id)) for case in cases]))
        return columns

    def ratio_rows(self, group: Group) -> dict[str, list[Row]]:
        """The rows of the picture of ratios, by their cases; and of their means."""
        one = {row.id: row for own in group.rows.values() for row in own.values()}
        return {
            case: [
                replace(one[each.id], case=case, quantity=f"/ {group.to.title}", value=own[each.id], unit="1")
                for each in group.others
                if each.id in own
            ]
            for case, own in group.ratios.items()
        }

    def remarks(self) -> list[str]:
        """Below the last table."""
        has_all = not self.kind.mean or all(row.value or not row.note for row in self.rows)
        over = [] if has_all else [f"a {self.kind.mean} is over the {self.kind.measured} that both systems have"]
        return [*self.notes(self.rows), *over]

    def place(self, group: Group) -> str:
        nodes = counted_nodes(group.nodes) if group.nodes else ""
        return ", ".join(filter(None, (nodes, counted_workers(group.workers) if self.tells_workers else "")))

    @cached_property
    def measured(self) -> Sequence[Group]:
        """None without a measure, as among the floors."""
        rows: dict[tuple[int, int], dict[str, dict[str, Row]]] = {}
        for row in self.rows if self.measure else ():
            if row.value:
                rows.setdefault((row.nodes or 0, row.workers), {}).setdefault(row.case, {})[row.id] = row
        return [self._group(self.measure, *place, rows[place]) for place in sorted(rows) if self.measure]

    def _group(self, to: Variant, nodes: int, workers: int, rows: Mapping[str, Mapping[str, Row]]) -> Group:
        mean, ratios = self.kind.mean, {}
        for case, own in rows.items():
            known = {id_: ratio(row, own[to.id]) for id_, row in own.items() if id_ != to.id and to.id in own}
            ratios[case] = {id_: each for id_, each in known.items() if each}
        others = [each for each in self.plan.variants if any(each.id in own for own in ratios.values())]
        if mean:
            every = {each.id: [own[each.id] for own in ratios.values() if each.id in own] for each in others}
            ratios[mean] = {id_: geometric_mean(own) for id_, own in every.items()}
            others.sort(key=lambda each: ratios[mean][each.id].value)
        return Group(nodes or None, workers, to, rows, ratios, others)

    @cached_property
    def measure(self) -> Variant | None:
        """The requested system; else, of those with most cases, the one with the smallest mean ratio to the first
        systems."""
        asked = self.plan.against
        ratios: dict[str, list[Interval]] = {}
        for row in self.rows:
            if row.ratio and (row.id == asked if asked else row.competes):
                ratios.setdefault(row.id, []).append(row.ratio)
        most = max(map(len, ratios.values()), default=0)
        means = {id_: geometric_mean(own).value for id_, own in ratios.items() if len(own) == most}
        best = min(means, key=lambda id_: means[id_], default=None)
        return next((each for each in self.plan.variants if each.id == best), None)

    def sections(self) -> Sequence[Section]:
        tables = [table for group in self.measured for table in self.tables_of(group)]
        if not tables:
            return super().sections()
        *before, last = tables
        return explained([*(Section(*table) for table in before), Section(*last, self.remarks())])

    def pictures(self) -> Iterator[tuple[str, Picture]]:
        for group in self.measured:
            if any((lines := self.ratio_rows(group)).values()):
                place = self.place(group)
                title = ", ".join(filter(None, (self.plan.title, place)))
                axis = f"time / that of {group.to.title} (log scale); the line is at 1"
                told = Head(title, [self.kind.meaning], self.foot(self.rows))
                yield slug(f"{self.stem} {place}"), rows_chart(lines, axis, told, rule=1.0, bold=self.kind.mean)


class ComparedBenchmark(CaseBenchmark[AnyRecord]):
    """A kind whose command has --against."""

    plan_type = ComparedPlan
    estimates_type = ComparedEstimates
    mean: ClassVar[str] = ""  # the name of a last row with the geometric means, where there is one
    options = (*CaseBenchmark.options, Option("--against"))
    paradigm: ClassVar[str] = ""  # the measure is a system of this paradigm, if the user names none

    def plan(self, request: Request, title: str, workers: Sequence[int] = ()) -> ComparedPlan:
        asked = super().plan(request, title, workers)
        against = against_of(request, str(request.own.get("against", "")), self.paradigm)
        return ComparedPlan(**dict(asked), against=against)


def against_of(request: Request, asked: str, paradigm: str = "") -> str:
    """The id of the measure: as asked, else the first of the paradigm; empty for the quickest. TeffError for the floor
    and for what is not measured."""
    asked = canonical(asked)
    known = [each.id for each in request.variants if not each.is_floor]
    if asked and asked not in known:
        is_floor = any(each.id == asked for each in request.variants)
        of_floor = "is the floor, of one worker and without tasks: no measure of others"
        why = of_floor if is_floor else "is not measured"
        raise InputError(f"{asked!r} {why}; there are: {' '.join(known)}")
    of_paradigm = {each.name for each in request.registry.systems if each.paradigm == paradigm}
    return asked or next((id_ for id_ in known if parsed(id_).system in of_paradigm), "")


def head(variant: Variant) -> str:
    """The title of its column, in two lines where it is a way of its system."""
    return variant.id.replace("/", "/\n")


def ratio_text(ratio: Interval | None, text: Callable[[float], str] = digits) -> str:
    """`1.71 ± 2 %`; with a question mark where nothing is known of the interval."""
    if ratio is None:
        return "-"
    half = ratio.relative_half_width
    return f"{text(ratio.value)} " + ("?" if half > MUCH else f"± {percent(half)}")
