"""The two streams that the lab writes to: results go to stdout, progress goes to stderr. Also how a table with a title,
and a path, look there."""

from pathlib import Path

from rich.console import Console
from rich.table import Table


def output() -> Console:
    """Where results go."""
    return Console(highlight=False)


def progress() -> Console:
    """Where progress, warnings and errors go, so that stdout can be piped."""
    return Console(stderr=True, highlight=False)


def path_text(path: Path, root: Path) -> str:
    """A path as it is shown to a user: relative to the root of the clone, unless a --store lies elsewhere."""
    return str(path.relative_to(root) if path.is_relative_to(root) else path)


def titled_table(title: str) -> Table:
    """Without lines, its title at the left; columns are yet to be added."""
    return Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, header_style="dim")
