"""Names that commands had in earlier versions. They go on working for one MINOR version, and say the new name."""

from collections.abc import Callable, Sequence
from typing import Any

import click

from tefflab.cli import options
from tefflab.cli.commands import stores
from tefflab.cli.grammar import command

FORMER = {
    "sweep": "measure graph",
    **{kind: f"measure {kind}" for kind in ("spawn", "wake", "programs", "messages", "micro", "apps")},
    "profile": "explain",
    "advise": "explain",
    "install": "systems add",
    "doctor": "systems doctor",
    "test": "dev test",
    "docs": "dev docs",
}


def renamed(args: Sequence[str], say: Callable[[str], None]) -> list[str]:
    """The words with the command's new name in the place of a former one."""
    now = FORMER.get(args[0])
    if now is None:
        return list(args)
    say(f"teff {args[0]} is now teff {now}")
    is_of_patterns = args[0] == "profile" and "--" not in args
    return [*now.split(), *(["spawn"] * is_of_patterns), *args[1:]]


@command(
    "watch",
    click.Option(["--system", "a"], required=True),
    click.Option(["--against", "b"], required=True),
    click.Option(["--slower-than", "threshold"], type=stores.Share(), default="5%"),
    click.Option(["--benchmark", "kind"]),
    options.CASES,
    options.MINUTES,
    options.ROUNDS,
    options.WORKERS,
    click.Option(["--store"]),
    options.JSON,
    options.GRAPH_FLAGS,
)
def watch(**said: Any) -> None:
    """Say by the exit code whether a system is slower than a baseline.

    Example:  teff watch --system mine --against baseline
    """
    from tefflab.host.terminal import say

    say(f"teff watch is now teff compare {said['a']} {said['b']} --fail-if-slower SHARE")
    stores.fail_if_slower(**said)
