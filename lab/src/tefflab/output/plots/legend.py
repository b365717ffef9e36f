"""The legend: a column beside the axes, so that it never covers data."""

from collections.abc import Sequence
from dataclasses import dataclass

from tefflab.output.plots.looks import Look
from tefflab.output.plots.sheet import BODY, INK, SMALL, SOFT, Sheet, line_height, mark, stroke, text_width, wrap

_SAMPLE = 0.36  # inches of line shown beside a name
_GAP = 0.08
_WIDEST = 2.1  # inches of text
_BETWEEN = 0.075  # inches between two entries


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the legend: a variant's look (a grey dashed rule where None), its name, and a figure below it."""

    look: Look | None
    name: str
    detail: str = ""


class Legend:
    """Entries from top to bottom; knows its size before it is drawn."""

    def __init__(self, entries: Sequence[Entry], lines: bool = True) -> None:
        self._lines = lines
        self._entries = [
            (entry.look, [(line, BODY, INK) for line in wrap(entry.name, _WIDEST, BODY)] + _detail(entry))
            for entry in entries
        ]
        texts = [text_width(text, size) for _, lines in self._entries for text, size, _ in lines]
        self.width = _SAMPLE + _GAP + max(texts, default=0.0)
        heights = [sum(line_height(size) for _, size, _ in lines) for _, lines in self._entries]
        self.height = sum(heights) + _BETWEEN * max(len(heights) - 1, 0)

    def draw(self, sheet: Sheet, x: float, top: float) -> None:
        for look, lines in self._entries:
            middle = top - 0.5 * line_height(BODY)
            style = stroke(look) if look else {"color": SOFT, "linewidth": 1.0, "linestyle": (0, (4, 2.5))}
            if self._lines:
                sheet.line([x, x + _SAMPLE], [middle, middle], **style)
            if look:
                sheet.line([x + _SAMPLE / 2], [middle], **mark(look, 5.5))
            for text, size, color in lines:
                sheet.text(
                    x + _SAMPLE + _GAP,
                    top - 0.5 * line_height(size),
                    text,
                    size,
                    color=color,
                    vertical="center_baseline",
                )
                top -= line_height(size)
            top -= _BETWEEN


def _detail(entry: Entry) -> list[tuple[str, float, str]]:
    return [(line, SMALL, SOFT) for line in wrap(entry.detail, _WIDEST, SMALL)] if entry.detail else []
