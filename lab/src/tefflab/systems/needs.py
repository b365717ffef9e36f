"""How a system is installed, built and recognised: `[install]` and `[[version]]` of its system.toml. Each version has a
separate folder in `.teff/versions`."""

import json
import re
import sys
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PurePath
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, Field, model_validator

from tefflab.systems.naming import Named

PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
VERSIONS_FOLDER = Path(".teff/versions")
STAMP = "installed.json"  # in the folder of a version or a system, written last: what was wanted, once all is there

NonEmpty = Annotated[str, Field(min_length=1)]

_NUMBER = r"\d+(?:\.\d+)*"
_ANY = "{number}"


def knowing(*names: str) -> AfterValidator:
    """A text with no other placeholders."""

    def check(text: str) -> str:
        if other := [name for name in PLACEHOLDER.findall(text) if name not in names]:
            raise ValueError(f"{{{other[0]}}} can't stand in it; {', '.join(f'{{{name}}}' for name in names)} can")
        return text

    return AfterValidator(check)


_Command = Annotated[list[Annotated[NonEmpty, knowing("folder", "installed")]], Field(min_length=1)]


_Manager = Literal["spack", "conda", "vcpkg", "nix"]  # of packages, which Teff does not run
_MANAGERS: dict[_Manager, str] = {"spack": "Spack", "conda": "conda-forge", "vcpkg": "vcpkg", "nix": "nixpkgs"}


class Install(BaseModel, extra="forbid"):
    """The requirements of a system for its build and its runs. `a | b` means the first that can be had."""

    apt: list[NonEmpty] = []
    pip: list[NonEmpty] = []
    fetch: list[_Command] = []  # commands of other registries' clients
    on_request: bool = False  # Only `teff systems add` brings it. Else every command that wants the system sets it up.
    apart: bool = False  # the Python packages go into a separate environment: they clash with other systems'
    licence: NonEmpty | None = None
    megabytes: Annotated[float, Field(gt=0)] | None = None  # on the disk, about
    seconds: Annotated[float, Field(gt=0)] | None = None  # to install it, about
    elsewhere: dict[_Manager, NonEmpty] = {}  # its names where Teff does not look

    @model_validator(mode="after")
    def _can_be_done(self) -> Self:
        if self.on_request and not (self.licence and self.megabytes and self.seconds):
            raise ValueError("on_request needs licence, megabytes and seconds, which are said before it starts")
        if self.on_request and not self.registries:
            raise ValueError("on_request needs packages of a registry")
        if self.apart and not (self.on_request and self.pip):
            raise ValueError("apart is about the packages of pip that come on_request")
        if self.fetch and not self.on_request:
            raise ValueError("fetch is done on_request only")
        if self.on_request and self.pip and not self.apart:
            raise ValueError("pip on_request needs apart = true: what is in the lab's own environment can't be removed")
        return self

    @property
    def registries(self) -> list[str]:
        """By whose clients its packages come: `apt`, `pip`, `cargo`."""
        own = ["apt"] * bool(self.apt) + ["pip"] * bool(self.pip)
        clients = (PurePath(command[0]).name for command in self.fetch if command[1:3] != ["-m", "venv"])
        return list(dict.fromkeys([*own, *clients]))

    @property
    def found_elsewhere(self) -> str:
        """`name in Spack, conda-forge`, of other package managers; empty where none has it."""
        names: dict[str, list[str]] = {}
        for manager, title in _MANAGERS.items():
            if name := self.elsewhere.get(manager):
                names.setdefault(name, []).append(title)
        return ", ".join(f"{name} in {', '.join(titles)}" for name, titles in names.items())

    @property
    def cost(self) -> str:
        """`79 MB, Apache-2.0`, as far as known."""
        size = f"{self.megabytes:g} MB" if self.megabytes else ""
        return ", ".join(filter(None, [size, self.licence]))


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
        if _ANY in self.name:
            found = re.fullmatch(_with_number(self.name), version)
            return found[1] if found else None
        return "".join(re.findall(_NUMBER, version)[:1]) if version == self.name else None

    def filled(self, number: str) -> Self:
        """This one with its number."""
        texts = self.model_dump_json(include={"apt", "pip", "cmake"}).replace(_ANY, number)
        return self.model_copy(update=json.loads(texts))


def _with_number(text: str) -> str:
    """The pattern of a text with {number} in it."""
    return re.escape(text).replace(re.escape(_ANY), f"({_NUMBER})")


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
    def prefix(self) -> Path | None:
        """What it is installed in; None if its packages are Debian's."""
        own = self.home / "venv" if self.rule and self.rule.pip else None
        return Path(self.named.folder) if self.named.folder else own

    @property
    def python(self) -> str:
        """Of its scripts: its own, or the lab's where its folder has none."""
        own = self.prefix and self.prefix / "bin/python"
        return str(own) if own and (own.exists() or not self.named.folder) else sys.executable

    @property
    def is_installed(self) -> bool:
        stamp = self.home / STAMP
        return stamp.is_file() and stamp.read_text(encoding="utf-8") == self.wanted

    @property
    def wanted(self) -> str:
        """The inputs of its installation: the lab makes another if they have changed, or if the checkout was moved."""
        presets = self.root / "CMakePresets.json"
        flags = sha256(presets.read_bytes()).hexdigest() if presets.is_file() else ""
        own = self.rule.model_dump_json(include={"apt", "pip", "cmake"}) if self.rule else self.named.folder
        return json.dumps([own, str(self.root), flags])

    def refusal(self, said: str | None) -> str:
        """Why a program that says so has another version; empty where it may be this, as 2022.3 may be 2022.3.1."""
        if self.rule is None or not self.number:
            return ""
        found = re.search(rf"(?<![A-Za-z0-9.]){_with_number(self.rule.says)}", said or "")
        if found and all(one == other for one, other in zip(self.number.split("."), found[1].split("."), strict=False)):
            return ""
        return f"{self.named.version} was asked for, and the program says it has {said or 'none'}"
