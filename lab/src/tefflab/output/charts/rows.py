"""Values in rows, above one axis: a system in each, or a case in each and all systems in it."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import altair as alt

from tefflab.analysis.rows import Row
from tefflab.analysis.statistics import Interval
from tefflab.output.charts import marks
from tefflab.output.charts.axes import Axis, log_axis
from tefflab.output.charts.looks import Datum, looks
from tefflab.output.charts.sheet import BODY, HAIR, INK, SMALL, SOFT, WIDTH, Head, Picture, text_width
from tefflab.output.quantities import duration, interval_text, value_text

_GAP = 12.0  # pixels between a name and the plot, and between two columns
_LEVEL = 13.0  # from one level of marks in a row to the next
_TOUCH = 13.0  # nearer marks stand on two levels
_ARROW = 22.0
_LEGEND = 175.0
_BESIDE = 7  # systems that a legend beside one line names; more stand below the plot
_COLUMNS = ((66.0, BODY, INK, "bold"), (92.0, SMALL, SOFT, "normal"))  # right of the plot


@dataclass(frozen=True, slots=True)
class _Room:
    """The pixels left of the plot, of the plot, and right of it."""

    left: float
    width: float
    right: float

    @classmethod
    def of(cls, details: Mapping[str, str], columns: int, legend: float) -> "_Room":
        names = [max(1.08 * text_width(name), text_width(each, SMALL)) for name, each in details.items()]
        left = _GAP + max(names, default=0.0)
        right = sum(room + _GAP for room, *_ in _COLUMNS[:columns])
        return cls(left, max(WIDTH - left - right - legend, 240.0), right)


def rows_chart(
    lines: Mapping[str, Sequence[Row]],
    title: str,
    head: Head,
    *,
    columns: Mapping[str, Callable[[Row], str]] | None = None,
    rule: float | None = None,
    bold: str = "",
) -> Picture:
    """The values of the rows in lines from top to bottom, by their names; a further number of the same runs is a small
    hollow circle.

    `title` is the axis's. With `columns`, by their titles, each line is of one system, whose title stands below its
    name; without, a legend names the systems. `rule` is a value that is marked all the way down, and the line `bold`
    stands out.
    """
    rows = [row for own in lines.values() for row in own]
    variants = {row.id: row.variant for row in rows}
    look_of = looks(variants.values())
    marked = [end for row in rows if row.value for end in marks.ends(row.value)] + ([rule] if rule else [])
    axis = log_axis(marked, duration if all(row.unit == "s" for row in rows) else "{:g}".format, title, 0.07)
    details = {
        name: own[0].variant.title if columns and name != own[0].variant.title else "" for name, own in lines.items()
    }
    is_below = len(variants) > _BESIDE + 1.3 * len(lines)
    room = _Room.of(details, len(columns or ()), 0.0 if columns or is_below else _LEGEND + 2 * _GAP)
    texts = [*_key(rows, room.width), *_cells(room.width, -14, list(columns))] if columns else []
    edges: list[Datum] = []
    found: list[tuple[Datum, Interval | None]] = []
    y = 0.0
    for name, own in lines.items():
        levels = _levels(own, axis, room.width)
        deepest = max(levels.values(), default=0)
        height = max(30.0 if details[name] else 23.0, 10 + _LEVEL * (deepest + 1))
        middle = y + height / 2
        color = INK if name == bold else HAIR
        edges += [{"x": -room.left, "end": room.width + room.right, "y": y, "color": color}] if y else []
        weight = "bold" if name == bold else "normal"
        texts.append(marks.word(-_GAP, middle - 6 * bool(details[name]), name, align="right", weight=weight))
        texts.append(marks.word(-_GAP, middle + 7, details[name], SMALL, SOFT, "right"))
        if columns:
            cells = [text(own[-1]) for text in columns.values()]
            texts += _cells(room.width, middle, cells, is_soft=own[-1].value is None)
        for row in own:
            place = {"y": middle + _LEVEL * (levels.get(row.id, 0) - deepest / 2)}
            if row.value:  # a further number is drawn without an interval
                value = replace(row.value, low=0.0, high=math.inf) if row.is_beside else row.value
                found.append((_mark(row, look_of[row.id], is_large=name == bold) | place, value))
        y += height
    drawn, tips = marks.estimates(found, axis, (180, 0))
    x, base = axis.of(alt.X, "value"), marks.layer(drawn).encode(marks.Y)
    layers = [
        marks.layer(edges).mark_rule(strokeWidth=0.7).encode(marks.X, marks.Y, marks.COLOR, x2="end:Q"),
        marks.layer([{"value": rule}] if rule else []).mark_rule(color=INK).encode(x),
        base.mark_rule(strokeWidth=1.7).encode(axis.of(alt.X, "low"), marks.COLOR, marks.SAID, x2="high:Q"),
        marks.arrow_marks(marks.layer(tips).encode(x, marks.Y)),
        marks.marks(base.encode(x)),
        marks.words(texts),
    ]
    plot = alt.LayerChart(layer=layers, width=room.width, height=max(y, 1))
    has_hollow = any(row.value and not row.is_told and not row.is_beside for row in rows)
    entries = [] if columns else [marks.Entry(look_of[id_], each.title) for id_, each in variants.items()]
    beside = 0 if is_below else _LEGEND
    return marks.on_sheet(head, plot, entries, beside, has_hollow=has_hollow, lines=False)


def _mark(row: Row, look: Datum, *, is_large: bool) -> Datum:
    said = f"{row.variant.title}: {row.quantity} {value_text(row)}"
    if row.is_beside:
        return marks.mark(look | {"shape": "circle"}, said, 28, hollow=True)
    interval = f" ({interval_text(row.value)})" if row.value and row.unit == "s" else ""
    return marks.mark(look, f"{said}{interval}, {row.case}", 100 if is_large else 70, hollow=not row.is_told)


def _key(rows: Sequence[Row], width: float) -> list[Datum]:
    """The meaning of the marks that occur, above the plot; it may begin left of it."""
    known = [
        *dict.fromkeys(f"—●— {row.quantity}, interval" for row in rows if row.value and not row.is_beside),
        *dict.fromkeys(f"○ {row.quantity} per task" for row in rows if row.is_beside),
        *(["→ lies beyond"] if any(row.relation != "=" for row in rows) else []),
    ]
    text = "      ".join(known).replace(" ", "\N{NO-BREAK SPACE}")
    return [marks.word(min(0.0, width - text_width(text, SMALL)), -14, text, SMALL, SOFT)]


def _cells(x: float, y: float, texts: Sequence[str], *, is_soft: bool = True) -> list[Datum]:
    """The texts right of the plot, each flush right in its column."""
    found = []
    for text, (room, size, color, weight) in zip(texts, _COLUMNS, strict=False):
        x += room + _GAP
        how = (SMALL, SOFT, "right") if is_soft else (size, color, "right", weight)
        found.append(marks.word(x, y, text, *how))
    return found


def _levels(rows: Sequence[Row], axis: Axis, width: float) -> dict[str, int]:
    """The level of each system: the first in which its mark touches no other."""
    full: list[float] = []  # how far each level is taken
    found: dict[str, int] = {}
    for row in sorted(rows, key=lambda row: row.value.value if row.value else 0.0):
        if row.value is None or row.is_beside:
            continue
        reach = row.value.extent if row.is_told else (row.value.value, row.value.value)
        at, low, high = (axis.place(value) * width for value in (row.value.value, *reach))
        start = min(low, at - (_ARROW if row.relation == "<" else _TOUCH / 2))
        end = max(high, at + (_ARROW if row.relation == ">" else _TOUCH / 2))
        found[row.id] = next((level for level, taken in enumerate(full) if taken <= start), len(full))
        full[found[row.id] : found[row.id] + 1] = [end]
    return found
