"""The pictures of METG: dots of every system, a row each or at every value of a category, and lines against a parameter
(dependencies per task, bytes).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from matplotlib.figure import Figure

from tefflab.analysis.results import MeasuredCase, MetgRow
from tefflab.benchmarks.task_graph.readings import absences, metg_interval_text, metg_name, value_text, variants_of
from tefflab.output import quantities
from tefflab.output.plots.intervals import ARROW, HOLLOW, draw_interval, ends, hollow
from tefflab.output.plots.legend import Entry, Legend
from tefflab.output.plots.lines import Head, Line, lines_chart
from tefflab.output.plots.looks import PAPER, Look, looks
from tefflab.output.plots.sheet import (
    BODY,
    EDGE,
    HAIR,
    INK,
    SMALL,
    SOFT,
    WIDTH,
    Sheet,
    line_height,
    log_ticks,
    mark,
    text_width,
    wrap,
)
from tefflab.output.quantities import time_tick
from tefflab.output.scales import LogAxis, log_axis

_LABEL = 2.35  # inches of a row's name, at most
_TICKS = 0.4  # inches below the axes for tick labels and the axis title
_DOT = 7.0
_SAMPLE = 0.3  # inches of a mark in the key
_APART = 0.2  # inches between its parts

Label = list[tuple[str, float, str]]  # lines, each with its size and colour


def metg_chart(case: MeasuredCase, footer: str = "", title: str = "") -> Figure:
    """METG of every system: a row each, the smallest on top, with interval, overhead (hollow) and value."""
    rows = case.rows
    look_of = looks(variants_of([case]).values())
    names = [_label(row) for row in rows]
    heights = [0.1 + sum(line_height(size) for _, size, _ in label) for label in names] or [0.3]
    head = 0.34
    sheet = Sheet(
        title or f"{metg_name(case.threshold)} – {case.name}",
        [_meaning(case.threshold), case.flags],
        footer,
        head + sum(heights) + _TICKS,
        [
            *absences([case]),
            *(f"{row.variant.id}: {row.note}" for row in rows if row.note and row.metg),
        ],
    )
    columns = _Columns.of(rows, names)
    bottom, top = sheet.bottom + _TICKS, sheet.top - head
    axes = sheet.axes(columns.left, columns.right, bottom, top)
    known = [row.metg for row in rows if row.metg]
    overheads = [row.known_overhead.value for row in rows if row.known_overhead]
    axis = log_axis([end for each in known for end in ends(each)] + overheads, padding=0.07)
    log_ticks(axes, "x", axis, time_tick)
    axes.set_ylim(bottom, top)  # rows are placed in inches
    axes.set_yticks([])
    y = top
    for number, (row, label, height) in enumerate(zip(rows, names, heights, strict=False)):
        middle = y - height / 2
        y -= height
        if number:
            sheet.line([EDGE, WIDTH - EDGE], [y + height, y + height], color=HAIR, linewidth=0.6, zorder=0)
        _lines(sheet, label, columns.left - 0.14, middle)
        look = look_of[row.variant.id]
        if row.known_overhead:
            axes.plot([row.known_overhead.value], [middle], **_hollow(look), zorder=4)
        if row.metg:
            draw_interval(axes, row.metg, middle, look, _DOT)
        _values(sheet, row, columns, middle)
    sheet.text(columns.value, top + 0.1, metg_name(case.threshold), SMALL, color=SOFT, align="right")
    sheet.text(columns.interval, top + 0.1, "95 % interval", SMALL, color=SOFT, align="right")
    _key(sheet, rows, columns, top + 0.13)
    sheet.text(
        (columns.left + columns.right) / 2,
        sheet.bottom + 0.05,
        "granularity: time × cores / tasks (log scale)",
        SMALL,
        color=SOFT,
        align="center",
    )
    return sheet.figure


@dataclass(frozen=True, slots=True)
class _Columns:
    """Where the axes begin and end, and where the values right of them end (both set flush right)."""

    left: float
    right: float
    value: float
    interval: float

    @classmethod
    def of(cls, rows: Sequence[MetgRow], names: Sequence[Label]) -> "_Columns":
        label = max((text_width(line, size) for lines in names for line, size, _ in lines), default=0.5)
        values = [text_width(value_text(row), BODY, bold=True) for row in rows] + [text_width("METG(50 %)", SMALL)]
        intervals = [text_width(metg_interval_text(row), SMALL) for row in rows if row.metg]
        interval = WIDTH - EDGE
        value = interval - max([*intervals, text_width("95 % interval", SMALL)]) - 0.16
        return cls(EDGE + label + 0.14, value - max(values) - 0.3, value, interval)


def _meaning(threshold: float) -> str:
    share = quantities.percent(threshold)
    return f"The smallest task with which a system still reaches {share} of what the cores can do; smaller is better."


def _label(row: MetgRow) -> Label:
    """The id as in every table, and below it its title."""
    name = [(line, BODY, INK) for line in wrap(row.variant.id, _LABEL, BODY)]
    if row.variant.title == row.variant.id:
        return name
    return [*name, *((line, SMALL, SOFT) for line in wrap(row.variant.title, _LABEL, SMALL))]


def _lines(sheet: Sheet, label: Label, x: float, middle: float) -> None:
    y = middle + sum(line_height(size) for _, size, _ in label) / 2
    for line, size, color in label:
        y -= line_height(size) / 2
        sheet.text(x, y, line, size, color=color, align="right", vertical="center_baseline")
        y -= line_height(size) / 2


def _values(sheet: Sheet, row: MetgRow, columns: _Columns, middle: float) -> None:
    write = partial(sheet.text, align="right", vertical="center_baseline")
    write(columns.value, middle, value_text(row), bold=row.metg is not None, color=INK if row.metg else SOFT)
    if row.metg:
        write(columns.interval, middle, metg_interval_text(row), SMALL, color=SOFT)


def _key(sheet: Sheet, rows: Sequence[MetgRow], columns: _Columns, y: float) -> None:
    """The meaning of the marks that occur, above the axes; it may begin left of them."""
    neutral = Look(INK, PAPER, (), "circle")
    texts = []
    if any(row.metg for row in rows):
        texts.append((_SAMPLE, "METG, interval"))
    if any(row.known_overhead for row in rows):
        texts.append((_SAMPLE / 2, "overhead per task"))
    if any(row.metg and row.metg.relation != "=" for row in rows):
        texts.append((0.0, "→ lies beyond"))
    x = min(columns.left, columns.right - sum(sample + text_width(text, SMALL) + _APART for sample, text in texts))
    for sample, text in texts:
        if sample == _SAMPLE:
            sheet.line([x, x + 0.24], [y, y], color=INK, linewidth=1.6)
            sheet.line([x + 0.12], [y], **mark(neutral, 6))
        elif sample:
            sheet.line([x + 0.05], [y], **_hollow(neutral))
        sheet.text(x + sample, y, text, SMALL, color=SOFT, vertical="center_baseline")
        x += sample + text_width(text, SMALL) + _APART


def _hollow(look: Look) -> dict[str, Any]:
    return {"marker": "o", "markersize": 4.2, "linestyle": "none"} | hollow(look)


# METG by a category: a row a value, all systems in it.

_LEVEL = 0.125  # inches between two dots that would touch
_ROOM = 0.13  # inches of a dot and the room around it
_ARROW = ARROW / 72 + 0.05  # inches of a bound's arrow and the room around it


def metg_dots_chart(cases: Sequence[MeasuredCase], title: str, footer: str = "") -> Figure:
    """METG of every system at each case (patterns, say), a row each; dots that would touch are set apart."""
    rows = [row for case in cases for row in case.rows]
    look_of = looks(variants_of(cases).values())
    legend = Legend(legend_entries(cases, look_of), lines=False)
    names = [wrap(case.name, _LABEL, BODY) for case in cases]
    left = EDGE + max((text_width(line, BODY) for lines in names for line in lines), default=0.5) + 0.14
    right = WIDTH - EDGE - legend.width - 0.28
    axis = log_axis([end for row in rows if row.metg for end in ends(row.metg)], padding=0.07)
    is_any = any(row.metg and row.metg.is_unknown for row in rows)
    unknown = [HOLLOW] if is_any else []
    levels = [_levels([row for row in each.rows if row.metg], axis, right - left) for each in cases]
    heights = [max(0.28, 0.15 + _LEVEL * (max(level.values(), default=0) + 1)) for level in levels]
    sheet = Sheet(
        title,
        [*(_meaning(each.threshold) for each in cases[:1]), *unknown],
        footer,
        max(sum(heights) + _TICKS + 0.08, legend.height + 0.1),
        absences(cases),
    )
    top = sheet.top - 0.08
    bottom = top - sum(heights)
    axes = sheet.axes(left, right, bottom, top)
    log_ticks(axes, "x", axis, time_tick)
    axes.set_ylim(bottom, top)
    axes.set_yticks([])
    y = top
    for number, (case, level, height) in enumerate(zip(cases, levels, heights, strict=True)):
        if number:
            sheet.line([EDGE, right], [y, y], color=HAIR, linewidth=0.6, zorder=0)
        _lines(sheet, [(line, BODY, INK) for line in names[number]], left - 0.14, y - height / 2)
        used = max(level.values(), default=0)
        for row in case.rows:
            if row.metg is None:
                continue
            look, middle = look_of[row.variant.id], y - height / 2 + _LEVEL * (used / 2 - level[row.variant.id])
            if row.metg.is_unknown:
                axes.plot([row.metg.value], [middle], **mark(look, 4.4) | hollow(look), linestyle="none", zorder=5)
            else:
                draw_interval(axes, row.metg, middle, look, 5.6, 1.2)
        y -= height
    legend.draw(sheet, right + 0.28, top)
    sheet.text((left + right) / 2, bottom - _TICKS + 0.05, "METG (log scale)", SMALL, color=SOFT, align="center")
    return sheet.figure


def legend_entries(cases: Sequence[MeasuredCase], look_of: dict[str, Look]) -> list[Entry]:
    """Every variant once, in the order of the first case that has it."""
    known = {row.variant.id: row.variant for case in cases for row in case.rows}
    return [Entry(look_of[name], variant.title) for name, variant in known.items()]


def _levels(rows: Sequence[MetgRow], axis: LogAxis, width: float) -> dict[str, int]:
    """The level of each variant: the first in which its dot and interval touch no other."""
    taken: list[float] = []  # how far each level is full, in inches
    levels: dict[str, int] = {}
    for row in sorted(rows, key=lambda row: row.metg.value if row.metg else 0):
        assert row.metg
        here = axis.place(row.metg.value) * width
        low, high = (here, here) if row.metg.is_unknown else (axis.place(end) * width for end in row.metg.extent)
        start = min(low, here - (_ARROW if row.metg.relation == "<" else _ROOM / 2))
        end = max(high, here + (_ARROW if row.metg.relation == ">" else _ROOM / 2))
        level = next((number for number, full in enumerate(taken) if full <= start), len(taken))
        taken[level : level + 1] = [end]
        levels[row.variant.id] = level
    return levels


def metg_lines_chart(
    cases: Sequence[MeasuredCase],
    x_label: str,
    xs: Sequence[float],
    footer: str = "",
    title: str = "",
    x_text: Callable[[float], str] = "{:g}".format,
) -> Figure:
    """METG of every system at each of `xs` (rising, one a case), with bands; bounds have arrows.

    A line breaks where a system could not be measured. Raises ValueError where `xs` and `cases` differ in length.
    """
    if len(xs) != len(cases):
        raise ValueError(f"{len(xs)} values of {x_label} for {len(cases)} cases")
    look_of = looks(variants_of(cases).values())
    found = [{row.variant.id: row.metg for row in case.rows if row.metg} for case in cases]
    name = metg_name(cases[0].threshold) if cases else "METG"
    meaning = f"{name} with 95 % intervals; smaller is better. An arrow leads from a bound to where the value lies."
    head = Head(title or f"{name} against {x_label}", [meaning], footer, absences(cases))
    lines = {id_: Line(look, [each.get(id_) for each in found]) for id_, look in look_of.items()}
    return lines_chart(head, legend_entries(cases, look_of), lines.values(), xs, x_label, x_text)
