"""`teff systems`: the paper's Table 4, for this machine."""

from typing import Annotated

import typer

from tefflab.cli.commands import options


def command(
    as_json: Annotated[bool, typer.Option("--json", help="Print lines of JSON on stdout.")] = False,
    yes: options.Yes = False,
    set_up: Annotated[
        bool, typer.Option("--set-up", help="First install and build every system that can be set up.")
    ] = False,
) -> None:
    """List the systems under test: their facts, whether they are here, and how to get the others.

    Nothing is installed or built, unless --set-up asks for it.

    Example:  teff systems --json
    """
    from tefflab import project_root
    from tefflab.host.terminal import output, progress
    from tefflab.output.systems_table import to_json, to_table
    from tefflab.systems.probing import probe_all, unbuilt
    from tefflab.systems.registry import Registry
    from tefflab.systems.setup import ensure

    registry = Registry(project_root())
    systems = registry.systems
    if set_up:
        ensure(registry, systems, console=progress(), installing="yes" if yes else "ask")
    with progress().status(f"asking {len(systems)} systems whether they are there"):
        probes = probe_all(systems, lambda system: system.listed)
    if as_json:
        typer.echo(to_json(systems, probes))
    else:
        here = [each for each in systems if any(probes[one.id].found for one in each.listed)]
        output().print(to_table(systems, probes, unbuilt(here) if set_up else None))
