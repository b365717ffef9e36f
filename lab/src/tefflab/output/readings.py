"""How a judgement reads: the words, orders and axes that its table, its pictures and its report share."""

import math
from collections.abc import Callable, Sequence

from tefflab.analysis.results import Contender, Curve, CurvePoint, Judgement, MetgRow
from tefflab.analysis.statistics import Interval, MetgEstimate
from tefflab.output import quantities

_NOT_REACHED = "the sitting ended before their first round"
_NAMED = 3  # judgements at most where someone is missing


def metg_name(threshold: float) -> str:
    """`METG(50 %)`."""
    return f"METG({quantities.percent(threshold)})"


def placed_name(judgement: Judgement) -> str:
    """`stencil_1d, cores 52 ns apart`; the name alone where the distance is not known."""
    return ", ".join([judgement.name, *apart(judgement)])


def value_text(row: MetgRow) -> str:
    """`1.23 µs`, `> 1.00 ms`, or that there is none."""
    if row.metg is None:
        return "not measured"
    return quantities.bound(row.metg.relation, quantities.duration(row.metg.value))


def interval_text(interval: MetgEstimate | Interval) -> str:
    """`1.18 – 1.27 µs`, or `too few runs`."""
    return quantities.duration_range(interval.low, interval.high)


def time_tick(seconds: float) -> str:
    """`1 µs`, at a time axis."""
    return quantities.brief(quantities.duration(seconds))


def rate_tick(value: float, unit: str) -> str:
    """`10 GFLOP/s`, at a rate axis."""
    return quantities.brief(quantities.rate(value, unit))


def rate_range(interval: Interval, unit: str) -> str:
    """A rate with its interval: `92.1 GFLOP/s (91.0 GFLOP/s – 93.2 GFLOP/s)`."""
    return _with_ends(interval, lambda value: quantities.rate(value, unit))


def percent_range(interval: Interval) -> str:
    """A share with its interval: `48 % (46 % – 51 %)`."""
    return _with_ends(interval, quantities.percent)


def _with_ends(interval: Interval, text: Callable[[float], str]) -> str:
    high = text(interval.high) if math.isfinite(interval.high) else "∞"
    return f"{text(interval.value)} ({text(interval.low)} – {high})"


def apart(judgement: Judgement) -> list[str]:
    """`cores 52 ns apart`, where that is known."""
    trip = judgement.round_trip
    return [] if trip is None else [f"cores {quantities.duration(trip)} apart"]


def absent(judgement: Judgement) -> dict[str, list[Contender]]:
    """Who could not be measured, by the reason."""
    found: dict[str, list[Contender]] = {}
    rows = ((row.contender, row.note or _NOT_REACHED) for row in judgement.rows if row.metg is None)
    for contender, reason in (*rows, *judgement.missing):
        found.setdefault(reason, []).append(contender)
    return found


def absences(judgements: Sequence[Judgement]) -> list[str]:
    """`ID, ID: REASON` of those that could not be measured; where they could at others, with where."""
    where: dict[tuple[str, str], list[str]] = {}
    for judgement in judgements:
        for reason, contenders in absent(judgement).items():
            for contender in contenders:
                where.setdefault((reason, contender.id), []).append(judgement.name)
    ids: dict[tuple[str, str], list[str]] = {}
    for (reason, id_), names in where.items():
        ids.setdefault((reason, _where(names, len(judgements))), []).append(id_)
    return [f"{', '.join(those)}{place}: {reason}" for (reason, place), those in ids.items()]


def _where(names: Sequence[str], count: int) -> str:
    """` at NAME, NAME`, but that is nothing where it is everywhere, and ` at 5 of 14` where there are many."""
    if len(names) == count:
        return ""
    return f" at {', '.join(names)}" if len(names) <= _NAMED else f" at {len(names)} of {count}"


def contenders_of(judgements: Sequence[Judgement]) -> dict[str, Contender]:
    """All, by id, in the order of the tables; then those that have curves alone."""
    ranked = (row.contender for judgement in judgements for row in judgement.rows)
    drawn = (curve.contender for judgement in judgements for curve in judgement.curves)
    return {each.id: each for each in (*ranked, *drawn)}


def noisy_runs(judgement: Judgement) -> tuple[int, int]:
    """How many runs of the judgement were noisy, and of how many."""
    if judgement.rows:
        return sum(round(row.runs * row.disturbed_share) for row in judgement.rows), sum(
            row.runs for row in judgement.rows
        )
    points = [point for curve in judgement.curves for point in curve.points]
    return sum(point.disturbed for point in points), sum(point.runs for point in points)


def curves_in_order(judgement: Judgement) -> list[Curve]:
    """The curves as the table orders them, the smallest METG first; without a table as they stand from left to right:
    by the smallest granularity measured that reaches the threshold."""
    rank = {row.contender.id: number for number, row in enumerate(judgement.rows)}

    def reach(curve: Curve) -> float:
        enough = (each.granularity.value for each in curve.points if each.efficiency.value >= judgement.threshold)
        return min(enough, default=math.inf)

    return sorted(judgement.curves, key=lambda curve: (rank.get(curve.contender.id, len(rank)), reach(curve)))


def rate_unit(judgement: Judgement) -> str:
    """The unit of the curves' rates."""
    return judgement.curves[0].rate_unit if judgement.curves else "FLOP/s"


def ceiling_of(judgement: Judgement) -> Interval | None:
    """The ceiling over all rows, or all curves where there are no rows, in the unit of the curves; None without one."""
    if judgement.rows:
        return ceiling_over(judgement.rows, rate_unit(judgement))
    return _over([curve.ceiling for curve in judgement.curves if curve.ceiling])


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

    def __init__(self, judgement: Judgement) -> None:
        points = [point for curve in judgement.curves for point in curve.points]
        self._unit = rate_unit(judgement).removesuffix("/s")
        self._counted = self._unit != "task" and any(point.work_per_task > 0 for point in points)
        self.title = "work of a task" if self._counted else "iterations of a task"
        self.of: Callable[[CurvePoint], float] = (
            (lambda point: point.work_per_task) if self._counted else (lambda point: float(point.iterations))
        )

    def tick(self, value: float) -> str:
        """`1 kFLOP`, or `1 k` of iterations."""
        return quantities.brief(quantities.rate(value, self._unit if self._counted else "")).strip()
