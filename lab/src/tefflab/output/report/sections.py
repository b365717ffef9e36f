"""A section of a report, for any kind of benchmark: a table, a picture, and text about them."""

import base64
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import matplotlib as mpl
from matplotlib.figure import Figure

from tefflab.output.table import Column


@dataclass(frozen=True)
class TableSection:
    title: str
    columns: Sequence[Column] = ()
    notes: Sequence[str] = ()
    figure: Figure | None = None

    @property
    def rows(self) -> Iterator[tuple[str, ...]]:
        """The cells, row by row."""
        return zip(*([str(cell) for cell in column.cells] for column in self.columns), strict=True)

    @property
    def picture(self) -> str:
        """As SVG in base64; empty where there is none."""
        if self.figure is None:
            return ""
        drawn = io.BytesIO()
        with mpl.rc_context({"svg.hashsalt": "teff", "svg.fonttype": "path", "text.hinting": "none"}):
            self.figure.savefig(drawn, format="svg", metadata={"Date": None, "Creator": None})
        return base64.b64encode(drawn.getvalue()).decode()
