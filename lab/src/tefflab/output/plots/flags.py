"""Labels at the curves themselves: flags on poles above the axes. No flag lies on another or on a curve.

A pole stands at each curve's anchor and rises to its flag, whose text begins at the pole. A flag that reaches over the
poles right of it flies above the flags of these poles.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes

from tefflab.output.plots.looks import Look
from tefflab.output.plots.sheet import BODY, EDGE, INK, SMALL, SOFT, WIDTH, Sheet, line_height, mark, text_width

_ROW = line_height(BODY) + 0.02  # inches
_MARK = 0.13  # inches of the mark before the text
_SPACE = 0.05  # between name and figure
_BETWEEN = 0.1  # between one flag and the next pole
_POLE = {"color": SOFT, "linewidth": 0.5, "alpha": 0.7}


@dataclass(frozen=True, slots=True)
class Flag:
    """The text of a flag, and its place in the data."""

    look: Look
    name: str
    figure: str
    x: float
    y: float

    @property
    def width(self) -> float:
        """In inches."""
        figure = _SPACE + text_width(self.figure, SMALL) if self.figure else 0.0
        return _MARK + text_width(self.name, BODY) + figure


def right_edge(flags: Sequence[tuple[Flag, float]], left: float) -> float:
    """How far right the axes may reach so that no flag leaves the sheet; each flag with its place, 0 to 1."""
    most = WIDTH - EDGE
    room = [left + (most - flag.width - left) / place for flag, place in flags if place > 0]
    return min([most - 0.1, *room])


def levels(starts: Sequence[float], widths: Sequence[float]) -> list[int]:
    """The row of each flag, 0 the lowest, by the places of the poles."""
    rows = [0] * len(starts)
    order = sorted(range(len(starts)), key=lambda i: starts[i], reverse=True)
    for number, i in enumerate(order):
        under = [rows[j] for j in order[:number] if starts[j] < starts[i] + widths[i] + _BETWEEN]
        rows[i] = max(under, default=-1) + 1
    return rows


def height(rows: Sequence[int]) -> float:
    """Inches that the flags need above the axes."""
    return (max(rows) + 1) * _ROW + 0.06 if rows else 0.0


def draw(sheet: Sheet, axes: Axes, flags: Sequence[Flag], starts: Sequence[float], rows: Sequence[int]) -> None:
    """`starts` in inches from the sheet's left."""
    box = axes.get_position()
    bottom, top = box.y0 * sheet.height, box.y1 * sheet.height
    to_axes = axes.transData.transform
    low, high = to_axes((flags[0].x, axes.get_ylim()[0]))[1], to_axes((flags[0].x, axes.get_ylim()[1]))[1]
    for flag, x, row in zip(flags, starts, rows, strict=True):
        y = top + 0.06 + (row + 0.5) * _ROW
        share = (to_axes((flag.x, flag.y))[1] - low) / (high - low)
        sheet.line([x, x], [bottom + share * (top - bottom), y], **_POLE, zorder=1)
        sheet.line([x + 0.045], [y], **mark(flag.look, 5.0))
        sheet.text(x + _MARK, y, flag.name, color=INK, vertical="center_baseline")
        after = x + _MARK + text_width(flag.name, BODY) + _SPACE
        sheet.text(after, y, flag.figure, SMALL, color=SOFT, vertical="center_baseline")
