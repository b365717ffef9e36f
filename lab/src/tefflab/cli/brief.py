"""Help that fits a screen: an example first, then what the command does, then its options, a line or two each."""

from typing import Any

from typer.core import TyperCommand

_EXAMPLE = "Example:  "


class BriefCommand(TyperCommand):
    """A command whose docstring ends with an example."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        text, _, example = (self.help or "").partition(_EXAMPLE)
        if example:
            formatter.write(f"{_EXAMPLE}{example.strip()}\n\n")
        self.format_usage(ctx, formatter)
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(" ".join(text.split()))
        self.format_options(ctx, formatter)
