"""The requirements of a system for its build and its runs: `[install]` of its system.toml."""

import re
from pathlib import PurePath
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, Field, model_validator

PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")

NonEmpty = Annotated[str, Field(min_length=1)]


def knowing(*names: str) -> AfterValidator:
    """A text with no other placeholders."""

    def check(text: str) -> str:
        if other := [name for name in PLACEHOLDER.findall(text) if name not in names]:
            raise ValueError(f"{{{other[0]}}} can't stand in it; {', '.join(f'{{{name}}}' for name in names)} can")
        return text

    return AfterValidator(check)


_Command = Annotated[list[Annotated[NonEmpty, knowing("folder", "installed")]], Field(min_length=1)]


class Elsewhere(BaseModel, extra="forbid"):
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


class Install(BaseModel, extra="forbid"):
    """The requirements of a system for its build and its runs. `a | b` means the first that can be had."""

    apt: list[NonEmpty] = []
    pip: list[NonEmpty] = []
    fetch: list[
        Annotated[list[Annotated[NonEmpty, knowing("folder", "installed")]], Field(min_length=1)]
    ] = []  # commands of other registries' clients
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
