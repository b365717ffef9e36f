"""The completions of a shell after TAB: names of systems and of experiments; and how a shell learns to ask for them.

It reads the names from the files, and looks which programs could not be built. A user who presses TAB does not wait
until programs are checked or asked.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from tefflab import project_root
from tefflab.errors import InputError, TeffError
from tefflab.systems.toml_files import read_toml

_FILES = {"bash": "~/.bashrc", "zsh": "~/.zshrc", "fish": "~/.config/fish/completions/teff.fish"}  # that a shell reads


def install(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    """Writes into the file of the user's shell that it asks `teff` for completions."""
    if not wanted:
        return
    shell = Path(os.environ.get("SHELL", "")).name
    if shell not in _FILES:
        raise InputError(f"SHELL is {shell!r}: teff completes in {', '.join(_FILES)}")
    file = Path(_FILES[shell]).expanduser()
    asks = f"_TEFF_COMPLETE={shell}_source teff"
    line = f"{asks} | source\n" if shell == "fish" else f'command -v teff >/dev/null && eval "$({asks})"\n'
    known = file.read_text(encoding="utf-8") if file.is_file() else ""
    if line not in known:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(known + line, encoding="utf-8")
    print(f"{file}: each new {shell} completes the commands of teff, if teff is in the PATH")
    context.exit()


def systems(incomplete: str) -> list[str]:
    """The values of --systems, for the last name of a list by commas: systems and their ways, each offered once."""
    *named, last = incomplete.split(",")
    before = "".join(f"{name}," for name in named)
    names = dict.fromkeys(name for file in _files() for name in _names_in(file))
    return [before + name for name in names if name.startswith(last) and name not in named]


def on_request(incomplete: str) -> list[str]:
    """Systems that `teff systems add` brings."""
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
        return read_toml(file)
    except TeffError:
        return {}


def _names_in(file: Path) -> Iterator[str]:
    """A system's name alone, which means the best of its programs, and `SYSTEM/NAME` of each if there are several.
    Programs that the build has left out are not offered; programs that it has not come to yet are."""
    for rows in (value for value in _described(file).values() if isinstance(value, list)):
        benchmarks: dict[str, list[dict[str, Any]]] = {}
        for row in rows:
            if "program" in row:
                benchmarks.setdefault(str(row.get("benchmark")), []).append(row)
        for _, programs in sorted(benchmarks.items()):
            here = [each for each in programs if _is_here(file.parent, str(each["program"]))]
            if programs[0] in here:
                yield file.parent.name
            if len(programs) > 1:
                yield from (f"{file.parent.name}/{each.get('name')}" for each in here)


def _is_here(folder: Path, program: str) -> bool:
    if program.endswith(".py"):
        return (folder / program).is_file()
    build = project_root() / ".teff" / "build"
    is_built = any((build / "bin").glob(program.replace("{benchmark}", "*")))
    left_out = (build / why / name for why in ("skipped", "broken") for name in (folder.name, program))
    return is_built or not any(reason.is_file() for reason in left_out)
