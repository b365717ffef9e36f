"""`teff metg`: the main command."""

from typing import Annotated

import typer

from tefflab.cli.commands import options

SETTINGS = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": ["--help"]}


def command(
    context: typer.Context,
    systems: options.Systems = "",
    threshold: Annotated[
        float, typer.Option("--threshold", min=0.05, max=0.95, help="The efficiency asked for.")
    ] = 0.5,
    minutes: options.Minutes = 5.0,
    rounds: options.Rounds = 25,
    workers: options.Workers = 0,
    store: options.Store = "default",
    resume: options.Resume = False,
    as_json: options.AsJson = False,
) -> None:
    """Measure METG, the smallest task that is worth its overhead, of every system that is here.

    Further flags say what graph, as the published Task Bench's do; steps and iterations are chosen.

    Example:  teff metg -type nearest -radix 5
    """
    from tefflab import project_root
    from tefflab.cli.session import Wish, metg

    metg(
        project_root(),
        context.args,
        Wish(
            systems=options.names(systems),
            threshold=threshold,
            seconds=60 * minutes,
            rounds=rounds,
            workers=workers,
            store=store,
            resume=resume,
            as_json=as_json,
        ),
    )
