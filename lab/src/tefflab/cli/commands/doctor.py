"""`teff doctor`."""

from typing import Annotated

import typer


def command(
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list on stdout.")] = False,
) -> None:
    """Say what on this machine disturbs measurement, and what can be done about it.

    Example:  teff doctor
    """
    from tefflab import project_root
    from tefflab.host.doctor import examine, to_json, to_table
    from tefflab.host.terminal import output, progress
    from tefflab.systems.installing import absent, not_here
    from tefflab.systems.systems import load_systems

    with progress().status("looking at this machine"):
        findings = examine()
    if as_json:
        typer.echo(to_json(findings))
    else:
        output().print(to_table(findings))
        root = project_root()
        if missing := not_here(absent(root, load_systems(root))):
            progress().print(f"teff: could be measured, too: {missing}", soft_wrap=True, markup=False)
