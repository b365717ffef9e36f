"""Tables of several configurations, and of curves, for a terminal or a pipe."""

from collections.abc import Sequence

from rich.console import Group
from rich.text import Text

from tefflab.analysis.results import CurvePoint, MeasuredCase
from tefflab.benchmarks.task_graph.caveats import caveats
from tefflab.benchmarks.task_graph.heading import Heading
from tefflab.benchmarks.task_graph.readings import (
    WorkAxis,
    absences,
    curves_in_order,
    metg_interval_text,
    metg_name,
    value_text,
)
from tefflab.benchmarks.task_graph.remarks import elsewhere, own_steps
from tefflab.output import quantities
from tefflab.output.last_words import LINES
from tefflab.output.table import Column, Table

_NOTHING_KNOWN = 10.0  # an efficiency whose interval reaches this: few launches, which differ ever so much


def series_table(cases: Sequence[MeasuredCase]) -> Group:
    """METG of every system under each configuration, a row each, then the systems that could not be measured."""
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
    head = Heading(f"Efficiency – {case.name}", case.configuration)
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
