"""The completions of a shell after TAB: names of systems and of experiments.

It reads the names from the files, and looks which programs could not be built. A user who presses TAB does not wait
until programs are checked or asked.
"""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from tefflab import project_root
from tefflab.errors import TeffError
from tefflab.systems.toml_files import read_toml


def system(incomplete: str) -> list[str]:
    """Ids of variants, as `teff systems` shows them."""
    return [name for name in _ids() if name.startswith(incomplete)]


def systems(incomplete: str) -> list[str]:
    """The values of --systems, for the last name of a list by commas: systems and their ways, each offered once."""
    *named, last = incomplete.split(",")
    before = "".join(f"{name}," for name in named)
    names = (name for name in _ids(with_first=True) if name.startswith(last))
    return [before + name for name in names if name not in named]


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
        return read_toml(file)
    except TeffError:
        return {}


def _ids(*, with_first: bool = False) -> list[str]:
    return list(dict.fromkeys(name for file in _files() for name in _ids_in(file, with_first)))


def _ids_in(file: Path, with_first: bool) -> Iterator[str]:
    """A system's name alone, which means the best of its programs, and `SYSTEM/NAME` of the others. `with_first` adds
    that form of the first, if it has the system's name and there are others. Programs that the build has left out are
    not offered; programs that it has not come to yet are."""
    described = _described(file)
    for rows in (value for value in described.values() if isinstance(value, list)):
        programs_of = [row for row in rows if "program" in row]
        for _, group in groupby(sorted(programs_of, key=_benchmark), key=_benchmark):
            programs = list(group)
            has_other_best = any(each.get("best") for each in programs[1:])
            for number, program in enumerate(programs):
                if _is_here(file.parent, str(program.get("program", ""))):
                    if not number:
                        yield file.parent.name
                    if number or has_other_best or (with_first and len(programs) > 1):
                        yield f"{file.parent.name}/{program.get('name')}"


def _is_here(folder: Path, program: str) -> bool:
    if program.endswith(".py"):
        return (folder / program).is_file()
    build = project_root() / ".teff" / "build"
    is_built = any((build / "bin").glob(program.replace("{benchmark}", "*")))
    left_out = (build / why / name for why in ("skipped", "broken") for name in (folder.name, program))
    return is_built or not any(reason.is_file() for reason in left_out)


def _benchmark(program: dict[str, Any]) -> str:
    return str(program.get("benchmark", ""))
