"""The pictures of a sitting, as its plan says: of each case one, or one of several cases; METG in rows and lines, and
curves over the size of a task: efficiency against granularity, and rate against the work of a task."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median

import altair as alt

from tefflab.analysis.curves import Curve, CurvePoint
from tefflab.benchmarks.task_graph.plan import GraphPlan
from tefflab.benchmarks.task_graph.scaling import limits_chart, predictions, scaling_chart
from tefflab.benchmarks.task_graph.tables import Measured, WorkAxis, ends_text, is_roughly_known, metg_name, value_text
from tefflab.output.charts.axes import Axis, linear_axis, log_axis
from tefflab.output.charts.lines import values_chart
from tefflab.output.charts.looks import Datum, looks
from tefflab.output.charts.marks import COLOR, DASH, SAID, Entry, layer, legend, mark, marks
from tefflab.output.charts.rows import rows_chart
from tefflab.output.charts.sheet import PALE, SMALL, SOFT, WIDTH, Head, Picture, sheet, slug, text_width
from tefflab.output.quantities import duration, interval_text, percent, range_text, rate
from tefflab.output.sections import absences, warnings
from tefflab.systems.naming import owner_of

_HEIGHT, _LEGEND = 350.0, 130.0  # pixels
_NAMED = 8  # curves that are told by name; the others are grey
_VAGUE = 1.3  # a band whose ends differ by more is not drawn
_THIN = 0.9  # pixels
_HOW = "Thick: the fitted line with its 95 % band; thin lines join the dots, the medians."
_USUAL: dict[str, tuple[str, ...]] = {"metg": ("metg", "efficiency"), "curve": ("efficiency", "rate")}
_ARROW = "An arrow leads from a bound to where the value lies."

_SCALING = {
    "limits": "",
    "weak": "Granularity of tasks with as much work on any number of nodes. Each line is of one amount of work.",
    "strong": "Granularity of tasks whose work all nodes share. Each line is of one amount of work, as on one node.",
}

Place = tuple[float, float]


def pictures(plan: GraphPlan, cases: Sequence[Measured], footer: str) -> Iterator[tuple[str, Picture]]:
    """Each picture with the name of its files. What holds nothing is not drawn.

    The name is the chart's; an experiment's first picture has the experiment's name, the others begin with it. If one
    kind of chart gives several pictures, each name ends with its case.
    """
    for number, kind in enumerate(plan.charts or _USUAL[plan.asks]):
        title = plan.title if plan.experiment and not number else ""
        drawn = list(_drawn(kind, plan, cases, footer, title))
        for part, picture in drawn:
            words = [plan.experiment or "", "" if plan.experiment and not number else kind]
            words += [part] if len(drawn) > 1 else []
            yield "-".join(slug(word) for word in words if word), picture


def _drawn(
    kind: str, plan: GraphPlan, cases: Sequence[Measured], footer: str, title: str
) -> Iterator[tuple[str, Picture]]:
    """The pictures of one kind, each with the part of the plan that it shows. Without a title it gives its subject."""

    def titled(part: str, otherwise: str = "") -> str:
        return " – ".join(filter(None, (title, part))) if title else otherwise

    name = metg_name(plan.threshold)
    if draw := {"metg": metg_chart, "efficiency": efficiency_chart, "rate": rate_chart}.get(kind):
        for case in cases:
            part = case.case.name
            if any(row.value for row in case.rows) if kind == "metg" else case.curves:
                yield part, draw(case, titled(part if len(cases) > 1 else ""), footer)
        return
    groups = list(dict.fromkeys(case.case.group for case in cases))
    for group in groups:
        members = [each for each in cases if each.case.group == group]
        rows = [row for each in members for row in each.rows]
        part = group if len(groups) > 1 else ""
        if kind in _SCALING:
            for of, picture in _scaling(kind, members, plan, titled(part, group), footer):
                yield f"{part} {of}", picture
            continue
        if not any(row.value for row in rows):
            continue
        if kind == "metg_dots":
            head = Head(titled(part, group or name), [_meaning(plan.threshold)], footer, absences(rows))
            yield group, rows_chart({each.case.name: each.rows for each in members}, "METG (log scale)", head)
        else:
            texts = {each.case.x or 0.0: each.case.x_text for each in members}
            of_means = [mean for each in members for row in each.rows if (mean := each.mean(row))]
            whose = " of the mean run" if of_means else ""
            meaning = f"{name}{whose} with 95 % intervals; smaller is better. {_ARROW}"
            head = Head(titled(part, f"{name}{whose}{members[0].on} against {plan.x_label}"), [meaning], footer)
            yield group, values_chart(of_means or rows, texts, plan.x_label, head)


def _scaling(
    kind: str, cases: Sequence[Measured], plan: GraphPlan, title: str, footer: str
) -> Iterator[tuple[str, Picture]]:
    """Of one graph over nodes: of all systems, or of each, with its id."""
    if plan.program and kind == "limits":
        beside = [row for each in cases for row in each.beside.values()]
        if found := predictions(beside, plan.program, plan.threshold):
            lacking = absences(row for each in cases for row in each.rows)
            yield "", limits_chart(found, Head(title, [], footer, lacking), cases)
        return
    for variant in dict.fromkeys(curve.variant for each in cases for curve in each.curves):
        head = Head(title, [variant.title, _SCALING[kind]], footer)
        if picture := scaling_chart(cases, variant, head, is_weak=kind == "weak"):
            yield variant.id, picture


def metg_chart(case: Measured, title: str = "", footer: str = "") -> Picture:
    """METG of every system: a row each, the smallest on top, with interval, overhead (hollow) and value."""
    name = metg_name(case.threshold)
    head = Head(
        title or f"{name}{case.on} – {case.case.name}",
        [_meaning(case.threshold), case.case.question],
        footer,
        [*absences(case.rows), *warnings(case.rows)],
    )
    overheads = {row.id: each for row in case.rows if (each := case.overhead(row)) and is_roughly_known(each)}
    return rows_chart(
        {row.id: [*([overheads[row.id]] if row.id in overheads else []), row] for row in case.rows},
        "granularity: time × cores / tasks (log scale)",
        head,
        columns={name: value_text, "95 % interval": lambda row: ends_text(row) if row.value else ""},
    )


def _meaning(threshold: float) -> str:
    share = percent(threshold)
    return f"The smallest task with which a system still reaches {share} of what the cores can do; smaller is better."


@dataclass(frozen=True)
class Drawn:
    """A curve in the axes of a picture. The legend has its `figure`, and a large mark stands at its `crossing` with the
    dashed line, hollow where that is hardly known."""

    curve: Curve
    dots: Sequence[tuple[CurvePoint, Place]]
    line: Sequence[Place]  # all of it, from left to right
    fitted: slice  # the part of the line that METG is read from
    band: Sequence[Place]  # around that part, as a closed outline; none where part of it says too little
    figure: str
    crossing: Place | None
    is_known: bool

    @classmethod
    def of(
        cls,
        curve: Curve,
        dot: Callable[[CurvePoint], Place],
        place: Callable[[float, float], Place],
        figure: str = "",
        crossing: Place | None = None,
        is_known: bool = True,
    ) -> "Drawn":
        """With the place of a point, and that of an ideal time and an efficiency."""
        dots = [(each, dot(each)) for each in curve.points if dot(each)[1] > 0]
        line = [place(each.ideal, each.efficiency) for each in curve.trace]
        bands = [(number, each.ideal, each.band) for number, each in enumerate(curve.trace) if each.band]
        fitted = slice(bands[0][0], bands[-1][0] + 1) if bands else slice(0, 0)
        band = [place(ideal, high) for _, ideal, (_, high) in bands]
        band += [place(ideal, low) for _, ideal, (low, _) in reversed(bands)]
        is_vague = any(high > _VAGUE * low for _, _, (low, high) in bands)
        return cls(curve, dots, line, fitted, [] if is_vague else band, figure, crossing, is_known)

    @property
    def id(self) -> str:
        return self.curve.variant.id

    def within(self, which: int) -> list[float]:
        """All that an axis has to hold: 0 the one across, 1 the one along."""
        places = [*self.line, *(dot for _, dot in self.dots), *([self.crossing] if self.crossing else [])]
        return [place[which] for place in places]

    def strokes(self, look: Datum) -> list[Datum]:
        line, fitted = self.line, self.fitted
        beyond = (line[: fitted.start + 1], line[fitted.stop - 1 :]) if fitted.stop else (line,)
        thin = [stroke for part in beyond for stroke in _path(part, self.id, _THIN, look)]
        return thin + _path(line[fitted], self.id, 2.1, look)

    def marks(self, look: Datum) -> Iterator[Datum]:
        for point, (x, y) in self.dots:
            said = f"{self.id}: {_facts(point, self.curve.rate_unit)}"
            yield mark(look, said, 22) | {"x": x, "y": y, "opacity": 0.45}
        if self.crossing:
            x, y = self.crossing
            large = mark(look, f"{self.id}: {self.figure}", 130, hollow=not self.is_known)
            yield large | {"x": x, "y": y, "opacity": 1}


def efficiency_chart(case: Measured, title: str = "", footer: str = "") -> Picture:
    """Efficiency against granularity, the threshold, and METG, where the line that it was read from crosses it."""
    rows = {row.id: row for row in case.rows if row.value}
    crossings = {each.id: each.value.value for each in rows.values() if each.value and each.relation == "="}
    curves = [
        Drawn.of(
            curve,
            lambda point: (point.granularity.value, point.efficiency.value),
            lambda ideal, efficiency: (ideal / efficiency, efficiency),
            value_text(rows[curve.variant.id]) if curve.variant.id in rows else "",
            (crossings[curve.variant.id], case.threshold) if curve.variant.id in crossings else None,
            curve.variant.id in rows and rows[curve.variant.id].is_told,
        )
        for curve in case.curves_in_order
    ]
    name, share = metg_name(case.threshold), percent(case.threshold)
    meaning = (
        f"Share of the ceiling that tasks of a given size reach; {name}, the large mark, is where the line crosses "
        f"{share}; hollow, where it is hardly known. {_HOW}"
    )
    times, shares = ([end for each in curves for end in each.within(which)] for which in (0, 1))
    across = log_axis(times, duration, "granularity: time × cores / tasks (log scale)")
    along = linear_axis(max([1.0, *shares]), percent, "share of the ceiling", step=0.25)
    head = Head(title or f"Efficiency{case.on} – {case.case.name}", [meaning, case.case.question], footer)
    return _curves_chart(case, curves, across, along, case.threshold, head)


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
        return Drawn.of(
            curve,
            lambda point: (work.of(point), point.rate.value),
            lambda ideal, efficiency: (ideal * pace, efficiency * own),
        )

    curves = [drawn(each) for each in case.curves_in_order]
    dashed = f" Dashed: the ceiling, {rate(ceiling.value, unit)}." if ceiling else ""
    meaning = f"What all cores reach together with tasks of a given size.{dashed} {_HOW}"
    sizes, rates = ([end for each in curves for end in each.within(which)] for which in (0, 1))
    rates += [ceiling.value] if ceiling else []
    across = log_axis(sizes, work.tick, f"{work.title} (log scale)")
    along = log_axis(rates, lambda value: rate(value, unit), "rate of all cores (log scale)")
    head = Head(title or f"Rate{case.on} – {case.case.name}", [meaning, case.case.question], footer)
    return _curves_chart(case, curves, across, along, ceiling.value if ceiling else 0.0, head)


def named(case: Measured) -> list[str]:
    """The ids of the curves that are told by name, in the order of the table: the best of each system first."""
    ids = [curve.variant.id for curve in case.curves_in_order]
    best = [each for place, each in enumerate(ids) if owner_of(each) not in map(owner_of, ids[:place])]
    chosen = [*best, *(each for each in ids if each not in best)][:_NAMED]
    return [each for each in ids if each in chosen]


def _curves_chart(
    case: Measured, curves: Sequence[Drawn], across: Axis, along: Axis, dashed: float, head: Head
) -> Picture:
    """The curves, and a dashed line at a value. Curves that are not told by name are grey and lie below the others."""
    look_of = looks([*(row.variant for row in case.rows), *(each.curve.variant for each in curves)])
    ids = named(case)
    told = [each for each in curves if each.id in ids]
    others = [each for each in curves if each.id not in ids]
    strokes = [stroke for each in others for stroke in _path(each.line, each.id, _THIN, {"color": PALE})]
    strokes += [stroke for each in told for stroke in each.strokes(look_of[each.id])]
    bands = [band for each in told for band in _path(each.band, each.id, 0, look_of[each.id])]
    dots = [dot for each in told for dot in each.marks(look_of[each.id])]
    x, y = across.of(alt.X, "x"), along.of(alt.Y, "y")
    path = [x, y, COLOR, SAID, alt.Detail("part:N"), alt.Order("number:Q")]
    thick = alt.StrokeWidth("thick:Q", scale=None)
    outlines, lines = (layer(each).transform_flatten(["x", "y", "number"]) for each in (bands, strokes))
    layers = [
        layer([{"y": dashed}] if dashed else []).mark_rule(color=SOFT, strokeDash=[4, 3]).encode(y),
        outlines.mark_line(filled=True, fillOpacity=0.15, strokeWidth=0).encode(*path),
        lines.mark_line(strokeJoin="round").encode(*path, DASH, thick),
        marks(layer(dots).encode(x, y, alt.Opacity("opacity:Q", scale=None))),
    ]
    grey = ", ".join(each.id for each in others)
    vague = ", ".join(each.id for each in told if each.fitted.stop and not each.band)
    notes = [
        *([f"Grey: {grey}."] if grey else []),
        *([f"No band, for it would be too wide to say anything: {vague}."] if vague else []),
        *absences(case.rows),
    ]
    width = WIDTH - _LEGEND - 48 - max(text_width(text, SMALL) for text in along.ticks.values())
    plot = alt.LayerChart(layer=layers, width=width, height=_HEIGHT)
    entries = [Entry(look_of[each.id], each.id, each.figure) for each in told]
    return sheet(replace(head, notes=notes), plot, legend(entries, _LEGEND))


def _path(places: Sequence[Place], id_: str, thick: float, look: Datum) -> list[Datum]:
    """A stroke through these places, if there are any. Strokes of a curve differ by where they begin."""
    x, y = zip(*places, strict=True) if places else ((), ())
    how = {"said": id_, "thick": thick, "part": f"{id_} {thick} {places[:1]}", "number": list(range(len(x)))}
    return [look | how | {"x": x, "y": y}] if places else []


def _facts(point: CurvePoint, unit: str) -> str:
    """What is known of a point."""
    noisy = f", {point.noisy} noisy" if point.noisy else ""
    return (
        f"{duration(point.granularity.value)} a task ({interval_text(point.granularity)}); "
        f"efficiency {percent(point.efficiency.value)} ({range_text(point.efficiency, percent)}); "
        f"{rate(point.rate.value, unit)} ({interval_text(point.rate, unit)}); "
        f"{point.iterations} iterations, {point.runs} run{'s' * (point.runs != 1)}{noisy}"
    )
