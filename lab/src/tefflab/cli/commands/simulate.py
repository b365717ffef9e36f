"""`teff simulate`: predicts how policies use a shared core."""

from pathlib import Path

import click

from tefflab.cli import options
from tefflab.cli.grammar import Former, Number, Text, command

_OF_SITTING = "--cores, --loaded, --shares and --period are those of its sitting; leave them out"


@command(
    "simulate",
    click.Argument(
        ["store"],
        required=False,
        type=Text(),
        metavar="[STORE[:SITTING]]",
        help="Compare with the curves that `teff contention` kept there.",
    ),
    Former("--store", "store", now="an argument: name the store without --store", type=Text()),
    click.Option(["--case"], type=Text(), metavar="KIND:CASE", help="Of the store. [its first]"),
    click.Option(["--cores"], type=Number(12, 1, 1024), metavar="N", help="Cores, a worker on each. [2]"),
    click.Option(
        ["--loaded"], type=Number(1, 1, 1024), metavar="N", help="Cores of which a competitor takes a share. [1]"
    ),
    click.Option(["--shares"], metavar="P,Q", help="Of each loaded core, in per cent. [10,25,50,75,90]"),
    click.Option(["--period"], metavar="TIME", help="The competitor works once in it. [10ms]"),
    click.Option(["--tasks"], type=Number(64, 1, 100_000), metavar="N", help="Tasks of a step. [8 for each core]"),
    click.Option(["--steps"], type=Number(50, 1, 1_000_000), default=50, metavar="N", help="Steps. [50]"),
    click.Option(["--task"], default="250us", metavar="TIME", help="How long a task takes. [250us]"),
    click.Option(
        ["--dependences"],
        default="stencil",
        metavar="KIND",
        help="Of tasks without barriers: stencil, tree or none. [stencil]",
    ),
    click.Option(
        ["--takeover"], default="20us", metavar="TIME", help="After it, a ready task may leave its place. [20us]"
    ),
    options.PICTURE,
    options.JSON,
)
def simulate(
    store: str | None,
    case: str | None,
    cores: int | None,
    loaded: int | None,
    shares: str | None,
    period: str | None,
    tasks: int | None,
    steps: int,
    task: str,
    dependences: str,
    takeover: str,
    picture: Path | None,
    as_json: bool,
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
            raise InputError(f"{store}: {_OF_SITTING}")
        measured = simulating.measured_in(Registry(project_root()), store, case or "")
        on, at = measured.cores, measured.shares
    else:
        on = Cores(cores or 2, loaded or 1, period=seconds(period or "10ms"))
        at = simulating.shares_of(shares or "10,25,50,75,90")
    work = simulating.work_of(tasks or 8 * on.number, steps, seconds(task), dependences)
    simulating.show(work, policies(seconds(takeover)), on, at, measured, picture, as_json=as_json)
