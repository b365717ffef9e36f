"""The curves of a report as plain data: everything is placed between 0 and 1 and every text is written already.

So the script in the page only draws; it knows no units and no logarithms.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tefflab.analysis.results import CurvePoint, MeasuredCase
from tefflab.benchmarks.task_graph.readings import (
    WorkAxis,
    ceiling_of,
    metg_interval_text,
    metg_name,
    rate_unit,
    value_text,
)
from tefflab.benchmarks.task_graph.traces import Line, Place, efficiency_lines, named, rate_lines, within
from tefflab.output import quantities
from tefflab.output.plots.looks import Look, Shape
from tefflab.output.quantities import interval_text, percent_range, rate_range, rate_tick, time_tick
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

Scale = Callable[[float], float]


def look_data(look: Look) -> dict[str, Any]:
    """A look as the script takes it."""
    return {"day": look.color, "night": look.night, "dash": list(look.dash), "outline": OUTLINES[look.shape]}


def chart_data(case: MeasuredCase) -> list[dict[str, Any]]:
    """The charts of a case: efficiency against granularity and rate against work; none without curves."""
    return [_efficiency(case), _rate(case)] if case.curves else []


def point_texts(point: CurvePoint, unit: str) -> list[str]:
    """The facts of a point, in lines."""
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
    lines = efficiency_lines(case)
    rows = {row.variant.id: row for row in case.rows if row.metg and row.metg.relation == "="}
    drawn = {line.curve.variant.id for line in lines}
    times = within(lines, 0) + [row.metg.value for name, row in rows.items() if row.metg and name in drawn]
    top = 1.04 * max([1.0, *within(lines, 1)])
    across = log_axis(times).place

    def height(share: float) -> float:
        return min(max(share / top, 0.0), 1.0)

    shares = [0.0, 0.25, 0.5, 0.75, 1.0]
    ticks = [[_round(height(share)), quantities.percent(share)] for share in shares]
    return {
        "kind": "efficiency",
        "title": "Efficiency against granularity",
        "x": _axis(times, time_tick, "granularity (log scale)"),
        "y": {"wide": ticks, "narrow": ticks, "minor": [], "title": "share of the ceiling"},
        "rule": {"at": _round(height(case.threshold)), "text": quantities.percent(case.threshold)},
        "lines": [_line(line, across, height, _crossing(line, case, across, height)) for line in lines],
        "told": named(case),
    }


def _crossing(line: Line, case: MeasuredCase, across: Scale, along: Scale) -> dict[str, Any]:
    """The mark at METG with its texts, unless it is a bound; and how the flag says METG."""
    row = next((row for row in case.rows if row.variant.id == line.curve.variant.id and row.metg), None)
    if row is None or row.metg is None:
        return {}
    flag = {"figure": value_text(row)}
    if row.metg.relation != "=":
        return flag
    name = metg_name(case.threshold)
    return flag | {
        "metg": [_round(across(row.metg.value)), _round(along(case.threshold))],
        "metgText": [f"{name} {value_text(row)} ({metg_interval_text(row)})", f"{row.rounds} rounds"],
    }


def _rate(case: MeasuredCase) -> dict[str, Any]:
    lines = rate_lines(case)
    unit, work, ceiling = rate_unit(case), WorkAxis(case), ceiling_of(case)
    sizes = within(lines, 0)
    rates = within(lines, 1) + ([ceiling.value] if ceiling else [])
    across, along = log_axis(sizes), log_axis(rates)
    chart: dict[str, Any] = {
        "kind": "rate",
        "title": f"Rate against {work.title}",
        "x": _axis(sizes, work.tick, f"{work.title} (log scale)"),
        "y": _axis(rates, lambda value: rate_tick(value, unit), "rate of all cores (log scale)"),
        "lines": [_line(line, across.place, along.place, {}) for line in lines],
        "told": named(case),
    }
    if ceiling:
        text = f"ceiling {quantities.rate(ceiling.value, unit)}"
        chart["rule"] = {"at": _round(along.place(ceiling.value)), "text": text}
    return chart


def _line(line: Line, across: Scale, along: Scale, crossing: dict[str, Any]) -> dict[str, Any]:
    """The parts of a curve, as lists of [x, y]; the points, and the texts of each."""

    def placed(places: Iterable[Place]) -> list[list[float]]:
        return [[_round(across(x)), _round(along(y))] for x, y in places]

    return {
        "id": line.curve.variant.id,
        "name": line.curve.variant.title,
        "points": placed(dot for _, dot in line.dots),
        "texts": [point_texts(point, line.curve.rate_unit) for point, _ in line.dots],
        "fitted": placed(line.fitted),
        "beyond": [placed(part) for part in line.beyond],
        "band": placed(line.band),
        "anchor": placed([line.anchor])[0] if line.anchor else None,
        **crossing,
    }


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
