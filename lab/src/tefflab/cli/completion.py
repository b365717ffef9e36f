"""What a shell offers after TAB: names of systems and of experiments.

It reads the names from the files alone: a user who presses TAB does not wait until their content is checked.
"""

import tomllib
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from tefflab import project_root


def system(incomplete: str) -> list[str]:
    """Ids of variants, as `teff systems` shows them."""
    return [name for name in _ids() if name.startswith(incomplete)]


def systems(incomplete: str) -> list[str]:
    """The same for the last name of a list by commas, each of which is offered once."""
    *named, last = incomplete.split(",")
    before = "".join(f"{name}," for name in named)
    return [before + name for name in system(last) if name not in named]


def experiment(incomplete: str) -> list[str]:
    """Files of experiments/."""
    names = (file.stem for file in (project_root() / "experiments").glob("*.toml"))
    return sorted(name for name in names if name.startswith(incomplete))


def _ids() -> list[str]:
    files = sorted((project_root() / "bench" / "systems").glob("*/system.toml"))
    return list(dict.fromkeys(name for file in files for name in _ids_in(file)))


def _ids_in(file: Path) -> Iterator[str]:
    """A system's first program of each benchmark has its name alone."""
    try:
        described = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError):
        return
    for rows in (value for value in described.values() if isinstance(value, list)):
        for _, programs in groupby(sorted(rows, key=_benchmark), key=_benchmark):
            for number, program in enumerate(programs):
                yield f"{file.parent.name}/{program.get('name')}" if number else file.parent.name


def _benchmark(program: dict[str, Any]) -> str:
    return str(program.get("benchmark", ""))
