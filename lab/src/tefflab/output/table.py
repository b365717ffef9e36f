"""The one table of the terminal: it takes the width that is there, and leaves out what matters least.

No cell is ever wrapped or cut. If the columns need more room than there is, the columns of the highest priority number
go, and a line below names the first of them. If the rest do not fit side by side, they follow each other in blocks that
all begin with the first column.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

_EXPECTED = 2  # the priority number up to which a column that goes is named
_GAP = 2  # blanks between two columns, or 1 where that makes them fit


@dataclass(frozen=True, slots=True)
class Column:
    """A title, which may have several lines, and a cell a row. Priority 0 stays at any width."""

    title: str
    cells: Sequence[str | Text]
    align: Literal["left", "right"] = "right"
    priority: int = 0
    meaning: str = ""  # said below the table where the column is in it
    colors: Sequence[str] = ()  # of a dot before each cell, where the terminal has colours

    @property
    def name(self) -> str:
        """The title in one line."""
        return self.title.replace("\n", " ").strip()

    def dotted(self) -> "Column":
        """With its dots."""
        cells = [Text.assemble(("● ", color), cell) for color, cell in zip(self.colors, self.cells, strict=True)]
        return replace(self, cells=cells)

    @property
    def width(self) -> int:
        lines = [Text(line) for line in self.title.split("\n")]
        return max(each.cell_len for each in [*lines, *map(_text, self.cells)])


@dataclass(frozen=True, slots=True)
class Table:
    """Columns of one length under an optional title; `headings` are lines of their own above rows, by the row."""

    columns: Sequence[Column]
    title: str = ""
    headings: Mapping[int, str] | None = None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.title:
            yield Text(self.title, style="bold")
        if not self.columns:
            return
        has_colors = console.color_system is not None
        columns = [each.dotted() if each.colors and has_colors else each for each in self.columns]
        kept = fitting(columns, options.max_width)
        gap = _GAP if _width(kept, _GAP) <= options.max_width else 1
        blocks = [kept[:2]]
        for column in kept[2:]:
            if _width([*blocks[-1], column], gap) <= options.max_width:
                blocks[-1].append(column)
            else:
                blocks.append([kept[0], column])
        for block in blocks:
            titles = [column.title.split("\n") for column in block]  # whose last lines stand in one line
            most = max(map(len, titles))
            for heads in zip(*([""] * (most - len(lines)) + lines for lines in titles), strict=True):
                line = _line(block, map(Text, heads), gap)
                line.stylize("dim")
                yield line
            for number, cells in enumerate(zip(*(column.cells for column in block), strict=True)):
                if self.headings and number in self.headings:
                    yield Text(self.headings[number])
                yield _line(block, map(_text, cells), gap)
        yield from (Text(text, style="dim") for text in meanings(kept))
        if hidden := ", ".join(each.name for each in columns if each not in kept and each.priority <= _EXPECTED):
            yield Text(f"in a wider terminal also: {hidden}", style="dim")


def meanings(columns: Iterable[Column]) -> list[str]:
    """`CPU while idle: of all workers' time`, of each column that needs it."""
    return [f"{column.name}: {column.meaning}" for column in columns if column.meaning]


def fitting(columns: Sequence[Column], width: int) -> list[Column]:
    """The columns that fit together, in their order; all of priority 0."""
    kept = list(columns)
    while _width(kept, _GAP) > width:
        least = max(kept, key=lambda column: column.priority)
        if not least.priority:
            break
        kept.remove(least)
    return kept


def _line(block: Sequence[Column], cells: Iterable[Text], gap: int) -> Text:
    line = Text(no_wrap=True, overflow="ignore")
    for number, (column, cell) in enumerate(zip(block, cells, strict=True)):
        blank = " " * (column.width - cell.cell_len)
        line.append(" " * gap if number else "")
        if column.align == "right":
            line.append(blank).append_text(cell)
        else:
            line.append_text(cell).append(blank)
    line.rstrip()
    return line


def _width(columns: Sequence[Column], gap: int) -> int:
    return sum(column.width + gap for column in columns) - gap


def _text(cell: str | Text) -> Text:
    return cell if isinstance(cell, Text) else Text(cell)
