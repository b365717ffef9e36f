"""`teff metg`: the main command."""

from typing import Annotated

import typer

SETTINGS = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": ["--help"]}


def command(
    context: typer.Context,
    systems: Annotated[
        str, typer.Option("--systems", help="Names from `teff systems`, by commas. [all that are here]")
    ] = "",
    threshold: Annotated[
        float, typer.Option("--threshold", min=0.05, max=0.95, help="The efficiency asked for.")
    ] = 0.5,
    minutes: Annotated[float, typer.Option("--minutes", min=0.1, help="Time for measuring, at most.")] = 5.0,
    rounds: Annotated[int, typer.Option("--rounds", min=2, help="Launches of each system, at most.")] = 25,
    workers: Annotated[int, typer.Option("--workers", min=0, help="Workers; 0: the cores that are here.")] = 0,
    store: Annotated[str, typer.Option("--store", help="The folder below results/ that keeps the runs.")] = "default",
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the store's last sitting.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the table as JSON.")] = False,
) -> None:
    """Measure METG, the smallest task that is worth its overhead, of every system that is here.

    Further flags say what graph, as the published Task Bench's do; steps and iterations are chosen.

    Example:  teff metg --systems openmp,tbb -type nearest -radix 5
    """
    from tefflab import project_root
    from tefflab.session import Wish, metg

    metg(
        project_root(),
        context.args,
        Wish(
            systems=tuple(name for name in systems.split(",") if name),
            threshold=threshold,
            seconds=60 * minutes,
            rounds=rounds,
            workers=workers,
            store=store,
            resume=resume,
            as_json=as_json,
        ),
    )
