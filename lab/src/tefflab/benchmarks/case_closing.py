"""The last words after the tables of a kind whose programs list their cases."""

from collections import Counter
from collections.abc import Iterator, Sequence

from tefflab.analysis.results import NO_TURN, CaseRow
from tefflab.carried import TYPED
from tefflab.output.caveats import MUCH_NOISE

_WON = ("first", "level")


def sentence(groups: Sequence[Sequence[CaseRow]], lesson: str) -> str:
    """The systems that are first or level most often, over cases with a known order of several. Then the meaning of
    their numbers, in the kind's words."""
    wins, known = _wins(groups)
    meaning = f"{lesson[0].upper()}{lesson[1:]}."
    if not any(row.value for rows in groups for row in rows):
        return f"No system has a value yet. {meaning}"
    if not wins:
        several = any(len(_ranked(rows)) > 1 for rows in groups)
        return f"Too little is known yet to say who is first. {meaning}" if several else meaning
    most = max(wins.values())
    best = [id_ for id_, count in wins.items() if count == most]
    who = f"{best[0]} is" if len(best) == 1 else f"{' and '.join(best)} are each"
    return f"{who} first or level in {most} of {known} place{'s' * (known != 1)}; {lesson}."


def suggestions(groups: Sequence[Sequence[CaseRow]], again: str, kept: str) -> Iterator[tuple[str, str]]:
    """`again` is the command that went before, without options; `kept` names its store, as an option."""
    rows = [row for own in groups for row in own]
    if max((row.noisy_share for row in rows), default=0.0) > MUCH_NOISE:
        yield f"{TYPED} doctor", "what else runs on this machine"
    if any(row.note == NO_TURN for row in rows):
        yield f"{again} --resume --minutes 15{kept}", "measures who had no turn"
    elif any(row.value and (row.verdict == "unknown" or not row.is_told) for row in rows):
        yield f"{again} --resume --minutes 15{kept}", "narrows the intervals"
    elif not any(row.value for row in rows) or any(row.rounds and not row.value for row in rows):
        yield f"{again} --resume{kept}", "tries again who failed"
    if pair := _pair(groups):
        yield f"{TYPED} compare {' '.join(pair)}{kept}", "their ratios with their intervals"
    yield f"{TYPED} experiment", "what else can be measured and drawn"
    yield f"{TYPED} systems", "who else could be measured"


def _pair(groups: Sequence[Sequence[CaseRow]]) -> tuple[str, str] | None:
    """The system that is first most often, and the second of a case in which it is first."""
    wins, _ = _wins(groups)
    for best, _count in wins.most_common(1):
        for rows in groups:
            ids = [row.variant.id for row in _ranked(rows)]
            if best in ids and len(ids) > 1:
                return best, next(each for each in ids if each != best)
    return None


def _wins(groups: Sequence[Sequence[CaseRow]]) -> tuple[Counter[str], int]:
    """How often each is first or level, and in how many cases that is known of more than one."""
    wins: Counter[str] = Counter()
    known = 0
    for rows in groups:
        ranked = [row for row in _ranked(rows) if row.is_told and row.verdict != "unknown"]
        if len(ranked) > 1:
            known += 1
            wins.update(row.variant.id for row in ranked if row.verdict in _WON)
    return wins, known


def _ranked(rows: Sequence[CaseRow]) -> list[CaseRow]:
    """The competing rows, the quickest first."""
    return [row for row in rows if row.value and row.verdict != "floor"]
