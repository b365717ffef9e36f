"""The last words after a METG table: its meaning for the reader in one sentence, and the next command to try."""

from collections.abc import Callable, Iterator, Sequence
from itertools import dropwhile

from tefflab.analysis.results import ELSEWHERE, NO_TURN, MeasuredCase, MetgRow
from tefflab.analysis.statistics import Interval, MetgEstimate
from tefflab.benchmarks.task_graph.caveats import is_uncertain
from tefflab.benchmarks.task_graph.readings import noisy_runs, why_unknown
from tefflab.carried import TYPED
from tefflab.output.caveats import MUCH_NOISE
from tefflab.output.last_words import of_store
from tefflab.output.quantities import digits, duration, percent

Ratio = Callable[[str, str], Interval]  # METG of one system / METG of another, round by round, as `teff compare` has it


def sentence(case: MeasuredCase, ratio: Ratio) -> str:
    """The best system beside the median of all systems of which enough is known: the spread between which a choice of
    system decides. There is no ratio where one of their intervals is open."""
    if not any(row.metg for row in case.rows):
        return "No system has a value yet."
    if not (crossed := _crossed(case.rows)):
        return f"No system was seen to go from less than {percent(case.threshold)} efficiency to more."
    known = [(row, each) for row, each in crossed if _is_closed(each)]
    unsure = [row.variant.id for row in case.rows if row.metg and not _says_enough(row.metg)]
    if not known:
        return f"Too little is known yet of {_named(unsure, 'systems')} to say how small a task may be."
    doubt = f"; too little is known yet of {_named(unsure, 'systems')}" if unsure else ""
    row, best = known[0]
    busy = "half busy" if case.threshold == 0.5 else f"{percent(case.threshold)} busy"
    if len(known) == 1:
        give = f"Give {row.variant.id} tasks of at least {duration(best.value)}"
        return f"{give}: with these it keeps the cores {busy}{doubt}."
    first = f"On this machine {row.variant.id} keeps the cores {busy} with tasks of {duration(best.value)}"
    ratios = {other.variant.id: ratio(other.variant.id, row.variant.id) for other, _ in known[1:]}
    level = [id_ for id_, each in ratios.items() if not each.significant]
    first += f" (so may {_named(level, 'others')})" if level else ""
    other, middle = known[len(known) // 2]
    if other.variant.id in level:
        return f"{first}{doubt}."
    which = f"{other.variant.id}, the median of {len(known)}," if len(known) > 2 else other.variant.id
    times_as_long = ratios[other.variant.id]
    least, most = digits(times_as_long.low), digits(times_as_long.high)
    times = f"{least} to {most} times as long" if least != most else f"{least} times as long"
    return f"{first}; {which} needs {duration(middle.value)}, {times}{doubt}."


def curve_sentence(case: MeasuredCase) -> str:
    """The smallest measured size from which on tasks keep the cores busy enough: on the first system and on the
    last."""
    busy = "half" if case.threshold == 0.5 else percent(case.threshold)
    reached = _reached(case)
    seen = [
        each.variant.id for each in case.curves if any(one.efficiency.value >= case.threshold for one in each.points)
    ]
    unsure = [each for each in seen if each not in dict(reached)]
    doubt = (
        f"Too little is known yet of {_named(unsure, 'systems')} to say which tasks leave {busy} of the cores' rate."
    )
    if not reached and unsure:
        return doubt
    if not reached:
        return f"No system was seen to reach {busy} of the cores' rate: measure longer tasks (--longest)."
    (best, least), (last, most) = reached[0], reached[-1]
    first = f"Of the sizes measured, tasks of {duration(least)} are the smallest that leave {busy} of the cores' rate"
    others = f"; on {last} they have to be of {duration(most)}" if len(reached) > 1 else ""
    return f"{first}, on {best}{others}.{f' {doubt}' if unsure else ''}"


def curve_suggestions(case: MeasuredCase, store: str) -> Iterator[tuple[str, str]]:
    """As `suggestions`, after curves."""
    kept = of_store(store)
    noisy, runs = noisy_runs(case)
    if runs and noisy / runs > MUCH_NOISE:
        yield f"{TYPED} doctor", "what else runs on this machine"
    named = ",".join(dict.fromkeys(each for each, _ in (_reached(case)[:1] + _reached(case)[-1:])))
    yield f"{TYPED} metg{f' --systems {named}' if named else ''}{kept}", "the size where they cross, with its interval"
    yield f"{TYPED} experiment", "what else can be measured and drawn"


def _reached(case: MeasuredCase) -> list[tuple[str, float]]:
    """The systems that reach the threshold, each with the smallest measured granularity that does so with its whole
    interval; the smallest first. A system is left out if longer tasks contradict that."""
    found = []
    for curve in case.curves:
        points = sorted(curve.points, key=lambda each: each.granularity.value)
        enough = list(dropwhile(lambda each: each.efficiency.low < case.threshold, points))
        if enough and min(each.efficiency.value for each in enough) >= case.threshold:
            found.append((curve.variant.id, enough[0].granularity.value))
    return sorted(found, key=lambda each: each[1])


def suggestions(case: MeasuredCase, again: str, store: str) -> Iterator[tuple[str, str]]:
    """Commands, each with its effect, the most needed first."""
    noisy, runs = noisy_runs(case)
    kept = of_store(store)
    if (runs and noisy / runs > MUCH_NOISE) or any(why_unknown(row) for row in case.rows):
        yield f"{TYPED} doctor", "what else runs on this machine"
    if any(row.note in (NO_TURN, ELSEWHERE) for row in case.rows):
        yield f"{again} --resume --minutes {max(case.minutes or 0, 5)}{kept}", "measures systems without a turn"
    elif any(is_uncertain(row) for row in case.rows) or not case.rows:
        yield f"{again} --resume --minutes 15{kept}", "narrows the intervals"
    elif any(row.metg is None for row in case.rows):
        yield f"{again} --resume{kept}", "tries failed systems again"
    known = _crossed(case.rows)
    if len(known) > 1:
        best, other = known[0][0].variant.id, known[len(known) // 2][0].variant.id
        yield f"{TYPED} compare {other} {best}{kept}", "their ratio with its interval"
        yield f"{TYPED} sweep --systems {best},{other}", "their whole curves"
    yield f"{TYPED} experiment", "what else can be measured and drawn"
    yield f"{TYPED} systems", "lists further systems to measure"


def _crossed(rows: Sequence[MetgRow]) -> list[tuple[MetgRow, MetgEstimate]]:
    return [(row, row.metg) for row in rows if row.metg and row.metg.relation == "="]


def _named(ids: Sequence[str], several: str) -> str:
    return ids[0] if len(ids) == 1 else f"{len(ids)} {several}"


def _says_enough(estimate: MetgEstimate) -> bool:
    """Of a bound, that it is told."""
    return _is_closed(estimate) if estimate.relation == "=" else estimate.is_told


def _is_closed(estimate: MetgEstimate) -> bool:
    """Whether both ends of its interval are known, and say anything."""
    return estimate.is_bounded and estimate.is_told
