"""The program `task_graph`: it says what flags describe, and runs nothing."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from tefflab.errors import BAD_INPUT, TeffError
from tefflab.systems.systems import BUILD_FOLDER


def core_program(root: Path) -> Path:
    """The program that says what flags describe."""
    return root / BUILD_FOLDER / "bin" / "task_graph"


def answer_of_core(root: Path, words: Sequence[str]) -> str:
    """The core's answer about flags. TeffError with the core's words if they are wrong."""
    asked = subprocess.run([str(core_program(root)), *words], capture_output=True, text=True, check=False)
    if asked.returncode != 0:
        raise TeffError(asked.stderr.strip().removeprefix("error: "), exit_code=BAD_INPUT)
    return asked.stdout
