"""Tables of comparisons, one for each quantity, and their common result. Also the table of `teff compare
--fail-if-slower`, and its result in a sentence."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.text import Text

from tefflab.analysis.comparison import Answer, Comparison
from tefflab.analysis.pairs import FEWEST_PAIRS, Pair, Verdict, verdict
from tefflab.analysis.shift import FEWEST_OTHERS, Shift
from tefflab.analysis.statistics import FEWEST_ROUNDS, rounds_to_tell
from tefflab.carried import TYPED
from tefflab.output.quantities import bound, digits, interval_text, percent, value_text
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
_NAMED = 3  # systems that lack rounds, or rows of a verdict
_LONG = 24  # a longer name of a place has no room beside the numbers
_QUIETER = f"a quieter machine (`{TYPED} systems doctor`)"
_IN_VAIN = 1000  # more rounds than a user will wait for
_STYLES = {"slower": "red", "not slower": "", "unknown": "yellow"}


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
            parts += [Text(), Text(title, style="bold")] if title else []
            for quantity in dict.fromkeys(row.a.quantity for row in rows):
                own = [row for row in rows if row.a.quantity == quantity]
                parts += [Text(), _table(each, quantity, own, by_place=by_place)]
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
    places = dict.fromkeys(each.a.place for each in comparisons)
    named = {place: ", ".join(each.a.id for each in apart if each.a.place == place) for place in places}
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
    places = dict.fromkeys(each.a.place for each in answer.comparisons)
    systems = dict.fromkeys(each.a.id for each in answer.comparisons)
    if not answer.is_repeat:
        yield "", True, list(answer.comparisons)
    elif len(systems) < len(places):
        for system in systems:
            yield system, True, [each for each in answer.comparisons if each.a.id == system]
    else:
        for place in places:
            yield place, False, [each for each in answer.comparisons if each.a.place == place]


def _table(answer: Answer, quantity: str, rows: Sequence[Comparison], *, by_place: bool) -> Table:
    """A row a system; or a row a place."""
    names = [each.a.place if by_place else each.a.id for each in rows]
    head = f"{quantity}\n{answer.row_word if by_place else 'system'}"
    times = ["unknown" if each.relation == "?" else bound(each.relation, digits(each.ratio.value)) for each in rows]
    own = [Column("\nown", [digits(each.own.value) if each.own else "" for each in rows])]
    agrees = [Text(_word(each.agrees), "red" if each.agrees is False else "") for each in rows]
    is_about = answer.is_repeat and not rows[0].a.is_beside
    columns = [
        Column("\nof A", [value_text(each.a) for each in rows]),
        Column("\nof B", [value_text(each.b) for each in rows]),
        Column("\nA / B", times),
        *(own if any(each.own for each in rows) else []),
        Column("95 %\ninterval", [interval_text(each.told, "1") for each in rows]),
        Column("signi-\nficant", [_word(each.significant) for each in rows], "left"),
        *([Column("\nagree", agrees, "left", priority=1)] if is_about else []),
    ]
    return _named_table(head, names, columns, are_places=by_place)


def _named_table(head: str, names: Sequence[str], columns: Sequence[Column], *, are_places: bool = True) -> Table:
    """A row for each name; a long name of a place has a separate line."""
    is_long = are_places and max(map(len, names), default=0) > _LONG
    first = Column(head, ["" if is_long else each for each in names], "left")
    return Table([first, *columns], headings=dict(enumerate(names)) if is_long else None)


def _word(is_so: bool | None) -> str:
    return {True: "yes", False: "no", None: "unknown"}[is_so]


@dataclass(frozen=True, slots=True)
class Effort:
    """The time and rounds of a watch, and their limits."""

    seconds: float
    most_seconds: float
    most_rounds: int
    interrupted: bool


def pairs_table(pairs: Sequence[Pair], quantity: str, a: str, b: str, effort: Effort) -> Group:
    """A row a place, then the verdict on all of them."""
    columns = [
        Column(f"A\n{a}", [value_text(each.a) for each in pairs]),
        Column(f"B\n{b}", [value_text(each.b) for each in pairs]),
        Column("A / B", [digits(each.ratio.value) if each.pairs else "-" for each in pairs]),
        Column("95 %\ninterval", [interval_text(each.ratio, "1") if each.pairs else "-" for each in pairs]),
        Column("", [Text(each.verdict, _STYLES[each.verdict]) for each in pairs], "left"),
        Column("rounds", [str(each.pairs) for each in pairs]),
    ]
    table = _named_table(quantity, [each.a.place for each in pairs], columns)
    return Group(table, Text(), Text(sentence(pairs, a, b, effort)))


def sentence(pairs: Sequence[Pair], a: str, b: str, effort: Effort) -> str:
    """The verdict of all places together; without one, the reason and the remedy."""
    found = verdict(each.verdict for each in pairs)
    if found == "slower":
        worst = max((each for each in pairs if each.verdict == "slower"), key=lambda each: each.ratio.value)
        return f"{a} is slower than {b}: at {worst.a.place} by {percent(worst.ratio.value - 1)}."
    if found == "not slower":
        limit = percent(2 * pairs[0].threshold)
        return f"{a} is not slower than {b}; a slowdown of {limit} would have been seen."
    untold = f"Whether {a} is slower than {b} can't be told"
    if not pairs:
        return f"{untold}: no place was measured on both. Measure longer: --minutes."
    worst = max((each for each in pairs if each.verdict == "unknown"), key=lambda each: each.rounds_wanted or math.inf)
    where = f"at {worst.a.place}: " if len(pairs) > 1 else ""
    return f"{untold}: {where}{_reason(worst, a, b)}. {_way_out(worst, effort)}"


def slower_rows(found: Sequence[tuple[Comparison, Verdict]], a: str, b: str) -> str:
    """The verdict of all rows of two sittings together, and the rows that it is of."""
    every = verdict(word for _, word in found)
    told = f"Whether {a} is slower than {b} can't be told" if every == "unknown" else f"{a} is {every} than {b}"
    rows = [
        f"{each.a.id} at {each.a.place}" + (f" by {percent(each.told.value - 1)}" if word == "slower" else "")
        for each, word in found
        if word == every != "not slower"
    ]
    more = [f"{len(rows) - _NAMED} more"] if len(rows) > _NAMED else []
    return f"{': '.join([told, *(['; '.join([*rows[:_NAMED], *more])] if rows else [])])}."


def _reason(pair: Pair, a: str, b: str) -> str:
    beyond = [name for name, relation in ((a, pair.a.relation), (b, pair.b.relation)) if relation != "="]
    if beyond:
        return f"the value of {' and '.join(beyond)} lies beyond the tasks measured"
    if pair.pairs < FEWEST_PAIRS:
        had = f"{pair.pairs} round{'s' * (pair.pairs != 1)}" if pair.pairs else "no round"
        return f"{had} can be compared, and {FEWEST_PAIRS} are needed"
    other = "no slowdown" if pair.ratio.low <= 1 else "one that does not count"
    limit = percent(2 * pair.threshold)
    return f"the interval, {interval_text(pair.ratio, '1')}, holds a slowdown of {limit} as well as {other}"


def _way_out(pair: Pair, effort: Effort) -> str:
    """The watch begins anew, so its rounds so far only tell its pace."""
    if effort.interrupted:
        return "It was interrupted: let it go on to its end."
    if pair.rounds_wanted is None:
        return f"Measure longer (--minutes {math.ceil(effort.most_seconds / 30)}), or another case."
    if pair.rounds_wanted > _IN_VAIN:
        return f"More rounds will hardly tell: try {_QUIETER}, or a larger --fail-if-slower."
    times = pair.rounds_wanted / max(pair.pairs, 1)
    words = []
    if (seconds := times * effort.seconds) > effort.most_seconds:
        words.append(f"--minutes {math.ceil(seconds / 60)}")
    if effort.seconds < effort.most_seconds:  # it was rounds that ended it
        words.append(f"--rounds {math.ceil(times * effort.most_rounds)}")
    elif pair.rounds_wanted > effort.most_rounds:
        words.append(f"--rounds {pair.rounds_wanted}")
    return f"About {pair.rounds_wanted} rounds may tell: {' '.join(words)}; or {_QUIETER}."
