"""The page of a report of task graphs: METG of each case, its caveats, and curves that a script draws and toggles.

`metg.html` extends the page of all reports; `charts.js` draws the curves.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from tefflab.analysis.results import Curve, MeasuredCase, MetgRow
from tefflab.benchmarks.task_graph.caveats import caveats
from tefflab.benchmarks.task_graph.readings import (
    curves_in_order,
    metg_interval_text,
    metg_name,
    noisy_runs,
    overhead_text,
    value_text,
    variants_of,
)
from tefflab.benchmarks.task_graph.report.charts import OUTLINES, chart_data, look_data, point_texts
from tefflab.benchmarks.task_graph.report.strips import Strips, strips
from tefflab.output import quantities
from tefflab.output.caveats import Caveat
from tefflab.output.plots.looks import Look, looks
from tefflab.output.report import Page, part, write_report
from tefflab.records.run import Sitting
from tefflab.records.store import Damage


def write_metg_report(
    path: Path, sitting: Sitting, cases: Sequence[MeasuredCase], damage: Sequence[Damage], title: str
) -> None:
    """As `write_report`."""
    variants = variants_of(cases)
    look_of = looks(variants.values())
    shown = {
        "headline": _headline(cases),
        "sections": [Section.of(number, each) for number, each in enumerate(cases)],
        "overview": _overview(cases),
        "looks": look_of,
        "script": part(__name__, "charts.js"),
        "data": _data(cases, look_of),
        "quantities": quantities,
        "metg_name": metg_name,
        "value_text": value_text,
        "metg_interval_text": metg_interval_text,
        "overhead_text": overhead_text,
        "point_texts": point_texts,
        "outlines": OUTLINES,
    }
    write_report(path, sitting, damage, title, page=Page(__name__, "metg.html", shown, *noisy_runs(*cases)))


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


def _data(cases: Sequence[MeasuredCase], look_of: Mapping[str, Look]) -> Markup:
    """The curves for the script, as JSON that can't end the element it stands in."""
    data = {
        "looks": {name: look_data(look) for name, look in look_of.items()},
        "sections": [chart_data(each) for each in cases],
    }
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c"))  # of these characters HTML would see no other
