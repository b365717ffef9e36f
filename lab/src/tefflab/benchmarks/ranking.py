"""How the rows of a case are ranked: ratios to the first, and the verdict on each."""

from collections.abc import Iterable
from dataclasses import replace

from tefflab.analysis.rows import Row, Verdict
from tefflab.analysis.statistics import FEWEST_ROUNDS, Interval
from tefflab.output.quantities import digits


def ranked(rows: Iterable[Row]) -> list[Row]:
    """The rows of a case, the least value first, those without a value last; each with its ratio to the first that
    competes."""
    every = list(rows)
    known = sorted((row for row in every if row.value), key=lambda row: row.value.value if row.value else 0.0)
    first = next((row for row in known if row.competes), None)
    left = [replace(row, verdict="failed") for row in every if not row.value]
    return [*(_placed(row, first) for row in known), *left]


def _placed(row: Row, first: Row | None) -> Row:
    ratio = None
    if first is row:
        ratio = Interval(1, 1, 1)
    elif first and first.samples and row.samples:
        ratio = row.samples.over(first.samples)
    return replace(row, ratio=ratio, verdict=_verdict(row, first, ratio))


def _verdict(row: Row, first: Row | None, ratio: Interval | None) -> Verdict:
    if not row.competes or ratio is None:
        return "floor"
    if row is first:
        return "first"
    if first is None or min(row.number_of_rounds, first.number_of_rounds) < FEWEST_ROUNDS or not ratio.is_told:
        return "unknown"
    return "behind" if ratio.significant else "level"


def verdict_text(row: Row) -> str:
    """`first`, `level`, or how far behind: `x 1.8`; `x 1.8 ?` after too few rounds. The floor does not compete: its
    ratio is in brackets."""
    if row.ratio is None:
        return row.verdict
    times = f"x {digits(row.ratio.value, 2)}"
    if row.verdict == "first":
        return "first" if row.is_told else "first ?"
    texts = {"floor": f"({times})", "behind": times, "unknown": f"{times} ?"}
    return texts.get(row.verdict, f"{row.verdict} ({times})")
