"""What the runs of the spawn patterns say: time a task, memory, and who is first, level or behind.

Figure 5.1 of SAND2012-10594 sets the runtimes' performance against each other as High and Low. Here *High* is a time
of at most twice the first system's, *Low* a longer one; where the ratio's interval holds 2 it is undecided, and the
ratio's own side stands with a question mark.
"""

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from tefflab.analysis.results import Contender
from tefflab.analysis.statistics import Interval, median_interval, ratio_interval
from tefflab.records.spawn_record import SpawnRecord

HIGH = 2.0  # times the first system's time

Verdict = Literal["floor", "first", "level", "behind", "failed"]


@dataclass
class SpawnCell:
    """One system at one pattern with so many workers: its runs so far, by round."""

    contender: Contender
    is_floor: bool
    question: str
    workers: int
    failure: str = ""
    _runs: dict[int, list[SpawnRecord]] = field(default_factory=dict)

    @property
    def group(self) -> tuple[str, int]:
        return self.question, self.workers

    def add(self, turn: int, record: SpawnRecord) -> None:
        self._runs.setdefault(turn, []).append(record)

    @property
    def rounds(self) -> dict[int, list[float]]:
        """Seconds a task, by round: of the undisturbed runs where a round has some, else of all."""
        return {
            turn: [record.seconds_per_task for record in runs if not record.is_disturbed]
            or [record.seconds_per_task for record in runs]
            for turn, runs in self._runs.items()
        }

    def seconds_per_task(self) -> Interval:
        """The median over launches, each of which counts once."""
        return median_interval([statistics.median(samples) for samples in self.rounds.values()])

    @property
    def records(self) -> list[SpawnRecord]:
        return [record for runs in self._runs.values() for record in runs]

    @property
    def disturbed_share(self) -> float:
        told = [record.is_disturbed for record in self.records]
        return sum(told) / len(told) if told else 0.0


@dataclass(frozen=True, slots=True)
class SpawnRow:
    """A line of a pattern's table. Numbers are None where the system failed; `note` then says why."""

    contender: Contender
    question: str
    workers: int
    seconds_per_task: Interval | None
    ratio: Interval | None  # to the first system's time
    verdict: Verdict
    peak_rss_bytes: int | None  # the median of its runs
    peak_rss_above_empty_bytes: int | None
    generator_seconds: float | None  # of one node, where a tree was searched
    rounds: int
    disturbed_share: float
    note: str

    @property
    def place(self) -> str:
        """`serial, 2 workers`."""
        return f"{self.question}, {self.workers} worker{'s' if self.workers > 1 else ''}"

    @property
    def high(self) -> str:
        """High or Low, with a question mark where the interval holds the limit; empty where nothing is known."""
        if self.ratio is None or self.verdict == "floor":
            return ""
        decided = self.ratio.high <= HIGH or self.ratio.low > HIGH
        return ("High" if self.ratio.value <= HIGH else "Low") + ("" if decided else "?")

    def to_json(self) -> dict[str, Any]:
        contender = self.contender
        return {
            "system_id": contender.id,
            "title": contender.title,
            "version": contender.version,
            "pattern": self.question,
            "workers": self.workers,
            "seconds_per_task": _finite(self.seconds_per_task),
            "ratio_to_first": _finite(self.ratio),
            "verdict": self.verdict,
            "performance": self.high or None,
            "peak_rss_bytes": self.peak_rss_bytes,
            "peak_rss_above_empty_bytes": self.peak_rss_above_empty_bytes,
            "generator_seconds": self.generator_seconds,
            "rounds": self.rounds,
            "disturbed_share": self.disturbed_share,
            "note": self.note,
        }


def judge_spawns(cells: Sequence[SpawnCell]) -> list[SpawnRow]:
    """A row a cell: group by group in their order, in each the quickest first and those that failed last."""
    rows: list[SpawnRow] = []
    for group in dict.fromkeys(cell.group for cell in cells):
        alike = [cell for cell in cells if cell.group == group]
        measured = sorted(
            (cell for cell in alike if _is_measured(cell)), key=lambda cell: cell.seconds_per_task().value
        )
        first = next((cell for cell in measured if not cell.is_floor), None)
        rows += [_row(cell, first) for cell in measured]
        rows += [_failed(cell) for cell in alike if not _is_measured(cell)]
    return rows


def _is_measured(cell: SpawnCell) -> bool:
    """A system that failed later has shown that it can't be trusted with the pattern: it is out."""
    return bool(cell.records) and not cell.failure


def _row(cell: SpawnCell, first: SpawnCell | None) -> SpawnRow:
    records = cell.records
    ratio = None if first is None else Interval(1, 1, 1) if cell is first else ratio_interval(cell.rounds, first.rounds)
    nodes = [record.generator_seconds for record in records if record.generator_seconds is not None]
    had = {record.workers for record in records} - {cell.workers}
    return SpawnRow(
        contender=cell.contender,
        question=cell.question,
        workers=cell.workers,
        seconds_per_task=cell.seconds_per_task(),
        ratio=ratio,
        verdict=_verdict(cell, first, ratio),
        peak_rss_bytes=round(statistics.median(record.peak_rss_bytes or 0 for record in records)),
        peak_rss_above_empty_bytes=round(
            statistics.median(record.peak_rss_above_empty_bytes or 0 for record in records)
        ),
        generator_seconds=statistics.median(nodes) if nodes else None,
        rounds=len(cell.rounds),
        disturbed_share=cell.disturbed_share,
        note=f"took {had.pop()} workers" if had else "",
    )


def _verdict(cell: SpawnCell, first: SpawnCell | None, ratio: Interval | None) -> Verdict:
    if cell.is_floor or ratio is None:
        return "floor"
    if cell is first:
        return "first"
    return "behind" if ratio.significant else "level"


def _failed(cell: SpawnCell) -> SpawnRow:
    return SpawnRow(
        contender=cell.contender,
        question=cell.question,
        workers=cell.workers,
        seconds_per_task=None,
        ratio=None,
        verdict="failed",
        peak_rss_bytes=None,
        peak_rss_above_empty_bytes=None,
        generator_seconds=None,
        rounds=len(cell.rounds),
        disturbed_share=cell.disturbed_share,
        note=cell.failure or "was not reached",
    )


def _finite(interval: Interval | None) -> dict[str, float | None] | None:
    """As JSON, which has no infinity: an open end is null."""
    if interval is None:
        return None
    return {name: value if value < float("inf") else None for name, value in asdict(interval).items()}
