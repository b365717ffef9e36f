"""`teff spawn`: the spawn patterns of the Sandia report."""

from typing import Annotated

import typer


def command(
    systems: Annotated[
        str, typer.Option("--systems", help="Names from `teff systems`, by commas. [all that are here]")
    ] = "",
    patterns: Annotated[str, typer.Option("--patterns", help="Of serial,parallel,fib-both,fib-one,tree. [all]")] = "",
    trees: Annotated[str, typer.Option("--trees", help="Of T1,T1L,T2,T3,T5.")] = "T3",
    workers: Annotated[str, typer.Option("--workers", help="Numbers of workers, by commas. [1 and all cores]")] = "",
    minutes: Annotated[float, typer.Option("--minutes", min=0.1, help="Time for measuring, at most.")] = 5.0,
    rounds: Annotated[int, typer.Option("--rounds", min=2, help="Launches of each system, at most.")] = 25,
    store: Annotated[str, typer.Option("--store", help="The folder below results/ that keeps the runs.")] = "default",
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON line a row.")] = False,
) -> None:
    """Measure what spawning a task costs: in a row, in a loop, in Fibonacci, in an unbalanced tree.

    Example:  teff spawn --patterns serial,fib-one
    """
    from tefflab import project_root
    from tefflab.errors import BAD_INPUT, TeffError
    from tefflab.spawn import SpawnWish, spawn

    def names(text: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for name in text.split(",") if name))

    if not all(name.isdigit() and int(name) for name in names(workers)):
        raise TeffError(f"--workers {workers}: numbers from 1 on, by commas", exit_code=BAD_INPUT)
    spawn(
        project_root(),
        SpawnWish(
            systems=names(systems),
            patterns=names(patterns),
            trees=names(trees),
            workers=tuple(int(name) for name in names(workers)),
            seconds=60 * minutes,
            rounds=rounds,
            store=store,
            as_json=as_json,
        ),
    )
