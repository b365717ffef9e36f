"""The two places the lab writes to: results go to stdout, and what is being done goes to stderr. And how a table with a
title looks there."""

from rich.console import Console
from rich.table import Table


def output() -> Console:
    """Where results go."""
    return Console(highlight=False)


def progress() -> Console:
    """Where progress, warnings and errors go, so that stdout can be piped."""
    return Console(stderr=True, highlight=False)


def titled_table(title: str) -> Table:
    """Without lines, its title at the left; columns are yet to be added."""
    return Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, header_style="dim")
