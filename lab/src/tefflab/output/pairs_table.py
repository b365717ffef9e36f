"""The table of `teff compare --fail-if-slower`, and its result in a sentence."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Group
from rich.text import Text

from tefflab.analysis.pairs import FEWEST_PAIRS, Pair, verdict
from tefflab.carried import TYPED
from tefflab.output.quantities import digits, percent, value_text
from tefflab.output.table import Column, Table

_QUIETER = f"a quieter machine (`{TYPED} systems doctor`)"
_LONG = 24  # of the name of a place: beyond it there is no room for it beside the numbers
_IN_VAIN = 1000  # more rounds than a user will wait for
_STYLES = {"slower": "red", "not slower": "", "unknown": "yellow"}


@dataclass(frozen=True, slots=True)
class Effort:
    """The time and rounds of a watch, and their limits."""

    seconds: float
    most_seconds: float
    most_rounds: int
    interrupted: bool


def to_table(pairs: Sequence[Pair], quantity: str, a: str, b: str, effort: Effort) -> Group:
    """A row a place, then the verdict on all of them."""
    names = [each.place for each in pairs]
    is_long = max(map(len, names), default=0) > _LONG
    table = Table(
        [
            Column(quantity, ["" if is_long else name for name in names], "left"),
            Column(f"A\n{a}", [value_text(each.a) for each in pairs]),
            Column(f"B\n{b}", [value_text(each.b) for each in pairs]),
            Column("A / B", [digits(each.ratio.value) if each.pairs else "-" for each in pairs]),
            Column("95 %\ninterval", [_ends(each) for each in pairs]),
            Column("", [Text(each.verdict, _STYLES[each.verdict]) for each in pairs], "left"),
            Column("rounds", [str(each.pairs) for each in pairs]),
        ],
        headings=dict(enumerate(names)) if is_long else None,
    )
    return Group(table, Text(), Text(sentence(pairs, a, b, effort)))


def sentence(pairs: Sequence[Pair], a: str, b: str, effort: Effort) -> str:
    """The verdict of all places together; without one, the reason and the remedy."""
    found = verdict(pairs)
    if found == "slower":
        worst = max((each for each in pairs if each.verdict == "slower"), key=lambda each: each.ratio.value)
        return f"{a} is slower than {b}: at {worst.place} by {percent(worst.ratio.value - 1)}."
    if found == "not slower":
        limit = percent(2 * pairs[0].threshold)
        return f"{a} is not slower than {b}; a slowdown of {limit} would have been seen."
    untold = f"Whether {a} is slower than {b} can't be told"
    if not pairs:
        return f"{untold}: no place was measured on both. Measure longer: --minutes."
    worst = max((each for each in pairs if each.verdict == "unknown"), key=lambda each: each.rounds_wanted or math.inf)
    where = f"at {worst.place}: " if len(pairs) > 1 else ""
    return f"{untold}: {where}{_reason(worst, a, b)}. {_way_out(worst, effort)}"


def _reason(pair: Pair, a: str, b: str) -> str:
    beyond = [name for name, relation in zip((a, b), pair.relations, strict=True) if relation != "="]
    if beyond:
        return f"the value of {' and '.join(beyond)} lies beyond the tasks measured"
    if pair.pairs < FEWEST_PAIRS:
        had = f"{pair.pairs} round{'s' * (pair.pairs != 1)}" if pair.pairs else "no round"
        return f"{had} can be compared, and {FEWEST_PAIRS} are needed"
    other = "no slowdown" if pair.ratio.low <= 1 else "one that does not count"
    limit = percent(2 * pair.threshold)
    return f"the interval, {_ends(pair)}, holds a slowdown of {limit} as well as {other}"


def _way_out(pair: Pair, effort: Effort) -> str:
    """The watch begins anew, so its rounds so far only tell its pace."""
    if effort.interrupted:
        return "It was interrupted: let it go on to its end."
    if pair.rounds_wanted is None:
        return f"Measure longer (--minutes {_minutes(2 * effort.most_seconds)}), or another case."
    if pair.rounds_wanted > _IN_VAIN:
        return f"More rounds will hardly tell: try {_QUIETER}, or a larger --fail-if-slower."
    times = pair.rounds_wanted / max(pair.pairs, 1)
    words = []
    if (seconds := times * effort.seconds) > effort.most_seconds:
        words.append(f"--minutes {_minutes(seconds)}")
    if effort.seconds < effort.most_seconds:  # it was rounds that ended it
        words.append(f"--rounds {math.ceil(times * effort.most_rounds)}")
    elif pair.rounds_wanted > effort.most_rounds:
        words.append(f"--rounds {pair.rounds_wanted}")
    return f"About {pair.rounds_wanted} rounds may tell: {' '.join(words)}; or {_QUIETER}."


def _minutes(seconds: float) -> int:
    return math.ceil(seconds / 60)


def _ends(pair: Pair) -> str:
    if not pair.pairs:
        return "-"
    return f"{digits(pair.ratio.low)} – {digits(pair.ratio.high)}" if pair.ratio.is_told else "too few rounds"
