"""The notes below a METG table: what a reader has to know before believing a row, the most important first."""

import math
from collections.abc import Callable, Iterator, Sequence

from tefflab.analysis.rows import BUSY, ELSEWHERE, NO_TURN, Row
from tefflab.analysis.statistics import FEWEST_ROUNDS, rounds_to_tell
from tefflab.benchmarks.closing import is_uncertain
from tefflab.benchmarks.task_graph.measured import CEILING, Measured, rounds_counted, why_unknown
from tefflab.benchmarks.task_graph.plan import STEPS
from tefflab.carried import TYPED
from tefflab.output.caveats import MUCH_NOISE
from tefflab.output.quantities import counted_minutes, digits, duration, percent, rate

WANTED = 0.05  # half-width of an interval: rounds are repeated until it is reached
_ALL = 0.98  # share of the runs at one distance of the cores above which the other distances are not named
_CEILINGS_APART = 1.1  # a factor between the ceilings of one sitting's systems
_NAMED = 6  # systems in a note of the terminal
_HEADINGS = {NO_TURN: "no turn", ELSEWHERE: "not measured", BUSY: "too busy"}


def heading_of(reason: str) -> str:
    """The word in the place of a value: `failed`, `no turn`."""
    return _HEADINGS.get(reason, "failed")


def notes(case: Measured) -> list[str]:
    return [*_missing(case), *_more_rounds(case.rows), *_noise(case), *_of_place(case), *_of_rows(case), *_drift(case)]


def _missing(case: Measured) -> Iterator[str]:
    """`2 failed: ID, ID: REASON` where that is one; the reasons of several stand at the end of the report."""
    reasons: dict[str, dict[str, list[str]]] = {}
    for row in case.rows:
        if not row.value:
            reasons.setdefault(heading_of(row.note), {}).setdefault(row.note, []).append(row.id)
    for heading, found in reasons.items():
        ids = [id_ for own in found.values() for id_ in own]
        why = next(iter(found)) if len(found) == 1 else "the report says why"
        if why == NO_TURN:
            why = f"about {counted_minutes(case.minutes)} more: --resume" if case.minutes else "go on with --resume"
        yield f"{len(ids)} {heading}: {_some(ids)}: {why}"


def _more_rounds(rows: Sequence[Row]) -> Iterator[str]:
    measured = [row for row in rows if row.value]
    vain = [row for row in measured if why_unknown(row)]
    wide = [row for row in measured if row not in vain and is_uncertain(row, WANTED)]
    untold = [row for row in wide if not row.is_told]
    if wide:
        what = "unknown" if len(untold) == len(wide) else f"wider than ± {100 * WANTED:g} %"
        of_them = f", {len(untold)} of them unknown" if 0 < len(untold) < len(wide) else ""
        lack = max((rounds_to_tell(rounds_counted(row)) for row in untold), default=0)
        more = f"; {lack} rounds more may tell" if lack else ""
        verb = "is" if len(wide) == 1 else "are"
        yield f"more minutes: {len(wide)} of {len(measured)} intervals {verb} {what}{of_them}{more}: {_some(wide)}"
    if vain:
        reasons = ", ".join(f"{row.id}: {why_unknown(row)}" for row in vain[:_NAMED])
        yield f"unknown: {reasons}; a quieter machine (`{TYPED} systems doctor`) will help more than further rounds"


def _noise(case: Measured) -> Iterator[str]:
    runs = sum(row.runs for row in case.rows)
    noisy = sum(round(row.runs * row.noisy_share) for row in case.rows)
    parts = [f"{percent(noisy / runs)} of the runs were noisy"] if runs and noisy / runs > MUCH_NOISE else []
    low, high, unit = _ceilings(case)
    if low and high / low > _CEILINGS_APART:
        parts.append(f"ceilings differ by x {digits(high / low, 2)}, from {rate(low, unit)} to {rate(high, unit)}")
    if parts:
        yield f"a quieter machine: {', '.join(parts)}"


def _ceilings(case: Measured) -> tuple[float, float, str]:
    """The ceiling that was measured most differently beside the systems: its lowest and highest rate, and their unit.
    The ceilings of cores and of an accelerator are two."""
    known: dict[str, list[Row]] = {}
    for (_, quantity), row in case.beside.items():
        if quantity == CEILING and row.value:
            known.setdefault(row.variant.ceiling, []).append(row)
    ends = [
        (min(values), max(values), rows[0].unit)
        for rows in known.values()
        for values in [[row.value.value for row in rows if row.value]]
    ]
    return max(ends, key=lambda each: each[1] / each[0], default=(0.0, 0.0, ""))


def _of_place(case: Measured) -> Iterator[str]:
    if (steps := case.case.steps) is not None:
        few = f"start and end weigh more than in runs of {STEPS}"
        yield f"-steps {steps}: {few if steps < STEPS else 'these are of runs of this length only'}"
    if case.others:
        trips = " and ".join(duration(each) for each in case.others)
        yield f"left out: runs with cores {trips} apart"
    if case.where and case.where.share <= _ALL:
        yield (
            f"cores moved: the host moved the cores. Only the {percent(case.where.share)} of the runs count here in "
            f"which a cache line took about {duration(case.where.round_trip)} from one core to its neighbour and back"
        )


def _of_rows(case: Measured) -> Iterator[str]:
    rows, share = case.rows, percent(case.threshold)
    yield from (f"note: {row.id}: {row.note}" for row in rows if row.value and row.note)
    yield from _on(
        rows, "<", lambda row: row.relation == "<", None,
        f"even the smallest tasks measured reach {share}; the value lies below",
    )  # fmt: skip
    yield from _on(
        rows, ">", lambda row: row.relation == ">", None,
        f"no task measured, up to the largest, reaches {share}; the value lies above",
    )  # fmt: skip
    yield from _on(
        rows, "open interval", _is_open, None, "it reaches beyond what was measured, and is not extrapolated"
    )
    yield from _on(
        rows, "few rounds", lambda row: rounds_counted(row) < FEWEST_ROUNDS and not why_unknown(row), None,
        f"fewer than {FEWEST_ROUNDS} launches say too little of the next, so there is no interval",
    )  # fmt: skip
    yield from _on(
        rows, f"under {STEPS} timesteps", lambda row: _steps(row) < STEPS, lambda row: f"{_steps(row):g}",
        "start and end of the graph weigh more than in longer runs",
    )  # fmt: skip
    yield from _on(
        rows, "noisy", lambda row: row.noisy_share > MUCH_NOISE, lambda row: percent(row.noisy_share),
        "many runs were noisy and had to be repeated",
    )  # fmt: skip
    over = {
        curve.variant.id: max(point.efficiency.value for point in curve.points if point.efficiency.low > 1)
        for curve in case.curves
        if any(point.efficiency.low > 1 for point in curve.points)
    }
    if over:
        names = ", ".join(f"{id_} ({percent(most)})" for id_, most in over.items())
        yield f"above the ceiling: {names}: by more than the interval; the ceiling is too low. Measure it again"


def _steps(row: Row) -> float:
    """Timesteps of the shortest run."""
    return row.facts.get("timesteps") or math.inf


def _is_open(row: Row) -> bool:
    if row.value is None or not row.value.is_told:
        return False
    below = row.value.low <= 0 and row.relation != "<"
    return below or (math.isinf(row.value.high) and row.relation != ">")


def _on(
    rows: Sequence[Row], heading: str, holds: Callable[[Row], bool], figure: Callable[[Row], str] | None, text: str
) -> Iterator[str]:
    """One note on all rows with a value of which `holds` is true, each with its figure; none where there are none."""
    names = [row.id + (f" ({figure(row)})" if figure else "") for row in rows if row.value and holds(row)]
    if names:
        yield f"{heading}: {', '.join(names)}: {text}"


def _drift(case: Measured) -> Iterator[str]:
    known = [drift for row in case.rows if row.value and (drift := row.facts.get("drift")) is not None]
    if known:
        is_known = f"known to ± {percent(max(known))}" if max(known) < 1 else "not known to a factor of two"
        yield (
            f"drift: the machine's mean speed over the sitting is {is_known}. It moves all rows alike, so it is no "
            "part of their intervals; add it to compare with another hour"
        )


def _some(rows: Sequence[Row | str]) -> str:
    ids = [row if isinstance(row, str) else row.id for row in rows]
    return ", ".join(ids[:_NAMED]) + (f" and {len(ids) - _NAMED} others" if len(ids) > _NAMED else "")
