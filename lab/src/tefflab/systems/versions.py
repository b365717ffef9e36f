"""Versions of a system: how one is got and recognised, by `[[version]]` of its system.toml, and where it is kept.

Each has a separate folder in `.teff/versions`, in which it is installed, and built if it is compiled.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, Field, model_validator

from tefflab.systems.naming import Named
from tefflab.systems.needs import NonEmpty
from tefflab.whole_files import kept_json

VERSIONS_FOLDER = Path(".teff/versions")
PLACE = "place.json"  # in a version's folder, written last: its packages, and their place

_NUMBER = re.compile(r"\d+(?:\.\d+)*")
_ANY = "{number}"


class Version(BaseModel, extra="forbid"):
    """A `[[version]]`. `{number}` in its name stands for any number, and in what follows for that one."""

    name: Annotated[str, Field(pattern=r"^[a-z{][a-z0-9{}._-]*$")]
    example: NonEmpty  # of its name
    title: NonEmpty  # where it comes from
    says: NonEmpty = _ANY  # in what a program says of its version
    apt: list[NonEmpty] = []
    pip: list[NonEmpty] = []  # into an environment of the version's own
    cmake: dict[NonEmpty, str] = {}  # variables that find it
    programs: list[NonEmpty] = []  # the names of those that can be of it; all where none is named

    @model_validator(mode="after")
    def _example_is_of_the_name(self) -> Self:
        if self.number_of(self.example) is None:
            raise ValueError(f"{self.example!r} is no example of {self.name!r}")
        if _ANY not in self.says:
            raise ValueError("says needs {number} in it")
        return self

    def number_of(self, version: str) -> str | None:
        """The number in the name of a version; None where it is none of these."""
        before, is_any, after = self.name.partition(_ANY)
        if not is_any:
            found = _NUMBER.search(self.name)
            return (found[0] if found else "") if version == self.name else None
        found = re.fullmatch(f"{re.escape(before)}({_NUMBER.pattern}){re.escape(after)}", version)
        return found[1] if found else None

    def filled(self, number: str) -> Self:
        """This one with its number."""

        def fill(texts: Sequence[str]) -> list[str]:
            return [text.replace(_ANY, number) for text in texts]

        cmake = {name: value.replace(_ANY, number) for name, value in self.cmake.items()}
        return self.model_copy(update={"apt": fill(self.apt), "pip": fill(self.pip), "cmake": cmake})


@dataclass(frozen=True, slots=True)
class Asked:
    """A version of a system that the user asked for: by its `rule`, or installed in a folder."""

    root: Path  # the checkout
    named: Named
    number: str = ""
    rule: Version | None = None

    @property
    def home(self) -> Path:
        """What Teff keeps of it."""
        return self.root / VERSIONS_FOLDER / self.named.slug

    @property
    def place(self) -> "Place":
        """Where it is; where it will be, if it has not been brought."""
        if kept := kept_json(self.home / PLACE):
            return Place.model_validate(kept)
        return Place(wanted="", build=str(self.home / "build"), python=str(self.home / "venv/bin/python"))

    @property
    def wanted(self) -> str:
        """What its place was made for."""
        return self.rule.model_dump_json(include={"apt", "pip", "cmake"}) if self.rule else self.named.folder

    def refusal(self, said: str | None) -> str:
        """Why a program that says this of its version is not of the one asked for; empty where it is, or may be."""
        if self.rule is None or not self.number:
            return ""
        before, _, after = self.rule.says.partition(_ANY)
        found = re.search(f"(?<![A-Za-z0-9.]){re.escape(before)}({_NUMBER.pattern}){re.escape(after)}", said or "")
        if found and _agree(self.number, found[1]):
            return ""
        return f"{self.named.version} was asked for, and the program says it has {said or 'none'}"


class Place(BaseModel):
    """Where a version is: the folder its programs are built in, and the Python of its scripts."""

    wanted: str  # what it was made for
    build: str
    python: str
    is_usual: bool = False  # nothing was brought: these are the usual programs


def _agree(a: str, b: str) -> bool:
    """Whether two numbers are the same as far as both say it: 2022.3 may be 2022.3.1."""
    return all(one == other for one, other in zip(a.split("."), b.split("."), strict=False))


def no_such_version(system: str, version: str, rules: Sequence[Version]) -> str:
    """The error for a version that no rule knows: the known versions, and how to name an installed one."""
    there = ", ".join(f"{system}@{each.example} ({each.title})" for each in rules)
    can_be_had = f"there are: {there}" if rules else "Teff can bring none of its versions by number"
    return (
        f"no version {version!r} of {system} is known; {can_be_had}; "
        f"one that you have installed is named by its folder, as {system}@/opt/{system}"
    )
