"""Rows of sittings in the formats that other programs read: tables, and what dashboards of benchmarks take.

A format for dashboards has a number for each name, so a bound is left out of it.
"""

import csv
import io
import json
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tefflab.analysis.rows import ByRound, Row
from tefflab.analysis.statistics import Interval
from tefflab.output.quantities import duration_range, interval_text, noise_text, percent, value_text
from tefflab.records.run import Sitting
from tefflab.whole_files import write_whole

_NANOSECONDS = 1e9


@dataclass(frozen=True, slots=True)
class Exported:
    """A row that has a value, and its sitting."""

    sitting: Sitting
    row: Row

    @property
    def interval(self) -> Interval:
        assert self.row.value is not None
        return self.row.value

    @property
    def case(self) -> str:
        """Its place without what differs from sitting to sitting: the distance of the cores."""
        return self.row.place if self.row.round_trip is None else self.row.case

    @property
    def name(self) -> str:
        """As dashboards call it: the same in each sitting."""
        return f"{self.variant}: {self.case}, {self.row.quantity}"

    @property
    def variant(self) -> str:
        """`teff`, or `simulated:teff on cori, detours`."""
        return " on ".join(filter(None, (self.row.id, self.row.variant.simulated)))

    @property
    def columns(self) -> dict[str, Any]:
        """An end is None if it is open."""
        row, sitting = self.row, self.sitting
        return {
            "benchmark": row.kind,
            "variant": row.id,
            "simulated": row.variant.simulated,
            "case": self.case,
            "nodes": row.nodes,
            "quantity": row.quantity,
            "relation": row.relation,
            **self.interval.to_json(),
            "unit": row.unit,
            "rounds": row.number_of_rounds,
            "noisy_share": row.noisy_share,
            "round_trip": row.round_trip,
            "x": None if row.x is None else float(row.x),
            "machine": sitting.where,
            "revision": sitting.revision.short,
            "sitting": sitting.sitting,
            "started_at": sitting.started_at,
        }

    @property
    def nanoseconds(self) -> float:
        return self.interval.value * _NANOSECONDS

    def ends(self, low: str, high: str) -> dict[str, float]:
        """The known ends of its interval in nanoseconds, by these names."""
        known = self.interval.to_json()
        ends = {low: known["low"], high: known["high"]}
        return {name: end * _NANOSECONDS for name, end in ends.items() if end is not None}


def to_csv(rows: Sequence[Exported]) -> str:
    """A line of names, then a line a row."""
    text = io.StringIO()
    lines = csv.DictWriter(text, list(rows[0].columns), lineterminator="\n")
    lines.writeheader()
    lines.writerows(each.columns | {"started_at": each.sitting.started_at.isoformat()} for each in rows)
    return text.getvalue()


def to_markdown(rows: Sequence[Exported]) -> str:
    """A table, as people read it, and what all its lines have in common."""
    heads = "variant", "case", "quantity", "value", "95 % interval", "rounds", "noisy runs"
    lines: list[Sequence[str]] = [heads, ["---"] * len(heads)]
    for each in rows:
        row, interval = each.row, each.interval
        rounds, noisy = str(row.number_of_rounds), noise_text(row)
        value, ends = value_text(row), interval_text(interval, row.unit)
        lines.append((each.variant, each.case, row.quantity, value, ends, rounds, noisy))
    table = "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)
    made = dict.fromkeys(
        f"{each.where}, {each.started_at:%Y-%m-%d %H:%M} UTC, {each.revision.short}"
        for each in (row.sitting for row in rows)
    )
    return "\n\n".join([table, *made]) + "\n"


def to_google_benchmark(rows: Sequence[Exported]) -> dict[str, Any]:
    """As a program of Google Benchmark prints with --benchmark_format=json. Its `cpu_time` must be there; it is the
    wall time, too."""
    sitting = rows[0].sitting
    date = max(each.sitting.started_at for each in rows).isoformat()
    lines = [
        {
            "name": each.name,
            "run_name": each.name,
            "run_type": "iteration",
            "iterations": each.row.number_of_rounds,
            "real_time": each.nanoseconds,
            "cpu_time": each.nanoseconds,
            "time_unit": "ns",
            "noisy_share": each.row.noisy_share,
            **each.ends("low", "high"),
        }
        for each in rows
    ]
    context = {"date": date, "machine": sitting.where, "revision": sitting.revision.short}
    return {"context": context, "benchmarks": lines}


def to_github(rows: Sequence[Exported]) -> list[dict[str, Any]]:
    """As github-action-benchmark reads it with `tool: customSmallerIsBetter`."""
    return [
        {
            "name": each.name,
            "unit": "ns",
            "value": each.nanoseconds,
            "range": duration_range(each.interval.low, each.interval.high),
            "extra": f"{each.row.number_of_rounds} rounds, {percent(each.row.noisy_share)} of the runs noisy, "
            f"{each.sitting.where}, {each.sitting.revision.short}",
        }
        for each in rows
    ]


def to_bencher(rows: Sequence[Exported]) -> dict[str, Any]:
    """Bencher Metric Format: nanoseconds of its measure `latency`."""
    known = {each.name: {"value": each.nanoseconds, **each.ends("lower_value", "upper_value")} for each in rows}
    return {name: {"latency": value} for name, value in known.items()}


def to_parquet(rows: Sequence[Exported], file: Path) -> None:
    """The columns of `to_csv`."""
    import polars

    may_be_empty = dict.fromkeys(("low", "high", "round_trip", "x"), polars.Float64)
    columns = io.BytesIO()
    table = polars.DataFrame([each.columns for each in rows], schema_overrides=may_be_empty, infer_schema_length=None)
    table.write_parquet(columns)
    write_whole(file, columns.getvalue())


def to_hyperfine(rows: Sequence[Exported]) -> dict[str, Any]:
    """As hyperfine writes with --export-json: seconds. Each time is a run's, or the median of a round's runs."""
    results = []
    for row in (each.row for each in rows):
        if not isinstance(row.samples, ByRound):
            continue
        times = [statistics.median(own) for own in row.samples.values.values()]
        cpu, system, peak = (row.facts.get(name) for name in ("cpu_seconds", "system_seconds", "peak_rss_bytes"))
        results.append(
            {
                "command": row.id,
                "mean": statistics.mean(times),
                "stddev": statistics.stdev(times) if len(times) > 1 else None,
                "median": statistics.median(times),
                "user": None if cpu is None or system is None else cpu - system,
                "system": system,
                "min": min(times),
                "max": max(times),
                "times": times,
                "memory_usage_byte": [] if peak is None else [peak],
                "exit_codes": [0] * len(times),  # a run that failed is no time
                "parameters": {"workers": str(row.workers), "case": row.case},
            }
        )
    return {"results": results}


_JSON: Mapping[str, Callable[[Sequence[Exported]], object]] = {
    "gbench": to_google_benchmark,
    "github": to_github,
    "bencher": to_bencher,
    "hyperfine": to_hyperfine,
}
DASHBOARDS = tuple(_JSON)
TEXTS = ("csv", "md", *DASHBOARDS)


def to_text(form: str, rows: Sequence[Exported]) -> str:
    """The rows in a format of TEXTS."""
    if form in _JSON:
        return json.dumps(_JSON[form](rows), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    return to_csv(rows) if form == "csv" else to_markdown(rows)
