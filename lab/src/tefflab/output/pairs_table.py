"""The table of `teff watch`, and what it says in a sentence."""

from collections.abc import Sequence

from rich.console import Group
from rich.text import Text

from tefflab.analysis.pairs import FEWEST_PAIRS, Pair, verdict
from tefflab.output.quantities import digits, duration, percent
from tefflab.output.table import Column, Table

_LONG = 24  # of the name of a place: beyond it there is no room for it beside the numbers
_STYLES = {"slower": "red", "not slower": "", "unknown": "yellow"}


def to_table(pairs: Sequence[Pair], quantity: str, a: str, b: str) -> Group:
    """A row a place, then the verdict on all of them."""
    names = [each.place for each in pairs]
    is_long = max(map(len, names), default=0) > _LONG
    table = Table(
        [
            Column(quantity, ["" if is_long else name for name in names], "left"),
            Column(f"A\n{a}", [duration(each.a.value) for each in pairs]),
            Column(f"B\n{b}", [duration(each.b.value) for each in pairs]),
            Column("A / B", [digits(each.ratio.value) if each.pairs else "-" for each in pairs]),
            Column("95 %\ninterval", [_ends(each) for each in pairs]),
            Column("", [Text(each.verdict, _STYLES[each.verdict]) for each in pairs], "left"),
            Column("rounds", [str(each.pairs) for each in pairs]),
        ],
        headings=dict(enumerate(names)) if is_long else None,
    )
    return Group(table, Text(), Text(sentence(pairs, a, b)))


def sentence(pairs: Sequence[Pair], a: str, b: str) -> str:
    """What all places together say."""
    found = verdict(pairs)
    if found == "slower":
        worst = max((each for each in pairs if each.verdict == "slower"), key=lambda each: each.ratio.value)
        return f"{a} is slower than {b}: at {worst.place} by {percent(worst.ratio.value - 1)}."
    if not pairs:
        return f"Whether {a} is slower than {b} can't be told: no place was measured on both."
    limit = percent(2 * pairs[0].threshold)
    if found == "not slower":
        return f"{a} is not slower than {b}; a slowdown of {limit} would have been seen."
    return (
        f"Whether {a} is slower than {b} can't be told: a slowdown of {limit} is not excluded, or there are fewer than "
        f"{FEWEST_PAIRS} rounds. Measure longer (--minutes, --rounds) or on a quieter machine (`./teff doctor`)."
    )


def _ends(pair: Pair) -> str:
    if not pair.pairs:
        return "-"
    return f"{digits(pair.ratio.low)} – {digits(pair.ratio.high)}" if pair.ratio.is_told else "too few rounds"
