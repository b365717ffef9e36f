"""The stores' figures for each system in this checkout: its METG, and its costs."""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tefflab.analysis.statistics import FEWEST_ROUNDS
from tefflab.benchmarks.benchmark import benchmarks
from tefflab.benchmarks.cases import CaseBenchmark
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
            if figure := _figure(store, line):
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
    for line in filter(_value, lines):
        if line["sitting"] >= last.setdefault(_measured(line), line)["sitting"]:
            last[_measured(line)] = line
    yield from last.values()


def _measured(line: dict[str, Any]) -> tuple[str, ...]:
    return tuple(str(line.get(key, "")) for key in ("benchmark", "system_id", "configuration", "workers"))


def _keys(kind: str) -> tuple[str, str]:
    """Under which an estimate has its case, and its value with the interval."""
    if kind == METG:
        return "configuration", "metg"
    known = {each.name: each.keys for each in benchmarks() if isinstance(each, CaseBenchmark)}
    return known.get(kind, ("", ""))


def _value(line: dict[str, Any]) -> dict[str, float | None] | None:
    return line.get(_keys(line.get("benchmark", ""))[1]) or None


def _figure(store: str, line: dict[str, Any]) -> Figure | None:
    value = _value(line)
    if value is None or value["value"] is None:
        return None
    low, high = (value[end] for end in ("low", "high"))
    is_told = (value.get("rounds") or FEWEST_ROUNDS) >= FEWEST_ROUNDS  # which METG has beside its interval
    return Figure(
        line["benchmark"],
        line["system_id"],
        line["version"],
        str(line.get(_keys(line["benchmark"])[0], "")),
        str(line.get("workers", "")),
        quantities.doubtful(quantities.duration(value["value"]), is_known=is_told),
        quantities.duration_range(low or 0, math.inf if high is None else high) if is_told else quantities.TOO_FEW,
        f"{store}:{line['sitting']}",
    )
