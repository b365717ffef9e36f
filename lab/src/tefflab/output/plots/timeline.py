"""Workers against time: the stretches of each worker, a colour for each kind of stretch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from tefflab.output.plots.sheet import BODY, EDGE, HAIR, INK, SMALL, SOFT, WIDTH, Sheet, line_height, text_width
from tefflab.output.quantities import duration, percent

# Colours that differ in lightness, too; readers with weak colour vision tell neighbours apart (after Paul Tol).
_COLOURS = (
    "#4477aa",
    "#ee6677",
    "#228833",
    "#ccbb44",
    "#66ccee",
    "#aa3377",
    "#994f00",
    "#44bb99",
    "#ffaabb",
    "#222255",
    "#99ddff",
)
_REST = "#8d949d"  # of all further kinds
_ROW, _BAR, _AXIS, _GAP = 0.42, 0.3, 0.36, 0.25  # inches
_WIDEST = 1.7  # inches of a name
_SWATCH = 0.16


@dataclass(frozen=True, slots=True)
class Bar:
    began: float  # seconds
    ended: float
    kind: str


@dataclass(frozen=True, slots=True)
class Worker:
    name: str
    bars: Sequence[Bar]


def timeline(
    workers: Sequence[Worker],
    shares: Mapping[str, float],
    plain: Mapping[str, str],
    window: tuple[float, float],
    zero: float,
    title: str,
    meaning: str,
) -> Figure:
    """`window`: its times are told since `zero`. `shares`: of each kind of stretch, its share of worker time, in the
    order of the legend. `plain`: the kinds that are no tasks, with their colours."""
    kinds = [each for each in shares if each not in plain]
    colour = dict(zip(kinds, (*_COLOURS, *[_REST] * len(kinds)), strict=False)) | dict(plain)
    texts = {each: _shortened(each) for each in shares}
    legend = _SWATCH + 0.08 + max(text_width(f"{texts[each]}  {percent(1)}", BODY) for each in shares)
    rows = max(_ROW * len(workers), 1.15 * line_height(BODY) * len(shares))
    sheet = Sheet(title, [meaning], "", rows + _AXIS)
    left = EDGE + max(text_width(each.name, SMALL) for each in workers) + 0.1
    right = WIDTH - EDGE - legend - _GAP
    axes = sheet.axes(left, right, sheet.top - _ROW * len(workers), sheet.top)
    began, ended = window
    unit, scale = next((unit, scale) for unit, scale in _UNITS if ended - began >= 2 / scale or unit == "µs")
    axes.set_xlim(0, (ended - began) * scale)
    axes.set_ylim(len(workers) - 0.5, -0.5)
    axes.set_yticks(range(len(workers)), [each.name for each in workers])
    axes.tick_params(axis="x", length=3, color=SOFT)
    for row, worker in enumerate(workers):
        half = 0.5 * _BAR / _ROW
        axes.add_patch(Rectangle((0, row - half), (ended - began) * scale, 2 * half, facecolor=HAIR, linewidth=0))
        for bar in worker.bars:
            low, high = max(bar.began, began), min(bar.ended, ended)
            if high > low:
                place = ((low - began) * scale, row - half)
                axes.add_patch(
                    Rectangle(
                        place, (high - low) * scale, 2 * half, facecolor=colour[bar.kind], linewidth=0, rasterized=True
                    )
                )
    below = sheet.top - _ROW * len(workers) - 0.3
    sheet.text((left + right) / 2, below, f"{unit} since {duration(began - zero)}", SMALL, color=SOFT, align="center")
    top = sheet.top
    for kind in shares:
        top -= 1.15 * line_height(BODY)
        x = right + _GAP
        sheet.figure.add_artist(
            Rectangle(
                (x, top + 0.02),
                _SWATCH,
                0.1,
                transform=sheet.figure.dpi_scale_trans,
                facecolor=colour[kind],
                linewidth=0,
            )
        )
        sheet.text(x + _SWATCH + 0.08, top + 0.02, texts[kind], BODY, color=INK)
        sheet.text(WIDTH - EDGE, top + 0.02, percent(shares[kind]), BODY, color=SOFT, align="right")
    return sheet.figure


_UNITS = (("s", 1.0), ("ms", 1e3), ("µs", 1e6))


def _shortened(name: str) -> str:
    """A long name is the spelling of a closure, whose end tells it."""
    if text_width(name, BODY) <= _WIDEST:
        return name
    while text_width("…" + name, BODY) > _WIDEST:
        name = name[1:]
    return "…" + name
