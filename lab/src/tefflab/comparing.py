"""`teff compare`: finds out what two names mean, compares, and says what came of it."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from tefflab.comparison import Comparison, compare_sittings, compare_systems
from tefflab.errors import BAD_INPUT, TeffError
from tefflab.measurement import RESULTS_FOLDER, judged, plan_of
from tefflab.quantities import bound, digits, duration
from tefflab.readings import metg_name
from tefflab.results import Judgement, MetgRow
from tefflab.statistics import Interval
from tefflab.store import RECORDS, Envelope, Sitting, Store
from tefflab.stored import full_name, open_sitting

DRIFT = (
    "These are two sittings: absolute times of different hours carry the machine's drift, which no interval knows in "
    "full. Where a difference matters, measure both sides in one sitting."
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What is compared, and how it compares. `is_repeat`: the same systems, measured twice."""

    a: str
    b: str
    comparisons: tuple[Comparison, ...]
    is_repeat: bool
    one_sitting: bool


def answer(root: Path, a: str, b: str, store: str | None) -> Answer:
    """`a` and `b` are two stores (or STORE:SITTING), or two systems of a sitting of `store` (its last, if not said).

    Without `store` they are stores where both are, else systems of the store `default`. TeffError for anything else.
    """
    if store is None and all(_is_store(root, each) for each in (a, b)):
        return _of_stores(root, a, b)
    opened, sitting = open_sitting(root, store or "default")
    known = [each.id for each in plan_of(sitting).contenders]
    unknown = [each for each in (a, b) if each not in known]
    if unknown:
        stores = sorted(file.parent.name for file in (root / RESULTS_FOLDER).glob(f"*/{RECORDS}"))
        raise TeffError(
            f"{' and '.join(map(repr, unknown))}: no system of {full_name(opened, sitting)} ({' '.join(known)})"
            + ("" if store else f" and no store either ({' '.join(stores)})"),
            exit_code=BAD_INPUT,
        )
    runs = list(opened.envelopes(sitting.sitting))
    found = compare_systems(judged(opened, sitting), runs, a, b)
    if not found:
        raise TeffError(f"{full_name(opened, sitting)} has no METG of both {a} and {b}", exit_code=BAD_INPUT)
    return Answer(a, b, tuple(found), is_repeat=False, one_sitting=True)


def to_json(found: Answer) -> str:
    return json.dumps(
        {
            "a": found.a,
            "b": found.b,
            "one_sitting": found.one_sitting,
            "comparisons": [each.to_json() for each in found.comparisons],
            "agreeing": sum(each.agrees for each in found.comparisons),
            "compared": len(found.comparisons),
        },
        indent=2,
        ensure_ascii=False,
        allow_nan=False,
    )


def to_table(found: Answer) -> Group:
    """METG, then overhead: of stores a row a system, configuration by configuration; of systems a row a configuration.
    Then what they say together."""
    parts: list[RenderableType] = [Text(f"A  {found.a}"), Text(f"B  {found.b}")]
    if found.is_repeat:
        for configuration in dict.fromkeys(each.configuration for each in found.comparisons):
            rows = [each for each in found.comparisons if each.configuration == configuration]
            parts += [Text(), Text(configuration, style="bold"), *_tables(found, rows)]
    else:
        parts += _tables(found, found.comparisons)
    return Group(*parts, Text(), *map(Text, closing(found)))


def _tables(found: Answer, rows: Sequence[Comparison]) -> list[RenderableType]:
    of_metg = _table(found, metg_name(rows[0].a.threshold))
    for each in rows:
        cells = [_value(each.a), _value(each.b), _ratio(each), _ends(each.ratio), _yes_or_no(each.ratio.significant)]
        of_metg.add_row(_head(found, each), *cells, *([_agreement(each)] if found.is_repeat else []))
    of_overhead = _table(found, "overhead")
    for each in rows:
        if each.overhead and each.a.overhead and each.b.overhead:
            values = [duration(side.value) for side in (each.a.overhead, each.b.overhead)]
            cells = [*values, digits(each.overhead.value), _ends(each.overhead), _yes_or_no(each.overhead.significant)]
            of_overhead.add_row(_head(found, each), *cells)
    return [part for table in (of_metg, of_overhead) if table.row_count for part in (Text(), table)]


def _table(found: Answer, quantity: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    head = "system" if found.is_repeat else "configuration"
    table.add_column(f"{quantity}\n{head}", overflow="fold", no_wrap=found.is_repeat)
    for title in ("\nof A", "\nof B", "\nA / B", "its 95 %\ninterval"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("is not 1:\nsignificant", no_wrap=True)
    if found.is_repeat and quantity != "overhead":
        table.add_column("\nagree", no_wrap=True)
    return table


def _head(found: Answer, each: Comparison) -> str:
    return escape(each.a.contender.id if found.is_repeat else each.configuration)


def _yes_or_no(holds: bool) -> str:
    return "yes" if holds else "no"


def _agreement(each: Comparison) -> str:
    return "yes" if each.agrees else "[red]no[/]"


def closing(found: Answer) -> list[str]:
    """The sentences below the table."""
    lines = []
    if found.is_repeat:
        apart = [each.a.contender.id for each in found.comparisons if not each.agrees]
        total = len(found.comparisons)
        lines.append(
            f"{total - len(apart)} of {total} agree: their intervals overlap."
            + (f" Not so: {', '.join(dict.fromkeys(apart))}." if apart else "")
        )
    if found.is_repeat and not found.one_sitting:
        lines.append(DRIFT)
    return lines


def _is_store(root: Path, name: str) -> bool:
    return (root / RESULTS_FOLDER / name.partition(":")[0] / RECORDS).is_file()


def _of_stores(root: Path, a: str, b: str) -> Answer:
    (left, sitting_a), (right, sitting_b) = (open_sitting(root, each) for each in (a, b))
    names = full_name(left, sitting_a), full_name(right, sitting_b)
    found = compare_sittings(*_judged(left, sitting_a), *_judged(right, sitting_b))
    if not found:
        raise TeffError(
            f"{names[0]} and {names[1]} have METG of no system under one configuration", exit_code=BAD_INPUT
        )
    return Answer(*names, tuple(found), is_repeat=True, one_sitting=names[0] == names[1])


def _judged(store: Store, sitting: Sitting) -> tuple[Sequence[Judgement], Sequence[Envelope]]:
    return judged(store, sitting), list(store.envelopes(sitting.sitting))


def _value(row: MetgRow) -> str:
    assert row.metg is not None
    return bound(row.metg.relation, duration(row.metg.value))


def _ratio(each: Comparison) -> str:
    return "unknown" if each.relation == "?" else bound(each.relation, digits(each.ratio.value))


def _ends(interval: Interval) -> str:
    return f"{digits(interval.low)} – {digits(interval.high) if math.isfinite(interval.high) else '∞'}"
