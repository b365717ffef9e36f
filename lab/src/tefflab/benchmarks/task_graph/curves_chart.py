"""Curves over the size of a task: efficiency against granularity, and rate against the work of a task."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

import altair as alt

from tefflab.analysis.curves import Curve, CurvePoint
from tefflab.benchmarks.task_graph.measured import Measured, WorkAxis, metg_name
from tefflab.benchmarks.task_graph.sections import value_text
from tefflab.output.charts.axes import Axis, linear_axis, log_axis
from tefflab.output.charts.looks import Datum, looks
from tefflab.output.charts.marks import COLOR, DASH, SAID, Entry, layer, legend, mark, marks
from tefflab.output.charts.sheet import PALE, SMALL, SOFT, WIDTH, Head, Picture, sheet, text_width
from tefflab.output.quantities import duration, interval_text, percent, percent_range, rate, rate_range
from tefflab.output.sections import absences
from tefflab.systems.naming import owner_of

_HEIGHT, _LEGEND = 350.0, 130.0  # pixels
_NAMED = 8  # curves that are told by name; the others are grey
_VAGUE = 1.3  # a band whose ends differ by more is not drawn
_HOW = "Thick: the fitted line with its 95 % band; thin: a smooth fit to the dots, the medians, that never falls."

Place = tuple[float, float]


@dataclass(frozen=True)
class Drawn:
    """A curve in the axes of a picture: the place of a point, and that of an ideal time and an efficiency."""

    curve: Curve
    dot: Callable[[CurvePoint], Place]
    place: Callable[[float, float], Place]

    @property
    def id(self) -> str:
        return self.curve.variant.id

    @property
    def dots(self) -> list[tuple[CurvePoint, Place]]:
        return [(each, self.dot(each)) for each in self.curve.points if self.dot(each)[1] > 0]

    @property
    def line(self) -> list[Place]:
        """All of it, from left to right."""
        return [self.place(each.ideal, each.efficiency) for each in self.curve.trace]

    @property
    def fitted(self) -> slice:
        """The part of the line that METG is read from."""
        places = [number for number, each in enumerate(self.curve.trace) if each.band]
        return slice(places[0], places[-1] + 1) if places else slice(0, 0)

    @property
    def band(self) -> list[Place]:
        """Around the fitted part, as a closed outline. There is none where part of it says too little: a piece of it
        would seem to be all."""
        bands = [(each.ideal, each.band) for each in self.curve.trace[self.fitted] if each.band]
        if any(high > _VAGUE * low for _, (low, high) in bands):
            return []
        upper = [self.place(ideal, high) for ideal, (_, high) in bands]
        return upper + [self.place(ideal, low) for ideal, (low, _) in reversed(bands)]


def efficiency_chart(case: Measured, title: str = "", footer: str = "") -> Picture:
    """Efficiency against granularity, the threshold, and METG, where the line that it was read from crosses it."""
    curves = [
        Drawn(
            curve,
            lambda point: (point.granularity.value, point.efficiency.value),
            lambda ideal, efficiency: (ideal / efficiency, efficiency),
        )
        for curve in case.curves_in_order
    ]
    name, share = metg_name(case.threshold), percent(case.threshold)
    meaning = (
        f"Share of the ceiling that tasks of a given size reach; {name}, the large mark, is where the line crosses "
        f"{share}. {_HOW}"
    )
    head = Head(title or f"Efficiency – {case.case.name}", [meaning, case.case.configuration], footer)
    ids = [each.id for each in curves]
    rows = {row.id: row for row in case.rows if row.value and row.id in ids}
    crossings = {row.id: row.value.value for row in rows.values() if row.value and row.relation == "="}
    axes = (
        log_axis([*_within(curves, 0), *crossings.values()], duration, "granularity: time × cores / tasks (log scale)"),
        linear_axis(max([1.0, *_within(curves, 1)]), percent, "share of the ceiling", step=0.25),
    )
    figures = {id_: value_text(row) for id_, row in rows.items()}
    return _curves_chart(case, curves, axes, head, case.threshold, crossings, figures)


def rate_chart(case: Measured, title: str = "", footer: str = "") -> Picture:
    """The rate against the work of a task, both logarithmic, and the ceiling. The line of an efficiency gives that of a
    rate: the rate is that share of the ceiling. The work of a task is in proportion to its time at the ceiling."""
    work, unit, ceiling = WorkAxis(case.curves), case.rate_unit, case.ceiling

    def drawn(curve: Curve) -> Drawn:
        known = [each for each in curve.points if each.efficiency.value > 0]
        # of one curve these are constants, but for noise
        own = median(each.rate.value / each.efficiency.value for each in known) if known else 1.0
        ideals = [work.of(each) / (each.granularity.value * each.efficiency.value) for each in known]
        pace = median(ideals) if known else 1.0
        return Drawn(
            curve,
            lambda point: (work.of(point), point.rate.value),
            lambda ideal, efficiency: (ideal * pace, efficiency * own),
        )

    curves = [drawn(each) for each in case.curves_in_order]
    dashed = f" Dashed: the ceiling, {rate(ceiling.value, unit)}." if ceiling else ""
    meaning = f"What all cores reach together with tasks of a given size.{dashed} {_HOW}"
    head = Head(title or f"Rate – {case.case.name}", [meaning, case.case.configuration], footer)
    rates = _within(curves, 1) + ([ceiling.value] if ceiling else [])
    axes = (
        log_axis(_within(curves, 0), work.tick, f"{work.title} (log scale)"),
        log_axis(rates, lambda value: rate(value, unit), "rate of all cores (log scale)"),
    )
    return _curves_chart(case, curves, axes, head, ceiling.value if ceiling else 0.0, {}, {})


def _within(curves: Sequence[Drawn], which: int) -> list[float]:
    """All that an axis has to hold: 0 the one across, 1 the one along."""
    return [place[which] for each in curves for place in (*each.line, *(dot for _, dot in each.dots))]


def named(case: Measured) -> list[str]:
    """The ids of the curves that are told by name, in the order of the table: the best of each system first."""
    ids = [curve.variant.id for curve in case.curves_in_order]
    best: dict[str, str] = {}
    for each in ids:
        best.setdefault(owner_of(each), each)
    chosen = [*best.values(), *(each for each in ids if each not in best.values())][:_NAMED]
    return [each for each in ids if each in chosen]


def _curves_chart(
    case: Measured,
    curves: Sequence[Drawn],
    axes: tuple[Axis, Axis],
    head: Head,
    dashed: float,
    crossings: Mapping[str, float],
    figures: Mapping[str, str],
) -> Picture:
    """The curves with their dots, and a large mark where a curve crosses the dashed line. Curves that are not told by
    name are grey and lie below the others. The legend has a figure for each of the others."""
    look_of = looks([*(row.variant for row in case.rows), *(each.curve.variant for each in curves)])
    told = named(case)
    strokes: list[Datum] = []
    bands: list[Datum] = []
    dots: list[Datum] = []
    for each in sorted(curves, key=lambda each: each.id in told):
        look, line, fitted = look_of[each.id], each.line, each.fitted
        if each.id not in told:
            strokes += _path(line, each.id, 0.9, {"color": PALE})
            continue
        bands += _path(each.band, each.id, 0, look)
        for part in (line[: fitted.start + 1], line[fitted.stop - 1 :]) if fitted.stop else (line,):
            strokes += _path(part, each.id, 0.9, look)
        strokes += _path(line[fitted], each.id, 2.1, look)
        for point, place in each.dots:
            said = f"{each.id}: {_facts(point, each.curve.rate_unit)}"
            dots.append(mark(look, said, 22) | {"x": place[0], "y": place[1], "opacity": 0.45})
        if each.id in crossings:
            said = f"{each.id}: {figures[each.id]}"
            dots.append(mark(look, said, 130) | {"x": crossings[each.id], "y": dashed, "opacity": 1})
    across, along = axes
    x, y = across.of(alt.X, "x"), along.of(alt.Y, "y")
    path = [x, y, COLOR, SAID, alt.Detail("part:N"), alt.Order("number:Q")]
    thick = alt.StrokeWidth("thick:Q", scale=None)
    width = WIDTH - _LEGEND - 48 - max(text_width(text, SMALL) for text in along.ticks.values())
    layers = [
        layer([{"y": dashed}] if dashed else []).mark_rule(color=SOFT, strokeDash=[4, 3]).encode(y),
        _flat(bands).mark_line(filled=True, fillOpacity=0.15, strokeWidth=0).encode(*path),
        _flat(strokes).mark_line(strokeJoin="round").encode(*path, DASH, thick),
        marks(layer(dots).encode(x, y, alt.Opacity("opacity:Q", scale=None))),
    ]
    others = ", ".join(each.id for each in curves if each.id not in told)
    vague = ", ".join(each.id for each in curves if each.id in told and each.fitted.stop and not each.band)
    notes = [
        *([f"Grey: {others}."] if others else []),
        *([f"No band, for it would be too wide to say anything: {vague}."] if vague else []),
        *absences(case.rows),
    ]
    entries = [Entry(look_of[id_], id_, figures.get(id_, "")) for id_ in told]
    plot = alt.LayerChart(layer=layers, width=width, height=_HEIGHT)
    return sheet(replace(head, notes=notes), plot, legend(entries, _LEGEND))


def _path(places: Sequence[Place], id_: str, thick: float, look: Datum) -> list[Datum]:
    """A stroke through these places, if there are any. Strokes of a curve differ by where they begin."""
    x, y = zip(*places, strict=True) if places else ((), ())
    how = {"said": id_, "thick": thick, "part": f"{id_} {thick} {places[:1]}", "number": list(range(len(x)))}
    return [look | how | {"x": x, "y": y}] if places else []


def _flat(paths: Sequence[Datum]) -> alt.Chart:
    return layer(paths).transform_flatten(["x", "y", "number"])


def _facts(point: CurvePoint, unit: str) -> str:
    """What is known of a point."""
    noisy = f", {point.noisy} noisy" if point.noisy else ""
    return (
        f"{duration(point.granularity.value)} a task ({interval_text(point.granularity)}); "
        f"efficiency {percent_range(point.efficiency)}; {rate_range(point.rate, unit)}; "
        f"{point.iterations} iterations, {point.runs} run{'s' * (point.runs != 1)}{noisy}"
    )
