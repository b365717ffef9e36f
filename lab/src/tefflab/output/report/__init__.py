"""The report of a sitting: one HTML file that opens anywhere, offline, with every number and every caveat.

`page.html` is the page, `page.css` its style, `charts.js` draws and toggles the curves; all go into the one file.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from tefflab.analysis.results import Curve, MeasuredCase, MetgRow
from tefflab.host.machine import Machine
from tefflab.output import quantities
from tefflab.output.caveats import Caveat, caveats, sitting_caveats
from tefflab.output.plots.looks import Look, looks
from tefflab.output.readings import (
    curves_in_order,
    interval_text,
    metg_interval_text,
    metg_name,
    overhead_text,
    value_text,
    variants_of,
)
from tefflab.output.report.charts import OUTLINES, chart_data, look_data, point_texts
from tefflab.output.report.sections import TableSection
from tefflab.output.report.strips import Strips, strips
from tefflab.records.run import Sitting
from tefflab.records.store import Damage

_GIB = 1024**3


def write_report(
    path: Path,
    sitting: Sitting,
    cases: Sequence[MeasuredCase],
    damage: Sequence[Damage],
    title: str,
    tables: Sequence[TableSection] = (),
) -> None:
    """Writes the report of `sitting` to `path`, which should end in .html; folders are made. It asks for nothing
    from the network and needs no other file; without scripts it still shows all numbers."""
    environment = Environment(
        loader=PackageLoader("tefflab.output", "report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(
        quantities=quantities,
        metg_name=metg_name,
        value_text=value_text,
        interval_text=interval_text,
        metg_interval_text=metg_interval_text,
        overhead_text=overhead_text,
        point_texts=point_texts,
        outlines=OUTLINES,
    )
    variants = variants_of(cases)
    look_of = looks(variants.values())
    page = environment.get_template("page.html").render(
        title=title,
        sitting=sitting,
        started=sitting.started_at.astimezone(UTC),
        headline=_headline(cases),
        tables=tables,
        sections=[Section.of(number, each) for number, each in enumerate(cases)],
        overview=_overview(cases),
        variants=variants,
        looks=look_of,
        remarks=sitting_caveats(sitting, cases, damage),
        facts=_facts(sitting.machine),
        css=_part("page.css"),
        script=_part("charts.js"),
        data=_data(cases, look_of),
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page, encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Section:
    """A case as the page shows it."""

    anchor: str
    case: MeasuredCase
    strips: Strips
    curves: Sequence[Curve]
    charts: Sequence[dict[str, Any]]
    numbered: Sequence[Caveat]  # on rows
    general: Sequence[Caveat]  # on all of it

    @classmethod
    def of(cls, number: int, case: MeasuredCase) -> "Section":
        found = caveats(case)
        return cls(
            f"case-{number}",
            case,
            strips(case.rows),
            curves_in_order(case),
            chart_data(case),
            [each for each in found if each.variants],
            [each for each in found if not each.variants],
        )

    def notes(self, row: MetgRow) -> list[int]:
        """The numbers of the caveats on a row."""
        return [number for number, each in enumerate(self.numbered, start=1) if row.variant.id in each.variants]


@dataclass(frozen=True, slots=True)
class Headline:
    """The smallest METG of the first case with a known one, and the systems that can't be told apart from it."""

    name: str
    row: MetgRow
    level: Sequence[MetgRow]


def _headline(cases: Sequence[MeasuredCase]) -> Headline | None:
    for case in cases:
        known = [row for row in case.rows if row.metg and row.metg.is_told]
        if known and known[0].metg:
            best = known[0].metg
            level = [row for row in known[1:] if row.metg and row.metg.may_be_as_small_as(best)]
            return Headline(case.name, known[0], level)
    return None


def _overview(cases: Sequence[MeasuredCase]) -> Mapping[str, Sequence[str]]:
    """METG of each variant (by id) at each case with rows; empty for fewer than two of these."""
    ranked = [each for each in cases if each.rows]
    if len(ranked) < 2:
        return {}
    found = [{row.variant.id: value_text(row) for row in each.rows} for each in ranked]
    names = dict.fromkeys(name for each in found for name in each)
    return {name: [each.get(name, "–") for each in found] for name in names}


def _facts(machine: Machine) -> list[tuple[str, str]]:
    """The known facts of the machine, as label and text."""
    cores = f"{machine.cores_usable} usable of {machine.cores_present}"
    memory = f"{quantities.digits(machine.memory_bytes / _GIB)} GiB" if machine.memory_bytes else "unknown"
    if machine.memory_limit_bytes:
        memory += f", limited to {quantities.digits(machine.memory_limit_bytes / _GIB)} GiB"
    quota = "none" if machine.cgroup_quota_cores is None else f"{machine.cgroup_quota_cores:g} cores"
    return [
        ("Processor", f"{machine.cpu} ({machine.architecture})"),
        ("Cores", cores),
        ("Quota", quota),
        ("Memory", memory),
        ("Vector units", ", ".join(machine.simd) or "unknown"),
        ("Hypervisor", machine.hypervisor or "none seen"),
        ("Governor", machine.governor or "not told"),
        ("System", f"{machine.os}, kernel {machine.kernel}"),
        *((name, version) for name, version in machine.compilers.items()),
    ]


def _data(cases: Sequence[MeasuredCase], look_of: Mapping[str, Look]) -> Markup:
    """The curves for the script, as JSON that can't end the element it stands in."""
    data = {
        "looks": {name: look_data(look) for name, look in look_of.items()},
        "sections": [chart_data(each) for each in cases],
    }
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c"))  # of these characters HTML would see no other


def _part(name: str) -> Markup:
    return Markup(files("tefflab.output.report").joinpath(name).read_text(encoding="utf-8"))
