"""The stores' figures for each system in this checkout: its METG, and its costs."""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tefflab.analysis.statistics import FEWEST_ROUNDS
from tefflab.output import quantities
from tefflab.records.store import file_of, stores_in
from tefflab.systems.naming import parsed

METG = "task_graph"  # the kind whose estimates are METG


@dataclass(frozen=True)
class Figure:
    """An estimate as a store has it."""

    kind: str  # of benchmark
    row: str
    version: str
    case: str  # a graph where the kind is METG
    workers: str  # empty where the kind has none
    value: str
    interval: str
    sitting: str

    @property
    def system(self) -> str:
        return parsed(self.row).system


def stored_figures(results: Path) -> dict[str, list[Figure]]:
    """By system, of each store below `results`: of each row and case the last sitting that measured it."""
    found: dict[str, list[Figure]] = {}
    for store in stores_in(results):
        for line in _last(_estimates(results / store)):
            figure = _figure(store, line)
            found.setdefault(figure.system, []).append(figure)
    return found


def _estimates(folder: Path) -> list[dict[str, Any]]:
    file = file_of(folder, "estimates")
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    return [json.loads(line) for line in text.splitlines() if line.startswith("{") and line.endswith("}")]


def _last(lines: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Those with a value: of each row and case the last of its last sitting, which has one more each time that it is
    gone on with."""
    last: dict[tuple[str, ...], dict[str, Any]] = {}
    for line in filter(_is_cost, lines):
        if line["sitting"] >= last.setdefault(_measured(line), line)["sitting"]:
            last[_measured(line)] = line
    yield from last.values()


def _measured(line: dict[str, Any]) -> tuple[str, ...]:
    return line["benchmark"], line["system_id"], line["configuration"], _workers(line)


def _workers(line: dict[str, Any]) -> str:
    """Empty of METG."""
    return "" if line["benchmark"] == METG else str(line["workers"])


def _is_cost(line: dict[str, Any]) -> bool:
    """Whether it is the time that a case is about."""
    return bool(line.get("value")) and line.get("unit") == "s" and not line.get("is_beside")


def _figure(store: str, line: dict[str, Any]) -> Figure:
    low, high = (line[end] for end in ("low", "high"))
    is_told = line.get("rounds_counted", FEWEST_ROUNDS) >= FEWEST_ROUNDS  # which METG has beside its interval
    return Figure(
        line["benchmark"],
        line["system_id"],
        line["version"],
        line["configuration" if line["benchmark"] == METG else "case"],
        _workers(line),
        quantities.doubtful(quantities.duration(line["value"]), is_known=is_told),
        quantities.duration_range(low or 0, math.inf if high is None else high) if is_told else quantities.TOO_FEW,
        f"{store}:{line['sitting']}",
    )
