"""The completions of a shell after TAB, from files alone: a user who presses TAB does not wait until programs are
asked."""

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
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
    names = dict.fromkeys(name for folder, system in _systems() for name in _names_in(folder, system))
    return [before + name for name in names if name.startswith(last) and name not in named]


def stores(incomplete: str) -> list[str]:
    """Folders below results/ that keep runs."""
    from tefflab.records.store import stores_in  # for which a command that names none need not wait
    from tefflab.systems.registry import Registry

    return [name for name in stores_in(Registry(project_root()).results) if name.startswith(incomplete)]


def stores_and_systems(incomplete: str) -> list[str]:
    """What `teff compare` takes."""
    return [*stores(incomplete), *systems(incomplete)]


def on_request(incomplete: str) -> list[str]:
    """Systems that `teff systems add` brings."""
    asked = [folder.name for folder, system in _systems() if system.get("install", {}).get("on_request")]
    return [name for name in asked if name.startswith(incomplete)]


def experiment(incomplete: str) -> list[str]:
    """Files of experiments/."""
    names = (file.stem for file in (project_root() / "experiments").glob("*.toml"))
    return sorted(name for name in names if name.startswith(incomplete))


def _systems() -> Iterator[tuple[Path, dict[str, Any]]]:
    """The folder of each system, and its file, where that can be read."""
    for file in sorted((project_root() / "bench" / "systems").glob("*/system.toml")):
        with suppress(TeffError):
            yield file.parent, read_toml(file)


def _names_in(folder: Path, system: dict[str, Any]) -> Iterator[str]:
    """A system's name, which means the best of its programs, and `SYSTEM/NAME` of each if a kind has several."""
    kinds = Counter(str(each.get("benchmark")) for each in system.get("program", ()))
    yield from [folder.name] if kinds else []
    for each in system.get("program", ()):
        if kinds[str(each.get("benchmark"))] > 1:
            yield f"{folder.name}/{each.get('name')}"
