"""`teff experiment`."""

from typing import Annotated

import typer

from tefflab.cli import completion
from tefflab.cli.commands import options


def command(
    name: Annotated[
        str | None,
        typer.Argument(help="A file of experiments/, without .toml. [list them]", autocompletion=completion.experiment),
    ] = None,
    systems: options.Systems = "",
    all_variants: options.AllVariants = False,
    minutes: options.OwnMinutes = None,
    rounds: options.OwnRounds = None,
    workers: options.Workers = None,
    launcher: options.Launcher = "",
    hosts: options.Hosts = "",
    store: options.Store = "default",
    resume: options.Resume = False,
    install_missing: options.InstallMissing = False,
    installs: options.Installs = None,
    as_json: options.AsJson = False,
) -> None:
    """Measure and draw a figure of the paper, or another experiment; without a name, list them.

    Without --minutes and --rounds, as its file says.

    Example:  teff experiment fig7
    """
    from tefflab import project_root
    from tefflab.benchmarks.experiments import experiment_list, load_experiments
    from tefflab.cli.session import Options, experiment
    from tefflab.host.terminal import output
    from tefflab.json_lines import json_lines
    from tefflab.systems.registry import Registry

    if name is None:
        if as_json:
            there = load_experiments(project_root())
            typer.echo(json_lines(each.model_dump(mode="json", exclude_defaults=True) for each in there))
        else:
            output().print(experiment_list(project_root()))
        return
    options.start_ranks_by(launcher, hosts)
    asked = Options(
        systems=options.systems(systems),
        seconds=60 * (minutes or 0.0),
        rounds=rounds or 0,
        workers=(workers,) if workers else (),
        store=store,
        resume=resume,
        install_missing=install_missing,
        installing=options.installing(installs, install_missing=install_missing),
        all_variants=all_variants,
        as_json=as_json,
    )
    experiment(Registry(project_root()), name, asked)
