"""The descriptions of the commands that measure, kept in a file for help, completion and parsing. Kinds of benchmark
take seconds to load, with their libraries for statistics and pictures.

The file is made again once a file of a kind is another.
"""

import json
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from tefflab import benchmarks, carried, project_root
from tefflab.errors import InputError, TeffError
from tefflab.whole_files import kept_json, write_whole

if TYPE_CHECKING:
    from tefflab.systems.systems import Program, System

_FIELDS = (  # of a Command
    "name",
    "path",
    "help",
    "example",
    "takes_flags",
    "takes_one_number",
    "takes_programs",
    "takes_nodes",
    "measures_systems",
)


@dataclass(frozen=True, slots=True)
class Kind:
    """The names of a kind of benchmark, which a single run needs."""

    name: str
    word: str  # users'
    adapters: str = ""

    def programs(self, system: "System") -> "list[Program]":
        return system.programs_for(self.name, self.adapters or self.name)


def described_kind(said: str) -> Kind:
    """By its name or the users' word for it. InputError, naming those there are, for another."""
    known = {each.kind["word"]: Kind(**each.kind) for each in declared()}
    found = known.get(said) or next((each for each in known.values() if each.name == said), None)
    if found is None:
        raise InputError(f"no kind of benchmark is called {said!r}; there are: {' '.join(known)}")
    return found


def declared() -> list[Any]:
    """As `Command`s with their `Option`s, without their functions."""
    file, folder = _file(), Path(benchmarks.__path__[0])
    stats = [(str(each.relative_to(folder)), each.stat()) for each in sorted(folder.rglob("*.py"))]
    current = [[name, stat.st_mtime_ns, stat.st_size] for name, stat in stats]
    kept: dict[str, Any] = (file and kept_json(file)) or {}
    if kept.get("of") != current:
        kept = {"of": current, "commands": _loaded()}
        with suppress(OSError):
            if file:
                write_whole(file, json.dumps(kept))
    return [
        SimpleNamespace(**each | {"options": [SimpleNamespace(**option) for option in each["options"]]})
        for each in kept["commands"]
    ]


def _file() -> Path | None:
    """Beside the sources; None where a wheel's are not unpacked, which a list of commands does not need."""
    try:
        root = carried.place() if carried.ARCHIVE.is_file() else project_root()
    except TeffError:  # there is no home
        return None
    return root / ".teff" / "stamps" / "commands.json" if root.is_dir() else None


def _loaded() -> list[dict[str, Any]]:
    from tefflab.benchmarks.benchmark import benchmarks as kinds

    return [
        {field: getattr(command, field) for field in _FIELDS}
        | {"kind": {"name": kind.name, "word": kind.word or kind.name, "adapters": kind.adapters}}
        | {"options": [asdict(each) | {"name": each.name} for each in command.options]}
        for kind in kinds()
        for command in kind.commands
    ]
