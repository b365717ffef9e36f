"""The sheet a picture is drawn on, with title, meaning, notes and footer around the chart; and the files of it."""

import io
import re
import resource
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC
from functools import cached_property
from pathlib import Path
from textwrap import wrap

import altair as alt
import pypdf
import vl_convert

from tefflab.errors import TeffError
from tefflab.output.charts.looks import PAPER
from tefflab.records.run import Sitting
from tefflab.whole_files import write_whole

WIDTH = 760.0  # pixels of plot, labels and legend together
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"  # the first comes with vl-convert; all are equally wide
TITLE, BODY, SMALL = 15.0, 11.5, 10.0  # pixels
INK, SOFT, RULE, HAIR = "#1b1f24", "#5a6370", "#c9ced6", "#e9ecef"
PALE = "#b9c0c9"  # of curves that are there and not told by name
_LETTER = 0.54  # of a size: the usual width of a letter, also where a viewer has none of the fonts
_PNG_SCALE = 2.0
_ADDRESSES = 70_000_000 * 1024  # bytes of them that V8 reserves, and the lab's

_CONFIG = alt.Config(
    aria=False,
    font=FONT,
    background=PAPER,
    padding=14,
    view=alt.ViewConfig(stroke=None),
    axis=alt.AxisConfig(
        domain=False,
        ticks=False,
        gridColor=RULE,
        gridWidth=0.7,
        labelColor=SOFT,
        labelFontSize=SMALL,
        labelPadding=6,
        labelFlush=False,
        titleColor=SOFT,
        titleFontSize=SMALL,
        titleFontWeight="normal",
        titlePadding=10,
    ),
    concat=alt.CompositionConfig(spacing=24),
    title=alt.TitleConfig(
        anchor="start",
        fontSize=SMALL,
        fontWeight="normal",
        subtitleColor=SOFT,
        subtitleFontSize=SMALL,
        subtitlePadding=3,
        offset=13,
    ),
)


@dataclass(frozen=True, slots=True)
class Head:
    """The texts around a chart: `meaning` stands below the title, notes and footer below the chart."""

    title: str
    meaning: Sequence[str] = ()
    footer: str = ""
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Picture:
    """A chart on its sheet. The same picture gives the same bytes: no date, no random ids."""

    title: str
    chart: alt.VConcatChart

    @cached_property
    def svg(self) -> str:
        """TeffError where V8, which draws it, would find too few addresses, and end the lab."""
        allowed, least = resource.getrlimit(resource.RLIMIT_AS)[0], _ADDRESSES // 1024
        if allowed != resource.RLIM_INFINITY and allowed < _ADDRESSES:
            way_out = f"type ulimit -S -v {least} first"
            raise TeffError(f"ulimit -v is {allowed // 1024}, and pictures need {least}: {way_out}")
        return vl_convert.vegalite_to_svg(self.chart.to_dict(validate=False), allowed_base_urls=[])


def sheet(head: Head, plot: alt.LayerChart, legend: alt.LayerChart | None = None, *, is_below: bool = False) -> Picture:
    """The plot with the legend beside it, or below it, under the title and above notes and footer."""
    meaning, notes, footer = (_lines(each, SMALL) for each in (head.meaning, head.notes, [head.footer]))
    top = alt.TitleParams(_lines([head.title], TITLE), subtitle=meaning, color=INK, fontSize=TITLE, fontWeight="bold")
    first, rest, color = (notes, footer, INK) if notes else (footer, [], SOFT)
    bottom = alt.TitleParams(first, subtitle=rest, color=color, orient="bottom") if first else ""
    parts = [plot, *([legend] if legend else [])]
    body = alt.vconcat(*parts, title=top) if is_below else alt.hconcat(*parts, title=top)
    return Picture(head.title, alt.vconcat(body, title=bottom, config=_CONFIG))


def text_width(text: str, size: float = BODY) -> float:
    """About how many pixels it takes."""
    return _LETTER * size * len(text)


def wrapped(text: str, width: float, size: float = BODY) -> list[str]:
    """`text` in lines of about so many pixels at most, broken between words, and inside one only where it must be."""
    return wrap(text, max(1, int(width / (_LETTER * size))))


def _lines(texts: Iterable[str], size: float) -> list[str]:
    return [line for text in texts for line in wrapped(text, WIDTH, size)]


def signature(sitting: Sitting, *remarks: str) -> str:
    """`Sample CPU, 2 cores, Linux 6.1 · 2026-11-20 22:00 UTC · teff 1a2b3c4d5e · REMARK`."""
    parts = [
        sitting.where,
        f"{sitting.started_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC",
        f"teff {sitting.revision.short}",
        *filter(None, remarks),
    ]
    return " · ".join(part.replace(" ", "\N{NO-BREAK SPACE}") for part in parts)  # lines end between two parts


def slug(text: str) -> str:
    """A text in the name of a file: `Very uneven, radix 5` as `very-uneven-radix-5`."""
    return re.sub(r"[^a-z0-9_]+", "-", text.lower()).strip("-")


def save(picture: Picture, path: Path) -> tuple[Path, Path]:
    """Writes `path`.svg and `path`.png (an ending .svg or .png of `path` is left off) and says where."""
    stem = path.with_suffix("") if path.suffix in (".svg", ".png") else path
    svg, png = stem.with_name(stem.name + ".svg"), stem.with_name(stem.name + ".png")
    drawn = picture.svg
    write_whole(svg, drawn)
    write_whole(png, vl_convert.svg_to_png(drawn, scale=_PNG_SCALE))
    return svg, png


def save_pages(pictures: Iterable[Picture], file: Path) -> None:
    """Writes a PDF with a page for each picture."""
    pages = pypdf.PdfWriter()
    for picture in pictures:
        (page,) = pypdf.PdfReader(io.BytesIO(vl_convert.svg_to_pdf(picture.svg))).pages
        pages.add_page(page)
    drawn = io.BytesIO()
    pages.write(drawn)
    write_whole(file, drawn.getvalue())
