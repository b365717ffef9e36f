"""The curves of a report as plain data: everything is placed between 0 and 1 and every text is written already.

So the script in the page only draws; it knows no units and no logarithms.
"""

from collections.abc import Callable, Sequence
from typing import Any

from tefflab.analysis.results import Curve, CurvePoint, MeasuredCase
from tefflab.analysis.statistics import Interval
from tefflab.output import quantities
from tefflab.output.plots.looks import Look, Shape
from tefflab.output.readings import (
    WorkAxis,
    ceiling_of,
    curves_in_order,
    interval_text,
    metg_name,
    percent_range,
    rate_range,
    rate_tick,
    rate_unit,
    time_tick,
    value_text,
)
from tefflab.output.scales import LogAxis, log_axis

# Outlines that look equally large, around 0, in pixels.
OUTLINES: dict[Shape, str] = {
    "circle": "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "square": "M-3.6-3.6h7.2v7.2h-7.2z",
    "triangle": "M0-4.8L4.6 3.4H-4.6z",
    "diamond": "M0-5L5 0 0 5-5 0z",
    "wedge": "M0 4.8L4.6-3.4H-4.6z",
    "plus": "M-1.5-4.6h3v3.1h3.1v3h-3.1v3.1h-3v-3.1h-3.1v-3h3.1z",
    "cross": "M0-2.1L2.6-4.7 4.7-2.6 2.1 0 4.7 2.6 2.6 4.7 0 2.1-2.6 4.7-4.7 2.6-2.1 0-4.7-2.6-2.6-4.7z",
}
_WIDE, _NARROW = 7, 4  # labels of an axis
_PLACES = 5  # decimals of a place: a hundredth of a pixel

Place = Callable[[float], float]


def look_data(look: Look) -> dict[str, Any]:
    """A look as the script takes it."""
    return {"day": look.color, "night": look.night, "dash": list(look.dash), "outline": OUTLINES[look.shape]}


def chart_data(case: MeasuredCase) -> list[dict[str, Any]]:
    """The charts of a case: efficiency against granularity and rate against work; none without curves."""
    return [_efficiency(case), _rate(case)] if case.curves else []


def point_texts(point: CurvePoint, unit: str) -> list[str]:
    """What there is to say of a point, in lines."""
    share = f"efficiency {percent_range(point.efficiency)}" if point.efficiency.value > 0 else ""
    noisy = f", {point.noisy} noisy" if point.noisy else ""
    lines = [
        f"{quantities.duration(point.granularity.value)} a task ({interval_text(point.granularity)})",
        share,
        rate_range(point.rate, unit) if point.rate.value > 0 else "",
        f"{point.iterations} iterations, {point.runs} run{'s' * (point.runs != 1)}{noisy}",
    ]
    return [line for line in lines if line]


def _efficiency(case: MeasuredCase) -> dict[str, Any]:
    curves = curves_in_order(case)
    kept = {curve.variant.id: [each for each in curve.points if each.efficiency.value > 0] for curve in curves}
    points = [each for line in kept.values() for each in line]
    rows = {row.variant.id: row for row in case.rows if row.metg and row.metg.relation == "="}
    crossings = [row.metg.value for name, row in rows.items() if row.metg and name in kept]
    times = [each.granularity.value for each in points] + crossings
    top = 1.04 * max([1.0, *(each.efficiency.value for each in points)])

    def height(share: float) -> float:
        return min(max(share / top, 0.0), 1.0)

    lines = []
    for curve in curves:
        line = _line(
            curve,
            kept[curve.variant.id],
            lambda point: point.granularity.value,
            log_axis(times).place,
            lambda point: point.efficiency,
            height,
        )
        row = rows.get(curve.variant.id)
        if row and row.metg:
            line["metg"] = [_round(log_axis(times).place(row.metg.value)), _round(height(case.threshold))]
            name = metg_name(case.threshold)
            line["metgText"] = [f"{name} {value_text(row)} ({interval_text(row.metg)})", f"{row.rounds} rounds"]
        lines.append(line)
    shares = [0.0, 0.25, 0.5, 0.75, 1.0]
    ticks = [[_round(height(share)), quantities.percent(share)] for share in shares]
    return {
        "kind": "efficiency",
        "title": "Efficiency against granularity",
        "x": _axis(times, time_tick, "granularity (log scale)"),
        "y": {"wide": ticks, "narrow": ticks, "minor": [], "title": "share of the ceiling"},
        "rule": {"at": _round(height(case.threshold)), "text": quantities.percent(case.threshold)},
        "lines": lines,
    }


def _rate(case: MeasuredCase) -> dict[str, Any]:
    curves = curves_in_order(case)
    kept = {curve.variant.id: [each for each in curve.points if each.rate.value > 0] for curve in curves}
    points = [each for line in kept.values() for each in line]
    unit, work, ceiling = rate_unit(case), WorkAxis(case), ceiling_of(case)
    sizes = [work.of(each) for each in points]
    rates = [each.rate.value for each in points] + ([ceiling.value] if ceiling else [])
    across, along = log_axis(sizes), log_axis(rates)
    chart: dict[str, Any] = {
        "kind": "rate",
        "title": f"Rate against {work.title}",
        "x": _axis(sizes, work.tick, f"{work.title} (log scale)"),
        "y": _axis(rates, lambda value: rate_tick(value, unit), "rate of all cores (log scale)"),
        "lines": [
            _line(curve, kept[curve.variant.id], work.of, across.place, lambda point: point.rate, along.place)
            for curve in curves
        ],
    }
    if ceiling:
        text = f"ceiling {quantities.rate(ceiling.value, unit)}"
        chart["rule"] = {"at": _round(along.place(ceiling.value)), "text": text}
    return chart


def _line(
    curve: Curve,
    points: Sequence[CurvePoint],
    x_of: Callable[[CurvePoint], float],
    across: Place,
    y_of: Callable[[CurvePoint], Interval],
    along: Place,
) -> dict[str, Any]:
    """Points as [x, y, lower end, upper end], and the texts of each."""
    places = []
    for point in points:
        interval = y_of(point)
        ends = (across(x_of(point)), along(interval.value), along(interval.low), along(interval.high))
        places.append([_round(each) for each in ends])
    texts = [point_texts(point, curve.rate_unit) for point in points]
    return {"id": curve.variant.id, "name": curve.variant.title, "points": places, "texts": texts}


def _axis(values: Sequence[float], label: Callable[[float], str], title: str) -> dict[str, Any]:
    wide, narrow = log_axis(values, _WIDE), log_axis(values, _NARROW)
    return {
        "wide": _ticks(wide, label),
        "narrow": _ticks(narrow, label),
        "minor": [_round(wide.place(each)) for each in wide.minors],
        "title": title,
    }


def _ticks(axis: LogAxis, label: Callable[[float], str]) -> list[list[Any]]:
    return [[_round(axis.place(each)), label(each)] for each in axis.majors]


def _round(place: float) -> float:
    return round(place, _PLACES)
