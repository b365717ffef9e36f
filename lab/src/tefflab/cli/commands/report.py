"""`teff report`."""

from typing import Annotated

import typer


def command(
    store: Annotated[
        str, typer.Argument(metavar="[STORE[:SITTING]]", help="A folder below results/; its last sitting, or another.")
    ] = "default",
    as_json: Annotated[bool, typer.Option("--json", help="Print the tables as JSON.")] = False,
) -> None:
    """Make table, pictures and report of a sitting again, from its store; nothing is measured.

    Example:  teff report default
    """
    from tefflab import project_root
    from tefflab.cli.session import report

    report(project_root(), store, as_json=as_json)
