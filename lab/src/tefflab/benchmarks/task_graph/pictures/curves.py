"""Curves over the size of a task: efficiency against granularity, and rate against the work of a task."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator

from tefflab.analysis.results import MeasuredCase
from tefflab.benchmarks.task_graph.readings import (
    WorkAxis,
    absences,
    ceiling_of,
    metg_name,
    rate_unit,
    value_text,
    variants_of,
)
from tefflab.benchmarks.task_graph.traces import Line, efficiency_lines, named, rate_lines, within
from tefflab.output import quantities
from tefflab.output.plots import flags
from tefflab.output.plots.flags import Flag
from tefflab.output.plots.looks import Look, looks
from tefflab.output.plots.sheet import EDGE, PALE, RULE, SMALL, SOFT, Sheet, log_ticks, mark, stroke, text_width
from tefflab.output.quantities import rate_tick, time_tick
from tefflab.output.scales import LogAxis, log_axis

_HEIGHT = 3.7  # inches of axes
_TICKS = 0.4  # inches below the axes
_DASHED: dict[str, Any] = {"color": SOFT, "linewidth": 1.0, "dashes": (4, 2.5), "zorder": 2}
_HOW = "Thick: the fitted line with its 95 % band; thin: a smooth fit to the dots, the medians, that never falls."


def efficiency_chart(case: MeasuredCase, footer: str = "", title: str = "") -> Figure:
    """Efficiency against granularity, the threshold, and METG, where the line that it was read from crosses it."""
    lines = efficiency_lines(case)
    rows = {row.variant.id: row for row in case.rows if row.metg}
    crossings = {id_: row.metg.value for id_, row in rows.items() if row.metg and row.metg.relation == "="}
    share = quantities.percent(case.threshold)
    picture = _Picture(
        case,
        lines,
        {id_: value_text(row) for id_, row in rows.items()},
        title or f"Efficiency – {case.name}",
        [
            f"Share of the ceiling that tasks of a given size reach; {metg_name(case.threshold)}, the large mark, "
            f"is where the line crosses {share}. {_HOW}",
            case.flags,
        ],
        footer,
    )
    drawn = [each.curve.variant.id for each in lines]
    times = within(lines, 0) + [value for id_, value in crossings.items() if id_ in drawn]
    axes = picture.axes(log_axis(times), time_tick, ["100 %"], "granularity: time × cores / tasks (log scale)")
    _efficiency_ticks(axes, within(lines, 1))
    axes.axhline(case.threshold, **_DASHED)
    picture.draw(axes, {id_: (value, case.threshold) for id_, value in crossings.items()})
    return picture.sheet.figure


def rate_chart(case: MeasuredCase, footer: str = "", title: str = "") -> Figure:
    """The rate against the work of a task, both logarithmic, and the ceiling."""
    lines = rate_lines(case)
    unit, work, ceiling = rate_unit(case), WorkAxis(case), ceiling_of(case)
    dashed = f" Dashed: the ceiling, {quantities.rate(ceiling.value, unit)}." if ceiling else ""
    rates = log_axis(within(lines, 1) + ([ceiling.value] if ceiling else []))
    picture = _Picture(
        case,
        lines,
        {},
        title or f"Rate – {case.name}",
        [
            f"What all cores reach together with tasks of a given size.{dashed} {_HOW}",
            case.flags,
        ],
        footer,
    )
    labels = [rate_tick(each, unit) for each in rates.majors]
    axes = picture.axes(log_axis(within(lines, 0)), work.tick, labels, f"{work.title} (log scale)")
    log_ticks(axes, "y", rates, lambda value: rate_tick(value, unit))
    if ceiling:
        axes.axhline(ceiling.value, **_DASHED)
    picture.draw(axes, {})
    return picture.sheet.figure


class _Picture:
    """A sheet with axes, flags above them, and below them the names of grey and missing systems."""

    def __init__(
        self,
        case: MeasuredCase,
        lines: Sequence[Line],
        figures: Mapping[str, str],
        title: str,
        subtitles: Sequence[str],
        footer: str,
    ) -> None:
        self._head = title, subtitles, footer
        self._look_of = looks(variants_of([case]).values())
        told = named(case)
        self._told = [line for line in lines if line.curve.variant.id in told]
        self._others = [line for line in lines if line.curve.variant.id not in told]
        self._flags = [
            Flag(self._look(line), line.curve.variant.id, figures.get(line.curve.variant.id, ""), *line.anchor)
            for line in self._told
            if line.anchor
        ]
        others = ", ".join(line.curve.variant.id for line in self._others)
        vague = ", ".join(line.curve.variant.id for line in self._told if line.fitted and not line.band)
        self._notes = [
            *([f"Grey: {others}."] if others else []),
            *([f"No band, for it would be too wide to say anything: {vague}."] if vague else []),
            *absences([case]),
        ]

    def axes(self, across: LogAxis, tick: Callable[[float], str], y_labels: Sequence[str], x_title: str) -> Axes:
        """Their `x` done; the `y` is yet to be made."""
        left = EDGE + max(text_width(label, SMALL) for label in y_labels) + 0.08
        right = flags.right_edge([(each, across.place(each.x)) for each in self._flags], left)
        self._starts = [left + across.place(each.x) * (right - left) for each in self._flags]
        self._rows = flags.levels(self._starts, [each.width for each in self._flags])
        title, subtitles, footer = self._head
        above = flags.height(self._rows)
        self.sheet = Sheet(title, subtitles, footer, _HEIGHT + _TICKS + above, self._notes)
        axes = self.sheet.axes(left, right, self.sheet.bottom + _TICKS, self.sheet.top - above)
        log_ticks(axes, "x", across, tick)
        middle = (left + right) / 2
        self.sheet.text(middle, self.sheet.bottom + 0.05, x_title, SMALL, color=SOFT, align="center")
        return axes

    def draw(self, axes: Axes, crossings: Mapping[str, tuple[float, float]]) -> None:
        for line in self._others:
            axes.plot(*_xy(line.through), color=PALE, linewidth=0.9, zorder=2.1)
        for line in self._told:
            look = self._look(line)
            if line.band:
                axes.fill(*_xy(line.band), color=look.color, alpha=0.15, linewidth=0, zorder=2.5)
            for part in line.beyond:
                axes.plot(*_xy(part), **stroke(look, 0.8), zorder=3)
            axes.plot(*_xy(line.fitted), **stroke(look, 1.9), zorder=3.1)
            dots = [place for _, place in line.dots]
            axes.plot(*_xy(dots), **mark(look, 3.2), linestyle="none", alpha=0.4, zorder=2.8, clip_on=False)
            if at := crossings.get(line.curve.variant.id):
                axes.plot([at[0]], [at[1]], **mark(look, 8.0), zorder=6)
        if self._flags:
            flags.draw(self.sheet, axes, self._flags, self._starts, self._rows)

    def _look(self, line: Line) -> Look:
        return self._look_of[line.curve.variant.id]


def _xy(places: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [x for x, _ in places], [y for _, y in places]


def _efficiency_ticks(axes: Axes, values: Sequence[float]) -> None:
    top = max([1.0, *values])
    ticks = [share / 100 for share in range(0, math.floor(top * 100) + 1, 25 if top < 2 else 50 * math.ceil(top / 4))]
    axes.set_ylim(0, top * 1.04)
    axes.yaxis.set_major_locator(FixedLocator(ticks))
    axes.yaxis.set_major_formatter(FixedFormatter([quantities.percent(each) for each in ticks]))
    axes.grid(True, "major", "y", color=RULE, linewidth=0.6)
