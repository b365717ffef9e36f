"""An estimate on a log time axis: a dot, its interval, and arrows where either goes on beyond the measured part."""

import math
from typing import Any, Literal

from matplotlib.axes import Axes

from tefflab.analysis.statistics import Interval
from tefflab.output.plots.looks import PAPER, Look
from tefflab.output.plots.sheet import mark

Direction = Literal["left", "right", "up", "down"]

ARROW = 15.0  # points
HOLLOW = "Hollow marks have no interval yet: it takes more rounds."
_STEPS: dict[Direction, tuple[float, float]] = {"left": (-1, 0), "right": (1, 0), "up": (0, 1), "down": (0, -1)}


def ends(estimate: Interval) -> list[float]:
    """All that an axis should hold of it."""
    return [each for each in (estimate.low, estimate.value, estimate.high) if 0 < each < math.inf]


def band(estimate: Interval, bottom: float, top: float) -> tuple[float, float]:
    """From where to where its interval is drawn between two edges, which end an open one; NaN if it says nothing."""
    low, high = estimate.extent
    return (math.nan, math.nan) if estimate.is_unknown else (max(low, bottom), min(high, top))


def draw_interval(axes: Axes, estimate: Interval, row: float, look: Look, size: float, width: float = 1.6) -> None:
    """The estimate at height `row` of `axes`, whose limits are set. A bound has an arrow towards the truth; an interval
    that says nothing has no line."""
    left, right = axes.get_xlim()
    low, high = estimate.extent if estimate.is_told else (estimate.value, estimate.value)
    axes.plot(
        [max(low, left), min(high, right)],
        [row, row],
        color=look.color,
        linewidth=width,
        solid_capstyle="butt",
        zorder=3,
    )
    if estimate.relation == "<":
        draw_arrow(axes, estimate.value, row, "left", look)
    elif low < left:
        draw_arrow(axes, left, row, "left", look, inwards=True)
    if estimate.relation == ">":
        draw_arrow(axes, estimate.value, row, "right", look)
    elif high > right:
        draw_arrow(axes, right, row, "right", look, inwards=True)
    axes.plot([estimate.value], [row], **mark(look, size), zorder=5)


def hollow(look: Look) -> dict[str, Any]:
    """The settings that make a mark of this look hollow."""
    return {"markerfacecolor": PAPER, "markeredgecolor": look.color, "markeredgewidth": 1.0}


def draw_arrow(axes: Axes, x: float, y: float, direction: Direction, look: Look, inwards: bool = False) -> None:
    """An arrow that starts at the point, or with `inwards` ends there."""
    across, along = (ARROW * step for step in _STEPS[direction])
    axes.annotate(
        "",
        xy=(x, y),
        xytext=(-across, -along) if inwards else (across, along),
        textcoords="offset points",
        arrowprops={
            "arrowstyle": f"{'-|>' if inwards else '<|-'},head_width=0.16,head_length=0.32",
            "color": look.color,
            "linewidth": 1.4,
            "shrinkA": 0,
            "shrinkB": 0,
        },
        annotation_clip=False,
        zorder=4,
    )
