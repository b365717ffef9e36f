"""The METG table: for a terminal of any width, for a pipe as plain text, for programs as JSON."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from tefflab.analysis.results import Curve, Judgement, MetgRow
from tefflab.output import quantities
from tefflab.output.caveats import caveats
from tefflab.output.readings import interval_text, metg_name, value_text
from tefflab.output.remarks import remarks
from tefflab.output.table import Column, Table

_DOT = "● "


class MetgTable:
    """A judgement as rich prints it: a row a system, then in at most four lines what a reader can do about it."""

    def __init__(self, judgement: Judgement) -> None:
        self._judgement = judgement

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        judgement = self._judgement
        yield Text(f"{metg_name(judgement.threshold)} – {judgement.name}", style="bold")
        if judgement.configuration:
            yield Text(judgement.configuration, style="dim")
        if judgement.rows:
            yield Table(_columns(judgement, colored=console.color_system is not None))
        if found := remarks(judgement, options.max_width):
            yield Text()
            yield from found


def to_json(judgements: Sequence[Judgement]) -> str:
    """The judgements with their rows, curves and caveats as a JSON list; open ends of intervals are null."""
    return json.dumps([_as_object(each) for each in judgements], indent=2, ensure_ascii=False, allow_nan=False)


def _columns(judgement: Judgement, colored: bool) -> list[Column]:
    rows = judgement.rows
    overheads = [quantities.duration(row.overhead.value) if row.overhead else "-" for row in rows]
    ceilings = [quantities.rate(row.ceiling.value, row.ceiling_unit) if row.ceiling else "-" for row in rows]
    noisy = [quantities.percent(row.disturbed_share) if row.runs else "-" for row in rows]
    return [
        Column("system", [_name(row, colored) for row in rows], "left"),
        Column(metg_name(judgement.threshold), [value_text(row) for row in rows]),
        Column("95 % interval", [interval_text(row.metg) if row.metg else "-" for row in rows]),
        Column("overhead\nper task", overheads, priority=1),
        Column("noisy\nruns", noisy, priority=2),
        Column("rounds", [str(row.rounds) if row.metg else "-" for row in rows], priority=3),
        Column("ceiling", ceilings, priority=4),
        Column("title", [row.contender.title for row in rows], "left", priority=5),
        Column("version", [row.contender.version or "?" for row in rows], "left", priority=6),
    ]


def _name(row: MetgRow, colored: bool) -> Text:
    """The system's id after a dot in its colour; without colours the id alone."""
    dot = [(_DOT, row.contender.color)] if colored else []
    return Text.assemble(*dot, row.contender.id)


def _as_object(judgement: Judgement) -> dict[str, Any]:
    return {
        "name": judgement.name,
        "configuration": judgement.configuration,
        "threshold": judgement.threshold,
        "round_trip": judgement.round_trip,
        "share": judgement.share,
        "rows": [row.to_json() for row in judgement.rows],
        "curves": [_curve(curve) for curve in judgement.curves],
        "caveats": [
            {"heading": each.heading, "text": each.text, "systems": list(each.contenders)}
            for each in caveats(judgement)
        ],
    }


def _curve(curve: Curve) -> dict[str, Any]:
    return {
        "system_id": curve.contender.id,
        "rate_unit": curve.rate_unit,
        "points": [_finite(asdict(point)) for point in curve.points],
    }


def _finite(value: Any) -> Any:
    """`value` with every infinite number in it as None, for JSON knows none."""
    if isinstance(value, dict):
        return {name: _finite(each) for name, each in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value
