"""The sheet a picture is drawn on: title, footer and type, laid out in inches so that no text is ever cut off.

Text is measured before anything is placed; labels beside the axes get the room they need, the axes the rest.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import PdfPages
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.textpath import text_to_path
from matplotlib.ticker import FixedFormatter, FixedLocator, NullFormatter

from tefflab.output.plots.looks import PAPER, Look, Shape
from tefflab.output.scales import LogAxis
from tefflab.records.run import Sitting
from tefflab.whole_files import write_whole

WIDTH = 8.0  # inches
EDGE = 0.16  # inches of white around everything
mpl.rcdefaults()  # whatever a matplotlibrc says, a user's or that of the current folder

FONT = "DejaVu Sans"  # comes with matplotlib, so pictures are the same everywhere
TITLE, BODY, SMALL = 11.5, 8.5, 7.3  # points
INK, SOFT, RULE, HAIR = "#1b1f24", "#5a6370", "#c9ced6", "#e6e9ed"
PALE = "#b9c0c9"  # of curves that are there and not told by name

MARKERS: dict[Shape, str] = {
    "circle": "o",
    "square": "s",
    "triangle": "^",
    "diamond": "D",
    "wedge": "v",
    "plus": "P",
    "cross": "X",
}
_EVEN = {"o": 1.0, "s": 0.9, "^": 1.08, "D": 0.84, "v": 1.08, "P": 1.3, "X": 1.25}  # to look equally large
_LEADING = 1.32


@lru_cache(maxsize=4096)  # the pictures of a sitting share most of their words
def text_width(text: str, size: float, bold: bool = False) -> float:
    """In inches."""
    width, _, _ = text_to_path.get_text_width_height_descent(text, _font(size, bold), ismath=False)
    return float(width) / 72


def line_height(size: float) -> float:
    """From one baseline to the next, in inches."""
    return size * _LEADING / 72


def wrap(text: str, width: float, size: float, bold: bool = False) -> list[str]:
    """`text` in lines no wider than `width` inches, broken between words, and inside one only where it must be."""
    lines: list[str] = [""]
    for word in text.split(" "):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if text_width(joined, size, bold) <= width:
            lines[-1] = joined
            continue
        if lines[-1]:
            lines.append("")
        for letter in word:
            if lines[-1] and text_width(lines[-1] + letter, size, bold) > width:
                lines.append("")
            lines[-1] += letter
    return lines


class Sheet:
    """A figure of fixed width with a title, a line below it, a body of `height` inches and a footer. The figure's label
    is its title.

    All places are in inches from the lower left corner; the body reaches from `bottom` to `top`.
    """

    def __init__(
        self, title: str, subtitles: Sequence[str], footer: str, height: float, notes: Sequence[str] = ()
    ) -> None:
        room = WIDTH - 2 * EDGE
        head = [(line, TITLE, True, INK) for line in wrap(title, room, TITLE, True)]
        head += [(line, SMALL, False, SOFT) for each in subtitles if each for line in wrap(each, room, SMALL)]
        foot = [(line, SMALL, False, INK) for note in notes for line in wrap(note, room, SMALL)]
        foot += [(line, SMALL, False, SOFT) for line in wrap(footer, room, SMALL)] if footer else []
        self.bottom = EDGE + sum(line_height(size) for _, size, _, _ in foot) + (0.1 if foot else 0)
        self.top = self.bottom + height
        self.height = self.top + 0.12 + sum(line_height(size) for _, size, _, _ in head) + EDGE
        self.figure = Figure(figsize=(WIDTH, self.height), facecolor=PAPER, dpi=100)
        self.figure.set_label(title)
        FigureCanvasAgg(self.figure)
        self._column(head, self.height - EDGE)
        self._column(foot, self.bottom - 0.1)

    def axes(self, left: float, right: float, bottom: float, top: float) -> Axes:
        """Axes between these places, without a frame."""
        box = (left / WIDTH, bottom / self.height, (right - left) / WIDTH, (top - bottom) / self.height)
        axes = self.figure.add_axes(box)
        axes.set_axisbelow(True)
        axes.patch.set_visible(False)
        for spine in axes.spines.values():
            spine.set_visible(False)
        axes.tick_params(which="both", length=0, labelsize=SMALL, labelcolor=SOFT, labelfontfamily=FONT, pad=4)
        return axes

    def text(
        self,
        x: float,
        y: float,
        text: str,
        size: float = BODY,
        bold: bool = False,
        color: str = INK,
        align: str = "left",
        vertical: str = "baseline",
    ) -> Text:
        return self.figure.text(
            x,
            y,
            text,
            transform=self.figure.dpi_scale_trans,
            fontproperties=_font(size, bold),
            color=color,
            ha=align,
            va=vertical,
            parse_math=False,
        )

    def line(self, xs: Sequence[float], ys: Sequence[float], **style: Any) -> Line2D:
        """A line or marks, anywhere on the sheet."""
        artist = Line2D(xs, ys, transform=self.figure.dpi_scale_trans, **style)
        self.figure.add_artist(artist)
        return artist

    def _column(self, lines: Sequence[tuple[str, float, bool, str]], top: float) -> None:
        for line, size, bold, color in lines:
            top -= line_height(size)
            self.text(EDGE, top + 0.25 * size / 72, line, size, bold, color)


def log_ticks(axes: Axes, which: Literal["x", "y"], axis: LogAxis, label: Callable[[float], str]) -> None:
    """Makes the `x` or `y` of `axes` the log axis `axis`: labels and lines at majors, hairs at minors."""
    own = axes.xaxis if which == "x" else axes.yaxis
    (axes.set_xscale if which == "x" else axes.set_yscale)("log")
    (axes.set_xlim if which == "x" else axes.set_ylim)(axis.low, axis.high)
    own.set_major_locator(FixedLocator(list(axis.majors)))
    own.set_major_formatter(FixedFormatter([label(each) for each in axis.majors]))
    own.set_minor_locator(FixedLocator(list(axis.minors)))
    own.set_minor_formatter(NullFormatter())
    axes.grid(True, "major", which, color=RULE, linewidth=0.6)
    axes.grid(True, "minor", which, color=HAIR, linewidth=0.45)


def stroke(look: Look, width: float = 1.4) -> dict[str, Any]:
    """A variant's line, as keywords of matplotlib."""
    return {"color": look.color, "linewidth": width, "linestyle": (0, look.dash) if look.dash else "-"}


def mark(look: Look, size: float = 4.0) -> dict[str, Any]:
    """A variant's mark, with a white rim that parts it from the lines below."""
    marker = MARKERS[look.shape]
    return {
        "marker": marker,
        "markersize": size * _EVEN[marker],
        "markerfacecolor": look.color,
        "markeredgecolor": PAPER,
        "markeredgewidth": size * 0.11,
    }


def signature(sitting: Sitting, *remarks: str) -> str:
    """`Sample CPU, 2 cores, Linux 6.1 · 2026-11-20 22:00 UTC · teff 1a2b3c4d5e · REMARK`."""
    parts = [
        sitting.machine.summary,
        f"{sitting.started_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC",
        f"teff {sitting.revision.short}",
        *remarks,
    ]
    return " · ".join(part.replace(" ", "\N{NO-BREAK SPACE}") for part in parts)  # lines end between two parts


def slug(text: str) -> str:
    """A text in the name of a file: `Very uneven, radix 5` as `very-uneven-radix-5`."""
    return re.sub(r"[^a-z0-9_]+", "-", text.lower()).strip("-")


def save(figure: Figure, path: Path) -> tuple[Path, Path]:
    """Writes `path`.svg and `path`.png (an ending .svg or .png of `path` is left off) and says where.

    The same figure gives the same bytes: no date, no random ids.
    """
    stem = path.with_suffix("") if path.suffix in (".svg", ".png") else path
    svg, png = stem.with_name(stem.name + ".svg"), stem.with_name(stem.name + ".png")
    with mpl.rc_context({"svg.hashsalt": "teff", "svg.fonttype": "path", "text.hinting": "none"}):
        write_whole(svg, _drawn(figure, "svg", metadata={"Date": None, "Creator": None}))
        write_whole(png, _drawn(figure, "png", dpi=200, metadata={"Software": None}))
    return svg, png


def save_pages(figures: Iterable[Figure], file: Path) -> None:
    """Writes a PDF with a page for each figure."""
    drawn = BytesIO()
    with PdfPages(drawn, metadata={"CreationDate": None}) as pages:
        for figure in figures:
            pages.savefig(figure)
    write_whole(file, drawn.getvalue())


def _drawn(figure: Figure, form: str, **how: Any) -> bytes:
    drawn = BytesIO()
    figure.savefig(drawn, format=form, **how)
    return drawn.getvalue()


def _font(size: float, bold: bool = False) -> FontProperties:
    return FontProperties(family=FONT, size=size, weight="bold" if bold else "normal")
