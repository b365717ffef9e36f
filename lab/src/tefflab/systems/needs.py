"""The requirements of a system for its build and its runs: `[install]` of its system.toml."""

import itertools
import re
from pathlib import PurePath
from typing import Annotated, Self

from pydantic import BaseModel, Field, field_validator, model_validator

PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")

NonEmpty = Annotated[str, Field(min_length=1)]


class _Strict(BaseModel, extra="forbid"):
    """An unknown key is an error."""


class Elsewhere(_Strict):
    """Under which names a system is in package managers that Teff does not run."""

    spack: NonEmpty | None = None
    conda: NonEmpty | None = None  # of conda-forge
    vcpkg: NonEmpty | None = None
    nix: NonEmpty | None = None  # of nixpkgs

    @property
    def text(self) -> str:
        """`name in Spack, conda-forge`; empty where none has it."""
        said = {"Spack": self.spack, "conda-forge": self.conda, "vcpkg": self.vcpkg, "nixpkgs": self.nix}
        managers: dict[str, list[str]] = {}
        for manager, name in said.items():
            if name:
                managers.setdefault(name, []).append(manager)
        return ", ".join(f"{name} in {', '.join(those)}" for name, those in managers.items())


class Install(_Strict):
    """The requirements of a system for its build and its runs. `a | b` means the first that can be had."""

    apt: list[NonEmpty] = []
    pip: list[NonEmpty] = []
    fetch: list[Annotated[list[NonEmpty], Field(min_length=1)]] = []  # commands of other registries' clients
    on_request: bool = False  # only by `teff systems add`; else every command that wants the system sets it up
    apart: bool = False  # the Python packages go into a separate environment: they clash with other systems'
    licence: NonEmpty | None = None
    megabytes: Annotated[float, Field(gt=0)] | None = None  # on the disk, about
    seconds: Annotated[float, Field(gt=0)] | None = None  # to install it, about
    elsewhere: Elsewhere = Elsewhere()

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

    @field_validator("fetch")
    @classmethod
    def _fetch_knows_its_placeholders(cls, commands: list[list[str]]) -> list[list[str]]:
        for word in itertools.chain(*commands):
            if other := [name for name in PLACEHOLDER.findall(word) if name not in ("folder", "installed")]:
                raise ValueError(f"{{{other[0]}}} can't stand in it; {{folder}} and {{installed}} can")
        return commands

    @property
    def registries(self) -> list[str]:
        """By whose clients its packages come: `apt`, `pip`, `cargo`."""
        own = ["apt"] * bool(self.apt) + ["pip"] * bool(self.pip)
        clients = (PurePath(command[0]).name for command in self.fetch if command[1:3] != ["-m", "venv"])
        return list(dict.fromkeys([*own, *clients]))

    @property
    def cost(self) -> str:
        """`79 MB, Apache-2.0`, as far as known."""
        size = f"{self.megabytes:g} MB" if self.megabytes else ""
        return ", ".join(filter(None, [size, self.licence]))
