"""`teff report`."""

from typing import Annotated

import typer

from tefflab.cli.commands import options


def command(
    store: Annotated[
        str, typer.Argument(metavar="[STORE[:SITTING]]", help="A folder below results/; its last sitting, or another.")
    ] = "",
    named: options.StoreOfArgument = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print the tables as lines of JSON.")] = False,
) -> None:
    """Make table, pictures and report of a sitting again, from its store; nothing is measured.

    Example:  teff report default
    """
    from tefflab import project_root
    from tefflab.cli.publishing import report
    from tefflab.systems.registry import Registry

    report(Registry(project_root()), options.one_store(store, named), as_json=as_json)
