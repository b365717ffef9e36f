"""`teff run`."""

from typing import Annotated

import typer

SETTINGS = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": ["--help"]}


def command(
    context: typer.Context,
    system: Annotated[str, typer.Argument(help="The system: an id that `teff systems` shows.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the record, one line of JSON.")] = False,
) -> None:
    """Run one configuration on one system; it validates itself.

    Takes the published Task Bench's flags as they are.

    Example:  teff run openmp -type stencil_1d -steps 1000 -width 4 -kernel compute_bound -iter 1000
    """
    from tefflab import project_root
    from tefflab.programs import call_program, find_variant
    from tefflab.systems import usable_cores

    root = project_root()
    variant = find_variant(root, system)
    first, *rest = variant.command_line(root, usable_cores())
    flags = context.args if as_json else ["--report", *context.args]
    call_program(root, first, [*rest, *flags], variant.environment_for(root, usable_cores()))
