"""The last words below the tables: the meaning of the numbers for the reader, and the next command to try."""

from collections.abc import Iterable
from itertools import islice

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

_COMMANDS = 2


def of_store(name: str) -> str:
    """The option that names a store, as it follows a command; empty for the usual store."""
    return "" if name == "default" else f" --store {name}"


class LastWords:
    """As rich prints them. Suggestions are commands, each with its effect, the most needed first: two are shown."""

    def __init__(self, sentence: str, suggestions: Iterable[tuple[str, str]]) -> None:
        self.sentence = sentence
        self.suggestions = list(islice(suggestions, _COMMANDS))

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(self.sentence)
        yield Text()
        yield Text("Try next:", style="bold")
        for command, why in self.suggestions:
            explained = f"  {command}  # {why}"
            yield Text(explained if cell_len(explained) <= options.max_width else f"  {command}", overflow="fold")
