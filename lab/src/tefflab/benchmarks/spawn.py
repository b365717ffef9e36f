"""Spawned tasks: the cost of a task in a row, in a loop, in Fibonacci, in an unbalanced tree (SAND2012-10594).

Figure 5.1 of the report sets the runtimes' performance against each other as High and Low. Here *High* is a time of at
most twice the first system's, *Low* a longer one. If the ratio's interval holds 2 it is undecided, and the ratio's side
stands with a question mark.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from rich.text import Text

from tefflab.analysis.rows import Row
from tefflab.benchmarks.benchmark import Option
from tefflab.benchmarks.case_rows import Fact
from tefflab.benchmarks.cases import CaseBenchmark, CaseEstimates
from tefflab.output.quantities import duration
from tefflab.output.sections import Section
from tefflab.output.table import Column
from tefflab.records.record import Record

HIGH = 2.0  # times the first system's time
_MIB = 1 << 20


class SpawnRecord(Record):
    """One run of one pattern."""

    schema = "spawn"

    def fault(self) -> str:
        if self.get("validation", "found") != self.get("validation", "expected"):
            return "validation did not pass"
        return "" if self.get("tasks") and self.elapsed_seconds else "there was no task or no time"


class SpawnEstimates(CaseEstimates):
    def objects(self) -> Iterator[dict[str, Any]]:
        """Each with High or Low, where that is known."""
        for row, told in zip(self.rows, super().objects(), strict=True):
            yield told | {"performance": performance(row).removeprefix("?") or None}

    def sections(self) -> Sequence[Section]:
        is_compared = len({row.id for row in self.rows if row.competes}) > 1
        return [*super().sections(), *([matrix(self.rows)] if is_compared else [])]

    def notes(self, rows: Sequence[Row], how: str = "") -> list[str]:
        nodes = [seconds for row in rows if (seconds := row.facts["generator_seconds"]) is not None]
        alone = [f"the generator alone, on one core: {duration(min(nodes))} a node"] if nodes else []
        return [*super().notes(rows, how), *alone]


def mebibytes(count: float) -> str:
    return f"{count / _MIB:.1f}"


class Spawn(CaseBenchmark[SpawnRecord]):
    name = "spawn"
    runs_beside_load = True
    measured = "spawn patterns"
    row_word = "pattern"
    record = SpawnRecord
    estimates_type = SpawnEstimates
    quantity = "a task"
    meaning = "Wall time / tasks against the workers, with 95 % intervals; smaller is better."
    title = "What a spawned task costs"
    help = "Measure what spawning a task costs: in a row, in a loop, in Fibonacci, in an unbalanced tree."
    example = "teff measure spawn --workers 1,2 --minutes 2"
    options = (*CaseBenchmark.options, Option("--patterns", now="--cases", into="cases"))
    lesson = "a task's time is what spawning it costs: work that takes no longer is better done without a task"
    facts = (
        Fact("peak_rss_bytes", "RSS,\nMiB", mebibytes, whole=True),
        Fact("peak_rss_above_empty_bytes", "above\nempty", mebibytes, whole=True),
        Fact("generator_seconds"),  # of one node, where a tree was searched
    )

    def value(self, record: SpawnRecord) -> float:
        """Wall time / tasks [s]: the runtime's inverse rate, with all its workers. RecordError for a failed record."""
        return float(record.wall_seconds / (record.get("tasks") or record.has_no_numbers()))


def matrix(rows: Sequence[Row]) -> Section:
    """Figure 5.1: a row a system, a column a pattern; in it a word for each number of workers."""
    patterns = list(dict.fromkeys(row.case for row in rows))
    workers = sorted({row.workers for row in rows})
    counts = " and ".join(map(str, workers))
    known = {(row.id, row.case, row.workers): performance(row) or "-" for row in rows}
    ids = list(dict.fromkeys(row.id for row in rows if row.competes))

    def cell(id_: str, pattern: str) -> Text:
        words = [known.get((id_, pattern, count), "-") for count in workers]
        return Text(" ").join(Text(f"{word:5}", "green" if word == "High" else "") for word in words)

    columns = [Column(pattern, [cell(id_, pattern) for id_ in ids], "left") for pattern in patterns]
    title = f"High and Low, with {counts} worker{'s' * (workers != [1])}"
    told = f"High: at most {HIGH:g} times the first system's time; Low: more. ?: not known yet"
    return Section(title, [Column("system", ids, "left"), *columns], [told])


def performance(row: Row) -> str:
    """High or Low, with `?` where the interval holds the limit; `?` alone after too few rounds, empty after none."""
    if row.ratio is None or not row.competes:
        return ""
    if row.verdict == "unknown" or not row.is_told:
        return "?"
    decided = row.ratio.high <= HIGH or row.ratio.low > HIGH
    return ("High" if row.ratio.value <= HIGH else "Low") + ("" if decided else "?")


BENCHMARK = Spawn()
