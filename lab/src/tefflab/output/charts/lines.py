"""Estimates against a parameter: a line for each system, with a band, and breaks where nothing is known."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import altair as alt

from tefflab.analysis.statistics import Interval
from tefflab.output.charts.axes import Axis
from tefflab.output.charts.marks import (
    COLOR,
    DASH,
    HOLLOW,
    Datum,
    Entry,
    arrow_marks,
    arrows,
    layer,
    legend,
    mark,
    marks,
    span,
    word,
    words,
)
from tefflab.output.charts.sheet import SMALL, SOFT, WIDTH, Head, Picture, sheet, text_width

_HEIGHT, _LEGEND = 330.0, 190.0  # pixels
_GOOD = 0.9  # of the best: as much is called good
_PHASES = (("too coarse", "#eef1f7"), ("good", "#e7f4ea"), ("too fine", "#f9eeea"))


@dataclass(frozen=True, slots=True)
class Series:
    """A line: its place in the legend, and its estimates, one at each value of the parameter; None where there is none.
    A bare one is a line alone, without marks and bands. `said`: what a reader is told of each."""

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
    ends: list[Datum] = []
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
            ends += [datum | arrow for arrow in arrows(estimate, along, (90, 270))] if estimate else []
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
        arrow_marks(layer(ends).encode(x, y)),
        marks(base.encode(y)),
    ]
    plot = alt.LayerChart(layer=layers, width=width, height=_HEIGHT)
    entries = [each.entry for each in series if each.is_listed]
    hollow = [HOLLOW] if any(each and not each.is_told for own in series for each in own.estimates) else []
    return sheet(Head(head.title, [*head.meaning, *hollow], head.footer, head.notes), plot, legend(entries, _LEGEND))


def good_part(xs: Sequence[float], series: Sequence[Series]) -> tuple[float, float]:
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
    for (name, colour), (low, high) in zip(_PHASES, pairwise(edges), strict=True):
        near, far = (across.place(each) * width for each in (low, high))
        shades += [{"x": near, "end": far, "color": colour}] if near < far else []
        if text_width(name, SMALL) <= far - near:
            names.append(word((near + far) / 2, -10, name, SMALL, SOFT, "center"))
    return [
        layer(shades).mark_rect(opacity=0.7).encode(alt.X("x:Q", scale=None, axis=None), COLOR, x2="end:Q"),
        words(names),
    ]
