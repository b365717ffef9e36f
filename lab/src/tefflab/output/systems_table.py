"""Table 4 of the paper, for this machine: the systems, what they are, and which are here."""

import json
from collections.abc import Mapping, Sequence

from rich.console import Group
from rich.text import Text

from tefflab.output.table import Column, Table
from tefflab.systems.systems import Probe, Program, System


def to_json(systems: Sequence[System], probes: Mapping[str, Probe]) -> str:
    """Table 4 as a JSON list: an object a system, its variants inside."""
    return json.dumps([_as_object(system, probes) for system in systems], indent=2, ensure_ascii=False)


def _as_object(system: System, probes: Mapping[str, Probe]) -> dict[str, object]:
    first = probes[system.listed[0].id]
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
        "variants": [
            {
                "id": variant.id,
                "title": variant.title,
                "found": probes[variant.id].found,
                "version": probes[variant.id].version,
                "reason": probes[variant.id].reason,
                "why": variant.why,
            }
            for variant in system.listed
        ],
        "install": first.how_to_install,
    }


def to_table(systems: Sequence[System], probes: Mapping[str, Probe]) -> Group:
    """A heading a system that says what it is, below it a row for each variant; then who is not here."""
    headings: dict[int, Text] = {}
    variants: list[Program] = []
    for system in systems:
        where = "distributed" if system.distributed else "one machine"
        facts = f"{system.paradigm}, {system.parallelism}, {where}"
        headings[len(variants)] = Text.assemble(("● ", system.color), (system.title, "bold"), f"  {facts}")
        variants += system.listed
    found = [probes[variant.id] for variant in variants]
    table = Table(
        [
            Column("", [Text("✓", "green") if each.found else Text("✗", "red") for each in found], "left"),
            Column("", [variant.id for variant in variants], "left"),
            Column("version", [(each.version or "?") if each.found else "-" for each in found], "left", priority=1),
            Column("title", [variant.title for variant in variants], "left", priority=2),
        ],
        headings=headings,
    )
    missing = [_missing(variant, probe) for variant, probe in zip(variants, found, strict=True) if not probe.found]
    return Group(table, *([Text(), *missing] if missing else []))


def _missing(variant: Program, probe: Probe) -> Text:
    advice = f" - {probe.how_to_install}" if probe.how_to_install else ""
    return Text.assemble((variant.id, "bold"), f": {probe.reason}{advice}")
