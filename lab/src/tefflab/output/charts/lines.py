"""Values against a parameter: a line for each system, with a band, and breaks where nothing is known."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise

import altair as alt

from tefflab.analysis.rows import Row
from tefflab.analysis.statistics import Interval
from tefflab.output.charts import marks
from tefflab.output.charts.axes import Axis, linear_axis, log_axis, parameter_axis
from tefflab.output.charts.looks import Datum, looks
from tefflab.output.charts.sheet import SMALL, SOFT, WIDTH, Head, Picture, text_width
from tefflab.output.quantities import percent, quantity_text
from tefflab.output.sections import absences
from tefflab.records.plan import Variant

_HEIGHT, _LEGEND = 330.0, 190.0  # pixels
_BESIDE = 9  # systems that a legend beside the plot names; more stand below it
_LESS_IS_BETTER = ("s", "×")  # units of values that stand on a log axis; shares and rates stand on one from none
_GOOD = 0.9  # of the best: as much is called good
PHASES = {"too coarse": "#e6eaf4", "good": "#dcefe1", "too fine": "#f6e4de"}


def values_chart(
    rows: Sequence[Row],
    xs: Mapping[float, str],
    x_title: str,
    head: Head,
    *,
    x_of: Callable[[Row], float | None] = lambda row: row.x,
    at: str = "at",
    details: Mapping[str, str] | None = None,
    bare: Sequence[Row] = (),
    crossings: Mapping[str, tuple[float, float]] | None = None,
    phases: bool = False,
) -> Picture:
    """The values of the rows, which have one unit, against a parameter with the rising values `xs` and their texts;
    bounds have arrows. A note tells which have none.

    The legend has a figure for each variant: what `details` has by its id, else the value at the end, or the best one
    if more is better. It is written with the word `at`: `1.2 µs at 4`. `bare` rows are lines without marks and bands.
    `crossings`: places of large marks, by the variant's id.
    `phases`: the parameter is a number of tasks, and three shades tell where tasks are too coarse, good and too fine.
    """
    look_of = looks(row.variant for row in (*rows, *bare))
    unit = next((row.unit for row in rows if row.value), "s")
    written = percent if unit == "1" else partial(quantity_text, unit=unit)
    less = unit in _LESS_IS_BETTER
    known: dict[Variant, dict[float, Interval]] = {}
    for row in (*rows, *bare):
        if row.value and (x := x_of(row)) is not None:
            known.setdefault(row.variant, {})[x] = row.value
    values = [value for own in known.values() for value in own.values()]
    if less:
        along = log_axis([end for each in values for end in marks.ends(each)], written)
    else:
        along = linear_axis(max([each.value for each in values] + [1.0] * (unit == "1")), written)
    telling = {
        each: max(own.items(), key=lambda item: item[0] if less else item[1].value) for each, own in known.items()
    }
    ranked = sorted(
        telling, key=lambda each: (-telling[each][0], telling[each][1].value) if less else (-telling[each][1].value, 0)
    )
    entries: dict[str, marks.Entry] = {}
    found: list[tuple[Datum, Interval | None]] = []
    without_marks = {row.id for row in bare}
    for variant in ranked:
        look, is_bare = look_of[variant.id], variant.id in without_marks
        last, value = telling[variant]
        detail = (details or {}).get(variant.id, f"{written(value.value)} {at} {xs[last]}")
        if not is_bare or variant.title not in entries:
            entries[variant.title] = marks.Entry(look, variant.title, detail, is_bare)
        for x, text in xs.items():
            estimate = known[variant].get(x)
            said = f"{variant.title}: {written(estimate.value)} {at} {text}" if estimate else ""
            datum = marks.mark(look, said, 55, hollow=bool(estimate and not estimate.is_told))
            found.append((datum | {"x": x, "series": variant.id, "name": variant.title, "bare": is_bare}, estimate))
    across = parameter_axis(xs, x_title)
    is_below = len(entries) > _BESIDE
    width = WIDTH - 6 - max(text_width(text, SMALL) for text in along.ticks.values())
    width -= 0 if is_below else _LEGEND + 24
    shades = _shades(_good_part(known.values(), list(xs)), across, width) if phases else []
    large = [marks.mark(look_of[name], name, 130) | {"x": x, "value": y} for name, (x, y) in (crossings or {}).items()]
    crossed = marks.marks(marks.layer(large).encode(across.of(alt.X, "x"), along.of(alt.Y, "value")))
    plot = alt.LayerChart(layer=[*shades, *_layers(found, across, along), crossed], width=width, height=_HEIGHT)
    told = replace(head, notes=[*head.notes, *absences(rows)])
    has_hollow = not all(each.is_told for each in values)
    return marks.on_sheet(told, plot, list(entries.values()), 0 if is_below else _LEGEND, has_hollow=has_hollow)


def _layers(found: Sequence[tuple[Datum, Interval | None]], across: Axis, along: Axis) -> list[alt.Chart]:
    """Band and interval, line, arrow and mark; of bare ones the line alone."""
    drawn, tips = marks.estimates(found, along, (90, 270))
    x, y, low = across.of(alt.X, "x"), along.of(alt.Y, "value"), along.of(alt.Y, "low")
    every, named = marks.layer(drawn).encode(x, alt.Detail("series:N")), alt.Description("name:N")
    marked = every.transform_filter("!datum.bare")
    return [
        marked.mark_area(opacity=0.16).encode(low, marks.COLOR, named, y2="high:Q"),
        marked.mark_rule(strokeWidth=0.8).encode(low, marks.COLOR, named, y2="high:Q"),
        every.mark_line(strokeWidth=1.5, strokeJoin="round").encode(y, marks.COLOR, marks.DASH, named),
        marks.arrow_marks(marks.layer(tips).encode(x, y)),
        marks.marks(marked.encode(y)),
    ]


def _good_part(lines: Iterable[Mapping[float, Interval]], xs: Sequence[float]) -> tuple[float, float]:
    """From where to where the parameter keeps the best line within _GOOD of its best value; infinite without another
    value behind it."""
    every = list(lines)
    best = [max((own[x].value for own in every if x in own), default=0.0) for x in xs]
    first = last = best.index(max(best))
    while first > 0 and best[first - 1] >= _GOOD * max(best):
        first -= 1
    while last + 1 < len(xs) and best[last + 1] >= _GOOD * max(best):
        last += 1
    low = math.sqrt(xs[first - 1] * xs[first]) if first > 0 else -math.inf
    high = math.sqrt(xs[last] * xs[last + 1]) if last + 1 < len(xs) else math.inf
    return low, high


def _shades(good: tuple[float, float], across: Axis, width: float) -> list[alt.Chart]:
    """The three phases, each with its name above it where there is room."""
    edges = [across.low, *(across.clipped(each) for each in good), across.high]
    shades, names = [], []
    for (name, colour), (low, high) in zip(PHASES.items(), pairwise(edges), strict=True):
        near, far = (across.place(each) * width for each in (low, high))
        shades += [{"x": near, "end": far, "color": colour}] if near < far else []
        if text_width(name, SMALL) <= far - near:
            names.append(marks.word((near + far) / 2, -10, name, SMALL, SOFT, "center"))
    return [marks.layer(shades).mark_rect(opacity=0.7).encode(marks.X, marks.COLOR, x2="end:Q"), marks.words(names)]
