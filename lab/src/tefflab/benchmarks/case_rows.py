"""How the runs of a variant at a case become a row: the median over rounds, and the further numbers beside it."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from tefflab.analysis.rows import NO_TURN, ByRound, Row
from tefflab.analysis.statistics import Interval, median_interval
from tefflab.output.quantities import digits
from tefflab.records.plan import Case, Variant
from tefflab.records.record import AnyRecord
from tefflab.records.run import Run, counted

_Value = TypeVar("_Value", float, float | None)


@dataclass(frozen=True, slots=True)
class Fact(Generic[AnyRecord]):
    """A further number of a record: its name in JSON, and its column, where it has one.

    A rate is made of the row's time, so that both agree: the median of rates need not be the rate of the median time.
    """

    key: str
    title: str = ""
    text: Callable[[float], str] = digits
    read: Callable[[AnyRecord], float | None] | None = None  # None: the record has it by this name
    whole: bool = False  # counts are whole numbers
    over_time: bool = False  # `read` gives an amount, and the fact is that amount divided by the time of the row
    meaning: str = ""  # of the column, if its title does not say it

    def of(self, record: AnyRecord) -> float | None:
        return self.read(record) if self.read else record.get(self.key)

    def shown(self, row: Row) -> str:
        """The cell of its column."""
        return "" if (seen := row.facts.get(self.key)) is None else self.text(seen)


@dataclass(frozen=True)
class Cell(Generic[AnyRecord]):
    """One variant at one case with its runs."""

    variant: Variant
    case: Case
    runs: Sequence[Run[AnyRecord]]
    failure: str

    def row(
        self, kind: str, quantity: str, value: Callable[[AnyRecord], float], facts: Sequence[Fact[AnyRecord]]
    ) -> Row:
        """A system that failed later has shown that it can't be trusted with the case: it has no value."""
        rounds = by_round(self.runs, value)
        time = None if self.failure else median_of_rounds(rounds)
        runs = [run for run in self.runs if run.role == "system"]
        had = {run.record.workers for run in runs} - {self.case.workers}
        told = f"took {had.pop()} workers" if had else ""
        return Row(
            kind=kind,
            variant=self.variant,
            case=self.case.name,
            where=self.case.where,
            configuration=self.case.configuration,
            quantity=quantity,
            value=time,
            workers=self.case.workers,
            x=self.case.x,
            group=self.case.group,
            rounds=len(rounds),
            runs=len(runs),
            noisy_share=sum(run.noisy for run in runs) / len(runs) if runs else 0.0,
            note=told if time else self.failure or NO_TURN,
            facts={fact.key: _known(fact, runs, time) if time else None for fact in facts},
            samples=ByRound(rounds) if time else None,
        )


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


def _known(fact: Fact[Any], runs: Sequence[Run[Any]], time: Interval) -> float | None:
    """Of the runs that the time is of, where each round counts once, too."""
    said = [[each for each in samples if each is not None] for samples in by_round(runs, fact.of).values()]
    middles = [statistics.median(samples) for samples in said if samples]
    if not middles:
        return None
    middle = statistics.median(middles)
    if fact.over_time:
        return middle / time.value
    return round(middle) if fact.whole else middle
