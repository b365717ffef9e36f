"""The METG table: for a terminal of any width, for a pipe as plain text, for programs as JSON."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, JustifyMethod, RenderResult
from rich.table import Table
from rich.text import Text

from tefflab.analysis.results import Curve, MeasuredCase, MetgRow
from tefflab.output import quantities
from tefflab.output.caveats import Caveat, caveats
from tefflab.output.readings import ceiling_over, interval_text, metg_name, rate_range, value_text

_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_DOT = "● "
_GAP = 2  # columns between two columns
_NAME = 26  # width of the first column below which another column is left out instead


class MetgTable:
    """A case as rich prints it: a row a system, then footnotes.

    Where there is little room, first the versions, then the ceilings, then the rounds go from columns to lines below.
    """

    def __init__(self, case: MeasuredCase) -> None:
        self._case = case
        self._caveats = caveats(case)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        case = self._case
        columns = _columns(case)
        longest = max((cell_len(row.variant.title) for row in case.rows), default=0)
        marks = self._marks()
        left_out = []
        for optional in ("version", "ceiling", "rounds"):
            others = sum(_width(title, cells) + _GAP for title, cells in (columns | {"": marks}).items())
            if options.max_width - others - len(_DOT) < min(longest, _NAME):
                columns.pop(optional)
                left_out.append(optional)
        table = Table(box=None, padding=(0, _GAP, 0, 0), pad_edge=False, header_style="bold")
        table.add_column("system", vertical="bottom")
        if any(marks):
            table.add_column("", style="dim", vertical="bottom")
        for title in columns:
            justify: JustifyMethod = "left" if title == "version" else "right"
            table.add_column(title, justify=justify, no_wrap=True, vertical="bottom")
        for number, row in enumerate(case.rows):
            name = _name(row, colored=console.color_system is not None)
            mark = marks[number : number + 1] if any(marks) else []
            table.add_row(name, *mark, *(Text(cells[number]) for cells in columns.values()))
        title = f"{metg_name(case.threshold)} – {case.name}"
        yield Text.assemble((title, "bold"), "  ", (case.configuration, "dim"))
        yield table
        yield from self._footnotes(left_out)

    def _marks(self) -> list[str]:
        """Of each row, the numbers of the footnotes on it."""
        return [
            " ".join(
                str(number).translate(_SUPERSCRIPTS)
                for number, caveat in enumerate(self._numbered(), start=1)
                if row.variant.id in caveat.variants
            )
            for row in self._case.rows
        ]

    def _numbered(self) -> list[Caveat]:
        return [caveat for caveat in self._caveats if caveat.variants]

    def _footnotes(self, left_out: Sequence[str]) -> RenderResult:
        rows = self._case.rows
        notes = Table.grid(padding=(0, 1, 0, 0))
        for number, caveat in enumerate(self._numbered(), start=1):
            notes.add_row(str(number).translate(_SUPERSCRIPTS), _footnote(caveat.heading, caveat.text))
        for caveat in self._caveats:
            if not caveat.variants:
                notes.add_row("", _footnote(caveat.heading, caveat.text))
        if "ceiling" in left_out and (ceilings := _ceilings(rows)):
            notes.add_row("", _footnote("ceiling", ", ".join(ceilings)))
        if "rounds" in left_out and (counts := sorted({row.rounds for row in rows if row.metg})):
            notes.add_row("", _footnote("rounds", " to ".join(dict.fromkeys(map(str, (counts[0], counts[-1]))))))
        if "version" in left_out and rows:
            versions = (f"{row.variant.title} {row.variant.version or '?'}" for row in rows)
            notes.add_row("", _footnote("versions", " · ".join(versions)))
        if notes.row_count:
            yield Text()
            yield notes


def to_json(cases: Sequence[MeasuredCase]) -> str:
    """The cases with their rows, curves and caveats as a JSON list; open ends of intervals are null."""
    return json.dumps([_as_object(each) for each in cases], indent=2, ensure_ascii=False, allow_nan=False)


def _name(row: MetgRow, colored: bool) -> Table | Text:
    """The system's name after a dot in its colour, lines below the first indented; without colours the name alone."""
    if not colored:
        return Text(row.variant.title)
    name = Table.grid()
    name.add_row(Text(_DOT, row.variant.color), Text(row.variant.title))
    return name


def _footnote(heading: str, text: str) -> Text:
    return Text.assemble((heading, "bold"), f" – {text}")


def _columns(case: MeasuredCase) -> dict[str, list[str]]:
    """Title and cells of each column but the first, in order."""
    rows = case.rows
    return {
        "version": [row.variant.version or "?" for row in rows],
        metg_name(case.threshold): [value_text(row) for row in rows],
        "95 % interval": [interval_text(row.metg) if row.metg else "-" for row in rows],
        "overhead\nper task": [quantities.duration(row.overhead.value) if row.overhead else "-" for row in rows],
        "ceiling": [quantities.rate(row.ceiling.value, row.ceiling_unit) if row.ceiling else "-" for row in rows],
        "rounds": [str(row.rounds) for row in rows],
        "noisy": [quantities.percent(row.noisy_share) if row.runs else "-" for row in rows],
    }


def _width(title: str, cells: Sequence[str]) -> int:
    return max(cell_len(text) for text in (*title.split("\n"), *cells))


def _ceilings(rows: Sequence[MetgRow]) -> list[str]:
    """One text a unit."""
    units = dict.fromkeys(row.ceiling_unit for row in rows)
    return [rate_range(ceiling, unit) for unit in units if (ceiling := ceiling_over(rows, unit))]


def _as_object(case: MeasuredCase) -> dict[str, Any]:
    return {
        "name": case.name,
        "configuration": case.configuration,
        "threshold": case.threshold,
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
