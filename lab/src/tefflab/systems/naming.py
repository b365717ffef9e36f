"""How systems are named, with their ways and versions: `SYSTEM`, `SYSTEM/WAY`, `SYSTEM@VERSION`, `SYSTEM/WAY@VERSION`.
A version is a name, or the folder in which the user has installed one: then it has a `/` in it."""

import os
import re
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from tefflab.errors import InputError


@dataclass(frozen=True, slots=True)
class Named:
    """A name, taken apart; parts that are not given are empty. A folder is an absolute path."""

    system: str
    way: str = ""
    version: str = ""

    def __str__(self) -> str:
        way = f"/{self.way}" if self.way else ""
        return f"{self.system}{way}@{self.version}" if self.version else f"{self.system}{way}"

    @property
    def owner(self) -> str:
        """The system with its version, for any of its ways."""
        return str(replace(self, way=""))

    @property
    def folder(self) -> str:
        """Where the version is installed, if it is a folder."""
        return self.version if "/" in self.version else ""

    @property
    def slug(self) -> str:
        """A name for a file, of no other system and version."""
        if not self.folder:
            return self.owner
        words = re.sub(r"[^A-Za-z0-9._]+", "-", self.version).strip("-")
        return f"{self.system}@{words[-40:]}-{sha256(self.version.encode()).hexdigest()[:8]}"


def parsed(name: str) -> Named:
    """The parts of a name, whether or not there is such a system."""
    before, _, version = name.partition("@")
    system, _, way = before.partition("/")
    if "/" in version or version.startswith(("~", ".")):
        # ~ of a user that there is not stays as it is, and is found missing like any other folder.
        version = os.path.normpath(Path.cwd() / os.path.expanduser(version))  # noqa: PTH111
    return Named(system, way, version)


def canonical(name: str) -> str:
    """The name as rows and stores have it: folders as absolute paths. TeffError where a version is not said."""
    if name.endswith("@"):
        raise InputError(f"{name}: no version stands behind the @")
    return str(parsed(name)) if "@" in name else name


def owner_of(name: str) -> str:
    """The system of an id, with its version."""
    return parsed(name).owner
