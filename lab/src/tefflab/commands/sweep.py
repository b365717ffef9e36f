"""`teff sweep`."""

from typing import Annotated

import typer

SETTINGS = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": ["--help"]}


def command(
    context: typer.Context,
    systems: Annotated[
        str, typer.Option("--systems", help="Names from `teff systems`, by commas. [all that are here]")
    ] = "",
    points: Annotated[int, typer.Option("--points", min=3, max=100, help="Sizes of task, evenly in log.")] = 12,
    longest: Annotated[str, typer.Option("--longest", help="The largest task, as 3ms or 200us.")] = "3ms",
    minutes: Annotated[float, typer.Option("--minutes", min=0.1, help="Time for measuring, at most.")] = 5.0,
    rounds: Annotated[int, typer.Option("--rounds", min=2, help="Launches of each system.")] = 5,
    workers: Annotated[int, typer.Option("--workers", min=0, help="Workers; 0: the cores that are here.")] = 0,
    store: Annotated[str, typer.Option("--store", help="The folder below results/ that keeps the runs.")] = "default",
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the store's last sitting.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the curves as JSON.")] = False,
) -> None:
    """Measure curves: efficiency and rate of every system that is here, from the smallest task to the longest.

    Further flags say what graph, as the published Task Bench's do; steps and iterations are chosen.

    Example:  teff sweep --systems openmp,mpi --points 8 --longest 300us -type fft -width 8
    """
    from tefflab import project_root
    from tefflab.durations import seconds
    from tefflab.session import Wish
    from tefflab.studies import sweep

    wish = Wish(
        systems=tuple(name for name in systems.split(",") if name),
        threshold=0.5,
        seconds=60 * minutes,
        rounds=rounds,
        workers=workers,
        store=store,
        resume=resume,
        as_json=as_json,
    )
    sweep(project_root(), context.args, wish, points, seconds(longest))
