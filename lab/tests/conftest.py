"""What several tests need: a checkout with programs that only simulate."""

import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tefflab.systems import BUILD_FOLDER

PROGRAM = Path(__file__).parent / "simulated_program.py"


@pytest.fixture
def laboratory(tmp_path: Path) -> Callable[..., Path]:
    """A checkout with a ceiling, a core and simulated systems: name -> overhead, and what is wrong with it.

    Beside them a system that has spawn patterns alone.
    """

    def make(**systems: tuple[float, str]) -> Path:
        binaries = tmp_path / BUILD_FOLDER / "bin"
        binaries.mkdir(parents=True)
        _script(binaries / "ceiling", f'exec {sys.executable} {PROGRAM} ceiling 0 fine "$@"')
        _script(binaries / "task_graph", "exit 0")  # takes all flags
        write_system(tmp_path, "spawner", f'[[spawn]]\nname = "one"\ntitle = "spawner"\nprogram = "{PROGRAM}"\n')
        for name, (overhead, fault) in systems.items():
            write_system(
                tmp_path,
                name,
                f'[[variants]]\nname = "one"\ntitle = "{name}"\nprogram = "{PROGRAM}"\n'
                f'command = ["{sys.executable}", "{{program}}", "{name}", "{overhead}", "{fault}"]\n',
            )
        return tmp_path

    return make


def write_system(root: Path, name: str, programs: str) -> None:
    folder = root / "bench" / "systems" / name
    folder.mkdir(parents=True)
    (folder / "system.toml").write_text(
        f'name = "{name}"\ntitle = "{name}"\nparadigm = "none"\nparallelism = "implicit"\n'
        f'distributed = false\nlanguage = "none"\nhomepage = "https://example.org"\ncolor = "#000000"\n' + programs
    )


def _script(path: Path, command: str) -> None:
    path.write_text(f"#!/bin/sh\n{command}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
