"""Table 4 of the paper, for this machine: the systems that are here, and how one gets the others."""

from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from tefflab.carried import TYPED
from tefflab.output.table import Column, Table
from tefflab.systems.probing import NO_PROBE, Probe
from tefflab.systems.systems import System, best_of

_FOUND_ALONE = (
    "Not here, and in no registry that Teff asks; found by itself in an active Spack or conda environment, a loaded "
    "module, CMAKE_PREFIX_PATH, PKG_CONFIG_PATH or PATH:"
)
_NOT_BUILT = f"Not built yet; a command builds what it measures, {TYPED} systems --set-up all:"


def to_objects(systems: Sequence[System], probes: Mapping[str, Probe]) -> list[dict[str, object]]:
    """Table 4: an object a system, its variants inside."""
    return [_as_object(system, probes) for system in systems]


def _as_object(system: System, probes: Mapping[str, Probe]) -> dict[str, object]:
    first = probes[system.listed[0].id] if system.listed else NO_PROBE
    best = best_of(system.listed) if system.listed else None
    return {
        "name": system.name,
        "found": any(probes[variant.id].found for variant in system.listed),
        "version": next((version for one in system.listed if (version := probes[one.id].version)), None),
        "title": system.title,
        "paradigm": system.paradigm,
        "parallelism": system.parallelism,
        "distributed": system.distributed,
        "language": system.language,
        "homepage": system.homepage,
        "color": system.color,
        "no_adapter": system.no_adapter,
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
    }


def to_table(systems: Sequence[System], probes: Mapping[str, Probe], unbuilt: Mapping[str, str] | None = None) -> Group:
    """A row for each variant that is here. Then a line for each system that is not here, by the way to get it.
    `unbuilt`: after a set-up, programs of other kinds of benchmark that are missing without a reason of their system,
    and their messages. Before a set-up it is None: a program that has not been built yet may be usable."""
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
    for heading, ways in _absent(systems, probes, unbuilt).items():
        if ways:
            grid = Grid.grid(padding=(0, 2))  # a text may take several lines of a narrow terminal
            grid.add_column(no_wrap=True)
            grid.add_column(overflow="fold")
            for name, way in ways.items():
                grid.add_row(Text(f"  {name}"), Text(way))
            parts += [Text(), Text(heading, style="bold"), grid]
    return Group(*parts)


def _absent(
    systems: Sequence[System], probes: Mapping[str, Probe], unbuilt: Mapping[str, str] | None
) -> dict[str, Mapping[str, str]]:
    """By the heading: the names of what is not here, and what is told of each."""
    first = {each.name: probes[each.listed[0].id] for each in systems if each.listed}
    here = {each.name for each in systems if any(probes[one.id].found for one in each.listed)}
    absent = [each for each in systems if each.listed and each.name not in here]
    ours = [each for each in absent if first[each.name].source == "install"]
    elsewhere = [each.name for each in absent if first[each.name].source == "elsewhere"]
    missing = [each for system in systems for each in system.listed if not probes[each.id].found]
    odd = [each for each in missing if each.system_name in here or first[each.system_name].source in ("", "setup")]
    later = [each for each in odd if unbuilt is None and probes[each.id].awaits_set_up]
    not_built: dict[str, list[str]] = {}
    for each in later:
        not_built.setdefault(each.system_name, []).append(each.id)
    why = {each.id: (probes[each.id].reason, probes[each.id].how_to_install) for each in odd if each not in later}
    return {
        f"Not here; {TYPED} systems add NAME... gets it:": {each.name: each.install.cost for each in ours},
        _FOUND_ALONE: {name: first[name].how_to_install for name in elsewhere},
        _NOT_BUILT: {name: ", ".join(ids) for name, ids in not_built.items()},
        "Not usable:": {
            **{name: f"{reason} - {way}" if way else f"{reason}" for name, (reason, way) in why.items()},
            **(unbuilt or {}),
        },
        "Nothing here measures them:": {each.name: each.no_adapter for each in systems if each.no_adapter},
    }
