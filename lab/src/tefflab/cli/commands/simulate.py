"""`teff simulate`: predicts how policies use a shared core."""

from pathlib import Path
from typing import Annotated

import typer

from tefflab.cli.commands import options

_OF_SITTING = "--cores, --loaded, --shares and --period are those of its sitting; leave them out"


def command(
    cores: Annotated[int | None, options.number("--cores", "Cores, a worker on each. [2]", 12, 1, 1024)] = None,
    loaded: Annotated[
        int | None, options.number("--loaded", "Cores of which a competitor takes a share. [1]", 1, 1, 1024)
    ] = None,
    shares: Annotated[
        str | None, typer.Option("--shares", metavar="P,Q", help="Of each loaded core, in per cent. [10,25,50,75,90]")
    ] = None,
    period: Annotated[
        str | None, typer.Option("--period", metavar="TIME", help="The competitor works once in it. [10ms]")
    ] = None,
    tasks: Annotated[
        int | None, options.number("--tasks", "Tasks of a step. [8 for each core]", 64, 1, 100_000)
    ] = None,
    steps: Annotated[int, options.number("--steps", "Steps.", 50, 1, 1_000_000)] = 50,
    task: Annotated[str, typer.Option("--task", metavar="TIME", help="How long a task takes.")] = "250us",
    dependences: Annotated[
        str, typer.Option("--dependences", metavar="KIND", help="Of tasks without barriers: stencil, tree or none.")
    ] = "stencil",
    takeover: Annotated[
        str, typer.Option("--takeover", metavar="TIME", help="After it, a ready task may leave its place.")
    ] = "20us",
    store: Annotated[
        str, typer.Option("--store", metavar="NAME", help="Compare with the curves that `teff contention` kept there.")
    ] = "",
    case: Annotated[str, typer.Option("--case", metavar="KIND:CASE", help="Of the store. [its first]")] = "",
    picture: Annotated[
        Path | None, typer.Option("--picture", metavar="FILE", help="Draw the curves, as FILE.svg and FILE.png.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print lines of JSON.")] = False,
) -> None:
    """Simulate how policies share cores: barriers, places, takeover, data flow.

    Simulated curves stand beside each other, and beside those that `teff contention` has measured.

    Example:  teff simulate --cores 12 --shares 25,50,75
    """
    from tefflab import project_root
    from tefflab.analysis.simulation import Cores, policies
    from tefflab.cli import simulating
    from tefflab.durations import seconds
    from tefflab.errors import InputError
    from tefflab.systems.registry import Registry

    measured = None
    if store:
        if any(each is not None for each in (cores, loaded, shares, period)):
            raise InputError(f"--store {store}: {_OF_SITTING}")
        measured = simulating.measured_in(Registry(project_root()), store, case)
        on, at = measured.cores, measured.shares
    else:
        on = Cores(cores or 2, loaded or 1, period=seconds(period or "10ms"))
        at = simulating.shares_of(shares or "10,25,50,75,90")
    work = simulating.work_of(tasks or 8 * on.number, steps, seconds(task), dependences)
    simulating.show(work, policies(seconds(takeover)), on, at, measured, picture, as_json=as_json)
