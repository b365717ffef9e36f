"""The METG table: for a terminal of any width, for a pipe as plain text, for programs as JSON."""

import math
from dataclasses import asdict
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from tefflab.analysis.results import Curve, MeasuredCase, MetgRow
from tefflab.benchmarks.task_graph.caveats import caveats
from tefflab.benchmarks.task_graph.readings import metg_interval_text, metg_name, overhead_text, value_text
from tefflab.benchmarks.task_graph.remarks import remarks
from tefflab.output import quantities
from tefflab.output.table import Column, Table

_DOT = "● "


class MetgTable:
    """A case as rich prints it: a row a system, then in at most four lines the reader's remedies."""

    def __init__(self, case: MeasuredCase) -> None:
        self._case = case

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        case = self._case
        yield Text(f"{metg_name(case.threshold)} – {case.name}", style="bold")
        if case.configuration:
            yield Text(case.configuration, style="dim")
        if case.rows:
            yield Table(_columns(case, colored=console.color_system is not None))
        if found := remarks(case, options.max_width):
            yield Text()
            yield from found


def _columns(case: MeasuredCase, colored: bool) -> list[Column]:
    rows = case.rows
    ceilings = [quantities.rate(row.ceiling.value, row.ceiling_unit) if row.ceiling else "-" for row in rows]
    noisy = [quantities.percent(row.noisy_share) if row.runs else "-" for row in rows]
    return [
        Column("system", [_name(row, colored) for row in rows], "left"),
        Column(metg_name(case.threshold), [value_text(row) for row in rows]),
        Column("95 % interval", [metg_interval_text(row) for row in rows]),
        Column("overhead\nper task", [overhead_text(row, "-") for row in rows], priority=1),
        Column("noisy\nruns", noisy, priority=2),
        Column("rounds", [str(row.rounds) if row.metg else "-" for row in rows], priority=3),
        Column("ceiling", ceilings, priority=4),
        Column("title", [row.variant.title for row in rows], "left", priority=5),
        Column("version", [row.variant.version or "?" for row in rows], "left", priority=6),
    ]


def _name(row: MetgRow, colored: bool) -> Text:
    """The system's id after a dot in its colour; without colours the id alone."""
    dot = [(_DOT, row.variant.color)] if colored else []
    return Text.assemble(*dot, row.variant.id)


def to_json(case: MeasuredCase) -> dict[str, Any]:
    """The case with its rows, curves and caveats; open ends of intervals are None."""
    return {
        "name": case.name,
        "configuration": case.configuration,
        "threshold": case.threshold,
        "steps": case.steps,
        "round_trip": case.round_trip,
        "share": case.share,
        "rows": [row.to_json() for row in case.rows],
        "curves": [_curve(curve) for curve in case.curves],
        "caveats": [
            {"heading": each.heading, "text": each.text, "systems": list(each.variants)} for each in caveats(case)
        ],
    }


def _curve(curve: Curve) -> dict[str, Any]:
    return {
        "system_id": curve.variant.id,
        "rate_unit": curve.rate_unit,
        "points": [_finite(asdict(point)) for point in curve.points],
    }


def _finite(value: Any) -> Any:
    """`value` with every infinite number in it as None, for JSON knows none."""
    if isinstance(value, dict):
        return {name: _finite(each) for name, each in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value
