"""`teff spawn`: the spawn patterns of the Sandia report."""

from typing import Annotated

import typer

from tefflab.cli.commands import options


def command(
    systems: options.Systems = "",
    patterns: Annotated[str, typer.Option("--patterns", help="Of serial,parallel,fib-both,fib-one,tree. [all]")] = "",
    trees: Annotated[str, typer.Option("--trees", help="Of T1,T1L,T2,T3,T5.")] = "T3",
    workers: Annotated[str, typer.Option("--workers", help="Numbers of workers, by commas. [1 and all cores]")] = "",
    minutes: options.Minutes = 5.0,
    rounds: options.Rounds = 25,
    store: options.Store = "default",
    resume: options.Resume = False,
    as_json: options.AsJson = False,
) -> None:
    """Measure what spawning a task costs: in a row, in a loop, in Fibonacci, in an unbalanced tree.

    Example:  teff spawn --patterns serial,fib-one
    """
    from tefflab import project_root
    from tefflab.cli.spawn import SpawnWish, spawn
    from tefflab.errors import BAD_INPUT, TeffError

    if not all(name.isdigit() and int(name) for name in options.names(workers)):
        raise TeffError(f"--workers {workers}: numbers from 1 on, by commas", exit_code=BAD_INPUT)
    spawn(
        project_root(),
        SpawnWish(
            systems=options.names(systems),
            patterns=options.names(patterns),
            trees=options.names(trees),
            workers=tuple(int(name) for name in options.names(workers)),
            seconds=60 * minutes,
            rounds=rounds,
            store=store,
            as_json=as_json,
            resume=resume,
        ),
    )
