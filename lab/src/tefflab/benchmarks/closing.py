"""The last words after the tables name the first system, the meaning for a program, and the commands to try next."""

from collections import Counter
from collections.abc import Iterator, Sequence

from tefflab.analysis.rows import ELSEWHERE, NO_TURN, Row
from tefflab.analysis.statistics import LEAST_ROUNDS
from tefflab.carried import TYPED
from tefflab.output.caveats import MUCH_NOISE
from tefflab.output.last_words import of_store

_WON = ("first", "level")
_MINUTES = 15
_TRIED = 2 * LEAST_ROUNDS  # rounds after which it is not rounds that an interval lacks which says nothing


def sentence(groups: Sequence[Sequence[Row]], lesson: str) -> str:
    """The systems that are first or level most often, and the meaning of the numbers, in the kind's words."""
    wins, known = _wins(groups)
    meaning = f"{lesson[0].upper()}{lesson[1:]}."
    if not any(row.value for rows in groups for row in rows):
        return f"No system has a value yet. {meaning}"
    if not wins:
        several = any(len(_ranked(rows)) > 1 for rows in groups)
        return f"Too little is known yet to name the first. {meaning}" if several else meaning
    most = max(wins.values())
    best = [id_ for id_, count in wins.items() if count == most]
    who = f"{best[0]} is" if len(best) == 1 else f"{' and '.join(best)} are each"
    return f"{who} first or level in {most} of {known} place{'s' * (known != 1)}; {lesson}."


def suggestions(
    groups: Sequence[Sequence[Row]], again: str, store: str, minutes: int | None = None
) -> Iterator[tuple[str, str]]:
    """Commands, each with its effect, the most needed first. `again` is the command that went before, without options.
    `minutes`: that may make all known, where that is told."""
    rows = [row for own in groups for row in own]
    resume, kept = f"{TYPED} {again} --resume", of_store(store)
    if any(map(is_vague, rows)) or max((row.noisy_share for row in rows), default=0.0) > MUCH_NOISE:
        yield f"{TYPED} systems doctor", "what else runs on this machine"
    if any(row.note in (NO_TURN, ELSEWHERE) for row in rows):
        yield f"{resume} --minutes {minutes or _MINUTES}{kept}", "measures systems without a turn"
    elif any(row.value and (row.verdict == "unknown" or not row.is_told) for row in rows):
        yield f"{resume} --minutes {minutes or _MINUTES}{kept}", "narrows the intervals"
    elif not any(row.value for row in rows) or any(row.rounds and not row.value for row in rows):
        yield f"{resume}{kept}", "tries failed systems again"
    if pair := _pair(groups):
        where = [] if store == "default" else [store]
        yield f"{TYPED} compare {' '.join([*pair, *where])}", "their ratios with their intervals"
    yield f"{TYPED} experiment", "what else can be measured and drawn"
    yield f"{TYPED} systems", "lists further systems to measure"


def is_vague(row: Row) -> bool:
    """Whether its interval says nothing after so many rounds that a few more will not help."""
    return row.value is not None and not row.value.is_told and row.rounds > _TRIED


def _pair(groups: Sequence[Sequence[Row]]) -> tuple[str, str] | None:
    """The system that is first most often, and the second of a case in which it is first."""
    wins, _ = _wins(groups)
    best = max(wins, key=lambda id_: wins[id_], default="")
    ranked = ([row.id for row in _ranked(rows)] for rows in groups)
    return next(((best, other) for ids in ranked if best in ids for other in ids if other != best), None)


def _wins(groups: Sequence[Sequence[Row]]) -> tuple[Counter[str], int]:
    """How often each is first or level, and in how many cases that is known of more than one."""
    wins: Counter[str] = Counter()
    known = 0
    for rows in groups:
        ranked = [row for row in _ranked(rows) if row.is_told and row.verdict != "unknown"]
        if len(ranked) > 1:
            known += 1
            wins.update(row.id for row in ranked if row.verdict in _WON)
    return wins, known


def _ranked(rows: Sequence[Row]) -> list[Row]:
    """The competing rows, the quickest first."""
    return [row for row in rows if row.value and row.competes]
