"""`teff systems` lists the systems (the paper's Table 4, for this machine), adds and removes them, and says what
disturbs measurement here."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from click.exceptions import Exit
from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from tefflab.carried import TYPED
from tefflab.cli.options import installing
from tefflab.cli.telling import tell
from tefflab.errors import FAILED, InputError
from tefflab.host import doctor as examination
from tefflab.host.terminal import progress
from tefflab.output.table import Column, Table
from tefflab.systems.needs import VERSIONS_FOLDER
from tefflab.systems.probing import Probe, probe_all
from tefflab.systems.registry import Registry, no_such_system
from tefflab.systems.setup import ensure, install, offered
from tefflab.systems.setup import remove as remove_one
from tefflab.systems.systems import System, best_of

_FOUND_ALONE = (
    "Not here, and in no registry that Teff asks; found by itself in an active Spack or conda environment, a loaded "
    "module, CMAKE_PREFIX_PATH, PKG_CONFIG_PATH or PATH:"
)
_FACTS = ("title", "paradigm", "parallelism", "distributed", "language", "homepage", "color")  # as JSON
_NOT_BUILT = f"Not built yet; a command builds what it measures, {TYPED} systems --set-up all:"


def list_systems(registry: Registry, as_json: bool, installs: bool | None, set_up: bool) -> None:
    """Nothing is installed or built, unless `set_up`."""
    if set_up:
        ensure(registry, registry.systems, console=progress(), installing=installing(installs))
    _list(registry.systems, as_json=as_json)


def _list(systems: Sequence[System], *, as_json: bool) -> None:
    with progress().status(f"asking {len(systems)} systems whether they are there"):
        probes = probe_all(systems, lambda system: system.listed)
    lines = to_objects(systems, probes)
    tell(as_json, lambda: lines, lambda: to_table(systems, probes))


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
        _list(offered(registry.systems), as_json=as_json)
        return
    if as_json:
        raise InputError("--json is for the list")
    if names and every:
        raise InputError(f"{' '.join(names)} and --all: one of them")
    (remove if removing else bring)(registry, names)


def doctor(_registry: Registry, as_json: bool) -> None:
    with progress().status("looking at this machine"):
        findings = examination.examine()
    tell(as_json, lambda: map(asdict, findings), lambda: examination.to_table(findings))


def bring(registry: Registry, names: Sequence[str]) -> None:
    """Installs the systems, all on request where none is named; leaves with 1 where one is not here then."""
    if install(registry, _chosen(registry, names, to_remove=False), progress()):
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
        where = f" ({asked.found_elsewhere})" if asked.found_elsewhere else ""
        raise InputError(
            f"{name} is in no registry that Teff asks{where}: install it from {known[name].homepage}, and it is found "
            "where CMAKE_PREFIX_PATH or an active environment says"
        )
    return [offers[name] for name in dict.fromkeys(names or offers)]


def to_objects(systems: Sequence[System], probes: Mapping[str, Probe]) -> list[dict[str, object]]:
    """Table 4: an object a system, its variants inside."""
    return [_as_object(system, probes) for system in systems]


def _as_object(system: System, probes: Mapping[str, Probe]) -> dict[str, object]:
    first, best = probes[system.listed[0].id], best_of(system.listed)
    return {
        "name": system.name,
        "found": any(probes[variant.id].found for variant in system.listed),
        "version": next((version for one in system.listed if (version := probes[one.id].version)), None),
        **{name: getattr(system, name) for name in _FACTS},
        "variants": [
            {
                "id": variant.id,
                "title": variant.title,
                "best": variant is best,
                "found": probes[variant.id].found,
                "version": probes[variant.id].version,
                "reason": probes[variant.id].reason,
                "why": variant.why,
            }
            for variant in system.listed
        ],
        "source": first.source,
        "install": first.how_to_install,
        "licence": system.install.licence,
        "megabytes": system.install.megabytes,
        "seconds": system.install.seconds,
        "registries": system.install.registries,
        "installed": system.is_installed,
    }


def to_table(systems: Sequence[System], probes: Mapping[str, Probe]) -> Group:
    """A row for each variant that is here. Then a line for each system that is not here, by the way to get it."""
    here = [
        (system, each)
        for system in systems
        for each in sorted(system.listed, key=lambda one: one.id)
        if probes[each.id].found
    ]
    where = ["many machines" if each.distributed else "one machine" for each, _ in here]
    columns = [
        Column("system", [Text.assemble(("● ", system.color), each.id) for system, each in here], "left"),
        Column("version", [probes[each.id].version or "?" for _, each in here], "left"),
        Column("title", [each.title for _, each in here], "left", priority=1),
        Column("paradigm", [each.paradigm for each, _ in here], "left", priority=2),
        Column("parallelism", [each.parallelism for each, _ in here], "left", priority=3),
        Column("runs on", where, "left", priority=4),
        Column("language", [each.language for each, _ in here], "left", priority=5),
    ]
    table = Table(columns, "Here, each with its colour in all pictures (●):")
    parts: list[RenderableType] = [table] if here else [Text("None of the systems is here.")]
    for heading, ways in _absent(systems, probes).items():
        if ways:
            grid = Grid.grid(padding=(0, 2))  # a text may take several lines of a narrow terminal
            grid.add_column(no_wrap=True)
            grid.add_column(overflow="fold")
            for name, way in ways.items():
                grid.add_row(Text(f"  {name}"), Text(way))
            parts += [Text(), Text(heading, style="bold"), grid]
    return Group(*parts)


def _absent(systems: Sequence[System], probes: Mapping[str, Probe]) -> dict[str, Mapping[str, str]]:
    """By the heading: the names of what is not here, and what is told of each."""
    first = {each.name: probes[each.listed[0].id] for each in systems}
    here = {each.name for each in systems if any(probes[one.id].found for one in each.listed)}
    absent = [each for each in systems if each.name not in here]
    ours = [each for each in absent if first[each.name].source == "install"]
    elsewhere = [each.name for each in absent if first[each.name].source == "elsewhere"]
    missing = [each for system in systems for each in system.listed if not probes[each.id].found]
    odd = [each for each in missing if each.system_name in here or first[each.system_name].source in ("", "setup")]
    later = [each for each in odd if probes[each.id].awaits_set_up]
    not_built: dict[str, list[str]] = {}
    for each in later:
        not_built.setdefault(each.system_name, []).append(each.id)
    why = {each.id: (probes[each.id].reason, probes[each.id].how_to_install) for each in odd if each not in later}
    return {
        f"Not here; {TYPED} systems add NAME... gets it:": {each.name: each.install.cost for each in ours},
        _FOUND_ALONE: {name: first[name].how_to_install for name in elsewhere},
        _NOT_BUILT: {name: ", ".join(ids) for name, ids in not_built.items()},
        "Not usable:": {name: f"{reason} - {way}" if way else f"{reason}" for name, (reason, way) in why.items()},
    }
