"""`teff experiment`."""

from typing import Any

import click

from tefflab.cli import completion, options
from tefflab.cli.grammar import Text, command


@command(
    "experiment",
    click.Argument(
        ["name"],
        required=False,
        type=Text(completion.experiment),
        metavar="[NAME]",
        help="A file of experiments/, without .toml. [list them]",
    ),
    options.SYSTEMS,
    options.ALL_VARIANTS,
    options.LAUNCHER,
    options.HOSTS,
    *options.MEASURING,
)
def experiment(name: str | None, launcher: str | None, hosts: str | None, **said: Any) -> None:
    """Measure and draw a figure of the paper, or another experiment; without a name, list them.

    Without --minutes and --rounds, as its file says.

    Example:  teff experiment fig7
    """
    from tefflab import project_root
    from tefflab.benchmarks.experiments import experiment_list, load_experiments
    from tefflab.cli.session import Options, run_experiment
    from tefflab.host.terminal import output
    from tefflab.json_lines import json_lines
    from tefflab.systems.registry import Registry

    if name is not None:
        options.start_ranks_by(launcher, hosts)
        run_experiment(Registry(project_root()), name, Options(**said))
    elif said["as_json"]:
        there = load_experiments(project_root())
        print(json_lines(each.model_dump(mode="json", exclude_defaults=True) for each in there))
    else:
        output().print(experiment_list(project_root()))
