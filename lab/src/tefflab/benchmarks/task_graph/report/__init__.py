"""The page of a report of task graphs: METG of each case, its caveats, and curves that a script draws and toggles.

`metg.html` extends the page of all reports; `charts.js` draws the curves.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from markupsafe import Markup

from tefflab.analysis.results import MeasuredCase, MetgRow
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
from tefflab.output import quantities
from tefflab.output.plots.intervals import ends
from tefflab.output.plots.looks import Look, looks
from tefflab.output.quantities import time_tick
from tefflab.output.report import part, write_report
from tefflab.output.scales import LogAxis, log_axis
from tefflab.records.run import Sitting
from tefflab.records.store import Damage

_LABELS = 3  # of the axis of strips


def write_metg_report(
    path: Path, sitting: Sitting, cases: Sequence[MeasuredCase], damage: Sequence[Damage], title: str
) -> None:
    """As `write_report`."""
    look_of = looks(variants_of(cases).values())
    charts = [chart_data(each) for each in cases]
    write_report(
        path,
        sitting,
        damage,
        title,
        page=(__name__, "metg.html"),
        noise=noisy_runs(*cases),
        headline=_headline(cases),
        cases=cases,
        charts=charts,
        overview=_overview(cases),
        looks=look_of,
        script=part(__name__, "charts.js"),
        data=_data(look_of, charts),
        caveats=caveats,
        curves_in_order=curves_in_order,
        strips=strips,
        quantities=quantities,
        metg_name=metg_name,
        value_text=value_text,
        metg_interval_text=metg_interval_text,
        overhead_text=overhead_text,
        point_texts=point_texts,
        outlines=OUTLINES,
    )


def _headline(cases: Sequence[MeasuredCase]) -> MeasuredCase | None:
    """The first case with a known METG, with the row of its smallest and the rows that can't be told apart from it."""
    for case in cases:
        known = [row for row in case.rows if row.metg and row.metg.is_told]
        if known and known[0].metg:
            best = known[0].metg
            level = [row for row in known[1:] if row.metg and row.metg.may_be_as_small_as(best)]
            return replace(case, rows=(known[0], *level))
    return None


def _overview(cases: Sequence[MeasuredCase]) -> Mapping[str, Sequence[str]]:
    """METG of each variant (by id) at each case with rows; empty for fewer than two of these."""
    ranked = [each for each in cases if each.rows]
    if len(ranked) < 2:
        return {}
    found = [{row.variant.id: value_text(row) for row in each.rows} for each in ranked]
    names = dict.fromkeys(name for each in found for name in each)
    return {name: [each.get(name, "–") for each in found] for name in names}


def _data(look_of: Mapping[str, Look], charts: Sequence[Sequence[Mapping[str, Any]]]) -> Markup:
    """The curves for the script, as JSON that can't end the element it stands in."""
    data = {"looks": {name: look_data(look) for name, look in look_of.items()}, "sections": charts}
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c"))  # of these characters HTML would see no other


@dataclass(frozen=True, slots=True)
class Strip:
    """The small picture in each row of a table: METG, interval and overhead, on one time axis for all rows.

    Places in per cent of the width, None where there is nothing; an interval that is open reaches to 0 or 100.
    `arrow` is "left" or "right" of a bound."""

    metg: float | None
    low: float
    high: float
    overhead: float | None
    arrow: str


def strips(rows: Sequence[MetgRow]) -> tuple[Sequence[tuple[float, str]], Sequence[Strip]]:
    """The ticks of an axis, (place, label), and on this axis a strip for each row."""
    values = [end for row in rows if row.metg for end in ends(row.metg)]
    overheads = [row.known_overhead.value for row in rows if row.known_overhead]
    axis = log_axis(values + overheads, _LABELS, padding=0.12)
    return [(_percent(axis, each), time_tick(each)) for each in axis.majors], [_strip(row, axis) for row in rows]


def _strip(row: MetgRow, axis: LogAxis) -> Strip:
    overhead = _percent(axis, row.known_overhead.value) if row.known_overhead else None
    if row.metg is None:
        return Strip(None, 0, 0, overhead, "")
    own = row.metg.extent if row.metg.is_told else (row.metg.value, row.metg.value)
    low, high = (_percent(axis, each) for each in own)
    arrow = {"=": "", "<": "left", ">": "right"}[row.metg.relation]
    return Strip(_percent(axis, row.metg.value), low, high, overhead, arrow)


def _percent(axis: LogAxis, value: float) -> float:
    return round(100 * axis.place(value), 2)
