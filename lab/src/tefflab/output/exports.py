"""Values of sittings in the formats that other programs read: tables, and what dashboards of benchmarks take.

A format for dashboards has a number for each name, so a bound is left out of it.
"""

import csv
import io
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from pathlib import Path

from tefflab.analysis.comparison import Side
from tefflab.analysis.crossing import Relation
from tefflab.output.quantities import bound, duration, duration_range, percent
from tefflab.records.run import Sitting
from tefflab.whole_files import write_whole

_NANOSECONDS = 1e9


@dataclass(frozen=True, slots=True)
class Value:
    """A value of a variant at a case, with its 95 % interval; an end is None if it is open."""

    benchmark: str
    variant: str
    case: str
    quantity: str
    relation: Relation  # "<" or ">": the value is a bound
    value: float
    low: float | None
    high: float | None
    unit: str
    rounds: int
    noisy_share: float  # of the runs
    round_trip: float | None  # how far apart the cores were [s], where that is known
    machine: str
    revision: str
    sitting: str
    started_at: datetime

    @property
    def name(self) -> str:
        """As dashboards call it: the same in each sitting."""
        return f"{self.variant}: {self.case}, {self.quantity}"


def values_of(sitting: Sitting, sides: Iterable[Side]) -> Iterator[Value]:
    """The values of the estimates of a sitting."""
    for side in sides:
        for quantity in filter(None, (side.quantity, side.overhead)):
            interval = quantity.interval
            yield Value(
                benchmark=sitting.benchmark,
                variant=side.system,
                case=side.case or side.place,
                quantity=quantity.name,
                relation=quantity.relation,
                value=interval.value,
                low=interval.low if interval.low > 0 else None,
                high=interval.high if math.isfinite(interval.high) else None,
                unit="s",
                rounds=quantity.number_of_rounds(),
                noisy_share=side.row.noisy_share,
                round_trip=side.round_trip,
                machine=sitting.machine.summary,
                revision=sitting.revision.short,
                sitting=sitting.sitting,
                started_at=sitting.started_at,
            )


def to_csv(values: Sequence[Value]) -> str:
    """A line of names, then a line a value."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(each.name for each in fields(Value))
    lines.writerows((asdict(each) | {"started_at": each.started_at.isoformat()}).values() for each in values)
    return text.getvalue()


def to_markdown(values: Sequence[Value]) -> str:
    """A table, as people read it, and what all its lines have in common."""
    heads = "variant", "case", "quantity", "value", "95 % interval", "rounds", "noisy runs"
    lines = [heads, tuple("---" for _ in heads), *map(_told, values)]
    table = "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)
    made = dict.fromkeys(f"{each.machine}, {each.started_at:%Y-%m-%d %H:%M} UTC, {each.revision}" for each in values)
    return "\n\n".join([table, *made]) + "\n"


def _told(of: Value) -> tuple[str, ...]:
    return (
        of.variant,
        of.case,
        of.quantity,
        bound(of.relation, duration(of.value)),
        duration_range(of.low or 0.0, math.inf if of.high is None else of.high),
        str(of.rounds),
        percent(of.noisy_share),
    )


def to_google_benchmark(values: Sequence[Value]) -> str:
    """As a program of Google Benchmark prints with --benchmark_format=json. Its `cpu_time` must be there; it is the
    wall time, too."""
    return _json(
        {
            "context": {
                "date": max(each.started_at for each in values).isoformat(),
                "machine": values[0].machine,
                "revision": values[0].revision,
            },
            "benchmarks": [
                {
                    "name": each.name,
                    "run_name": each.name,
                    "run_type": "iteration",
                    "iterations": each.rounds,
                    "real_time": each.value * _NANOSECONDS,
                    "cpu_time": each.value * _NANOSECONDS,
                    "time_unit": "ns",
                    "noisy_share": each.noisy_share,
                    **_ends(each, "low", "high"),
                }
                for each in values
            ],
        }
    )


def to_github(values: Sequence[Value]) -> str:
    """As github-action-benchmark reads it with `tool: customSmallerIsBetter`."""
    return _json(
        [
            {
                "name": each.name,
                "unit": "ns",
                "value": each.value * _NANOSECONDS,
                "range": duration_range(each.low or 0.0, math.inf if each.high is None else each.high),
                "extra": f"{each.rounds} rounds, {percent(each.noisy_share)} of the runs noisy, {each.machine}, "
                f"{each.revision}",
            }
            for each in values
        ]
    )


def to_bencher(values: Sequence[Value]) -> str:
    """Bencher Metric Format: nanoseconds of its measure `latency`."""
    return _json(
        {
            each.name: {"latency": {"value": each.value * _NANOSECONDS, **_ends(each, "lower_value", "upper_value")}}
            for each in values
        }
    )


def to_parquet(values: Sequence[Value], file: Path) -> None:
    """The columns of `to_csv`."""
    import polars

    may_be_empty = dict.fromkeys(("low", "high", "round_trip"), polars.Float64)
    rows = [asdict(each) for each in values]
    columns = io.BytesIO()
    polars.DataFrame(rows, schema_overrides=may_be_empty, infer_schema_length=None).write_parquet(columns)
    write_whole(file, columns.getvalue())


TEXTS: Mapping[str, Callable[[Sequence[Value]], str]] = {
    "csv": to_csv,
    "md": to_markdown,
    "gbench": to_google_benchmark,
    "github": to_github,
    "bencher": to_bencher,
}
DASHBOARDS = ("gbench", "github", "bencher")


def _ends(of: Value, low: str, high: str) -> dict[str, float]:
    ends = {low: of.low, high: of.high}
    return {name: end * _NANOSECONDS for name, end in ends.items() if end is not None}


def _json(said: object) -> str:
    return json.dumps(said, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
