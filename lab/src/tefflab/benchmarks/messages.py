"""Messages between two ranks of one node: latency and bandwidth by size, rate by window, and a chain of tasks that
alternates between the ranks. Also the CPU time of waiting ranks. The measure is the system of plain message passing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar

from tefflab.analysis.rows import Row
from tefflab.benchmarks.benchmark import Request
from tefflab.benchmarks.case_rows import Fact
from tefflab.benchmarks.compared import ComparedBenchmark, ComparedEstimates, ComparedPlan, Group, head, ratio_text
from tefflab.errors import InputError
from tefflab.output.quantities import duration, rate
from tefflab.output.table import Column
from tefflab.records.record import Record

RANKS = 2
_MEASURE = "message passing"  # the paradigm of the system that is the measure
_BYTES = "bytes_per_second"


class MessagesRecord(Record):
    """One run. `seconds` is of one message or dependence; of ranks that wait, their CPU time in ten seconds."""

    schema = "messages"

    def fault(self) -> str:
        fine = all(each["checksum"] == each["expected"] for each in self.get("validation", "ranks"))
        return "" if fine else "not all that was sent arrived"


class MessagesEstimates(ComparedEstimates):
    """One table and one picture."""

    tells_workers = False  # all have two ranks

    def tables_of(self, group: Group) -> Iterator[tuple[str, list[Column]]]:
        cases, *ratios = self.ratios_of(group, list(group.rows))
        columns = [cases]
        for each, compared in zip((group.to, *group.others), ratios, strict=True):
            rows = [own.get(each.id) for own in group.rows.values()]
            shown = ([fact.shown(row) for fact in self.kind.facts if row] for row in rows)
            rates = [next(filter(None, texts), "") for texts in shown]
            columns.append(Column(head(each), [ratio_text(row.value if row else None, duration) for row in rows]))
            columns.append(Column("rate", rates, priority=2 if each is group.to else 1))
            columns += [] if each is group.to else [replace(compared, title=f"/ {group.to.id}")]
        title = ", ".join(filter(None, (self.plan.title, self.place(group))))
        yield f"{title}: times, and those of the others divided by {group.to.id}'s", columns

    def ratio_rows(self, group: Group) -> dict[str, list[Row]]:
        """Without the cases whose times are no message's: ranks wait in them."""
        every = [(case.name, self.runs(each, case)) for case in self.plan.cases for each in self.plan.variants]
        idle = {case for case, runs in every if any(run.record.get("parameters", "idle_seconds") for run in runs)}
        return {case: own for case, own in super().ratio_rows(group).items() if case not in idle}

    def remarks(self) -> list[str]:
        """First the titles of cases whose names are no lengths of messages, for one case of each group."""
        titles: dict[str, str] = {}
        for case in self.plan.cases:
            own = [row for row in self.groups[case] if row.value]
            if case.title and own and all(row.facts[_BYTES] is None for row in own):
                titles[case.group or case.name] = f"{case.name}: {case.title}"
        return [*(["; ".join(titles.values())] if titles else []), *super().remarks()]


class Messages(ComparedBenchmark[MessagesRecord]):
    name = "messages"
    measured = "messages"
    record = MessagesRecord
    estimates_type = MessagesEstimates
    paradigm = _MEASURE
    quantity = "a message"
    meaning = "Time of a message or dependence, divided by that of one system, with 95 % intervals; smaller is better."
    title = "Messages between two ranks"
    help = "Measure messages between two ranks: latency, rate, bandwidth, a chain of tasks, idle CPU."
    example = "teff measure messages --cases bandwidth"
    usual_workers = (RANKS,)
    of_command: ClassVar = {"takes_nodes": True}
    lesson = "a message's time is what a dependence between two ranks costs: shorter tasks are better kept on one"
    facts = (
        Fact(_BYTES, text=partial(rate, unit="B/s"), read="parameters.bytes", over_time=True),
        Fact(
            "messages_per_second",
            text=partial(rate, unit="/s"),
            read=lambda record: 1 if record.get("parameters", "window") else None,
            over_time=True,
        ),
    )

    def value(self, record: MessagesRecord) -> float:
        return float(record.get("seconds") or record.has_no_numbers())

    def plan(self, request: Request, title: str, workers: Sequence[int] = ()) -> ComparedPlan:
        asked = super().plan(request, title, workers)
        if not asked.cases:
            raise InputError("messages go between two ranks: leave out --workers, or say 2")
        return asked


BENCHMARK = Messages()
