"""How a case reads: the words, orders and axes that its table, its pictures and its report share."""

import math
from collections.abc import Callable, Sequence

from tefflab.analysis.results import BUSY, ELSEWHERE, NO_TURN, Curve, CurvePoint, MeasuredCase, MetgRow
from tefflab.analysis.statistics import FEWEST_ROUNDS, LEAST_ROUNDS, Interval
from tefflab.output import quantities
from tefflab.records.plan import Variant

_HEADINGS = {NO_TURN: "no turn", ELSEWHERE: "not measured", BUSY: "too busy"}
_TRIED = 2 * LEAST_ROUNDS  # rounds after which it is not rounds that an interval lacks which says nothing
_NAMED = 3  # cases at most where someone is missing


def metg_name(threshold: float) -> str:
    """`METG(50 %)`."""
    return f"METG({quantities.percent(threshold)})"


def placed_name(case: MeasuredCase) -> str:
    """`stencil_1d, cores 52 ns apart`; the name alone where the distance is not known."""
    return ", ".join([case.name, *apart(case)])


def value_text(row: MetgRow) -> str:
    """`1.23 µs`, `> 1.00 ms`, `1.23 µs ?` where its interval says nothing, or why there is none."""
    if row.metg is None:
        return heading_of(row.note)
    value = quantities.bound(row.metg.relation, quantities.duration(row.metg.value))
    return quantities.doubtful(value, is_known=row.metg.is_told)


def metg_interval_text(row: MetgRow) -> str:
    """As `interval_text`; `unknown` where it is not more runs that are needed, and `-` without a value."""
    if row.metg is None:
        return "-"
    return "unknown" if why_unknown(row) else quantities.interval_text(row.metg)


def why_unknown(row: MetgRow) -> str:
    """Why an interval says nothing, in few words, where there were so many rounds that a few more will not help."""
    if row.metg is None or row.metg.is_told or row.rounds <= _TRIED:
        return ""
    if row.metg.rounds < FEWEST_ROUNDS:
        return f"{row.metg.rounds} of {row.rounds} rounds count"
    return f"{row.rounds} rounds differ too much"


def overhead_text(row: MetgRow, absent: str) -> str:
    """`553 ns`, `553 ns ?` where that is hardly known, or `absent` where none was measured."""
    if row.overhead is None:
        return absent
    return quantities.doubtful(quantities.duration(row.overhead.value), is_known=row.known_overhead is not None)


def apart(case: MeasuredCase) -> list[str]:
    """`cores 52 ns apart`, where that is known."""
    trip = case.round_trip
    return [] if trip is None else [f"cores {quantities.duration(trip)} apart"]


def absent(case: MeasuredCase) -> dict[str, list[Variant]]:
    """The variants without a value, by the reason."""
    found: dict[str, list[Variant]] = {}
    rows = ((row.variant, row.note) for row in case.rows if row.metg is None)
    for variant, reason in (*rows, *case.missing):
        found.setdefault(reason, []).append(variant)
    return found


def heading_of(reason: str) -> str:
    """The word in the place of a value: `failed`, `no turn`."""
    return _HEADINGS.get(reason, "failed")


def absences(cases: Sequence[MeasuredCase]) -> list[str]:
    """`ID, ID: REASON` of those that could not be measured; where they could at others, with where."""
    where: dict[tuple[str, str], list[str]] = {}
    for case in cases:
        for reason, variants in absent(case).items():
            for variant in variants:
                where.setdefault((reason, variant.id), []).append(case.name)
    ids: dict[tuple[str, str], list[str]] = {}
    for (reason, id_), names in where.items():
        ids.setdefault((reason, _where(names, len(cases))), []).append(id_)
    return [f"{', '.join(those)}{place}: {reason}" for (reason, place), those in ids.items()]


def _where(names: Sequence[str], count: int) -> str:
    """` at NAME, NAME`; empty if it is everywhere, and ` at 5 of 14` if there are many."""
    if len(names) == count:
        return ""
    return f" at {', '.join(names)}" if len(names) <= _NAMED else f" at {len(names)} of {count}"


def variants_of(cases: Sequence[MeasuredCase]) -> dict[str, Variant]:
    """All, by id, in the order of the tables; then those that have curves alone."""
    ranked = (row.variant for case in cases for row in case.rows)
    drawn = (curve.variant for case in cases for curve in case.curves)
    return {each.id: each for each in (*ranked, *drawn)}


def noisy_runs(*cases: MeasuredCase) -> tuple[int, int]:
    """How many runs of the cases were noisy, and of how many."""
    counts = [(round(row.runs * row.noisy_share), row.runs) for case in cases for row in case.rows]
    unranked = [curve for case in cases if not case.rows for curve in case.curves]
    counts += [(point.noisy, point.runs) for curve in unranked for point in curve.points]
    return sum(noisy for noisy, _ in counts), sum(runs for _, runs in counts)


def curves_in_order(case: MeasuredCase) -> list[Curve]:
    """The curves as the table orders them, the smallest METG first. Without a table they stand from left to right, by
    the smallest granularity measured that reaches the threshold."""
    rank = {row.variant.id: number for number, row in enumerate(case.rows)}

    def reach(curve: Curve) -> float:
        enough = (each.granularity.value for each in curve.points if each.efficiency.value >= case.threshold)
        return min(enough, default=math.inf)

    return sorted(case.curves, key=lambda curve: (rank.get(curve.variant.id, len(rank)), reach(curve)))


def rate_unit(case: MeasuredCase) -> str:
    """The unit of the curves' rates."""
    return case.curves[0].rate_unit if case.curves else "FLOP/s"


def ceiling_of(case: MeasuredCase) -> Interval | None:
    """The ceiling over all rows, or all curves where there are no rows, in the unit of the curves; None without one.
    If some rows use the cores' ceiling, it is that one."""
    if case.rows:
        return ceiling_over([row for row in case.rows if not row.variant.ceiling] or case.rows, rate_unit(case))
    of_cores = [curve for curve in case.curves if not curve.variant.ceiling]
    return _over([curve.ceiling for curve in of_cores or case.curves if curve.ceiling])


def ceiling_over(rows: Sequence[MetgRow], unit: str) -> Interval | None:
    """The median of the rows' ceilings in `unit`, from their lowest end to their highest; None without any."""
    return _over([row.ceiling for row in rows if row.ceiling and row.ceiling_unit == unit])


def _over(known: Sequence[Interval]) -> Interval | None:
    if not known:
        return None
    middle = sorted(each.value for each in known)[(len(known) - 1) // 2]
    return Interval(middle, min(each.low for each in known), max(each.high for each in known))


class WorkAxis:
    """The problem size: FLOPs or bytes of a task, or iterations where its kernel counts neither."""

    def __init__(self, case: MeasuredCase) -> None:
        points = [point for curve in case.curves for point in curve.points]
        self._unit = rate_unit(case).removesuffix("/s")
        self._counted = self._unit != "task" and any(point.work_per_task > 0 for point in points)
        self.title = "work of a task" if self._counted else "iterations of a task"
        self.of: Callable[[CurvePoint], float] = (
            (lambda point: point.work_per_task) if self._counted else (lambda point: float(point.iterations))
        )

    def tick(self, value: float) -> str:
        """`1 kFLOP`, or `1 k` of iterations."""
        return quantities.brief(quantities.rate(value, self._unit if self._counted else "")).strip()
