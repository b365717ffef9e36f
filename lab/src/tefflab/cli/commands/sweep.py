"""`teff sweep`."""

from typing import Annotated

import typer

from tefflab.cli.commands import options

SETTINGS = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": ["--help"]}


def command(
    context: typer.Context,
    systems: options.Systems = "",
    points: Annotated[int, typer.Option("--points", min=3, max=100, help="Sizes of task, evenly in log.")] = 12,
    longest: Annotated[str, typer.Option("--longest", help="The largest task, as 3ms or 200us.")] = "3ms",
    minutes: options.Minutes = 5.0,
    rounds: options.Rounds = 5,
    workers: options.Workers = 0,
    store: options.Store = "default",
    resume: options.Resume = False,
    as_json: options.AsJson = False,
) -> None:
    """Measure curves: efficiency and rate of every system that is here, from the smallest task to the longest.

    Further flags say what graph, as the published Task Bench's do; steps and iterations are chosen.

    Example:  teff sweep --points 8 --longest 300us -type fft -width 8
    """
    from tefflab import project_root
    from tefflab.cli.session import Wish
    from tefflab.cli.studies import sweep
    from tefflab.durations import seconds

    wish = Wish(
        systems=options.names(systems),
        threshold=0.5,
        seconds=60 * minutes,
        rounds=rounds,
        workers=workers,
        store=store,
        resume=resume,
        as_json=as_json,
    )
    sweep(project_root(), context.args, wish, points, seconds(longest))
