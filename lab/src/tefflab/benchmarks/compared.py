"""Kinds of benchmark that compare all systems with one of them, the measure: its times divide the times of the others.

A kind that derives from this gives the columns of its tables, and the cases of which ratios are drawn.
"""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from matplotlib.figure import Figure

from tefflab.analysis.comparison import ByRound
from tefflab.analysis.results import CaseRow
from tefflab.analysis.statistics import Interval, geometric_mean
from tefflab.benchmarks.benchmark import Option, Request
from tefflab.benchmarks.case_rows import noise_of
from tefflab.benchmarks.cases import CaseBenchmark, CaseEstimates
from tefflab.errors import InputError
from tefflab.output.plots.ratios import RatioRow, ratios_chart
from tefflab.output.plots.sheet import slug
from tefflab.output.quantities import digits, duration, percent
from tefflab.output.table import Column
from tefflab.records.plan import Plan, Variant, counted_workers
from tefflab.records.record import AnyRecord
from tefflab.systems.naming import canonical, parsed

_NAMED = 3  # of the cases that a note is about


class ComparedPlan(Plan):
    against: str = ""  # the id of the system that is the measure; empty: the quickest of those with most cases


@dataclass(frozen=True)
class Group:
    """All cases with one number of workers: for each the rows and rounds of its systems, by their ids."""

    workers: int
    rows: Mapping[str, Mapping[str, CaseRow]]  # of those that were measured, by case
    rounds: Mapping[tuple[str, str], ByRound]  # by case and system

    def ratios(self, case: str, to: str) -> dict[str, Interval]:
        """The times of the other systems divided by the time of the system `to`; empty if that has none."""
        if to not in self.rows[case]:
            return {}
        one = self.rounds[case, to]
        others = {id_: self.rounds[case, id_] for id_ in self.rows[case] if id_ != to}
        return {
            id_: each.over(one).after(min(each.number_of_rounds(), one.number_of_rounds()))
            for id_, each in others.items()
        }


class ComparedEstimates(CaseEstimates):
    """Tables, and a picture of ratios, for each number of workers."""

    @abstractmethod
    def tables_of(self, group: Group, to: Variant) -> Iterator[tuple[str, list[Column]]]:
        """Each with its title; `to` is the measure."""

    def drawn(self, group: Group, to: Variant) -> Sequence[RatioRow]:
        """The rows of the picture of ratios."""
        return [RatioRow(case, group.ratios(case, to.id)) for case in group.rows]

    def others(self, group: Group, to: Variant) -> list[Variant]:
        """The variants that have a ratio, in the order of the plan."""
        seen = {id_ for case in group.rows for id_ in group.ratios(case, to.id)}
        return [each for each in self.plan.variants if each.id in seen]

    def further_pictures(self, group: Group) -> Iterator[tuple[str, Figure]]:
        """Beside the ratios."""
        del group
        yield from ()

    def remarks(self) -> list[str]:
        """Below the last table."""
        return notes_of(self.rows)

    def place(self, group: Group) -> str:
        """The words in titles that tell two groups apart."""
        return counted_workers(group.workers)

    @cached_property
    def measured(self) -> Sequence[Group]:
        rounds: dict[tuple[int, str, str], ByRound] = {}
        rows: dict[int, dict[str, dict[str, CaseRow]]] = {}
        for side in self.sides():
            row = side.row
            if isinstance(row, CaseRow) and isinstance(side.quantity, ByRound):
                rounds[row.workers, row.case, row.variant.id] = side.quantity
                rows.setdefault(row.workers, {}).setdefault(row.case, {})[row.variant.id] = row
        return [
            Group(count, rows[count], {(case, id_): each for (own, case, id_), each in rounds.items() if own == count})
            for count in sorted(rows)
        ]

    @cached_property
    def measure(self) -> Variant | None:
        """The system that is the measure: the requested one. By default it is one of the systems with most cases, since
        a row that the measure lacks has no ratios. Of these it has the smallest mean ratio to the first systems."""
        plan = self.plan
        asked = plan.against if isinstance(plan, ComparedPlan) else ""
        ratios: dict[str, list[Interval]] = {}
        for row in self.rows:
            if row.ratio and (row.variant.id == asked if asked else row.verdict != "floor"):
                ratios.setdefault(row.variant.id, []).append(row.ratio)
        most = max(map(len, ratios.values()), default=0)
        means = {id_: geometric_mean(own).value for id_, own in ratios.items() if len(own) == most}
        best = min(means, key=lambda id_: means[id_], default=None)
        return next((each for each in plan.variants if each.id == best), None)

    def printed(self) -> Iterator[tuple[str, list[Column], list[str]]]:
        to = self.measure
        *tables, last = [table for group in self.measured if to for table in self.tables_of(group, to)] or [
            (self.plan.title, [])
        ]
        for title, columns in tables:
            yield title, columns, []
        yield *last, self.remarks()

    def pictures(self) -> Iterator[tuple[str, Figure]]:
        if (to := self.measure) is None:
            return
        for group in self.measured:
            rows, others = self.drawn(group, to), self.others(group, to)
            if rows and others:
                place = self.place(group)
                title = f"{self.plan.title}, {place}" if place else self.plan.title
                figure = ratios_chart(rows, to, others, title, self.kind.meaning, self.foot(self.rows))
                yield slug(f"{self.stem} {place}".strip()), figure
            yield from self.further_pictures(group)


class ComparedBenchmark(CaseBenchmark[AnyRecord]):
    """A kind whose command has --against."""

    plan_type = ComparedPlan
    paradigm: ClassVar[str] = ""  # the measure is a system of this paradigm, if the user names none

    @property
    def case_options(self) -> Sequence[Option]:
        return (*super().case_options, Option("--against"))

    def plan(self, request: Request, title: str, workers: Sequence[int] = ()) -> ComparedPlan:
        asked = super().plan(request, title, workers)
        return ComparedPlan(**dict(asked), against=self.against(request))

    def against(self, request: Request) -> str:
        """The id of the system that is the measure: the requested one, else the first of the paradigm. It is empty for
        the quickest. TeffError for a system that is not measured, and for the floor."""
        asked = canonical(str(request.own.get("against", "")))
        known = [each.id for each in request.variants if not each.is_floor]
        if asked and asked not in known:
            is_floor = any(each.id == asked for each in request.variants)
            why = (
                "is the floor, of one worker and without tasks: no measure of others" if is_floor else "is not measured"
            )
            raise InputError(f"{asked!r} {why}; there are: {' '.join(known)}")
        of_paradigm = {each.name for each in request.registry.systems if each.paradigm == self.paradigm}
        return asked or next((id_ for id_ in known if parsed(id_).system in of_paradigm), "")


def head(variant: Variant) -> str:
    """The title of its column, in two lines where it is a way of its system."""
    return variant.id.replace("/", "/\n")


def ratio_text(ratio: Interval | None) -> str:
    """`1.71 ± 2 %`; with a question mark where nothing is known of the interval."""
    if ratio is None:
        return "-"
    half = ratio.relative_half_width
    return f"{digits(ratio.value)} ?" if half > 1 else f"{digits(ratio.value)} ± {percent(half)}"


def notes_of(rows: Sequence[CaseRow]) -> list[str]:
    """The variants that could not be measured, with the reason and, if not everywhere, the places. Variants with the
    same reason and places share a line. Then the precision."""
    places: dict[tuple[str, str], list[CaseRow]] = {}
    for row in rows:
        if row.note:
            places.setdefault((row.variant.id, row.note), []).append(row)
    together: dict[tuple[str, str], list[str]] = {}
    for (id_, note), own in places.items():
        together.setdefault((note, _place(own, rows)), []).append(id_)
    lines = [f"{', '.join(ids)}: {note}{place}" for (note, place), ids in together.items()]
    if measured := [row for row in rows if row.value]:
        rounds = min(row.rounds for row in measured)
        lines.append(f"{rounds} round{'s' * (rounds != 1)}; {noise_of(rows)}")
    return lines


def _place(some: Sequence[CaseRow], rows: Sequence[CaseRow]) -> str:
    """` (CASES)`, ` (with 2 workers)`, or both; nothing where these are all there are."""
    cases, workers = dict.fromkeys(row.case for row in some), {row.workers for row in some}
    told = [some_of(list(cases))] if len(cases) < len({row.case for row in rows}) else []
    if workers != {row.workers for row in rows}:
        told.append(f"with {' and '.join(map(str, sorted(workers)))} worker{'s' * (workers != {1})}")
    return f" ({'; '.join(told)})" if told else ""


def some_of(cases: Sequence[str]) -> str:
    """Their names, or of many the first ones: the tables show which there are."""
    named = cases if len(cases) <= _NAMED + 1 else cases[:_NAMED]
    others = len(cases) - len(named)
    return "; ".join(named) + (f"; {others} others" if others else "")


def time_text(row: CaseRow | None) -> str:
    """A row's value; `-` where there is none."""
    return duration(row.value.value) if row and row.value else "-"
