"""`teff compare`."""

from typing import Annotated

import typer


def command(
    a: Annotated[str, typer.Argument(help="A store below results/, STORE:SITTING, or a system.")],
    b: Annotated[str, typer.Argument(help="Another, or the same.")],
    store: Annotated[
        str | None,
        typer.Option("--store", metavar="STORE", help="A and B are two systems of this STORE or STORE:SITTING."),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            "--against",
            metavar="SYSTEM",
            help="Of two stores: the system by whose values the others' are divided in each.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print an object for each kind of benchmark.")] = False,
) -> None:
    """Say whether two systems of a sitting differ, or each system between two sittings, in whatever was measured.

    Of a store, its last sitting of each kind of benchmark is meant, as far as both sides have one.
    Two systems are compared round by round, so the machine's drift cancels. Between stores it says what the machine
    did, by the rows of at least four other systems; with fewer, compare --against one that did not change.

    Example:  teff compare before after
    """
    from tefflab import project_root
    from tefflab.cli.comparing import answer
    from tefflab.host.terminal import output, progress
    from tefflab.json_lines import json_lines
    from tefflab.output.comparison_table import to_tables
    from tefflab.systems.registry import Registry

    found = answer(Registry(project_root()), a, b, store, against)
    for reason in found.left_out:
        progress().print(f"teff: {reason}", soft_wrap=True, markup=False)
    if as_json:
        typer.echo(json_lines(line for each in found.answers for line in each.to_json()))
    else:
        output().print(to_tables(found.answers))
