"""What a METG table, or curves, mean for a reader, in one sentence."""

from collections.abc import Iterator, Sequence
from itertools import dropwhile

from tefflab.analysis.rows import Row
from tefflab.analysis.statistics import Interval
from tefflab.benchmarks.task_graph.measured import Measured
from tefflab.carried import TYPED
from tefflab.output.caveats import MUCH_NOISE
from tefflab.output.last_words import of_store
from tefflab.output.quantities import digits, duration, percent


def metg_sentence(case: Measured) -> str:
    """The best system beside the median of all systems of which enough is known: the spread between which a choice of
    system decides. There is no ratio where one of their intervals is open."""
    measured = [(row, row.value) for row in case.rows if row.value]
    if not measured:
        return "No system has a value yet."
    crossed = [(row, value) for row, value in measured if value.relation == "="]
    if not crossed:
        return f"No system was seen to go from less than {percent(case.threshold)} efficiency to more."
    known = [(row, value) for row, value in crossed if _is_closed(value)]
    unsure = [row.id for row, value in measured if not (_is_closed(value) if value.relation == "=" else value.is_told)]
    if not known:
        return f"Too little is known yet of {_named(unsure, 'systems')} to say how small a task may be."
    doubt = f"; too little is known yet of {_named(unsure, 'systems')}" if unsure else ""
    row, best = known[0]
    busy = "half busy" if case.threshold == 0.5 else f"{percent(case.threshold)} busy"
    if len(known) == 1:
        return f"Give {row.id} tasks of at least {duration(best.value)}: with these it keeps the cores {busy}{doubt}."
    first = f"On this machine {row.id} keeps the cores {busy} with tasks of {duration(best.value)}"
    level = [other.id for other, _ in known[1:] if not _ratio(other, row).significant]
    first += f" (so may {_named(level, 'others')})" if level else ""
    other, middle = known[len(known) // 2]
    if other.id in level:
        return f"{first}{doubt}."
    which = f"{other.id}, the median of {len(known)}," if len(known) > 2 else other.id
    ratio = _ratio(other, row)
    least, most = digits(ratio.low), digits(ratio.high)
    times = f"{least} to {most} times as long" if least != most else f"{least} times as long"
    return f"{first}; {which} needs {duration(middle.value)}, {times}{doubt}."


def _ratio(row: Row, to: Row) -> Interval:
    assert row.samples is not None
    assert to.samples is not None
    return row.samples.over(to.samples)


def _is_closed(value: Interval) -> bool:
    """Whether both ends of its interval are known, and say anything."""
    return value.is_bounded and value.is_told


def curve_sentence(case: Measured) -> str:
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
        if unsure
        else ""
    )
    if not reached and unsure:
        return doubt
    if not reached:
        return f"No system was seen to reach {busy} of the cores' rate: measure longer tasks (--longest)."
    (best, least), (last, most) = reached[0], reached[-1]
    first = f"Of the sizes measured, tasks of {duration(least)} are the smallest that leave {busy} of the cores' rate"
    others = f"; on {last} they have to be of {duration(most)}" if len(reached) > 1 else ""
    return " ".join(filter(None, (f"{first}, on {best}{others}.", doubt)))


def curve_suggestions(case: Measured, store: str) -> Iterator[tuple[str, str]]:
    """Commands after curves, each with its effect, the most needed first."""
    points = [point for curve in case.curves for point in curve.points]
    if sum(each.noisy for each in points) > MUCH_NOISE * sum(each.runs for each in points):
        yield f"{TYPED} systems doctor", "what else runs on this machine"
    named = ",".join(dict.fromkeys(each for each, _ in (_reached(case)[:1] + _reached(case)[-1:])))
    systems = f" --systems {named}" if named else ""
    yield f"{TYPED} metg{systems}{of_store(store)}", "the size where they cross, with its interval"
    yield f"{TYPED} experiment", "what else can be measured and drawn"


def _reached(case: Measured) -> list[tuple[str, float]]:
    """The systems that reach the threshold, each with the smallest measured granularity that does so with its whole
    interval; the smallest first. A system is left out if longer tasks contradict that."""
    found = []
    for curve in case.curves:
        points = sorted(curve.points, key=lambda each: each.granularity.value)
        enough = list(dropwhile(lambda each: each.efficiency.low < case.threshold, points))
        if enough and min(each.efficiency.value for each in enough) >= case.threshold:
            found.append((curve.variant.id, enough[0].granularity.value))
    return sorted(found, key=lambda each: each[1])


def _named(ids: Sequence[str], several: str) -> str:
    return ids[0] if len(ids) == 1 else f"{len(ids)} {several}"
