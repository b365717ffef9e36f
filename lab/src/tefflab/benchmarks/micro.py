"""The micro-benchmarks of Cambier, Qian and Darve: the cost of a task without dependences and with some of them. Also
the share of the cores' time that is left to tasks of a given length.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from tefflab.analysis.rows import Row
from tefflab.analysis.statistics import Interval
from tefflab.benchmarks.case_rows import Fact
from tefflab.benchmarks.compared import ComparedBenchmark, ComparedEstimates, Group, head
from tefflab.output.charts.lines import values_chart
from tefflab.output.charts.sheet import Head, Picture, slug
from tefflab.output.quantities import percent, time_tick
from tefflab.output.table import Column
from tefflab.records.plan import Variant
from tefflab.records.record import Checked

_EFFICIENCY, _SPIN, _DEPENDENCES = "efficiency", "spin_seconds", "dependences"
_EFFICIENT = "Share of the workers' time in which tasks spin, with 95 % intervals; larger is better."


class MicroRecord(Checked):
    """One run of a grid of tasks."""

    schema = "micro"


class MicroEstimates(ComparedEstimates):
    """Times and efficiencies for each number of workers; pictures of ratios, and of efficiency against the task."""

    def tables_of(self, group: Group, to: Variant) -> Iterator[tuple[str, list[Column]]]:
        spinning = [case for case, own in group.rows.items() if _spins(own.values())]
        empty = [case for case in group.rows if case not in spinning]
        place = f"{self.plan.title}, {self.place(group)}"
        if empty:
            title = f"{place}: an empty task of {to.id}, and of the others divided by it"
            yield title, self.ratios_of(group, empty, to)
        if spinning:
            yield f"{place}: efficiency of tasks that spin", self._efficiencies(group, spinning, to)

    def ratio_rows(self, group: Group, to: Variant) -> dict[str, list[Row]]:
        return {
            case: own for case, own in super().ratio_rows(group, to).items() if not _spins(group.rows[case].values())
        }

    def pictures(self) -> Iterator[tuple[str, Picture]]:
        yield from super().pictures()
        for group in self.measured if self.measure else ():
            place = self.place(group)
            for dependences, rows in sorted(_by_dependences(group).items()):
                each = f"{dependences} dependence{'s' * (dependences > 1)} a task" if dependences else "no dependences"
                lengths = {x: time_tick(x) for x in sorted({row.x for row in rows if row.x})}
                head = Head(f"{self.plan.title}, {place}: {each}", [_EFFICIENT], self.foot(self.rows))
                chart = values_chart(rows, lengths, "time of a task without the system", head)
                yield slug(f"{self.stem} {place} {dependences}"), chart

    def _efficiencies(self, group: Group, cases: Sequence[str], to: Variant) -> list[Column]:
        columns = [Column(self.kind.row_word, list(cases), "left")]
        for each in (to, *self.others(group, to)):
            rows = [group.rows[case].get(each.id) for case in cases]
            shares = [row.facts[_EFFICIENCY] if row else None for row in rows]
            columns.append(Column(head(each), ["-" if share is None else percent(share) for share in shares]))
        return columns


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
        Fact(_SPIN, read=lambda record: record.get("parameters", "spin_seconds")),
        Fact(_DEPENDENCES, read=lambda record: record.get("parameters", "dependences"), whole=True),
    )

    def value(self, record: MicroRecord) -> float:
        """Of a worker, a task."""
        return float(record.wall_seconds * record.workers / (record.get("tasks") or record.has_no_numbers()))


def _spins(rows: Iterable[Row]) -> bool:
    return any(row.facts[_EFFICIENCY] is not None for row in rows)


def _by_dependences(group: Group) -> dict[int, list[Row]]:
    """Each system's efficiency, as uncertain as the time, with the length of a task as its `x`."""
    found: dict[int, list[Row]] = {}
    for own in group.rows.values():
        for row in own.values():
            share, spin, dependences = (row.facts[each] for each in (_EFFICIENCY, _SPIN, _DEPENDENCES))
            if share and spin and dependences is not None and row.value:
                low, high = (
                    share * row.value.value / end if end else math.inf for end in (row.value.high, row.value.low)
                )
                efficiency = replace(row, x=spin, value=Interval(share, low, high), unit="1")
                found.setdefault(int(dependences), []).append(efficiency)
    return found


BENCHMARK = Micro()
