"""Table 4 of the paper, for this machine: the systems, what they are, and which are here."""

import json
from collections.abc import Mapping, Sequence

from rich.console import Group
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from tefflab.systems.systems import Probe, System


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
    """A row a system that says what it is, below it a row for each variant with its version; then who is not here."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for title in ("", "system", "paradigm, parallelism, where – version"):
        table.add_column(title, overflow="fold", no_wrap=title == "system")
    missing: list[Text] = []
    for system in systems:
        where = "distributed" if system.distributed else "one machine"
        facts = f"{system.paradigm}, {system.parallelism}, {where}"
        table.add_row("", f"[{system.color}]●[/] [bold]{escape(system.title)}[/]", escape(facts))
        for variant in system.listed:
            found = probes[variant.id]
            sign = "[green]✓[/]" if found.found else "[red]✗[/]"
            version = escape(found.version or "?") if found.found else "-"
            table.add_row(sign, f"  {escape(variant.id)}", version)
            if not found.found:
                advice = f" - {found.how_to_install}" if found.how_to_install else ""
                missing.append(Text.assemble((variant.id, "bold"), f": {found.reason}{advice}"))
    return Group(table, *([Text(), *missing] if missing else []))
