"""`teff doctor`."""

from typing import Annotated

import typer


def command(
    as_json: Annotated[bool, typer.Option("--json", help="Print lines of JSON on stdout.")] = False,
) -> None:
    """Say what on this machine disturbs measurement, and what can be done about it.

    Leaves with 0 whatever it finds; for scripts, --json has a `status` of each finding: ok, warn or unknown.

    Example:  teff doctor
    """
    from tefflab.host.doctor import examine, to_json, to_table
    from tefflab.host.terminal import output, progress

    with progress().status("looking at this machine"):
        findings = examine()
    if as_json:
        typer.echo(to_json(findings))
    else:
        output().print(to_table(findings))
