"""The descriptions of the commands that measure, kept in a file for completion in a shell. Kinds of benchmark take
seconds to load, with their libraries for statistics and pictures.

The file is made again once a file of a kind is another.
"""

import json
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tefflab import benchmarks, carried, project_root
from tefflab.errors import TeffError
from tefflab.whole_files import kept_json, write_whole

_FIELDS = ("name", "help", "example", "takes_flags", "rounds", "workers", "takes_one_number")  # of a Command


def declared() -> list[Any]:
    """As `Command`s with their `Option`s, without their functions."""
    file = _file()
    current = _fingerprint()
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
    """Where they are kept: beside the sources. None where a wheel's sources are not unpacked, which a list of commands
    does not need."""
    try:
        root = carried.place() if carried.ARCHIVE.is_file() else project_root()
    except TeffError:  # there is no home
        return None
    return root / ".teff" / "stamps" / "commands.json" if root.is_dir() else None


def _loaded() -> list[dict[str, Any]]:
    from tefflab.benchmarks.benchmark import benchmarks as kinds

    return [
        {field: getattr(command, field) for field in _FIELDS}
        | {"options": [asdict(each) | {"name": each.name} for each in command.options]}
        for kind in kinds()
        for command in kind.commands
    ]


def _fingerprint() -> list[list[Any]]:
    folder = Path(benchmarks.__path__[0])
    files = sorted(folder.rglob("*.py"))
    return [[str(file.relative_to(folder)), file.stat().st_mtime_ns, file.stat().st_size] for file in files]
