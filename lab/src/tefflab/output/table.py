"""The one table of the terminal: it takes the width that is there, and leaves out what matters least.

No cell is ever wrapped. Where the columns need more room than there is, those of the highest priority number go.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table as RichTable
from rich.text import Text

GAP = 2  # blank columns between two


@dataclass(frozen=True, slots=True)
class Column:
    """A title, which may have several lines, and a cell a row. Priority 0 stays whatever the width."""

    title: str
    cells: Sequence[str | Text]
    align: Literal["left", "right"] = "right"
    priority: int = 0

    @property
    def width(self) -> int:
        return max(Text(line).cell_len for line in self._lines())

    def _lines(self) -> Iterator[str]:
        yield from self.title.split("\n")
        yield from (each.plain if isinstance(each, Text) else each for each in self.cells)


class Table:
    """Columns of one length under an optional title, for a console of any width."""

    def __init__(self, columns: Sequence[Column], title: str | Text = "") -> None:
        self._columns = list(columns)
        self._title = title

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self._title:
            yield Text(self._title, style="bold") if isinstance(self._title, str) else self._title
        kept = fitting(self._columns, options.max_width)
        table = RichTable(box=None, padding=(0, GAP, 0, 0), pad_edge=False, header_style="dim")
        for column in kept:
            table.add_column(Text(column.title), justify=column.align, no_wrap=True, vertical="bottom")
        for row in zip(*(column.cells for column in kept), strict=True):
            table.add_row(*(each if isinstance(each, Text) else Text(each) for each in row))
        yield table


def fitting(columns: Sequence[Column], width: int) -> list[Column]:
    """Those of the columns that fit together, in their order."""
    kept = list(columns)
    while sum(column.width + GAP for column in kept) - GAP > width:
        least = max(kept, key=lambda column: column.priority)
        if not least.priority:
            break
        kept.remove(least)
    return kept
