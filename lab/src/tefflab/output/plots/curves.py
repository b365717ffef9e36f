"""Curves over the size of a task: efficiency against granularity, and rate against the work of a task."""

import math
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator

from tefflab.analysis.results import MeasuredCase
from tefflab.analysis.statistics import Interval, MetgEstimate
from tefflab.output import quantities
from tefflab.output.plots.intervals import band
from tefflab.output.plots.legend import Entry, Legend
from tefflab.output.plots.looks import Look, looks
from tefflab.output.plots.sheet import EDGE, RULE, SMALL, SOFT, WIDTH, Sheet, log_ticks, mark, stroke, text_width
from tefflab.output.readings import (
    WorkAxis,
    absences,
    ceiling_of,
    curves_in_order,
    metg_name,
    rate_tick,
    rate_unit,
    time_tick,
    value_text,
    variants_of,
)
from tefflab.output.scales import log_axis

_HEIGHT = 3.7  # inches of axes, at least
_TICKS = 0.4  # inches below the axes
_GAP = 0.3  # inches between axes and legend
_DASHED: dict[str, Any] = {"color": SOFT, "linewidth": 1.0, "dashes": (4, 2.5), "zorder": 2}


def efficiency_chart(case: MeasuredCase, footer: str = "", title: str = "") -> Figure:
    """Efficiency against granularity, the threshold, and METG where it was found; bands are 95 % intervals."""
    curves = curves_in_order(case)
    look_of = looks(variants_of([case]).values())
    lines = {curve.variant.id: [each for each in curve.points if each.efficiency.value > 0] for curve in curves}
    rows = {row.variant.id: row for row in case.rows if row.metg and row.variant.id in lines}
    entries = []
    for curve in curves:
        row = rows.get(curve.variant.id)
        entries.append(Entry(look_of[curve.variant.id], curve.variant.title, f"METG {value_text(row)}" if row else ""))
    share = quantities.percent(case.threshold)
    sheet, axes = _frame(
        case,
        title or f"Efficiency – {case.name}",
        "Share of the ceiling that tasks of a given size reach, with 95 % intervals.",
        footer,
        Legend([*entries, Entry(None, f"{share} threshold", f"{metg_name(case.threshold)} is where it is crossed")]),
        ["100 %"],
        "granularity: time × cores / tasks (log scale)",
    )
    points = [each for line in lines.values() for each in line]
    crossings = [row.metg.value for row in rows.values() if row.metg]
    log_ticks(axes, "x", log_axis([each.granularity.value for each in points] + crossings), time_tick)
    _efficiency_ticks(axes, [each.efficiency.value for each in points])
    axes.axhline(case.threshold, **_DASHED)
    for name, line in lines.items():
        _curve(axes, look_of[name], [each.granularity.value for each in line], [each.efficiency for each in line])
    for name, row in rows.items():
        if row.metg:
            _crossing(axes, row.metg, case.threshold, look_of[name])
    return sheet.figure


def rate_chart(case: MeasuredCase, footer: str = "", title: str = "") -> Figure:
    """The rate against the work of a task, both logarithmic, and the ceiling; bands are 95 % intervals."""
    curves = curves_in_order(case)
    look_of = looks(variants_of([case]).values())
    lines = {curve.variant.id: [each for each in curve.points if each.rate.value > 0] for curve in curves}
    points = [each for line in lines.values() for each in line]
    unit, work, ceiling = rate_unit(case), WorkAxis(case), ceiling_of(case)
    entries = [Entry(look_of[each.variant.id], each.variant.title) for each in curves]
    if ceiling:
        entries.append(Entry(None, f"ceiling {quantities.rate(ceiling.value, unit)}", "the kernel alone on all cores"))
    rates = log_axis([each.rate.value for each in points] + ([ceiling.value] if ceiling else []))
    sheet, axes = _frame(
        case,
        title or f"Rate – {case.name}",
        "What all cores reach together with tasks of a given size, with 95 % intervals.",
        footer,
        Legend(entries),
        [rate_tick(each, unit) for each in rates.majors],
        f"{work.title} (log scale)",
    )
    log_ticks(axes, "x", log_axis([work.of(each) for each in points]), work.tick)
    log_ticks(axes, "y", rates, lambda value: rate_tick(value, unit))
    if ceiling:
        axes.axhline(ceiling.value, **_DASHED)
    for name, line in lines.items():
        _curve(axes, look_of[name], [work.of(each) for each in line], [each.rate for each in line])
    return sheet.figure


def _frame(
    case: MeasuredCase,
    title: str,
    meaning: str,
    footer: str,
    legend: Legend,
    y_labels: Sequence[str],
    x_title: str,
) -> tuple[Sheet, Axes]:
    """A sheet with axes, their legend on the right and room for the labels on the left."""
    height = max(_HEIGHT, legend.height)
    sheet = Sheet(title, [meaning, case.configuration], footer, height + _TICKS, absences([case]))
    left = EDGE + max(text_width(label, SMALL) for label in y_labels) + 0.08
    right = WIDTH - EDGE - legend.width - _GAP
    axes = sheet.axes(left, right, sheet.bottom + _TICKS, sheet.top)
    legend.draw(sheet, right + _GAP, sheet.top)
    sheet.text((left + right) / 2, sheet.bottom + 0.05, x_title, SMALL, color=SOFT, align="center")
    return sheet, axes


def _efficiency_ticks(axes: Axes, values: Sequence[float]) -> None:
    top = max([1.0, *values])
    ticks = [share / 100 for share in range(0, math.floor(top * 100) + 1, 25 if top < 2 else 50 * math.ceil(top / 4))]
    axes.set_ylim(0, top * 1.04)
    axes.yaxis.set_major_locator(FixedLocator(ticks))
    axes.yaxis.set_major_formatter(FixedFormatter([quantities.percent(each) for each in ticks]))
    axes.grid(True, "major", "y", color=RULE, linewidth=0.6)


def _curve(axes: Axes, look: Look, xs: Sequence[float], ys: Sequence[Interval]) -> None:
    """A line with small marks, and its intervals as a band; open ends of intervals go on to the edge."""
    low, high = zip(*(band(each, *axes.get_ylim()) for each in ys), strict=True)
    axes.fill_between(xs, low, high, color=look.color, alpha=0.16, linewidth=0, zorder=2.5)
    axes.plot(xs, [each.value for each in ys], **stroke(look), zorder=3)
    axes.plot(xs, [each.value for each in ys], **mark(look, 3.6), linestyle="none", zorder=4, clip_on=False)


def _crossing(axes: Axes, estimate: MetgEstimate, threshold: float, look: Look) -> None:
    """METG itself, larger than the points. A bound is no crossing, and is left to the legend."""
    if estimate.relation == "=":
        axes.plot([estimate.value], [threshold], **mark(look, 8.0), zorder=6)
