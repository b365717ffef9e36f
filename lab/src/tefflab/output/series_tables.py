"""Tables of several configurations, and of curves, for a terminal or a pipe."""

from collections.abc import Sequence

from rich.console import Group
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from tefflab.analysis.results import CurvePoint, MeasuredCase
from tefflab.output import quantities
from tefflab.output.caveats import caveats
from tefflab.output.readings import absences, curves_in_order, interval_text, metg_name, value_text

_NOTHING_KNOWN = 10.0  # an efficiency whose interval reaches this: few launches, which differ ever so much


def series_table(cases: Sequence[MeasuredCase]) -> Group:
    """METG of every system under each configuration, a row each, then who could not be measured."""
    table = _table("configuration", "system", metg_name(cases[0].threshold), "95 % interval", "rounds")
    for case in cases:
        for number, row in enumerate(case.rows):
            table.add_row(
                escape(case.name) if number == 0 else "",
                escape(row.variant.id),
                value_text(row),
                interval_text(row.metg) if row.metg else "-",
                str(row.rounds),
            )
    return Group(table, *(Text.assemble(("not measured", "bold"), f" – {text}") for text in absences(cases)))


def curve_table(case: MeasuredCase) -> Group:
    """The points of every curve, a row each, by rising granularity, and what is to be said of them."""
    table = _table("system", "granularity", "efficiency", "95 % interval", "rate")
    for curve in curves_in_order(case):
        for number, point in enumerate(curve.points):
            table.add_row(
                escape(curve.variant.id) if number == 0 else "",
                quantities.duration(point.granularity.value),
                quantities.percent(point.efficiency.value),
                _ends(point),
                quantities.rate(point.rate.value, curve.rate_unit),
            )
    head = Text.assemble((f"Efficiency – {case.name}", "bold"), "  ", (case.configuration, "dim"))
    remarks = (Text.assemble((each.heading, "bold"), f" – {each.text}") for each in caveats(case))
    return Group(head, table, *remarks)


def _table(*titles: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in titles:
        is_text = title in ("configuration", "system")
        table.add_column(title, justify="left" if is_text else "right", no_wrap=not is_text, overflow="fold")
    return table


def _ends(point: CurvePoint) -> str:
    if point.efficiency.high >= _NOTHING_KNOWN:
        return "not known"
    low, high = quantities.percent(point.efficiency.low), quantities.percent(point.efficiency.high)
    return f"{low.removesuffix(' %')} – {high}"
