"""The tables of METG, of several cases and of curves: for a terminal of any width, for a pipe as plain text,
for programs as JSON.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.text import Text

from tefflab.analysis.results import Curve, CurvePoint, MeasuredCase, MetgRow
from tefflab.benchmarks.task_graph.caveats import caveats, elsewhere, own_steps, remarks
from tefflab.benchmarks.task_graph.readings import (
    WorkAxis,
    absences,
    curves_in_order,
    metg_interval_text,
    metg_name,
    overhead_text,
    value_text,
)
from tefflab.json_lines import finite
from tefflab.output import quantities
from tefflab.output.last_words import LINES
from tefflab.output.table import Column, Table

_BETWEEN_FLAGS = re.compile(r" (?=--?[a-z])")
_DOT = "● "
_NOTHING_KNOWN = 10.0  # an efficiency whose interval reaches this: few rounds, which differ ever so much


@dataclass(frozen=True, slots=True)
class Heading:
    """As rich prints it: broken between flags, never between a flag and its value."""

    title: str
    flags: str

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> RenderResult:
        line = Text(self.title, "bold")
        gap = "  "
        for flag in (Text(each, "dim") for each in _BETWEEN_FLAGS.split(self.flags) if each):
            if line.cell_len + len(gap) + flag.cell_len > options.max_width:
                yield line
                line = flag
            else:
                line = Text.assemble(line, gap, flag)
            gap = " "
        yield line


@dataclass(frozen=True, slots=True)
class MetgTable:
    """A case as rich prints it: a row a system, then in at most four lines the reader's remedies."""

    case: MeasuredCase

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        case = self.case
        yield Text(f"{metg_name(case.threshold)} – {case.name}", style="bold")
        if case.flags:
            yield Text(case.flags, style="dim")
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
        "configuration": case.flags,
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
        "points": [finite(point) for point in curve.points],
    }


def series_table(cases: Sequence[MeasuredCase]) -> Group:
    """METG of every system at each case, a row each, then the systems that could not be measured."""
    rows = [row for case in cases for row in case.rows]
    headings: dict[int, str] = {}
    for case in cases:
        headings[sum(len(each.rows) for each in cases[: len(headings)])] = case.name
    table = Table(
        [
            Column("system", [f"  {row.variant.id}" for row in rows], "left"),
            Column(metg_name(cases[0].threshold), [value_text(row) for row in rows]),
            Column("95 % interval", [metg_interval_text(row) for row in rows]),
            Column("rounds", [str(row.rounds) for row in rows], priority=1),
        ],
        headings=headings,
    )
    return Group(table, *(Text.assemble(("without a value", "bold"), f" – {text}") for text in absences(cases)))


def curve_table(case: MeasuredCase) -> Group:
    """The points of every curve, a row each, by the rising size of the task, and their remarks."""
    size = WorkAxis(case)
    points = [(curve, point) for curve in curves_in_order(case) for point in curve.points]
    headings: dict[int, str] = {}
    for number, (curve, _) in enumerate(points):
        if curve.variant.id not in headings.values():
            headings[number] = curve.variant.id
    table = Table(
        [
            Column(size.title, [size.tick(size.of(each)) for _, each in points], priority=2),
            Column("granularity", [quantities.duration(each.granularity.value) for _, each in points]),
            Column("efficiency", [quantities.percent(each.efficiency.value) for _, each in points]),
            Column("95 % interval", [_ends(each) for _, each in points]),
            Column("rate", [quantities.rate(each.rate.value, curve.rate_unit) for curve, each in points], priority=1),
        ],
        headings=headings,
    )
    head = Heading(f"Efficiency – {case.name}", case.flags)
    said = [each for each in (own_steps(case, "efficiency"), elsewhere(case)) if each]
    remarks = [*said, *((each.heading, each.text) for each in caveats(case))]
    if len(remarks) > LINES:
        left = remarks[LINES - 1 :]
        remarks[LINES - 1 :] = [(f"{len(left)} more in the report", ", ".join(heading for heading, _ in left))]
    return Group(head, table, *(Text.assemble((heading, "bold"), f" – {text}") for heading, text in remarks))


def _ends(point: CurvePoint) -> str:
    if point.efficiency.high >= _NOTHING_KNOWN:
        return quantities.TOO_FEW
    low, high = quantities.percent(point.efficiency.low), quantities.percent(point.efficiency.high)
    return f"{low.removesuffix(' %')} – {high}"
