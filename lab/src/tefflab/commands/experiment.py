"""`teff experiment`."""

import json
from typing import Annotated

import typer


def command(
    name: Annotated[str | None, typer.Argument(help="A file of experiments/, without .toml. [list them]")] = None,
    systems: Annotated[
        str, typer.Option("--systems", help="Names from `teff systems`, by commas. [those the experiment wants]")
    ] = "",
    minutes: Annotated[
        float, typer.Option("--minutes", min=0, help="Time for measuring, at most; 0: the experiment's own.")
    ] = 0.0,
    rounds: Annotated[
        int, typer.Option("--rounds", min=0, help="Launches of each system, at most; 0: the experiment's own.")
    ] = 0,
    workers: Annotated[int, typer.Option("--workers", min=0, help="Workers; 0: the cores that are here.")] = 0,
    store: Annotated[str, typer.Option("--store", help="The folder below results/ that keeps the runs.")] = "default",
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the store's last sitting.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was measured as JSON.")] = False,
) -> None:
    """Measure and draw a figure of the paper, or another experiment; without a name, list them.

    Example:  teff experiment fig7
    """
    from tefflab import project_root
    from tefflab.session import Wish
    from tefflab.studies import experiment, experiment_list, experiment_objects
    from tefflab.terminal import output

    if name is None:
        if as_json:
            typer.echo(json.dumps(experiment_objects(project_root()), indent=2, ensure_ascii=False))
        else:
            output().print(experiment_list(project_root()))
        return
    wish = Wish(
        systems=tuple(each for each in systems.split(",") if each),
        threshold=0.0,
        seconds=60 * minutes,
        rounds=rounds,
        workers=workers,
        store=store,
        resume=resume,
        as_json=as_json,
    )
    experiment(project_root(), name, wish)
