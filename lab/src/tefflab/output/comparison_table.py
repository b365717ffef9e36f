"""Tables of comparisons, one for each quantity, and their common result."""

import math
from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from tefflab.analysis.comparison import Answer, Comparison
from tefflab.analysis.shift import FEWEST_OTHERS, Shift
from tefflab.analysis.statistics import FEWEST_ROUNDS, Interval, rounds_to_tell
from tefflab.output.quantities import TOO_FEW, bound, digits, percent, value_text
from tefflab.output.table import Column, Table

LEGEND = "A / B above 1: B is better, for it takes less. Significant: the interval of A / B excludes 1."
UNKNOWN = f"Unknown: a side has fewer than {FEWEST_ROUNDS} rounds, or its interval says nothing. Go on with --resume."
DRIFT = (
    "These are two sittings, and whether a program changed or the machine can't be known of so few: measure at least "
    f"{FEWEST_OTHERS} other systems in both, or compare `--against` a system that did not change."
)
OWN = (
    "Own: A / B without what the machine did, by the rows of all other systems. Its interval contains how far these "
    "moved beside each other, too, so a row is significant if it moved more than rows of unchanged programs do."
)
_NAMED = 3  # systems that lack rounds
_LONG = 24  # a longer name of a place has no room beside the numbers


def to_tables(answers: Sequence[Answer]) -> Group:
    """The tables of each answer. For systems, a row a place. For stores, the fewer of places and systems have a table
    each, with the others as rows. Then how to read it."""
    parts: list[RenderableType] = []
    for each in answers:
        where = [f": {machine}" for machine in each.machines] if each.machines else ["", ""]
        parts += [Text("A and B were measured on two machines")] if each.machines else []
        parts += [Text(f"A  {each.a}{where[0]}"), Text(f"B  {each.b}{where[1]}")]
        parts += [Text(f"each in relation to {each.against}, round by round")] if each.against else []
        for title, by_place, rows in _groups(each):
            parts += [*([Text(), Text(title, style="bold")] if title else []), *_tables(each, rows, by_place=by_place)]
        parts += [Text(), *([Text(agreement(each.comparisons)), Text()] if each.is_repeat else [])]
        parts += [Text(lack), Text()] if (lack := missing(each.comparisons)) else []
        parts += [Text(_machine(each.machine)), Text()] if each.machine else []
    parts.append(Text(LEGEND))
    judged = [each for answer in answers for each in answer.comparisons if each.own]
    parts += [Text(OWN)] if judged else []
    if any(each.significant is None for answer in answers for each in answer.comparisons):
        parts.append(Text(UNKNOWN))
    if any(
        each.is_repeat and not each.one_sitting and not each.against and not any(row.own for row in each.comparisons)
        for each in answers
    ):
        parts.append(Text(DRIFT))
    return Group(*parts)


def _machine(shift: Shift) -> str:
    """`The machine itself: x 1.06 [1.02, 1.10], by 12 rows`."""
    ratio = shift.ratio
    beside = f"; beside that, rows moved by ± {percent(math.expm1(shift.spread))}" if shift.spread else ""
    return (
        f"The machine itself: x {digits(ratio.value)} [{digits(ratio.low)}, {digits(ratio.high)}], "
        f"by {shift.rows} rows{beside}."
    )


def agreement(found: Sequence[Comparison]) -> str:
    """Of two sittings: whether each found the other's values."""
    comparisons = [each for each in found if not each.a.is_beside]
    apart = [each for each in comparisons if each.agrees is False]
    agreeing = sum(each.agrees is True for each in comparisons)
    places = dict.fromkeys(each.place for each in comparisons)
    named = {place: ", ".join(each.a.id for each in apart if each.place == place) for place in places}
    names = "; ".join(f"{those} at {place}" if len(places) > 1 else those for place, those in named.items() if those)
    unknown = len(comparisons) - len(apart) - agreeing
    if unknown == len(comparisons):
        return "Whether they agree is not known yet."
    return (
        f"{agreeing} of {len(comparisons)} agree: their intervals overlap."
        + (f" Not so: {names}." if names else "")
        + (f" Of {unknown} it is not known yet whether they do." if unknown else "")
    )


def missing(comparisons: Sequence[Comparison]) -> str:
    """The side that lacks rounds, for which systems, and about how many may be enough; empty if no side lacks any."""
    found = []
    for name, sides in (("A", [each.a for each in comparisons]), ("B", [each.b for each in comparisons])):
        rounds: dict[str, int] = {}
        for side in sides:
            had = side.number_of_rounds
            if not side.is_beside and (had < FEWEST_ROUNDS or not side.is_told):
                rounds[side.id] = max(rounds.get(side.id, 0), rounds_to_tell(had))
        if rounds:
            named = ", ".join(list(rounds)[:_NAMED]) + (" and others" if len(rounds) > _NAMED else "")
            most = max(rounds.values())
            found.append(f"{name} about {most} round{'s' * (most > 1)} more of {named}")
    return f"What may be enough: {'; '.join(found)}." if found else ""


def _groups(answer: Answer) -> Iterator[tuple[str, bool, list[Comparison]]]:
    """Titles with their rows, and whether a row is a place."""
    places = dict.fromkeys(each.place for each in answer.comparisons)
    systems = dict.fromkeys(each.a.id for each in answer.comparisons)
    if not answer.is_repeat:
        yield "", True, list(answer.comparisons)
    elif len(systems) < len(places):
        for system in systems:
            yield system, True, [each for each in answer.comparisons if each.a.id == system]
    else:
        for place in places:
            yield place, False, [each for each in answer.comparisons if each.place == place]


def _tables(answer: Answer, rows: Sequence[Comparison], *, by_place: bool) -> Iterator[RenderableType]:
    """A table of each quantity."""
    for quantity in dict.fromkeys(each.a.quantity for each in rows):
        yield Text()
        yield _table(answer, quantity, [each for each in rows if each.a.quantity == quantity], by_place=by_place)


def _table(answer: Answer, quantity: str, rows: Sequence[Comparison], *, by_place: bool) -> Table:
    """A row a system; or a row a place, where a long name has a separate line."""
    names = [each.place if by_place else each.a.id for each in rows]
    is_long = by_place and max(map(len, names)) > _LONG
    head = f"{quantity}\n{answer.row_word if by_place else 'system'}"
    times = ["unknown" if each.relation == "?" else bound(each.relation, digits(each.ratio.value)) for each in rows]
    own = [Column("\nown", [digits(each.own.value) if each.own else "" for each in rows])]
    agrees = [Text(_word(each.agrees), "red" if each.agrees is False else "") for each in rows]
    is_about = answer.is_repeat and not rows[0].a.is_beside
    columns = [
        Column(head, ["" if is_long else each for each in names], "left"),
        Column("\nof A", [value_text(each.a) for each in rows]),
        Column("\nof B", [value_text(each.b) for each in rows]),
        Column("\nA / B", times),
        *(own if any(each.own for each in rows) else []),
        Column("95 %\ninterval", [_ends(each.own or each.ratio) for each in rows]),
        Column("signi-\nficant", [_word(each.significant) for each in rows], "left"),
        *([Column("\nagree", agrees, "left", priority=1)] if is_about else []),
    ]
    return Table(columns, headings=dict(enumerate(names)) if is_long else None)


def _word(is_so: bool | None) -> str:
    return {True: "yes", False: "no", None: "unknown"}[is_so]


def _ends(interval: Interval) -> str:
    if not interval.is_told:
        return TOO_FEW
    if not math.isfinite(interval.high):
        return bound(">", digits(interval.low))
    return f"{digits(interval.low)} – {digits(interval.high)}"
