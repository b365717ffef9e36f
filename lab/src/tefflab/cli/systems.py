"""`teff systems` lists the systems (the paper's Table 4, for this machine), adds and removes them, and says what
disturbs measurement here."""

from collections.abc import Sequence

from click.exceptions import Exit

from tefflab.carried import TYPED
from tefflab.cli.options import installing
from tefflab.cli.telling import tell
from tefflab.errors import FAILED, InputError
from tefflab.host import doctor as examination
from tefflab.host.terminal import output, progress
from tefflab.output import systems_table
from tefflab.output.table import Column, Table
from tefflab.systems.probing import probe_all, unbuilt
from tefflab.systems.registry import Registry, no_such_system
from tefflab.systems.setup import absent, ensure, install, offered, report
from tefflab.systems.setup import remove as remove_one
from tefflab.systems.systems import System
from tefflab.systems.versions import VERSIONS_FOLDER


def list_systems(registry: Registry, as_json: bool, installs: bool | None, set_up: bool) -> None:
    """Nothing is installed or built, unless `set_up`."""
    systems = registry.systems
    if set_up:
        ensure(registry, systems, console=progress(), installing=installing(installs))
    with progress().status(f"asking {len(systems)} systems whether they are there"):
        probes = probe_all(systems, lambda system: system.listed)
    here = [each for each in systems if any(probes[one.id].found for one in each.listed)]
    missing = unbuilt(here) if set_up and not as_json else None
    lines = systems_table.to_objects(systems, probes)
    tell(as_json, lambda: lines, lambda: systems_table.to_table(systems, probes, missing))


def add(
    registry: Registry,
    names: Sequence[str],
    every: bool,
    as_json: bool,
    listing: bool = False,
    removing: bool = False,
) -> None:
    """Brings these systems, or every one; without either it lists them. The last two are of earlier versions."""
    said = [*names, *(["--all"] * every), *(["--remove"] * removing)]
    if listing or not said:
        if said:
            raise InputError(f"{' '.join(said)}: name systems to install or remove, or ask for the --list alone")
        list_offers(registry, as_json=as_json)
        return
    if as_json:
        raise InputError("--json is for the list")
    if names and every:
        raise InputError(f"{' '.join(names)} and --all: one of them")
    (remove if removing else bring)(registry, names)


def doctor(_registry: Registry, as_json: bool) -> None:
    with progress().status("looking at this machine"):
        findings = examination.examine()
    if as_json:
        print(examination.to_json(findings))
    else:
        output().print(examination.to_table(findings))


def list_offers(registry: Registry, *, as_json: bool) -> None:
    """A line for each system that comes on request."""
    offers = offered(registry.systems)
    if not (offers or as_json):
        output().print("Nothing comes on request: every system of a registry is set up by itself.")
        return
    missing = [] if as_json else absent(offers)
    here = ["installed" if each.is_installed else "no" if each in missing else "found" for each in offers]
    columns = [
        Column("system", [each.name for each in offers], "left"),
        Column("here", here, "left"),
        Column("MB", [f"{each.install.megabytes:g}" for each in offers]),
        Column("seconds", [f"{each.install.seconds:g}" for each in offers], priority=3),
        Column("licence", [each.install.licence or "" for each in offers], "left", priority=1),
        Column("by", [", ".join(each.install.registries) for each in offers], "left", priority=2),
        Column("title", [each.title for each in offers], "left", priority=4),
    ]
    tell(as_json, lambda: map(to_object, offers), lambda: Table(columns))


def bring(registry: Registry, names: Sequence[str]) -> None:
    """Installs the systems, all on request where none is named; leaves with 1 where one is not here then."""
    chosen = _chosen(registry, names, to_remove=False)
    problems = install(registry, chosen, progress())
    report(problems, chosen, progress())
    if problems:
        raise Exit(FAILED)


def remove(registry: Registry, names: Sequence[str]) -> None:
    """Removes the systems, all that are installed where none is named."""
    chosen = _chosen(registry, names, to_remove=True)
    installed = [each for each in chosen if each.installed_folder.is_dir()]
    for each in chosen:
        if names and each not in installed:
            progress().print(f"teff: {each.name} is not installed by `teff systems add`", soft_wrap=True)
    if not (names or installed):
        progress().print("teff: `teff systems add` has brought nothing that could be removed", soft_wrap=True)
    for each in installed:
        remove_one(each, progress())


def _chosen(registry: Registry, names: Sequence[str], *, to_remove: bool) -> list[System]:
    """All on request where none is named. InputError for another system, with the reason."""
    known = {each.name: each for each in registry.systems}
    offers = {each.name: each for each in offered(registry.systems)}
    for name in names:
        if "@" in name:
            raise InputError(
                f"{name}: the command that measures a version brings it; to remove it, remove its folder of "
                f"{VERSIONS_FOLDER}"
            )
        if name not in known:
            where = f"{TYPED} systems add has those that this brings, {TYPED} systems has all"
            raise no_such_system(name, list(known), where)
        if name in offers:
            continue
        asked, out = known[name].install, "--systems leaves it out"
        if to_remove:
            raise InputError(f"{name}: not brought by `teff systems add`, so not removed; {out} of a command")
        if asked.registries:
            raise InputError(f"{name} comes by itself: every command that measures sets it up; {out}")
        where = f" ({asked.elsewhere.text})" if asked.elsewhere.text else ""
        raise InputError(
            f"{name} is in no registry that Teff asks{where}: install it from {known[name].homepage}, and it is found "
            "where CMAKE_PREFIX_PATH or an active environment says"
        )
    return [offers[name] for name in dict.fromkeys(names or offers)]


def to_object(system: System) -> dict[str, object]:
    """A line of the list, as `--json` prints it."""
    return {
        "name": system.name,
        "title": system.title,
        "installed": system.is_installed,
        "licence": system.install.licence,
        "megabytes": system.install.megabytes,
        "seconds": system.install.seconds,
        "registries": system.install.registries,
    }
