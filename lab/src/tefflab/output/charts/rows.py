"""Estimates in rows, above one axis: a system in each, or a case in each and all systems in it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import altair as alt

from tefflab.analysis.rows import Row
from tefflab.analysis.statistics import Interval
from tefflab.output.charts.axes import Axis, log_axis
from tefflab.output.charts.looks import Look, looks
from tefflab.output.charts.marks import (
    COLOR,
    HOLLOW,
    SAID,
    Datum,
    Entry,
    X,
    Y,
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
from tefflab.output.charts.sheet import BODY, HAIR, INK, SMALL, SOFT, WIDTH, Head, Picture, sheet, text_width
from tefflab.output.quantities import digits, interval_text, time_tick, value_text
from tefflab.records.plan import Variant

_GAP = 12.0  # pixels between a name and the plot, and between two columns
_LEVEL = 13.0  # from one level of marks in a row to the next
_TOUCH = 13.0  # nearer marks stand on two levels
_ARROW = 22.0
_LEGEND = 165.0
_COLUMNS = ((66.0, BODY, INK, "bold"), (92.0, SMALL, SOFT, "normal"))  # right of the plot


@dataclass(frozen=True, slots=True)
class Mark:
    """An estimate in a row, and what a reader is told of it. A small one is a further number of the same runs."""

    look: Look
    estimate: Interval
    said: str
    is_small: bool = False

    def datum(self, *, is_large: bool) -> Datum:
        if self.is_small:
            return mark(replace(self.look, shape="circle"), self.said, 28, hollow=True)
        return mark(self.look, self.said, 100 if is_large else 70, hollow=not self.estimate.is_told)


@dataclass(frozen=True, slots=True)
class Line:
    """A row: its name, a further text below it, its marks, and what stands right of the plot."""

    name: str
    marks: Sequence[Mark]
    detail: str = ""
    cells: Sequence[str] = ()
    is_bold: bool = False


def rows_chart(
    lines: Sequence[Line],
    axis: Axis,
    head: Head,
    *,
    columns: Sequence[str] = (),
    key: str = "",
    entries: Sequence[Entry] = (),
    rule: float | None = None,
) -> Picture:
    """The lines from top to bottom. `columns` are the titles of the cells, `key` explains the marks, and `rule` is a
    value that is marked all the way down."""
    left = _GAP + max(
        (max(1.08 * text_width(each.name), text_width(each.detail, SMALL)) for each in lines), default=0.0
    )
    right = sum(room + _GAP for (room, *_), _ in zip(_COLUMNS, columns, strict=False))
    width = max(WIDTH - left - right - (_LEGEND + 2 * _GAP if entries else 0), 240.0)
    edges: list[Datum] = []
    texts = [
        word(min(0.0, width - text_width(key, SMALL)), -14, key, SMALL, SOFT),
        *_cells(width, -14, columns, is_soft=True),
    ]
    drawn: list[Datum] = []
    tips: list[Datum] = []
    y = 0.0
    for line in lines:
        levels = _levels(line.marks, axis, width)
        height = max(30.0 if line.detail else 23.0, 10 + _LEVEL * (max(levels, default=0) + 1))
        middle = y + height / 2
        edges += [{"x": -left, "end": width + right, "y": y, "color": INK if line.is_bold else HAIR}] if y else []
        weight = "bold" if line.is_bold else "normal"
        texts.append(word(-_GAP, middle - 6 * bool(line.detail), line.name, align="right", weight=weight))
        texts.append(word(-_GAP, middle + 7, line.detail, SMALL, SOFT, "right"))
        texts += _cells(width, middle, line.cells, is_soft=not line.marks)
        for each, level in zip(line.marks, levels, strict=True):
            datum = each.datum(is_large=line.is_bold) | {"y": middle + _LEVEL * (level - max(levels) / 2)}
            own = {"low": None, "high": None} if each.is_small else span(each.estimate, axis)
            drawn.append(datum | {"value": each.estimate.value} | own)
            tips += [] if each.is_small else [datum | arrow for arrow in arrows(each.estimate, axis, (180, 0))]
        y += height
    x, base = axis.of(alt.X, "value"), layer(drawn).encode(Y)
    layers = [
        layer(edges).mark_rule(strokeWidth=0.7).encode(X, Y, COLOR, x2="end:Q"),
        layer([{"value": rule}] if rule else []).mark_rule(color=INK).encode(x),
        base.mark_rule(strokeWidth=1.7).encode(axis.of(alt.X, "low"), COLOR, SAID, x2="high:Q"),
        arrow_marks(layer(tips).encode(x, Y)),
        marks(base.encode(x)),
        words(texts),
    ]
    plot = alt.LayerChart(layer=layers, width=width, height=max(y, 1))
    is_any = any(not each.is_small and not each.estimate.is_told for line in lines for each in line.marks)
    head = replace(head, meaning=[*head.meaning, *([HOLLOW] if is_any else [])])
    return sheet(head, plot, *([legend(entries, _LEGEND, lines=False)] if entries else []))


def _cells(x: float, y: float, texts: Sequence[str], *, is_soft: bool = False) -> list[Datum]:
    """The texts right of the plot, each flush right in its column."""
    found = []
    for text, (room, size, color, weight) in zip(texts, _COLUMNS, strict=False):
        x += room + _GAP
        how = (SMALL, SOFT, "right") if is_soft else (size, color, "right", weight)
        found.append(word(x, y, text, *how))
    return found


def _levels(marks: Sequence[Mark], axis: Axis, width: float) -> list[int]:
    """The level of each mark: the first in which it touches no other. Marks of one look share a level."""
    full: list[float] = []  # how far each level is taken
    of_look: dict[Look, int] = {}
    for each in sorted(marks, key=lambda each: each.estimate.value):
        bound, reach = (
            each.estimate.relation,
            each.estimate.extent if each.estimate.is_told else (each.estimate.value,) * 2,
        )
        at, low, high = (axis.place(value) * width for value in (each.estimate.value, *reach))
        start = min(low, at - (_ARROW if bound == "<" else _TOUCH / 2))
        end = max(high, at + (_ARROW if bound == ">" else _TOUCH / 2))
        free = next((level for level, taken in enumerate(full) if taken <= start), len(full))
        level = of_look.setdefault(each.look, free)
        full[level : level + 1] = [end]
    return [of_look[each.look] for each in marks]


def ranking_chart(
    rows: Sequence[Row],
    beside: Mapping[str, Row],
    title: str,
    head: Head,
    columns: Mapping[str, Callable[[Row], str]],
) -> Picture:
    """A row each with its value and texts in columns, and a further number of the same runs, if `beside` has it by the
    variant's id. `title` of the axis."""
    look_of = looks(row.variant for row in rows)
    values = [end for row in rows if row.value for end in ends(row.value)]
    axis = log_axis(values + [each.value.value for each in beside.values() if each.value], time_tick, title, 0.07)
    lines = []
    for row in rows:
        own, other = look_of[row.id], beside.get(row.id)
        shown = [(each, each.value, each is other) for each in (other, row) if each and each.value]
        marks_of = [Mark(own, value, _told(each, each.quantity), small) for each, value, small in shown]
        detail = row.variant.title if row.variant.title != row.id else ""
        lines.append(Line(row.id, marks_of, detail, [text(row) for text in columns.values()]))
    name = next(iter(columns))
    key = [
        f"—●— {name} and interval" if values else "",
        *dict.fromkeys(f"○ {each.quantity} per task" for each in beside.values()),
        "→ lies beyond" if any(row.relation != "=" for row in rows) else "",
    ]
    spaced = "      ".join(filter(None, key)).replace(" ", "\N{NO-BREAK SPACE}")
    return rows_chart(lines, axis, head, columns=list(columns), key=spaced)


def cases_chart(cases: Mapping[str, Sequence[Row]], title: str, head: Head) -> Picture:
    """The rows of each case side by side. `title` of the axis."""
    rows = [row for own in cases.values() for row in own]
    variants = {row.id: row.variant for row in rows}
    look_of = looks(variants.values())
    axis = log_axis([end for row in rows if row.value for end in ends(row.value)], time_tick, title, 0.07)
    lines = [
        Line(name, [Mark(look_of[row.id], row.value, _told(row, name)) for row in own if row.value])
        for name, own in cases.items()
    ]
    return rows_chart(lines, axis, head, entries=[Entry(look_of[id_], each.title) for id_, each in variants.items()])


def ratios_chart(
    rows: Mapping[str, Mapping[str, Interval]], to: Variant, others: Sequence[Variant], head: Head, mean: str
) -> Picture:
    """The time of each other system divided by the time of the system `to`, which is the line at 1: by the name of the
    row and the id of the system. The row `mean` is set apart."""
    look_of, title_of = looks([to, *others]), {each.id: each.title for each in others}
    axis = log_axis(
        [1.0, *(end for own in rows.values() for each in own.values() for end in ends(each))],
        lambda value: f"{value:g}",
        f"time / that of {to.title} (log scale); the line is at 1",
    )
    lines = [
        Line(
            name,
            [Mark(look_of[id_], each, f"{title_of[id_]}: {digits(each.value)}, {name}") for id_, each in own.items()],
            is_bold=name == mean,
        )
        for name, own in rows.items()
    ]
    return rows_chart(lines, axis, head, entries=[Entry(look_of[each.id], each.title) for each in others], rule=1.0)


def _told(row: Row, what: str) -> str:
    interval = interval_text(row.value) if row.value else ""
    return f"{row.variant.title}: {value_text(row)} ({interval}), {what}"
