"""`teff watch`."""

from functools import partial
from typing import Annotated

import typer

from tefflab.cli import completion
from tefflab.cli.commands import options

_side = partial(options.text, metavar="NAME", completes=completion.systems)


def command(
    context: typer.Context,
    system: Annotated[str, _side("--system", help_="The watched side: a system or way, or @VERSION of one.")],
    against: Annotated[
        str, _side("--against", help_="The baseline, named likewise: by whose values the watched ones are divided.")
    ],
    slower_than: Annotated[
        str, typer.Option("--slower-than", metavar="SHARE", help="The slowdown that counts.")
    ] = "5%",
    benchmark: Annotated[
        str,
        options.text(
            "--benchmark",
            help_="The kind of benchmark, as task_graph (METG); an unknown one lists them.",
            metavar="KIND",
        ),
    ] = "task_graph",
    cases: Annotated[
        str, options.text("--cases", help_="Names or groups of the kind's cases, by commas. [its usual]")
    ] = "",
    minutes: options.Minutes = 5.0,
    rounds: options.Rounds = 100,
    workers: Annotated[
        str, options.text("--workers", help_="Numbers of workers, by commas. [all cores]", metavar="N,M")
    ] = "",
    store: options.Store = "watch",
    as_json: Annotated[bool, typer.Option("--json", help="Print the verdict and its numbers as JSON.")] = False,
) -> None:
    """Say by the exit code whether a system is slower than a baseline: for continuous integration.

    Starts both in turns in one sitting, and compares each pair of rounds. Ends with 0 if it is not slower, with 3
    if it is, with 4 if that can't be told; errors are 1 and 2. Further flags say what graph, as for `teff metg`.

    Example:  teff watch --system mine --against baseline --slower-than 10%
    """
    from tefflab import project_root
    from tefflab.cli.session import Options
    from tefflab.cli.watching import watch
    from tefflab.systems.naming import canonical
    from tefflab.systems.registry import Registry

    asked = Options(
        workers=options.numbers(workers),
        seconds=60 * minutes,
        rounds=rounds,
        store=store,
        as_json=as_json,
        own={"cases": cases} if cases else {},
        flags=tuple(context.args),
    )
    watch(Registry(project_root()), benchmark, canonical(system), canonical(against), options.share(slower_than), asked)
