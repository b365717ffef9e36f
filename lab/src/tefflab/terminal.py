"""The two places the lab writes to: results go to stdout, and what is being done goes to stderr."""

from rich.console import Console


def output() -> Console:
    """Where results go."""
    return Console(highlight=False)


def progress() -> Console:
    """Where progress, warnings and errors go, so that stdout can be piped."""
    return Console(stderr=True, highlight=False)
