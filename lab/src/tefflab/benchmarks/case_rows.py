"""How the runs of cases become rows: medians over rounds, ratios to the first, and the order of the variants."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from tefflab.analysis.results import NO_TURN, CaseRow, Verdict
from tefflab.analysis.statistics import FEWEST_ROUNDS, Interval, median_interval, ratio_interval
from tefflab.output.quantities import digits, percent
from tefflab.records.plan import Case, Variant
from tefflab.records.record import AnyRecord
from tefflab.records.run import Run, counted

_Value = TypeVar("_Value", float, float | None)


@dataclass(frozen=True, slots=True)
class Fact(Generic[AnyRecord]):
    """A further number of a record: its key in JSON, and its column, where it has one.

    A rate is made of the row's time, so that both agree: the median of rates need not be the rate of the median time.
    """

    key: str
    read: Callable[[AnyRecord], float | None]
    title: str = ""
    text: Callable[[float], str] = digits
    whole: bool = False  # counts are whole numbers
    over_time: bool = False  # `read` gives an amount, and the fact is that amount divided by the time of the row
    meaning: str = ""  # of the column, if its title does not say it


@dataclass(frozen=True)
class Cell(Generic[AnyRecord]):
    """One variant at one case with its runs."""

    variant: Variant
    case: Case
    runs: Sequence[Run[AnyRecord]]
    rounds: Mapping[int, Sequence[float]]
    failure: str

    @property
    def is_measured(self) -> bool:
        """A system that failed later has shown that it can't be trusted with the case: it is out."""
        return bool(self.rounds) and not self.failure


def ranked(
    cells: Sequence[Cell[Any]], facts: Sequence[Fact[Any]], keys: tuple[str, str], row_type: type[CaseRow]
) -> list[CaseRow]:
    """The rows of a case, of this type, the quickest first and those that failed last. `keys` of their JSON objects."""
    medians = [(cell, median_of_rounds(cell.rounds)) for cell in cells if cell.is_measured]
    known = sorted(((cell, time) for cell, time in medians if time), key=lambda pair: pair[1].value)
    first = next((cell for cell, _ in known if not cell.variant.is_floor), None)

    def row(cell: Cell[Any], value: Interval | None) -> CaseRow:
        ratio = None
        if value and first is not None:
            ratio = Interval(1, 1, 1) if cell is first else ratio_interval(cell.rounds, first.rounds)
        runs = [run for run in cell.runs if run.role == "system"]
        had = {run.record.workers for run in runs} - {cell.case.workers}
        told = f"took {had.pop()} workers" if had else ""
        noisy = [run.noisy for run in runs]
        return row_type(
            variant=cell.variant,
            case=cell.case.name,
            workers=cell.case.workers,
            value=value,
            ratio=ratio,
            verdict=_verdict(cell, first, ratio) if value else "failed",
            facts={fact.key: _known(fact, runs, value) if value else None for fact in facts},
            rounds=len(cell.rounds),
            noisy_share=sum(noisy) / len(noisy) if noisy else 0.0,
            note=told if value else cell.failure or NO_TURN,
            keys=keys,
        )

    return [*(row(cell, time) for cell, time in known), *(row(cell, None) for cell in cells if not cell.is_measured)]


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


def noise_of(rows: Sequence[CaseRow]) -> str:
    worst = max((row.noisy_share for row in rows), default=0.0)
    return f"at most {percent(worst)} of a system's runs noisy"


def verdict_text(row: CaseRow) -> str:
    """`first`, `level`, or how far behind: `x 1.8`; `x 1.8 ?` after too few rounds. The floor does not compete: its
    ratio is in brackets."""
    if row.ratio is None:
        return row.verdict
    times = f"x {digits(row.ratio.value, 2)}"
    if row.verdict == "first":
        return "first" if row.is_told else "first ?"
    texts = {"floor": f"({times})", "behind": times, "unknown": f"{times} ?"}
    return texts.get(row.verdict, f"{row.verdict} ({times})")


def _verdict(cell: Cell[Any], first: Cell[Any] | None, ratio: Interval | None) -> Verdict:
    if cell.variant.is_floor or ratio is None:
        return "floor"
    if cell is first:
        return "first"
    if first is None or min(len(cell.rounds), len(first.rounds)) < FEWEST_ROUNDS or not ratio.is_told:
        return "unknown"
    return "behind" if ratio.significant else "level"


def _known(fact: Fact[AnyRecord], runs: Sequence[Run[AnyRecord]], time: Interval) -> float | None:
    """Of the runs that the time is of, where each round counts once, too."""
    said = [[each for each in samples if each is not None] for samples in by_round(runs, fact.read).values()]
    middles = [statistics.median(samples) for samples in said if samples]
    if not middles:
        return None
    middle = statistics.median(middles)
    if fact.over_time:
        return middle / time.value
    return round(middle) if fact.whole else middle
