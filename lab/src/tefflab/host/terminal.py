"""The two streams that the lab writes to: results go to stdout, progress goes to stderr. Also how a table with a title,
and a path, look there."""

import re
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

_BLANKS_AT_END = re.compile(r" +\n")


class _Trimmed(Console):
    """No line ends in blanks, with which rich fills the lines of tables and of broken text."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        blanks: list[Segment] = []  # that end a line, unless something follows
        for segment in super().render(renderable, options):
            if segment.control or not segment.text:
                yield segment
                continue
            text = _BLANKS_AT_END.sub("\n", segment.text)
            shown = text.rstrip(" ")
            if shown:
                if not shown.startswith("\n"):
                    yield from blanks
                yield Segment(shown, segment.style)
                blanks = []
            if len(shown) < len(text):
                blanks.append(Segment(text[len(shown) :], segment.style))
        yield from blanks


def output() -> Console:
    """Where results go."""
    return _Trimmed(highlight=False)


def progress() -> Console:
    """Where progress, warnings and errors go, so that stdout can be piped."""
    return Console(stderr=True, highlight=False)


def say(text: str) -> None:
    """A line on standard error that begins with our name. On a terminal it is broken between words; elsewhere it is
    one line, to be searched."""
    console = _Trimmed(stderr=True, highlight=False)
    console.print(Text(f"teff: {text}"), soft_wrap=not console.is_terminal)


def path_text(path: Path, root: Path) -> str:
    """A path as it is shown to a user: relative to the root of the clone, unless a --store lies elsewhere."""
    return str(path.relative_to(root) if path.is_relative_to(root) else path)


def titled_table(title: str) -> Table:
    """Without lines, its title at the left; columns are yet to be added."""
    return Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, header_style="dim")
