"""The micro-benchmarks of Cambier, Qian and Darve: the cost of a task by its dependences, and the share of the cores'
time that is left to tasks of a given length."""

import math
from collections.abc import Iterator
from dataclasses import replace

from tefflab.analysis.rows import Row
from tefflab.analysis.statistics import Interval
from tefflab.benchmarks.case_rows import Fact
from tefflab.benchmarks.compared import ComparedBenchmark, ComparedEstimates, Group, head
from tefflab.output.charts.lines import values_chart
from tefflab.output.charts.sheet import Head, Picture, slug
from tefflab.output.quantities import brief, duration, percent
from tefflab.output.table import Column
from tefflab.records.record import Checked

_EFFICIENCY, _SPIN, _DEPENDENCES = "efficiency", "spin_seconds", "dependences"
_EFFICIENT = "Share of the workers' time in which tasks spin, with 95 % intervals; larger is better."


class MicroRecord(Checked):
    """One run of a grid of tasks."""

    schema = "micro"


class MicroEstimates(ComparedEstimates):
    """Times and efficiencies for each number of workers; pictures of ratios, and of efficiency against the task."""

    def tables_of(self, group: Group) -> Iterator[tuple[str, list[Column]]]:
        spinning = [case for case in group.rows if _spins(group, case)]
        empty = [case for case in group.rows if case not in spinning]
        place = f"{self.plan.title}, {self.place(group)}"
        if empty:
            title = f"{place}: an empty task of {group.to.id}, and of the others divided by it"
            yield title, self.ratios_of(group, empty)
        if spinning:
            columns = [Column(self.kind.row_word, spinning, "left")]
            for each in (group.to, *group.others):
                rows = [group.rows[case].get(each.id) for case in spinning]
                shares = [row.facts[_EFFICIENCY] if row else None for row in rows]
                columns.append(Column(head(each), ["-" if share is None else percent(share) for share in shares]))
            yield f"{place}: efficiency of tasks that spin", columns

    def ratio_rows(self, group: Group) -> dict[str, list[Row]]:
        return {case: own for case, own in super().ratio_rows(group).items() if not _spins(group, case)}

    def pictures(self) -> Iterator[tuple[str, Picture]]:
        yield from super().pictures()
        for group in self.measured:
            place = self.place(group)
            found: dict[tuple[str, int], list[Row]] = {}
            for row in (row for own in group.rows.values() for row in own.values()):
                share, spin, number = (row.facts[each] for each in (_EFFICIENCY, _SPIN, _DEPENDENCES))
                if share and spin and number is not None and row.value:  # it is as uncertain as the time
                    low, high = (
                        share * row.value.value / end if end else math.inf for end in (row.value.high, row.value.low)
                    )
                    efficiency = replace(row, x=spin, value=Interval(share, low, high), unit="1")
                    found.setdefault((row.group, int(number)), []).append(efficiency)
            for (kind, dependences), rows in sorted(found.items()):
                each = f"{dependences} dependence{'s' * (dependences > 1)} a task" if dependences else "no dependences"
                lengths = {x: brief(duration(x)) for x in sorted({row.x for row in rows if row.x})}
                head = Head(f"{self.plan.title}, {place}: {kind}, {each}", [_EFFICIENT], self.foot(self.rows))
                chart = values_chart(rows, lengths, "time of a task without the system", head)
                yield slug(f"{self.stem} {place} {kind} {dependences}"), chart


class Micro(ComparedBenchmark[MicroRecord]):
    name = "micro"
    measured = "micro-benchmarks"
    record = MicroRecord
    estimates_type = MicroEstimates
    quantity = "a task"
    meaning = "Time x workers / tasks, divided by that of one system, with 95 % intervals; smaller is better."
    title = "Micro-benchmarks"
    help = "Measure micro-benchmarks: the cost of a task, with up to ten dependences."
    example = "teff measure micro --cases empty-tasks --workers 2"
    lesson = "an empty task's time is what the system takes of a worker for each task, however short that is"
    facts = (
        Fact(_EFFICIENCY, read=lambda record: record.get("parameters", "spin_seconds") or None, over_time=True),
        Fact(_SPIN, read="parameters.spin_seconds"),
        Fact(_DEPENDENCES, read="parameters.dependences", whole=True),
    )

    def value(self, record: MicroRecord) -> float:
        """Of a worker, a task."""
        return float(record.wall_seconds * record.workers / (record.get("tasks") or record.has_no_numbers()))


def _spins(group: Group, case: str) -> bool:
    return any(row.facts[_EFFICIENCY] is not None for row in group.rows[case].values())


BENCHMARK = Micro()
