"""What a user asks of `teff install`: finds the systems, brings or removes them, says what became of it."""

import json
from collections.abc import Sequence
from pathlib import Path

import typer

from tefflab.errors import BAD_INPUT, FAILED, TeffError
from tefflab.host.terminal import output, progress
from tefflab.output.table import Column, Table
from tefflab.systems.installing import absent, install, offered, remove, report
from tefflab.systems.systems import INSTALLED_FOLDER, System, load_systems
from tefflab.systems.versions import VERSIONS_FOLDER


def list_offers(root: Path, *, as_json: bool) -> None:
    """A line for each system that comes on request."""
    offers = offered(load_systems(root))
    if as_json:
        typer.echo(json.dumps([to_object(root, each) for each in offers], indent=2, ensure_ascii=False))
        return
    if not offers:
        output().print("Nothing comes on request: every system of a registry is set up by itself.")
        return
    missing = absent(root, offers)
    here = ["installed" if each.is_installed(root) else "-" if each in missing else "here" for each in offers]
    output().print(
        Table(
            [
                Column("system", [each.name for each in offers], "left"),
                Column("", here, "left"),
                Column("MB", [f"{each.install.megabytes:g}" for each in offers]),
                Column("seconds", [f"{each.install.seconds:g}" for each in offers], priority=3),
                Column("licence", [each.install.licence or "" for each in offers], "left", priority=1),
                Column("by", [", ".join(each.install.registries) for each in offers], "left", priority=2),
                Column("title", [each.title for each in offers], "left", priority=4),
            ]
        )
    )


def bring(root: Path, names: Sequence[str]) -> None:
    """Installs the systems, all on request where none is named; leaves with 1 where one is not here then."""
    chosen = _chosen(root, names)
    console = progress()
    problems = install(root, chosen, console)
    report(problems, chosen, console)
    if problems:
        raise typer.Exit(FAILED)


def take_away(root: Path, names: Sequence[str]) -> None:
    """Removes the systems, all that are installed where none is named."""
    for each in _chosen(root, names):
        if not (root / INSTALLED_FOLDER / each.name).is_dir():
            if names:
                progress().print(f"teff: {each.name} is not installed", soft_wrap=True)
            continue
        remove(root, each, progress())


def _chosen(root: Path, names: Sequence[str]) -> list[System]:
    known = {each.name: each for each in load_systems(root)}
    offers = {each.name: each for each in offered(list(known.values()))}
    if not names:
        return list(offers.values())
    for name in names:
        if "@" in name:
            raise TeffError(
                f"{name}: the command that measures a version brings it; to remove it, remove its folder of "
                f"{VERSIONS_FOLDER}",
                exit_code=BAD_INPUT,
            )
        if name not in known:
            there = " ".join(offers) or "none"
            raise TeffError(f"no system is called {name!r}; on request there are: {there}", exit_code=BAD_INPUT)
        if name not in offers:
            raise TeffError(_not_on_request(known[name]), exit_code=BAD_INPUT)
    return [offers[name] for name in dict.fromkeys(names)]


def _not_on_request(system: System) -> str:
    if system.install.registries:
        return f"{system.name} comes by itself: every command that measures sets it up; --systems leaves it out"
    where = f" ({system.install.elsewhere.text})" if system.install.elsewhere.text else ""
    return (
        f"{system.name} is in no registry that Teff asks{where}: install it from {system.homepage}, and it is found "
        "where CMAKE_PREFIX_PATH or an active environment says"
    )


def to_object(root: Path, system: System) -> dict[str, object]:
    """A line of the list, as `--json` prints it."""
    return {
        "name": system.name,
        "title": system.title,
        "installed": system.is_installed(root),
        "licence": system.install.licence,
        "megabytes": system.install.megabytes,
        "seconds": system.install.seconds,
        "registries": system.install.registries,
    }
