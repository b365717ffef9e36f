"""Table 4 of the paper, for this machine: the systems that are here, and how one gets the others."""

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from tefflab.carried import TYPED
from tefflab.json_lines import json_lines
from tefflab.output.table import Column, Table
from tefflab.systems.probing import Probe
from tefflab.systems.systems import Program, System, best_of

_FOUND_ALONE = (
    "Not here, and in no registry that Teff asks; found by itself in an active Spack or conda environment, a loaded "
    "module, CMAKE_PREFIX_PATH, PKG_CONFIG_PATH or PATH:"
)
_NOT_BUILT = f"Not built yet; a command builds what it measures, {TYPED} systems --set-up all:"


def to_json(systems: Sequence[System], probes: Mapping[str, Probe]) -> str:
    """Table 4: a line a system, its variants inside."""
    return json_lines(_as_object(system, probes) for system in systems)


def _as_object(system: System, probes: Mapping[str, Probe]) -> dict[str, object]:
    first = probes[system.listed[0].id] if system.listed else Probe()
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
    absent = [each for each in systems if each.listed and not any(probes[one.id].found for one in each.listed)]
    parts: list[RenderableType] = [_present(here, probes)] if here else [Text("None of the systems is here.")]
    for heading, table in _groups(systems, absent, probes, unbuilt):
        parts += [Text(), Text(heading, style="bold"), table]
    return Group(*parts)


def _present(here: Sequence[tuple[System, Program]], probes: Mapping[str, Probe]) -> Table:
    return Table(
        [
            Column("system", [Text.assemble(("● ", system.color), each.id) for system, each in here], "left"),
            Column("version", [probes[each.id].version or "?" for _, each in here], "left"),
            Column("title", [each.title for _, each in here], "left", priority=1),
            Column("paradigm", [system.paradigm for system, _ in here], "left", priority=2),
            Column("parallelism", [system.parallelism for system, _ in here], "left", priority=3),
            Column("runs on", [_where(system) for system, _ in here], "left", priority=4),
            Column("language", [system.language for system, _ in here], "left", priority=5),
        ],
        "Here, each with its colour in all pictures (●):",
    )


def _where(system: System) -> str:
    return "many machines" if system.distributed else "one machine"


def _groups(
    systems: Sequence[System], absent: Sequence[System], probes: Mapping[str, Probe], unbuilt: Mapping[str, str] | None
) -> Iterator[tuple[str, Grid]]:
    sources: dict[str, list[System]] = {}
    for system in absent:
        sources.setdefault(probes[system.listed[0].id].source, []).append(system)
    if ours := sources.get("install"):
        yield (
            f"Not here; {TYPED} systems add NAME... gets it:",
            _rows([each.name for each in ours], [each.install.cost for each in ours]),
        )
    if elsewhere := sources.get("elsewhere"):
        ways = [probes[system.listed[0].id].how_to_install for system in elsewhere]
        yield _FOUND_ALONE, _rows([each.name for each in elsewhere], ways)
    odd = [
        each
        for system in systems
        for each in system.listed
        if not probes[each.id].found and (system not in absent or probes[system.listed[0].id].source in ("", "setup"))
    ]
    later = [each for each in odd if unbuilt is None and probes[each.id].awaits_set_up]
    if later:
        ids = {each.system_name: [one.id for one in later if one.system_name == each.system_name] for each in later}
        yield _NOT_BUILT, _rows(list(ids), [", ".join(own) for own in ids.values()])
    unusable = {each.id: _why(probes[each.id]) for each in odd if each not in later} | dict(unbuilt or {})
    if unusable:
        yield "Not usable:", _rows(list(unusable), list(unusable.values()))
    if unwritten := {each.name: each.no_adapter for each in systems if each.no_adapter}:
        yield "Nothing here measures them:", _rows(list(unwritten), list(unwritten.values()))


def _rows(names: Sequence[str], ways: Sequence[str]) -> Grid:
    """Names, and beside each a text that may take several lines of a narrow terminal."""
    grid = Grid.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for name, way in zip(names, ways, strict=True):
        grid.add_row(Text(f"  {name}"), Text(way))
    return grid


def _why(probe: Probe) -> str:
    return f"{probe.reason} - {probe.how_to_install}" if probe.how_to_install else f"{probe.reason}"
