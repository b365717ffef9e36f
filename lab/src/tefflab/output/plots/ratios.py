"""Ratios to one system: a row a case, in which every other system has a mark, and below them the means."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure

from tefflab.analysis.statistics import Interval
from tefflab.output.plots.intervals import HOLLOW, ends, hollow
from tefflab.output.plots.legend import Entry, Legend
from tefflab.output.plots.looks import looks
from tefflab.output.plots.sheet import BODY, EDGE, HAIR, INK, SMALL, SOFT, WIDTH, Sheet, log_ticks, mark, text_width
from tefflab.output.quantities import digits
from tefflab.output.scales import log_axis
from tefflab.records.plan import Variant

_ROW = 0.21  # inches
_TICKS = 0.4  # inches below the axes
_GAP = 0.28


@dataclass(frozen=True, slots=True)
class RatioRow:
    """A name and the ratios of the systems that have one, by their ids."""

    name: str
    ratios: Mapping[str, Interval]
    is_mean: bool = False


def ratios_chart(
    rows: Sequence[RatioRow], to: Variant, others: Sequence[Variant], title: str, meaning: str, footer: str = ""
) -> Figure:
    """The time of each other system divided by the time of the system `to`, which is the line at 1."""
    look_of = looks([to, *others])
    legend = Legend([Entry(look_of[each.id], each.title) for each in others], lines=False)
    left = EDGE + max(text_width(row.name, BODY, row.is_mean) for row in rows) + 0.14
    right = WIDTH - EDGE - legend.width - _GAP
    axis = log_axis([1.0, *(end for row in rows for each in row.ratios.values() for end in _held(each))])
    unknown = [] if all(each.is_told for row in rows for each in row.ratios.values()) else [HOLLOW]
    sheet = Sheet(title, [meaning, *unknown], footer, max(_ROW * len(rows) + _TICKS, legend.height) + 0.1)
    top = sheet.top - 0.05
    bottom = top - _ROW * len(rows)
    axes = sheet.axes(left, right, bottom, top)
    log_ticks(axes, "x", axis, lambda value: f"{value:g}")
    axes.set_ylim(len(rows), 0)
    axes.set_yticks([])
    axes.axvline(1.0, color=INK, linewidth=1.0, zorder=2)
    for number, row in enumerate(rows):
        y = top - _ROW * (number + 0.5)
        if number:
            sheet.line([EDGE, right], [y + _ROW / 2] * 2, color=INK if row.is_mean else HAIR, linewidth=0.6, zorder=0)
        sheet.text(left - 0.14, y, row.name, BODY, row.is_mean, align="right", vertical="center_baseline")
        for id_, ratio in row.ratios.items():
            look = look_of[id_]
            if ratio.is_told:
                span = [max(ratio.low, axis.low), min(ratio.high, axis.high)]
                axes.plot(span, [number + 0.5] * 2, color=look.color, linewidth=1.2, solid_capstyle="butt", zorder=3)
            how = mark(look, 7.0 if row.is_mean else 5.6) | ({} if ratio.is_told else hollow(look))
            axes.plot([ratio.value], [number + 0.5], **how, zorder=5)
    legend.draw(sheet, right + _GAP, top)
    words = f"time / that of {to.title} (log scale); the line is at {digits(1, 1)}"
    sheet.text((left + right) / 2, bottom - _TICKS + 0.05, words, SMALL, color=SOFT, align="center")
    return sheet.figure


def _held(ratio: Interval) -> list[float]:
    """The ends that the axis must hold: an interval that says nothing has no line, and would press all others
    together."""
    return ends(ratio) if ratio.is_told else [ratio.value]
