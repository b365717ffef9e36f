"""The head of a table: its subject, and the flags of the configuration."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

_BETWEEN_FLAGS = re.compile(r" (?=--?[a-z])")


@dataclass(frozen=True, slots=True)
class Heading:
    """As rich prints it: broken between flags, never between a flag and its value."""

    title: str
    configuration: str

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> RenderResult:
        line = Text(self.title, "bold")
        gap = "  "
        for flag in self._flags():
            if line.cell_len + len(gap) + flag.cell_len > options.max_width:
                yield line
                line = flag
            else:
                line = Text.assemble(line, gap, flag)
            gap = " "
        yield line

    def _flags(self) -> Iterator[Text]:
        return (Text(each, "dim") for each in _BETWEEN_FLAGS.split(self.configuration) if each)
