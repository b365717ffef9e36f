"""The program `task_graph`: it says what flags describe, and runs nothing."""

import difflib
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tefflab.errors import BAD_INPUT, TeffError
from tefflab.systems.systems import BUILD_FOLDER

_UNKNOWN = re.compile(r"there is no flag '-+([^']*)'")
_LISTED = re.compile(r"^ +(?:-\w,)?--([\w-]+)", re.MULTILINE)  # a flag, in the program's help


def core_program(root: Path) -> Path:
    """The program that says what flags describe."""
    return root / BUILD_FOLDER / "bin" / "task_graph"


def answer_of_core(root: Path, words: Sequence[str]) -> str:
    """What the core says of flags. TeffError with its own words where they are wrong, and the flag that an unknown one
    was meant to be."""
    asked = _ask(root, words)
    if asked.returncode != 0:
        said = asked.stderr.strip().removeprefix("error: ")
        raise TeffError(_UNKNOWN.sub(lambda found: found[0] + _meant(root, found[1]), said), exit_code=BAD_INPUT)
    return asked.stdout


def _meant(root: Path, flag: str) -> str:
    """` (did you mean -width?)`, where the core has a flag that is near."""
    near = difflib.get_close_matches(flag, _LISTED.findall(_ask(root, ["--help"]).stdout), 1)
    return f" (did you mean -{near[0]}?)" if near else ""


def _ask(root: Path, words: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([str(core_program(root)), *words], capture_output=True, text=True, check=False)
