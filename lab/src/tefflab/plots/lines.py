"""METG against a parameter that varies from judgement to judgement: dependencies per task, bytes, imbalance."""

import math
from collections.abc import Callable, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from tefflab.plots.dots import legend_entries
from tefflab.plots.intervals import band, draw_arrow, ends
from tefflab.plots.legend import Legend
from tefflab.plots.looks import Look, looks
from tefflab.plots.sheet import EDGE, RULE, SMALL, SOFT, WIDTH, Sheet, log_ticks, mark, stroke, text_width
from tefflab.readings import absences, contenders_of, metg_name, time_tick
from tefflab.results import Judgement
from tefflab.scales import log_axis
from tefflab.statistics import MetgEstimate

_HEIGHT, _TICKS, _GAP = 3.7, 0.4, 0.3
_LOG_FROM = 50.0  # a parameter that varies by more than this factor is drawn on a log axis


def metg_lines_chart(
    judgements: Sequence[Judgement],
    x_label: str,
    xs: Sequence[float],
    footer: str = "",
    title: str = "",
    x_text: Callable[[float], str] = "{:g}".format,
) -> Figure:
    """METG of every system at each of `xs` (rising, one a judgement), with bands; bounds have arrows.

    A line breaks where a system could not be measured. Raises ValueError where `xs` and `judgements` differ in length.
    """
    if len(xs) != len(judgements):
        raise ValueError(f"{len(xs)} values of {x_label} for {len(judgements)} judgements")
    look_of = looks(contenders_of(judgements).values())
    found = [{row.contender.id: row.metg for row in judgement.rows if row.metg} for judgement in judgements]
    times = log_axis([end for each in found for metg in each.values() for end in ends(metg)])
    legend = Legend(legend_entries(judgements, look_of))
    name = metg_name(judgements[0].threshold) if judgements else "METG"
    sheet = Sheet(
        title or f"{name} against {x_label}",
        [f"{name} with 95 % intervals; smaller is better. An arrow leads from a bound to where the value lies."],
        footer,
        max(_HEIGHT, legend.height) + _TICKS,
        absences(judgements),
    )
    left = EDGE + max(text_width(time_tick(each), SMALL) for each in times.majors) + 0.08
    right = WIDTH - EDGE - legend.width - _GAP
    axes = sheet.axes(left, right, sheet.bottom + _TICKS, sheet.top)
    _parameter_ticks(axes, xs, x_text, right - left)
    log_ticks(axes, "y", times, time_tick)
    for contender, look in look_of.items():
        _line(
            axes, look, [(x, each[contender]) if contender in each else None for x, each in zip(xs, found, strict=True)]
        )
    legend.draw(sheet, right + _GAP, sheet.top)
    sheet.text((left + right) / 2, sheet.bottom + 0.05, x_label, SMALL, color=SOFT, align="center")
    return sheet.figure


def _parameter_ticks(axes: Axes, xs: Sequence[float], text: Callable[[float], str], room: float) -> None:
    """A tick at every value, labelled where its label touches no other."""
    low, high = (min(xs), max(xs)) if xs else (0.0, 1.0)
    if low > 0 and high / low >= _LOG_FROM:
        axes.set_xscale("log")
        margin = (high / low) ** 0.05
        axes.set_xlim(low / margin, high * margin)
    else:
        margin = 0.05 * (high - low) or 1.0
        axes.set_xlim(low - margin, high + margin)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_locator(FixedLocator(list(xs)))
    to_inches = axes.transData.transform
    start, end = (to_inches((each, 1.0))[0] for each in axes.get_xlim())
    labels, free = [], -math.inf
    for x in xs:
        middle = (to_inches((x, 1.0))[0] - start) / (end - start) * room
        half = text_width(text(x), SMALL) / 2
        fits = middle - half >= free
        labels.append(text(x) if fits else "")
        free = middle + half + 0.08 if fits else free
    axes.xaxis.set_major_formatter(FixedFormatter(labels))
    axes.grid(True, "major", "x", color=RULE, linewidth=0.6)


def _line(axes: Axes, look: Look, points: Sequence[tuple[float, MetgEstimate] | None]) -> None:
    """Each stretch without a gap: band and line; then the marks and the arrows of bounds."""
    for stretch in _stretches(points):
        xs = [x for x, _ in stretch]
        low, high = zip(*(band(metg, *axes.get_ylim()) for _, metg in stretch), strict=True)
        axes.fill_between(xs, low, high, color=look.color, alpha=0.16, linewidth=0, zorder=2.5)
        axes.vlines(xs, low, high, color=look.color, linewidth=0.8, zorder=2.6)
        axes.plot(xs, [metg.value for _, metg in stretch], **stroke(look), zorder=3)
        axes.plot(xs, [metg.value for _, metg in stretch], **mark(look, 5.2), linestyle="none", zorder=5)
        for x, metg in stretch:
            if metg.relation != "=":
                draw_arrow(axes, x, metg.value, "up" if metg.relation == ">" else "down", look)


def _stretches(points: Sequence[tuple[float, MetgEstimate] | None]) -> list[list[tuple[float, MetgEstimate]]]:
    stretches: list[list[tuple[float, MetgEstimate]]] = [[]]
    for point in points:
        if point is None:
            stretches.append([])
        else:
            stretches[-1].append(point)
    return [each for each in stretches if each]
