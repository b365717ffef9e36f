"""`teff dev`: the checks and the documentation of this project."""

import click

from tefflab.cli import options
from tefflab.cli.grammar import Tree, command


@command(
    "test",
    click.Argument(
        ["names"],
        nargs=-1,
        metavar="[STEP]...",
        help="Only these steps; without any, all. Behind `systems`: names of systems.",
    ),
    click.Option(["--quick"], is_flag=True, help="Leave out the sanitizers, the second compiler and the browser."),
    options.INSTALLS,
)
def test(names: tuple[str, ...], quick: bool, installs: bool | None) -> None:
    """Check everything: format, lint, the laws of the layout, the C++ tests, the sanitizers, the lab.

    Example:  teff dev test --quick format lab

    Example:  teff dev test systems teff
    """
    from click.exceptions import Exit

    from tefflab import project_root
    from tefflab.carried import expect_clone
    from tefflab.host.terminal import output, progress
    from tefflab.systems.registry import Registry

    root = project_root()
    expect_clone(root, "dev test")
    from tools.running import run_checks

    code = run_checks(
        Registry(root),
        names,
        quick=quick,
        results=output(),
        progress=progress(),
        installing=options.installing(installs),
    )
    raise Exit(code)


@command("docs")
def docs() -> None:
    """Build the documentation's site, which opens offline, and say where it is.

    Example:  teff dev docs
    """
    import subprocess
    import sys

    from click.exceptions import Exit

    from tefflab import project_root
    from tefflab.carried import expect_clone
    from tefflab.host.terminal import path_text

    root = project_root()
    expect_clone(root, "dev docs")
    built = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--quiet"], cwd=root, check=False)
    if built.returncode != 0:
        raise Exit(built.returncode)
    print(path_text(root / ".teff" / "site" / "index.html"))


DEV = Tree(
    "dev",
    {each.name: each for each in (test, docs) if each.name},
    help="Check this project, or build its documentation.\n\nExample:  teff dev test --quick",
)
