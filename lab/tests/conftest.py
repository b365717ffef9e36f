"""What several tests need: a checkout with programs that only simulate, and whether a real one is here."""

import re
import stat
import sys
from collections.abc import Callable
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

from tefflab import project_root
from tefflab.systems.systems import BUILD_FOLDER, Program, load_systems

PROGRAM = Path(__file__).parent / "simulated_program.py"
CORE_LIBRARY = Path(BUILD_FOLDER) / "lib" / "libteff_bench.so"  # what scripts call


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
        write_system(
            tmp_path,
            "spawner",
            f'[[program]]\nbenchmark = "spawn"\nname = "one"\ntitle = "spawner"\nprogram = "{PROGRAM}"\n',
        )
        for name, (overhead, fault) in systems.items():
            write_system(
                tmp_path,
                name,
                f'[[program]]\nbenchmark = "task_graph"\nname = "one"\ntitle = "{name}"\nprogram = "{PROGRAM}"\n'
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


@cache
def _requirements(root: Path) -> dict[str, list[str]]:
    return {system.name: list(system.install.pip) for system in load_systems(root)}


def skip_unless_there(program: Program) -> None:
    """Skips the test where the program, or the package that a script needs, is not on this machine."""
    root = project_root()
    if not program.program_path(root).exists():
        pytest.skip(f"{program.executable} is not built here")
    if program.is_python and not (root / CORE_LIBRARY).exists():
        pytest.skip("the core's library is not built here")
    for requirement in _requirements(root)[program.system_name]:
        name = re.split(r"[^\w.-]", requirement, maxsplit=1)[0]
        try:
            version(name)
        except PackageNotFoundError:
            pytest.skip(f"{name} is not installed here")
