"""`teff test`."""

from typing import Annotated

import typer

from tefflab.cli.commands import options


def command(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...", help="Only these steps; without any, all. Behind `systems`: names of systems."
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Leave out the sanitizers, the second compiler and the browser.")
    ] = False,
    yes: options.Yes = False,
) -> None:
    """Check everything: format, lint, the laws of the layout, the C++ tests, the sanitizers, the lab.

    Example:  teff test --quick format lab

    Example:  teff test systems teff
    """
    from tefflab import project_root
    from tefflab.carried import expect_clone
    from tefflab.host.terminal import output, progress
    from tefflab.systems.registry import Registry

    root = project_root()
    expect_clone(root, "test")
    from tools.running import run_checks

    code = run_checks(
        Registry(root),
        names or [],
        quick=quick,
        results=output(),
        progress=progress(),
        installing="yes" if yes else "ask",
    )
    raise typer.Exit(code)
