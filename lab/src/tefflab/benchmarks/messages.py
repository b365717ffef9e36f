"""Messages between two ranks of one node: latency and bandwidth by size, rate by window, and a chain of tasks that
alternates between the ranks. Also the CPU time of waiting ranks.

One system is the measure, the system of plain message passing: the times of the others are divided by its times, round
by round.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tefflab.analysis.rows import Row
from tefflab.benchmarks.benchmark import Request
from tefflab.benchmarks.case_rows import Fact
from tefflab.benchmarks.compared import ComparedBenchmark, ComparedEstimates, ComparedPlan, Group, head
from tefflab.errors import InputError
from tefflab.output.quantities import duration, percent, rate
from tefflab.output.table import Column
from tefflab.records.plan import Variant
from tefflab.records.record import Record

RANKS = 2
_MEASURE = "message passing"  # the paradigm of the system that is the measure
_BYTES = "bytes_per_second"
_MESSAGES = "messages_per_second"


class MessagesRecord(Record):
    """One run. `seconds` is of one message or dependence; of ranks that wait, their CPU time in ten seconds."""

    schema = "messages"

    def fault(self) -> str:
        fine = all(each["checksum"] == each["expected"] for each in self.get("validation", "ranks"))
        return "" if fine else "not all that was sent arrived"


class MessagesEstimates(ComparedEstimates):
    """One table and one picture."""

    tells_workers = False  # all have two ranks

    def tables_of(self, group: Group, to: Variant) -> Iterator[tuple[str, list[Column]]]:
        cases, *ratios = self.ratios_of(group, list(group.rows), to)
        columns = [cases]
        for each, compared in zip((to, *self.others(group, to)), ratios, strict=True):
            rows = [own.get(each.id) for own in group.rows.values()]
            columns.append(Column(head(each), [_time_text(row) for row in rows]))
            columns.append(Column("rate", [_rate_text(row) for row in rows], priority=2 if each is to else 1))
            columns += [] if each is to else [replace(compared, title=f"/ {to.id}")]
        yield f"{self.plan.title}: times, and those of the others divided by {to.id}'s", columns

    def ratio_rows(self, group: Group, to: Variant) -> dict[str, list[Row]]:
        """Without the cases whose times are no message's: ranks wait in them."""
        every = [(case.name, self.runs(each, case)) for case in self.plan.cases for each in self.plan.variants]
        idle = {case for case, runs in every if any(run.record.get("parameters", "idle_seconds") for run in runs)}
        return {case: own for case, own in super().ratio_rows(group, to).items() if case not in idle}

    def remarks(self) -> list[str]:
        """First the titles of cases whose names are no lengths of messages, for one case of each group."""
        told = []
        for group in self.measured:
            titles: dict[str, str] = {}
            for case in self.plan.cases:
                own = group.rows.get(case.name, {})
                if case.title and own and all(row.facts[_BYTES] is None for row in own.values()):
                    titles[case.group or case.name] = f"{case.name}: {case.title}"
            told += ["; ".join(titles.values())] if titles else []
        return [*told, *super().remarks()]


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
    lesson = "a message's time is what a dependence between two ranks costs: shorter tasks are better kept on one"
    facts = (
        Fact(_BYTES, read=lambda record: record.get("parameters", "bytes"), over_time=True),
        Fact(_MESSAGES, read=lambda record: 1 if record.get("parameters", "window") else None, over_time=True),
    )

    def usual_workers(self, cores: int) -> Sequence[int]:
        del cores
        return (RANKS,)

    def value(self, record: MessagesRecord) -> float:
        return float(record.get("seconds") or record.has_no_numbers())

    def plan(self, request: Request, title: str, workers: Sequence[int] = ()) -> ComparedPlan:
        asked = super().plan(request, title, workers)
        if not asked.cases:
            raise InputError("messages go between two ranks: leave out --workers, or say 2")
        return asked


def _time_text(row: Row | None) -> str:
    if row is None or row.value is None:
        return "-"
    half = row.value.relative_half_width
    return f"{duration(row.value.value)} " + (f"± {percent(half)}" if half <= 1 else "?")


def _rate_text(row: Row | None) -> str:
    facts = row.facts if row else {}
    if (bytes_ := facts.get(_BYTES)) is not None:
        return rate(bytes_, "B/s")
    return "" if (messages := facts.get(_MESSAGES)) is None else rate(messages, "/s")


BENCHMARK = Messages()
