"""Files in which users describe systems and experiments."""

import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from tefflab.errors import InputError, TeffError

_Described = TypeVar("_Described")


def read_toml(path: Path) -> dict[str, Any]:
    """The keys of a file. InputError, naming it, if it is no TOML. A byte order mark counts for nothing."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except ValueError as error:  # no UTF-8, or no TOML
        raise InputError(f"{path}: is no TOML: {error}") from None
    except OSError as error:
        raise InputError(f"{path}: can't be read: {error.strerror}") from None


def readable(files: Iterable[Path], load: Callable[[Path], _Described]) -> list[_Described]:
    """What the files describe. A warning names each file that can't be read, and the others count all the same."""
    from tefflab.host.terminal import say

    found = []
    for file in files:
        try:
            found.append(load(file))
        except TeffError as error:
            say(f"{error}; it is left out")
    return found
