"""Comparisons for people: a table each of METG, overheads and times a task, and what they say together."""

import math
from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from tefflab.analysis.comparison import Answer, Comparison, Quantity, RatioRelation, Relative
from tefflab.analysis.statistics import Interval
from tefflab.output.quantities import bound, digits, duration

LEGEND = "A / B above 1: B is better, for it takes less."
DRIFT = (
    "These are two sittings: absolute times of different hours carry the machine's drift, which no interval knows in "
    "full. Where a difference matters, measure both sides in one sitting, or compare --against a system that did not "
    "change."
)


def to_tables(answers: Sequence[Answer]) -> Group:
    """Each of them: of systems a row a place; of stores places or systems, of which there are fewer, have a table each
    with the others as rows. Then how to read it."""
    parts: list[RenderableType] = []
    for each in answers:
        parts += [Text(f"A  {each.a}"), Text(f"B  {each.b}")]
        parts += [Text(f"each in relation to {each.against}, round by round")] if each.against else []
        for title, by_place, rows in _groups(each):
            parts += [*([Text(), Text(title, style="bold")] if title else []), *_tables(each, rows, by_place=by_place)]
        parts += [Text(), *([Text(agreement(each.comparisons)), Text()] if each.is_repeat else [])]
    parts.append(Text(LEGEND))
    if any(each.is_repeat and not each.one_sitting and not each.against for each in answers):
        parts.append(Text(DRIFT))
    return Group(*parts)


def agreement(comparisons: Sequence[Comparison]) -> str:
    """Of two sittings: whether each found what the other did."""
    apart = [each for each in comparisons if not each.agrees]
    several = len({each.place for each in comparisons}) > 1
    names = "; ".join(f"{each.a.system} at {each.place}" if several else each.a.system for each in apart)
    return f"{len(comparisons) - len(apart)} of {len(comparisons)} agree: their intervals overlap." + (
        f" Not so: {names}." if names else ""
    )


def _groups(answer: Answer) -> Iterator[tuple[str, bool, list[Comparison]]]:
    """Titles with their rows, and whether a row is a place."""
    places = dict.fromkeys(each.place for each in answer.comparisons)
    systems = dict.fromkeys(each.a.system for each in answer.comparisons)
    if not answer.is_repeat:
        yield "", True, list(answer.comparisons)
    elif len(systems) < len(places):
        for system in systems:
            yield system, True, [each for each in answer.comparisons if each.a.system == system]
    else:
        for place in places:
            yield place, False, [each for each in answer.comparisons if each.place == place]


def _tables(answer: Answer, rows: Sequence[Comparison], *, by_place: bool) -> list[RenderableType]:
    head = answer.row_word if by_place else "system"
    main = _table(rows[0].a.quantity.name, head, can_break=by_place)
    if answer.is_repeat:
        main.add_column("\nagree", no_wrap=True)
    beside = _table("overhead", head, can_break=by_place)
    for each in rows:
        name = escape(each.place if by_place else each.a.system)
        agrees = ["yes" if each.agrees else "[red]no[/]"] if answer.is_repeat else []
        main.add_row(name, *_cells(each.a.quantity, each.b.quantity, each.ratio, each.relation), *agrees)
        if each.overhead and each.a.overhead and each.b.overhead:
            beside.add_row(name, *_cells(each.a.overhead, each.b.overhead, each.overhead))
    return [part for table in (main, beside) if table.row_count for part in (Text(), table)]


def _table(quantity: str, head: str, *, can_break: bool) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    table.add_column(f"{quantity}\n{head}", overflow="fold", no_wrap=not can_break)
    for title in ("\nof A", "\nof B", "\nA / B", "its 95 %\ninterval"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("is not 1:\nsignificant", no_wrap=True)
    return table


def _cells(a: Quantity, b: Quantity, ratio: Interval, relation: RatioRelation = "=") -> list[str]:
    values = [bound(side.relation, _value(side)) for side in (a, b)]
    times = "unknown" if relation == "?" else bound(relation, digits(ratio.value))
    return [*values, times, _ends(ratio), "yes" if ratio.significant else "no"]


def _value(side: Quantity) -> str:
    return digits(side.interval.value) if isinstance(side, Relative) else duration(side.interval.value)


def _ends(interval: Interval) -> str:
    return f"{digits(interval.low)} – {digits(interval.high) if math.isfinite(interval.high) else '∞'}"
