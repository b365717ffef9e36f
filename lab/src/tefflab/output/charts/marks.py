"""The layers of charts: words, marks, intervals and arrows. Each datum holds its own look, and the pixels of its place
where no axis gives that."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import altair as alt

from tefflab.analysis.statistics import Interval
from tefflab.output.charts.axes import Axis
from tefflab.output.charts.looks import PAPER, Datum
from tefflab.output.charts.sheet import BODY, INK, SMALL, SOFT, Head, Picture, sheet, wrapped

HOLLOW = "Hollow marks have no interval yet: it takes more rounds."
X = alt.X("x:Q", scale=None, axis=None)  # in pixels
Y = alt.Y("y:Q", scale=None, axis=None)
COLOR = alt.Color("color:N", scale=None)
DASH = alt.StrokeDash("dash:N", scale=None)
SAID = alt.Description("said:N")  # that reports show at the pointer: a name of the legend, and what is said of it

_SHAFT = "M0,-.07H1.4V-.28L2,0L1.4,.28V.07H0Z"  # an arrow that starts at its place
_TIP = "M-.6,-.28L0,0L-.6,.28Z"  # one that ends there
_LEADING = 1.25


def layer(values: Sequence[Datum]) -> alt.Chart:
    """A chart of these data. They are text, which Altair neither copies nor checks with each step."""
    text = json.dumps(list(values), ensure_ascii=False, allow_nan=False)
    return alt.Chart(alt.InlineData(values=text, format=alt.JsonDataFormat(type="json")))


def word(
    x: float, y: float, text: str, size: float = BODY, color: str = INK, align: str = "left", weight: str = "normal"
) -> Datum:
    """A text whose first line has its middle at the place."""
    return {"x": x, "y": y, "text": text, "size": size, "color": color, "align": align, "weight": weight, "said": ""}


def words(values: Sequence[Datum]) -> alt.Chart:
    drawn: alt.Chart = (
        layer([each for each in values if each["text"]])
        .mark_text(
            align=alt.ExprRef("datum.align"),
            fontWeight=alt.ExprRef("datum.weight"),
            lineHeight=alt.ExprRef(f"{_LEADING} * datum.size"),
            baseline="middle",
            lineBreak="\n",
        )
        .encode(X, Y, COLOR, SAID, alt.Size("size:Q", scale=None), alt.Text("text:N"))
    )
    return drawn


def ends(estimate: Interval) -> list[float]:
    """All that an axis should hold of it: an interval that says nothing has no line, and would stretch the axis."""
    return [estimate.low, estimate.value, estimate.high] if estimate.is_told else [estimate.value]


def mark(look: Datum, said: str, size: float, *, hollow: bool = False) -> Datum:
    """A variant's mark. A full one has a white rim, which parts it from what lies below."""
    fill, rim = (PAPER, look["color"]) if hollow else (look["color"], PAPER)
    return look | {"said": said, "fill": fill, "rim": rim, "size": size, "thick": 1.2 if hollow else 0.8}


def marks(chart: alt.Chart) -> alt.Chart:
    drawn: alt.Chart = chart.mark_point(opacity=1).encode(
        SAID,
        alt.Shape("shape:N", scale=None),
        alt.Size("size:Q", scale=None),
        alt.Fill("fill:N", scale=None),
        alt.Stroke("rim:N", scale=None),
        alt.StrokeWidth("thick:Q", scale=None),
    )
    return drawn


def estimates(
    found: Iterable[tuple[Datum, Interval | None]], axis: Axis, turns: tuple[int, int]
) -> tuple[list[Datum], list[Datum]]:
    """The data with their values and the drawn parts of their intervals, of which an open end reaches to the end of the
    axis; then their arrows. `turns`: of an arrow towards less and of one towards more."""
    drawn, tips = [], []
    for datum, estimate in found:
        reach = estimate.extent if estimate and estimate.is_told else None
        low, high = (axis.clipped(end) for end in reach) if reach else (None, None)
        drawn.append(datum | {"value": estimate and estimate.value, "low": low, "high": high})
        tips += [datum | each for each in _arrows(estimate, axis, turns)] if estimate else []
    return drawn, tips


def _arrows(estimate: Interval, axis: Axis, turns: tuple[int, int]) -> list[Datum]:
    """One from a bound towards the truth, and one at an end of the axis where the interval goes on."""
    low, high = estimate.extent if estimate.is_told else (estimate.value, estimate.value)
    less, more = turns
    found = [
        *([(estimate.value, _SHAFT, less)] if estimate.relation == "<" else []),
        *([(estimate.value, _SHAFT, more)] if estimate.relation == ">" else []),
        *([(axis.low, _TIP, less)] if low < axis.low and estimate.relation != "<" else []),
        *([(axis.high, _TIP, more)] if high > axis.high and estimate.relation != ">" else []),
    ]
    return [{"value": at, "arrow": arrow, "turn": turn} for at, arrow, turn in found]


def arrow_marks(chart: alt.Chart) -> alt.Chart:
    turn = alt.Angle("turn:Q", scale=None)
    shape = alt.Shape("arrow:N", scale=None)
    drawn: alt.Chart = chart.mark_point(filled=True, opacity=1, size=360).encode(COLOR, SAID, turn, shape)
    return drawn


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the legend: how something looks, its name, and a figure below it. A bare one has no mark."""

    look: Datum
    name: str
    detail: str = ""
    is_bare: bool = False


def legend(entries: Sequence[Entry], width: float, *, columns: int = 1, lines: bool = True) -> alt.LayerChart:
    """A part beside or below the plot, so that it never covers data; a report lets its names be clicked. `lines`:
    whether a line is drawn beside each name."""
    left = 34.0 if lines else 14.0
    room = width / columns - left - 6
    strokes, drawn, texts, y = [], [], [], 6.0
    for start in range(0, len(entries), columns):
        below = y
        for column, entry in enumerate(entries[start : start + columns]):
            x = column * width / columns
            name, detail = wrapped(entry.name, room), wrapped(entry.detail, room, SMALL)
            middle = y + _LEADING * BODY * len(name)
            strokes += [entry.look | {"x": x, "end": x + left - 8, "y": y}] if lines else []
            drawn += [] if entry.is_bare else [mark(entry.look, "", 60) | {"x": x + (left - 8) / 2, "y": y}]
            texts.append(word(x + left, y, "\n".join(name)) | {"said": entry.name})
            texts.append(word(x + left, middle, "\n".join(detail), SMALL, SOFT))
            below = max(below, middle + _LEADING * SMALL * len(detail) + 5)
        y = below
    stroke = layer(strokes).mark_rule(strokeWidth=1.5).encode(X, Y, COLOR, DASH, x2="end:Q")
    drawings = [stroke, marks(layer(drawn).encode(X, Y)), words(texts)]
    return alt.LayerChart(layer=drawings, width=width, height=max(y, 1), name="legend")


def on_sheet(
    head: Head, plot: alt.LayerChart, entries: Sequence[Entry], beside: float, *, has_hollow: bool, lines: bool = True
) -> Picture:
    """The plot with its legend, so many pixels `beside` it, or else below it; without entries, alone."""
    head = replace(head, meaning=[*head.meaning, *([HOLLOW] if has_hollow else [])])
    room, columns = (beside, 1) if beside else (plot.width, 4)
    drawn = legend(entries, room, columns=columns, lines=lines) if entries else None
    return sheet(head, plot, drawn, is_below=bool(entries) and not beside)
