"""Estimates against a parameter: a line for each system, with a band, and breaks where nothing is known."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import altair as alt

from tefflab.analysis.rows import Row
from tefflab.analysis.statistics import Interval
from tefflab.output.charts.axes import Axis, linear_axis, log_axis, parameter_axis
from tefflab.output.charts.looks import looks
from tefflab.output.charts.marks import (
    COLOR,
    DASH,
    HOLLOW,
    Datum,
    Entry,
    arrow_marks,
    arrows,
    ends,
    layer,
    legend,
    mark,
    marks,
    span,
    word,
    words,
)
from tefflab.output.charts.sheet import SMALL, SOFT, WIDTH, Head, Picture, sheet, text_width
from tefflab.output.quantities import percent, quantity_text, time_tick
from tefflab.output.sections import absences
from tefflab.records.plan import Variant

_HEIGHT, _LEGEND = 330.0, 190.0  # pixels
_GOOD = 0.9  # of the best: as much is called good
PHASES = {"too coarse": "#e6eaf4", "good": "#dcefe1", "too fine": "#f6e4de"}


@dataclass(frozen=True, slots=True)
class Series:
    """A line: its place in the legend, and its estimates, one at each value of the parameter; None where there is none.
    A bare one is a line alone, without marks and bands."""

    entry: Entry
    estimates: Sequence[Interval | None]
    is_listed: bool = True  # in the legend


def lines_chart(
    series: Sequence[Series],
    across: Axis,
    along: Axis,
    head: Head,
    written: Callable[[float], str],
    *,
    good: tuple[float, float] | None = None,
) -> Picture:
    """The estimates of each series at each tick of `across`, with bands; bounds have arrows. `good`: where tasks are
    neither too coarse, left of it, nor too fine."""
    points: list[Datum] = []
    tips: list[Datum] = []
    for number, each in enumerate(series):
        for (value, text), estimate in zip(across.ticks.items(), each.estimates, strict=True):
            said = f"{each.entry.name}: {written(estimate.value)} at {text}" if estimate else ""
            datum = mark(each.entry.look, said, 55, hollow=bool(estimate and not estimate.is_told))
            datum |= {
                "x": value,
                "series": number,
                "name": each.entry.name,
                "bare": each.entry.is_bare,
                "value": estimate and estimate.value,
            }
            points.append(datum | (span(estimate, along) if estimate else {"low": None, "high": None}))
            tips += [datum | arrow for arrow in arrows(estimate, along, (90, 270))] if estimate else []
    x, y = across.of(alt.X, "x"), along.of(alt.Y, "value")
    every = layer(points).encode(x, alt.Detail("series:N"))
    base = every.transform_filter("!datum.bare")
    named = alt.Description("name:N")
    low = along.of(alt.Y, "low")
    width = WIDTH - _LEGEND - 24 - max(text_width(text, SMALL) for text in along.ticks.values()) - 6
    layers = [
        *(_shades(good, across, width) if good else []),
        base.mark_area(opacity=0.16).encode(low, COLOR, named, y2="high:Q"),
        base.mark_rule(strokeWidth=0.8).encode(low, COLOR, named, y2="high:Q"),
        every.mark_line(strokeWidth=1.5, strokeJoin="round").encode(y, COLOR, DASH, named),
        arrow_marks(layer(tips).encode(x, y)),
        marks(base.encode(y)),
    ]
    plot = alt.LayerChart(layer=layers, width=width, height=_HEIGHT)
    entries = [each.entry for each in series if each.is_listed]
    hollow = [HOLLOW] if any(each and not each.is_told for own in series for each in own.estimates) else []
    return sheet(replace(head, meaning=[*head.meaning, *hollow]), plot, legend(entries, _LEGEND))


def values_chart(
    rows: Sequence[Row],
    xs: Mapping[float, str],
    x_title: str,
    head: Head,
    *,
    x_of: Callable[[Row], float | None] = lambda row: row.x,
    at: str = "at",
    phases: bool = False,
) -> Picture:
    """The values of the rows, which have one unit, against a parameter with the rising values `xs` and their texts: a
    series for each variant. A note tells which have none. Shares and rates, of which more is better, stand on an axis
    from none.

    `at` leads to the value of the parameter in the legend: `1.2 µs at 4`. `phases`: the parameter is a number of tasks,
    and three shades tell where tasks are too coarse, good and too fine.
    """
    look_of = looks(row.variant for row in rows)
    unit = next((row.unit for row in rows if row.value), "s")
    written = partial(quantity_text, unit=unit) if unit != "1" else percent
    known: dict[Variant, dict[float, Interval]] = {}
    for row in rows:
        if row.value and (x := x_of(row)) is not None:
            known.setdefault(row.variant, {})[x] = row.value
    # Of shares and rates the best one counts, of times that at the end.
    telling = {
        each: max(own.items(), key=lambda item: item[0] if unit == "s" else item[1].value)
        for each, own in known.items()
    }
    ranked = sorted(
        telling.items(), key=lambda each: (-each[1][0], each[1][1].value) if unit == "s" else (-each[1][1].value, 0)
    )
    series = [
        Series(
            Entry(look_of[variant.id], variant.title, f"{written(value.value)} {at} {xs[x]}"),
            [known[variant].get(each) for each in xs],
        )
        for variant, (x, value) in ranked
    ]
    values = [value for own in known.values() for value in own.values()]
    if unit == "s":
        along = log_axis([end for each in values for end in ends(each)], time_tick)
    else:
        along = linear_axis(max([each.value for each in values] + [1.0] * (unit == "1")), written)
    across = parameter_axis(list(xs), xs.__getitem__, x_title)
    told = replace(head, notes=[*head.notes, *absences(rows)])
    return lines_chart(series, across, along, told, written, good=_good_part(list(xs), series) if phases else None)


def _good_part(xs: Sequence[float], series: Sequence[Series]) -> tuple[float, float]:
    """From where to where the parameter keeps the best line within _GOOD of its best value. The ends lie between two
    values of the parameter; an infinite end has no other value behind it."""
    best = [max((own.value for each in series if (own := each.estimates[i])), default=0.0) for i in range(len(xs))]
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
            names.append(word((near + far) / 2, -10, name, SMALL, SOFT, "center"))
    return [
        layer(shades).mark_rect(opacity=0.7).encode(alt.X("x:Q", scale=None, axis=None), COLOR, x2="end:Q"),
        words(names),
    ]
