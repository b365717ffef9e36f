"""`teff dev`: the checks and the documentation of this project."""

import subprocess
import sys
from collections.abc import Sequence

from click.exceptions import Exit

from tefflab.carried import expect_clone
from tefflab.cli.options import installing
from tefflab.host.terminal import output, path_text, progress
from tefflab.systems.registry import Registry


def check(registry: Registry, names: Sequence[str], quick: bool, installs: bool | None) -> None:
    """Leaves with 0 if all steps of these names pass; all steps where none is named."""
    expect_clone(registry.root, "dev test")
    from tools.running import run_checks  # which a wheel has not

    how = installing(installs)
    raise Exit(run_checks(registry, names, quick=quick, results=output(), progress=progress(), installing=how))


def build_docs(registry: Registry) -> None:
    """Says where the built pages are."""
    expect_clone(registry.root, "dev docs")
    built = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--quiet"], cwd=registry.root, check=False)
    if built.returncode != 0:
        raise Exit(built.returncode)
    print(path_text(registry.root / ".teff" / "site" / "index.html"))
