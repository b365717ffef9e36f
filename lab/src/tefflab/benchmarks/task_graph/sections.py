"""The tables of METG, of several cases and of curves."""

from collections.abc import Sequence

from tefflab.analysis.curves import CurvePoint
from tefflab.analysis.rows import Row
from tefflab.benchmarks.task_graph.measured import CEILING, Measured, WorkAxis, is_roughly_known, metg_name, why_unknown
from tefflab.benchmarks.task_graph.notes import heading_of, notes
from tefflab.output import quantities
from tefflab.output.quantities import doubtful, duration, interval_text, percent
from tefflab.output.sections import Section, absences
from tefflab.output.table import Column

_NOTHING_KNOWN = 10.0  # an efficiency whose interval reaches this: few rounds, which differ ever so much


def value_text(row: Row) -> str:
    """`1.23 µs`, `> 1.00 ms`, `1.23 µs ?` where its interval says nothing, or why there is none."""
    if row.value is None:
        return heading_of(row.note)
    return doubtful(quantities.value_text(row), is_known=row.is_told)


def ends_text(row: Row) -> str:
    """As `interval_text`; `unknown` where it is not more runs that are needed, and `-` without a value."""
    if row.value is None:
        return "-"
    return "unknown" if why_unknown(row) else interval_text(row.value)


def metg_section(case: Measured) -> Section:
    """A row a system."""
    rows = case.rows
    overheads = [case.overhead(row) for row in rows]
    ceilings = [case.beside.get((row.id, CEILING)) for row in rows]
    name = metg_name(case.threshold)
    columns = [
        Column("system", [row.id for row in rows], "left", colors=[row.variant.color for row in rows]),
        Column(name, [value_text(row) for row in rows]),
        Column("95 % interval", [ends_text(row) for row in rows]),
        Column("overhead\nper task", [_overhead(row) for row in overheads], priority=1),
        Column("noisy\nruns", [percent(row.noisy_share) if row.runs else "-" for row in rows], priority=2),
        Column("rounds", [str(row.rounds) if row.value else "-" for row in rows], priority=3),
        Column("ceiling", [quantities.value_text(row) for row in ceilings], priority=4),
        Column("title", [row.variant.title for row in rows], "left", priority=5),
        Column("version", [row.variant.version or "?" for row in rows], "left", priority=6),
    ]
    return Section(f"{name} – {case.name}", columns if rows else (), notes(case), case.case.configuration)


def _overhead(row: Row | None) -> str:
    """`553 ns`, `553 ns ?` where that is hardly known, or `-` where none was measured."""
    return doubtful(quantities.value_text(row), is_known=is_roughly_known(row)) if row else "-"


def series_section(cases: Sequence[Measured]) -> Section:
    """METG of every system at each case, a row each, then the systems that could not be measured."""
    rows = [row for case in cases for row in case.rows]
    headings = {sum(len(each.rows) for each in cases[:number]): case.case.name for number, case in enumerate(cases)}
    columns = [
        Column("system", [f"  {row.id}" for row in rows], "left"),
        Column(metg_name(cases[0].threshold), [value_text(row) for row in rows]),
        Column("95 % interval", [ends_text(row) for row in rows]),
        Column("rounds", [str(row.rounds) for row in rows], priority=1),
    ]
    missing = [f"without a value: {text}" for text in absences(rows)]
    return Section(f"{metg_name(cases[0].threshold)} of {len(cases)} cases", columns, missing, headings=headings)


def curve_section(case: Measured) -> Section:
    """The points of every curve, a row each, by the rising size of the task."""
    size = WorkAxis(case.curves)
    points = [(curve, point) for curve in case.curves_in_order for point in curve.points]
    headings: dict[int, str] = {}
    for number, (curve, _) in enumerate(points):
        if curve.variant.id not in headings.values():
            headings[number] = curve.variant.id
    columns = [
        Column(size.title, [size.tick(size.of(each)) for _, each in points], priority=2),
        Column("granularity", [duration(each.granularity.value) for _, each in points]),
        Column("efficiency", [percent(each.efficiency.value) for _, each in points]),
        Column("95 % interval", [_ends(each) for _, each in points]),
        Column("rate", [quantities.rate(each.rate.value, curve.rate_unit) for curve, each in points], priority=1),
        Column("iterations", [str(each.iterations) for _, each in points], priority=3),
        Column("runs", [str(each.runs) for _, each in points], priority=4),
    ]
    return Section(f"Efficiency – {case.name}", columns, notes(case), case.case.configuration, headings)


def _ends(point: CurvePoint) -> str:
    if point.efficiency.high >= _NOTHING_KNOWN:
        return quantities.TOO_FEW
    low, high = percent(point.efficiency.low), percent(point.efficiency.high)
    return f"{low.removesuffix(' %')} – {high}"
