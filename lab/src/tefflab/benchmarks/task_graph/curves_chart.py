"""Curves over the size of a task: efficiency against granularity, and rate against the work of a task."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import altair as alt

from tefflab.analysis.curves import CurvePoint
from tefflab.benchmarks.task_graph.measured import Measured, WorkAxis, metg_name
from tefflab.benchmarks.task_graph.sections import value_text
from tefflab.benchmarks.task_graph.traces import Line, Place, efficiency_lines, named, rate_lines, within
from tefflab.output.charts.axes import Axis, linear_axis, log_axis
from tefflab.output.charts.looks import looks
from tefflab.output.charts.marks import COLOR, DASH, SAID, Datum, Entry, layer, legend, mark, marks
from tefflab.output.charts.sheet import PALE, SMALL, SOFT, WIDTH, Head, Picture, sheet, text_width
from tefflab.output.quantities import (
    duration,
    interval_text,
    percent,
    percent_range,
    rate,
    rate_range,
    rate_tick,
    time_tick,
)
from tefflab.output.sections import absences

_HEIGHT, _LEGEND = 350.0, 130.0  # pixels
_HOW = "Thick: the fitted line with its 95 % band; thin: a smooth fit to the dots, the medians, that never falls."


def efficiency_chart(case: Measured, title: str = "", footer: str = "") -> Picture:
    """Efficiency against granularity, the threshold, and METG, where the line that it was read from crosses it."""
    lines = efficiency_lines(case)
    rows = {row.id: row for row in case.rows if row.value}
    crossings = {
        id_: (row.value.value, case.threshold) for id_, row in rows.items() if row.value and row.relation == "="
    }
    name, share = metg_name(case.threshold), percent(case.threshold)
    meaning = (
        f"Share of the ceiling that tasks of a given size reach; {name}, the large mark, is where the line crosses "
        f"{share}. {_HOW}"
    )
    head = Head(title or f"Efficiency – {case.case.name}", [meaning, case.case.configuration], footer)
    ids = [line.curve.variant.id for line in lines]
    times = within(lines, 0) + [time for id_, (time, _) in crossings.items() if id_ in ids]
    across = log_axis(times, time_tick, "granularity: time × cores / tasks (log scale)")
    along = linear_axis(max([1.0, *within(lines, 1)]), percent, "share of the ceiling", step=0.25)
    figures = {id_: value_text(row) for id_, row in rows.items()}
    return _curves(case, lines, (across, along), head, case.threshold, crossings, figures)


def rate_chart(case: Measured, title: str = "", footer: str = "") -> Picture:
    """The rate against the work of a task, both logarithmic, and the ceiling."""
    lines = rate_lines(case)
    unit, work, ceiling = case.rate_unit, WorkAxis(case.curves), case.ceiling
    dashed = f" Dashed: the ceiling, {rate(ceiling.value, unit)}." if ceiling else ""
    meaning = f"What all cores reach together with tasks of a given size.{dashed} {_HOW}"
    head = Head(title or f"Rate – {case.case.name}", [meaning, case.case.configuration], footer)
    across = log_axis(within(lines, 0), work.tick, f"{work.title} (log scale)")
    rates = within(lines, 1) + ([ceiling.value] if ceiling else [])
    along = log_axis(rates, lambda value: rate_tick(value, unit), "rate of all cores (log scale)")
    return _curves(case, lines, (across, along), head, ceiling.value if ceiling else None)


def _curves(
    case: Measured,
    lines: Sequence[Line],
    axes: tuple[Axis, Axis],
    head: Head,
    dashed: float | None,
    crossings: Mapping[str, Place] = {},
    figures: Mapping[str, str] = {},
) -> Picture:
    """The curves with their dots, those that are not told by name in grey below the others; a dashed line at a value;
    a large mark at each crossing; and in the legend a figure for each."""
    look_of = looks([*(row.variant for row in case.rows), *(curve.variant for curve in case.curves)])
    told = named(case)
    ordered = sorted(lines, key=lambda line: line.curve.variant.id in told)  # grey ones below
    strokes: list[Datum] = []
    bands: list[Datum] = []
    dots: list[Datum] = []
    for line in ordered:
        id_ = line.curve.variant.id
        look = look_of[id_]
        if id_ not in told:
            strokes += _path(line.through, id_, 0.9, PALE)
            continue
        bands += _path(line.band, id_, 0, look.color)
        for part in line.beyond:
            strokes += _path(part, id_, 0.9, look.color, look.dash)
        strokes += _path(line.fitted, id_, 2.1, look.color, look.dash)
        for point, (x, y) in line.dots:
            said = f"{id_}: {'; '.join(_facts(point, line.curve.rate_unit))}"
            dots.append(mark(look, said, 22) | {"x": x, "y": y, "opacity": 0.45})
        if id_ in crossings:
            x, y = crossings[id_]
            dots.append(mark(look, f"{id_}: {figures[id_]}", 130) | {"x": x, "y": y, "opacity": 1})
    across, along = axes
    place = [across.of(alt.X, "x"), along.of(alt.Y, "y")]
    path = [*place, COLOR, SAID, alt.Detail("part:N"), alt.Order("number:Q")]
    thick = alt.StrokeWidth("thick:Q", scale=None)
    width = WIDTH - _LEGEND - 24 - max(text_width(text, SMALL) for text in along.ticks.values()) - 24
    layers = [
        layer([{"y": dashed}] if dashed else []).mark_rule(color=SOFT, strokeDash=[4, 3]).encode(along.of(alt.Y, "y")),
        _flat(bands).mark_line(filled=True, fillOpacity=0.15, strokeWidth=0).encode(*path),
        _flat(strokes).mark_line(strokeJoin="round").encode(*path, DASH, thick),
        marks(layer(dots).encode(*place, alt.Opacity("opacity:Q", scale=None))),
    ]
    others = ", ".join(line.curve.variant.id for line in lines if line.curve.variant.id not in told)
    vague = ", ".join(
        line.curve.variant.id for line in lines if line.curve.variant.id in told and line.fitted and not line.band
    )
    notes = [
        *([f"Grey: {others}."] if others else []),
        *([f"No band, for it would be too wide to say anything: {vague}."] if vague else []),
        *absences(case.rows),
    ]
    entries = [Entry(look_of[id_], id_, figures.get(id_, "")) for id_ in told]
    plot = alt.LayerChart(layer=layers, width=width, height=_HEIGHT)
    return sheet(replace(head, notes=notes), plot, legend(entries, _LEGEND))


def _path(places: Sequence[Place], id_: str, thick: float, color: str, dash: Sequence[float] = ()) -> list[Datum]:
    """A stroke through these places, if there are any. Strokes of a curve differ by where they begin."""
    x, y = zip(*places, strict=True) if places else ((), ())
    how = {"said": id_, "thick": thick, "color": color, "dash": dash, "part": f"{id_} {thick} {places[:1]}"}
    return [how | {"x": x, "y": y, "number": list(range(len(x)))}] if places else []


def _flat(paths: Sequence[Datum]) -> alt.Chart:
    return layer(paths).transform_flatten(["x", "y", "number"])


def _facts(point: CurvePoint, unit: str) -> list[str]:
    """What is known of a point."""
    noisy = f", {point.noisy} noisy" if point.noisy else ""
    return [
        f"{duration(point.granularity.value)} a task ({interval_text(point.granularity)})",
        f"efficiency {percent_range(point.efficiency)}",
        rate_range(point.rate, unit),
        f"{point.iterations} iterations, {point.runs} run{'s' * (point.runs != 1)}{noisy}",
    ]
