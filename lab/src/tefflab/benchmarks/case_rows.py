"""The rows of a case: the median over rounds, the further numbers beside it, and each row's place among the others."""

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from tefflab.analysis.rows import Row, Verdict
from tefflab.analysis.statistics import FEWEST_ROUNDS, Interval, median_interval
from tefflab.output.quantities import digits
from tefflab.records.plan import Case, Variant
from tefflab.records.record import AnyRecord
from tefflab.records.run import Run, counted

MUCH = 1.0  # a ratio's half-width, as a share of it, beyond which it tells too little
_Value = TypeVar("_Value", float, float | None)


@dataclass(frozen=True, slots=True)
class Fact(Generic[AnyRecord]):
    """A further number of a record: its name in JSON, and its column, where it has one.

    A rate is made of the row's time, so that both agree: the median of rates need not be the rate of the median time.
    """

    key: str
    title: str = ""
    text: Callable[[float], str] = digits
    read: Callable[[AnyRecord], float | None] | str = ""  # or where the record has it; empty: by its name in JSON
    whole: bool = False  # counts are whole numbers
    over_time: bool = False  # `read` gives an amount, and the fact is that amount divided by the time of the row
    meaning: str = ""  # of the column, if its title does not say it
    stays: bool = False  # the column, where no row has the number

    def of(self, runs: Sequence[Run[AnyRecord]], time: Interval) -> float | None:
        """Of the runs that the time is of, where each round counts once, too."""
        rounds = by_round(runs, self._said if isinstance(self.read, str) else self.read)
        said = [[each for each in samples if each is not None] for samples in rounds.values()]
        middles = [statistics.median(samples) for samples in said if samples]
        if not middles:
            return None
        middle = statistics.median(middles)
        if self.over_time:
            return middle / time.value
        return round(middle) if self.whole else middle

    def _said(self, record: AnyRecord) -> float | None:
        value: float | None = record.get(*(str(self.read) or self.key).split("."))
        return value

    def shown(self, row: Row) -> str:
        """The cell of its column."""
        return "" if (seen := row.facts.get(self.key)) is None else self.text(seen)


def by_round(runs: Sequence[Run[AnyRecord]], value: Callable[[AnyRecord], _Value]) -> dict[int, list[_Value]]:
    """The values of the runs that count, by round."""
    rounds: dict[int, list[_Value]] = {}
    systems = (run for run in runs if run.role == "system")
    for run in counted(systems, lambda run: (run.round, run.flags, run.workers)):
        rounds.setdefault(run.round, []).append(value(run.record))
    return rounds


def median_of_rounds(rounds: Mapping[int, Sequence[float]]) -> Interval | None:
    """Each round counts once. None without any; of fewer than FEWEST_ROUNDS the interval is open."""
    if not rounds:
        return None
    return median_interval([statistics.median(samples) for samples in rounds.values()]).after(len(rounds))


def row_of(kind: str, variant: Variant, case: Case, quantity: str, runs: Sequence[Run[Any]] = ()) -> Row:
    """Of a case, as far as it is known without the value."""
    return Row(
        kind=kind,
        variant=variant,
        case=case.name,
        configuration=case.configuration,
        quantity=quantity,
        workers=case.workers,
        nodes=case.nodes,
        x=case.x,
        group=case.group,
        runs=len(runs),
        noisy_share=sum(run.noisy for run in runs) / len(runs) if runs else 0.0,
    )


def ranked(rows: Iterable[Row]) -> list[Row]:
    """The least value first, those without one last; each with its ratio to the first that competes, and a verdict."""
    every = list(rows)
    known = sorted((row for row in every if row.value), key=lambda row: row.value.value if row.value else 0.0)
    first = next((row for row in known if row.competes), None)
    left = [replace(row, verdict="failed") for row in every if not row.value]
    return [*(_placed(row, first) for row in known), *left]


def _placed(row: Row, first: Row | None) -> Row:
    if row is first:
        return replace(row, ratio=Interval(1, 1, 1), verdict="first")
    ratio = row.samples.over(first.samples) if first and first.samples and row.samples else None
    verdict: Verdict = "floor"
    if first and row.competes and ratio:
        is_known = min(row.number_of_rounds, first.number_of_rounds) >= FEWEST_ROUNDS and ratio.is_told
        is_level = ratio.relative_half_width <= MUCH  # else a table has a question mark
        verdict = "behind" if is_known and ratio.significant else "level" if is_known and is_level else "unknown"
    return replace(row, ratio=ratio, verdict=verdict)


def verdict_text(row: Row) -> str:
    """`first`, `level`, `x 1.8` behind, or `x 1.8 ?` after too few rounds. The floor's ratio is in brackets."""
    if row.ratio is None:
        return row.verdict
    times = f"x {digits(row.ratio.value, 2)}"
    if row.verdict == "first":
        return "first" if row.is_told else "first ?"
    texts = {"floor": f"({times})", "behind": times, "unknown": f"{times} ?"}
    return texts.get(row.verdict, f"{row.verdict} ({times})")


def ratio(row: Row, to: Row) -> Interval | None:
    """Of their values, of the rounds that both are known from; None where one of them has no value."""
    if not row.samples or not to.samples:
        return None
    return row.samples.over(to.samples).after(min(row.samples.rounds, to.samples.rounds))
