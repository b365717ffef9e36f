"""`teff docs`."""

import typer


def command() -> None:
    """Build the documentation's site, which opens offline, and say where it is.

    Example:  teff docs
    """
    import subprocess
    import sys

    from tefflab import project_root
    from tefflab.carried import expect_clone
    from tefflab.host.terminal import path_text

    root = project_root()
    expect_clone(root, "docs")
    built = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--quiet"], cwd=root, check=False)
    if built.returncode != 0:
        raise typer.Exit(built.returncode)
    typer.echo(path_text(root / ".teff" / "site" / "index.html"))
