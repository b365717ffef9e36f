"""`teff advise`: whether a program's tasks are too short or too long."""

from pathlib import Path
from typing import Annotated

import typer

from tefflab.cli import completion
from tefflab.cli.commands import options


def command(
    context: typer.Context,
    app: Annotated[
        str | None,
        typer.Argument(help="A mini-app, as `teff run SYSTEM --benchmark apps -app APP` takes it; its flags follow."),
    ] = None,
    system: Annotated[
        str,
        typer.Option("--system", metavar="NAME", help="The way that runs it.", autocompletion=completion.systems),
    ] = "teff/t",
    trace: Annotated[
        Path | None,
        typer.Option("--trace", metavar="FILE", help="In the place of APP, the trace of any program of libteff's."),
    ] = None,
    metg: Annotated[
        str,
        typer.Option(
            "--metg",
            metavar="TIME",
            help="METG of this machine, as 1.6us. [as measured last]",
            callback=options.not_empty,
        ),
    ] = "",
    runs: Annotated[
        int,
        options.number("--runs", "Runs of each setting near the advised one; 0: follow the trace alone.", 3, 0, 100),
    ] = 3,
    picture: Annotated[
        Path | None,
        typer.Option("--picture", metavar="FILE", help="Draw workers against time, as FILE.svg and FILE.png."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a line of JSON.")] = False,
) -> None:
    """Say from one traced run whether tasks are too short or too long, what bounds it, and how long tasks should be.

    For a mini-app it also says into how many tasks to cut a loop (-tasks), and runs that and settings near it.

    Example:  teff advise lulesh -size 20 -tasks 64

    Example:  teff advise --trace sort.json --picture sort
    """
    from tefflab import project_root
    from tefflab.cli import advising
    from tefflab.errors import InputError
    from tefflab.systems.registry import Registry

    if (app is None) == (trace is None):
        given = f"{app} and --trace {trace}: give one" if app else "no app and no --trace: give one"
        raise InputError(f"{given} of them; see --help")
    if trace is not None and context.args:
        raise InputError(f"{' '.join(context.args)}: flags are for an app; a trace needs none")
    registry = Registry(project_root())
    grain = advising.metg_of(registry, metg)
    if trace is not None:
        advising.advise_trace(trace, grain, picture, as_json=as_json)
    else:
        flags = "-app", str(app), *context.args
        advising.advise_app(registry, system, flags, runs, grain, picture, as_json=as_json)
