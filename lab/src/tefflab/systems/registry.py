"""The systems of a checkout. A command makes one `Registry` and passes it on."""

import difflib
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path

from pydantic import ValidationError

from tefflab.carried import is_unpacked
from tefflab.errors import InputError, TeffError, first_fault
from tefflab.systems.naming import parsed
from tefflab.systems.systems import SYSTEMS_FOLDER, Program, System
from tefflab.systems.toml_files import read_toml, readable


class Registry:
    """The checkout at `root` and its systems, each `system.toml` read once."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @property
    def results(self) -> Path:
        """Where stores are: in the clone; for a wheel, in the folder that the user stands in."""
        return (Path.cwd() if is_unpacked(self.root) else self.root) / "results"

    @cached_property
    def systems(self) -> list[System]:
        """Every system whose file can be read, by name; a warning names the others."""
        return readable(sorted((self.root / SYSTEMS_FOLDER).glob("*/system.toml")), load_system)

    def owner(self, program: Program) -> System:
        """The system whose program it is, in any version."""
        return next(each for each in self.systems if each.name == program.identity)

    def named(self, names: Iterable[str]) -> list[System]:
        """Every system, by name; behind each its versions among `names`. TeffError for one that there is not."""
        versions: dict[str, list[str]] = {}
        for named in dict.fromkeys(map(parsed, names)):
            if named.version and named.version not in versions.setdefault(named.system, []):
                versions[named.system].append(named.version)
        return [each for one in self.systems for each in (one, *map(one.at, versions.get(one.name, [])))]


def load_system(path: Path) -> System:
    """Reads one `system.toml`; a fault in it is a TeffError with file, key and rule."""
    try:
        system = System.model_validate(read_toml(path))
    except ValidationError as error:
        raise InputError(f"{path}: {first_fault(error)}") from None
    if system.name != path.parent.name:
        raise InputError(f"{path}: name: {system.name!r} is not the folder's name, {path.parent.name!r}")
    return system.placed_in(path.parent)


def no_adapter(name: str, measured: str, there: Iterable[str]) -> TeffError:
    """The error for a system that this can't be measured on; it lists the systems with an adapter."""
    return InputError(f"{name} has no adapter for {measured}; there is one for: {' '.join(there)}")


def no_such_system(name: str, there: Sequence[str], listed: str = "") -> TeffError:
    """The error for an unknown name: the nearest name, else where the systems are `listed`, or their names."""
    near = difflib.get_close_matches(name, there, 1)
    hint = f"did you mean {near[0]}?" if near else listed or f"there are: {' '.join(there)}"
    return InputError(f"no system is called {name!r}; {hint}")
