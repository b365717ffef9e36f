"""Help that fits a screen. A command's help begins with an example, then says what it does, then lists its options, a
line or two each. The help of `teff` itself has a line for each command."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from typer import BadParameter
from typer.core import TyperCommand

from tefflab.benchmarks import graph_flags
from tefflab.errors import InputError

_USAGE_ERROR: Any = BadParameter.__mro__[1]  # of click or of typer's copy of it
_EXAMPLE = "Example:  "
_TYPE = re.compile(r" <[^>]*>$")  # behind a name, as Python calls it
_WIDTH = 78
_SHORTEST = 30  # a sentence's beginning that still says something


@dataclass(frozen=True)
class _Offered:
    """A completion for a shell, with the attributes of typer's items."""

    value: str
    type: str = "plain"
    help: str | None = None


class BriefCommand(TyperCommand):
    """A command whose docstring ends with an example."""

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Completes the value of a graph's flag, which is not an option of the command."""
        flag = ctx.args[-1].lstrip("-") if ctx.args else ""
        if values := graph_flags.values().get(flag):
            return [_Offered(value) for value in values if value.startswith(incomplete)]
        return super().shell_complete(ctx, incomplete)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Graphs' flags may have one dash, as the published ones have. The library reads one dash before an option as a
        bundle of letters, and programs read it as an unknown flag."""
        if not ctx.resilient_parsing:  # which a shell that completes asks for
            _refuse_one_dash(args, {name for each in self.get_params(ctx) for name in each.opts})
        try:
            return super().parse_args(ctx, args)
        except _USAGE_ERROR as error:
            error.ctx = error.ctx or ctx  # the parser, which misses a value, does not know whose it is
            raise

    def format_help(self, ctx: Any, formatter: Any) -> None:
        text, _, example = (self.help or "").partition(_EXAMPLE)
        if example:
            formatter.write(f"{_EXAMPLE}{example.strip()}\n\n")
        self.format_usage(ctx, formatter)
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(" ".join(text.split()))
        self.format_options(ctx, formatter)
        if self.epilog:
            formatter.write_paragraph()
            formatter.write_text(graph_flags.filled(self.epilog))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        for kind, title in (("argument", "Arguments"), ("option", "Options")):
            records = [each.get_help_record(ctx) for each in self.get_params(ctx) if each.param_type_name == kind]
            if rows := [(_TYPE.sub("", name), text) for name, text in filter(None, records)]:
                with formatter.section(title):
                    formatter.write_dl(rows)


def _refuse_one_dash(words: Sequence[str], options: Collection[str]) -> None:
    """TeffError for an option with one dash only. What follows `--` is another program's."""
    for word in takewhile(lambda word: word != "--", words):
        name = f"-{word.partition('=')[0]}"
        if name in options:
            raise InputError(f"{name[1:]}: an option has two dashes; say {name}")


def write_groups(formatter: Any, groups: Mapping[str, Sequence[tuple[str, str]]]) -> None:
    """A line for each command or option, with the first thing that its help says."""
    for title, rows in groups.items():
        column = 4 + max(len(name) for name, _ in rows)
        with formatter.section(title):
            formatter.write_dl([(name, beginning(text, _WIDTH - column)) for name, text in rows])


def beginning(text: str, most: int) -> str:
    """The beginning of a text, as far as it fits: its sentence, or the part before a colon, or before a comma."""
    sentence = " ".join(text.split()).partition(". ")[0].rstrip(".")
    if len(sentence) <= most:
        return sentence
    for mark in ("[;:] ", ", "):
        ends = [found.start() for found in re.finditer(mark, sentence) if _SHORTEST <= found.start() <= most]
        if ends:
            return sentence[: ends[-1]]
    return f"{sentence[: most - 1]}…"
