"""What a shell offers after TAB: names of systems and of experiments.

It reads the names from the files, and looks which programs have been built: a user who presses TAB does not wait until
anything is checked or asked.
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


def on_request(incomplete: str) -> list[str]:
    """Systems that `teff install` brings."""
    found = ((file.parent.name, _described(file).get("install", {})) for file in _files())
    return [name for name, asked in found if asked.get("on_request") and name.startswith(incomplete)]


def experiment(incomplete: str) -> list[str]:
    """Files of experiments/."""
    names = (file.stem for file in (project_root() / "experiments").glob("*.toml"))
    return sorted(name for name in names if name.startswith(incomplete))


def _files() -> list[Path]:
    return sorted((project_root() / "bench" / "systems").glob("*/system.toml"))


def _described(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError):
        return {}


def _ids() -> list[str]:
    return list(dict.fromkeys(name for file in _files() for name in _ids_in(file)))


def _ids_in(file: Path) -> Iterator[str]:
    """A system's first program of each benchmark has its name alone. Where anything has been built, what has not is not
    offered."""
    described = _described(file)
    for rows in (value for value in described.values() if isinstance(value, list)):
        for _, programs in groupby(sorted(rows, key=_benchmark), key=_benchmark):
            for number, program in enumerate(programs):
                if _is_here(file.parent, str(program.get("program", ""))):
                    yield f"{file.parent.name}/{program.get('name')}" if number else file.parent.name


def _is_here(folder: Path, program: str) -> bool:
    if program.endswith(".py"):
        return (folder / program).is_file()
    built = project_root() / ".teff" / "build" / "bin"
    return not built.is_dir() or any(built.glob(program.replace("{benchmark}", "*")))


def _benchmark(program: dict[str, Any]) -> str:
    return str(program.get("benchmark", ""))
