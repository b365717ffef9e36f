"""`teff compare`."""

from typing import Annotated

import typer


def command(
    a: Annotated[str, typer.Argument(help="A store below results/, STORE:SITTING, or a system.")],
    b: Annotated[str, typer.Argument(help="Another, or the same.")],
    store: Annotated[
        str | None, typer.Option("--store", help="A and B are two systems of this STORE or STORE:SITTING.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the comparison as JSON.")] = False,
) -> None:
    """Say whether two METGs differ: of two systems measured together, or of each system in two sittings.

    Of a store, its last sitting is meant. Two systems are compared round by round, so the machine's drift cancels.

    Example:  teff compare monday tuesday
    """
    from tefflab import project_root
    from tefflab.comparing import answer, to_json, to_table
    from tefflab.terminal import output

    found = answer(project_root(), a, b, store)
    if as_json:
        typer.echo(to_json(found))
    else:
        output().print(to_table(found))
