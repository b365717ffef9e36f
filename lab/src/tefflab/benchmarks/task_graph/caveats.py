"""The caveats of a case: at length for reports, and as remarks for a reader of a METG table.

Remarks are the most important caveats with a remedy: at most four lines, none of them wrapped.
"""

import math
from collections.abc import Callable, Mapping, Sequence

from rich.cells import cell_len
from rich.text import Text

from tefflab.analysis.results import NO_TURN, Curve, MeasuredCase, MetgRow
from tefflab.analysis.statistics import FEWEST_ROUNDS, rounds_to_tell
from tefflab.benchmarks.task_graph.plan import STEPS
from tefflab.benchmarks.task_graph.readings import absent, heading_of, metg_name, noisy_runs, why_unknown
from tefflab.carried import TYPED
from tefflab.output import quantities
from tefflab.output.caveats import MUCH_NOISE, Caveat
from tefflab.output.last_words import LINES
from tefflab.output.quantities import counted_minutes, digits, duration, percent

WANTED_HALF_WIDTH = 0.05  # of an interval: rounds are repeated until it is reached
_ALL = 0.98  # share of the runs at one distance of the cores above which the other distances are not named
_CEILINGS_APART = 0.1  # between the ceilings of one sitting's systems
_TELLING = 25  # columns of a reason that say something of it


def caveats(case: MeasuredCase) -> list[Caveat]:
    """The caveats of a case, failures first."""
    rows = case.rows
    wanted = quantities.brief(quantities.percent(WANTED_HALF_WIDTH))
    name, share = metg_name(case.threshold), quantities.percent(case.threshold)
    found = [
        Caveat(
            heading_of(reason), f"{', '.join(each.id for each in those)}: {reason}", tuple(each.id for each in those)
        )
        for reason, those in absent(case).items()
    ]
    found += [
        Caveat("note", f"{row.variant.id}: {row.note}", (row.variant.id,)) for row in rows if row.metg and row.note
    ]
    found += _on(
        rows,
        "upper bound",
        lambda row: row.metg is not None and row.metg.relation == "<",
        f"even the smallest tasks measured reach {share}; {name} lies below the value given",
    )
    found += _on(
        rows,
        "lower bound",
        lambda row: row.metg is not None and row.metg.relation == ">",
        f"no task measured, up to the largest, reaches {share}; {name} lies above the value given",
    )
    found += _on(
        rows, "open interval", _is_open, "the interval reaches beyond what was measured; it is not extrapolated"
    )
    found += _on(
        rows,
        "too few runs",
        _is_unknown,
        "the interval would reach from next to nothing to no end; more rounds may close it",
    )
    found += _on(
        rows,
        "few rounds",
        lambda row: _is_of_few_rounds(row) and not why_unknown(row),
        f"fewer than {FEWEST_ROUNDS} launches say too little of the next, so there is no interval",
    )
    found += _on(
        rows,
        "unknown interval",
        lambda row: bool(why_unknown(row)),
        f"only rounds with calm runs near the crossing of {share} count, and where those differ much the interval "
        f"reaches beyond what was measured or over a factor of 100; a quieter machine (`{TYPED} doctor`) will help "
        "more than further rounds",
        why_unknown,
    )
    found += _on(
        rows,
        "wide interval",
        _is_wide,
        f"the interval is wider than the ± {wanted} wanted; more rounds would narrow it",
    )
    found += _on(
        rows,
        f"under {STEPS} timesteps",
        lambda row: row.metg is not None and row.timesteps < STEPS,
        "start and end of the graph weigh more than in longer runs",
        lambda row: f"{row.timesteps}",
    )
    found += _on(
        rows,
        "noisy",
        lambda row: row.noisy_share > MUCH_NOISE,
        "many runs were noisy and had to be repeated",
        lambda row: quantities.percent(row.noisy_share),
    )
    return found + _on_ceilings(rows, case.curves) + _on_distance(case) + _on_drift(rows)


def _on(
    rows: Sequence[MetgRow],
    heading: str,
    holds: Callable[[MetgRow], bool],
    text: str,
    figure: Callable[[MetgRow], str] | None = None,
) -> list[Caveat]:
    """One caveat on all rows of which `holds` is true, each with its figure; none where there are none."""
    kept = [row for row in rows if holds(row)]
    names = [row.variant.id + (f" ({figure(row)})" if figure else "") for row in kept]
    ids = tuple(row.variant.id for row in kept)
    return [Caveat(heading, f"{', '.join(names)}: {text}.", ids)] if kept else []


def is_uncertain(row: MetgRow) -> bool:
    """Whether more rounds are wanted: its interval is open, wide, or of too few rounds to be believed."""
    return _is_of_few_rounds(row) or _is_unknown(row) or bool(why_unknown(row)) or _is_open(row) or _is_wide(row)


def ceiling_spread(rows: Sequence[MetgRow]) -> float | None:
    """The factor between the ceilings of the sitting; None where they agree."""
    ends = _ceiling_ends(rows)
    spread = ends[1][0] / ends[0][0] if ends else 1.0
    return spread if spread > 1 + _CEILINGS_APART else None


def _ceiling_ends(rows: Sequence[MetgRow]) -> tuple[tuple[float, str], tuple[float, str]] | None:
    """The ceiling that was measured most differently beside the systems: its lowest and highest rate with their units.
    The ceilings of cores and of an accelerator are two."""
    known: dict[str, list[tuple[float, str]]] = {}
    for row in rows:
        if row.ceiling:
            known.setdefault(row.variant.ceiling, []).append((row.ceiling.value, row.ceiling_unit))
    ends = [(min(each), max(each)) for each in known.values()]
    return max(ends, key=lambda each: each[1][0] / each[0][0], default=None)


def _is_of_few_rounds(row: MetgRow) -> bool:
    return row.metg is not None and row.metg.rounds < FEWEST_ROUNDS


def _is_open(row: MetgRow) -> bool:
    if row.metg is None or not row.metg.is_told:
        return False
    below = row.metg.low <= 0 and row.metg.relation != "<"
    return below or (math.isinf(row.metg.high) and row.metg.relation != ">")


def _is_unknown(row: MetgRow) -> bool:
    """Of neither too few rounds nor so many that it lacks something else: both are caveats of their own."""
    return row.metg is not None and not (row.metg.is_told or _is_of_few_rounds(row) or why_unknown(row))


def _is_wide(row: MetgRow) -> bool:
    """Of a measured crossing with a closed interval and rounds enough: the other kinds have remarks of their own."""
    if row.metg is None or row.metg.relation != "=" or not row.metg.is_told or _is_open(row):
        return False
    return row.metg.relative_half_width > WANTED_HALF_WIDTH * 1.005  # what would be written as more than 5.0 %


def _on_ceilings(rows: Sequence[MetgRow], curves: Sequence[Curve]) -> list[Caveat]:
    found = []
    over = {
        curve.variant: max(point.efficiency.value for point in curve.points if point.efficiency.low > 1)
        for curve in curves
        if any(point.efficiency.low > 1 for point in curve.points)
    }
    if over:
        names = ", ".join(f"{who.id} ({quantities.percent(most)})" for who, most in over.items())
        text = f"{names}: more than the ceiling, by more than the interval; the ceiling is too low. Measure it again."
        found.append(Caveat("above the ceiling", text, tuple(who.id for who in over)))
    if ceiling_spread(rows) and (ends := _ceiling_ends(rows)):
        low, high = (quantities.rate(*end) for end in ends)
        text = f"The ceilings beside the systems lie between {low} and {high}: the machine changed while they ran."
        found.append(Caveat("unsteady ceiling", text))
    return found


def _on_distance(case: MeasuredCase) -> list[Caveat]:
    if case.round_trip is None or case.share > _ALL:
        return []
    trip, share = quantities.duration(case.round_trip), quantities.percent(case.share)
    text = (
        f"The host moved the cores during the sitting. Only the {share} of the runs count here in which a cache line "
        f"took about {trip} from one core to its neighbour and back."
    )
    return [Caveat("cores moved", text)]


def _on_drift(rows: Sequence[MetgRow]) -> list[Caveat]:
    known = [row.metg.drift for row in rows if row.metg and row.metg.drift is not None]
    if not known:
        return []
    is_known = f"known to ± {quantities.percent(max(known))}" if max(known) < 1 else "not known to a factor of two"
    text = (
        f"The machine's mean speed over the sitting is {is_known}. "
        "It moves all rows alike, so it is no part of their intervals; add it to compare with another hour."
    )
    return [Caveat("drift", text)]


def remarks(case: MeasuredCase, width: int) -> list[Text]:
    """No line is wider than `width`, down to 60 columns. Where there are too many, the report has the last."""
    found = [*_missing(case, width), *_uncertain(case.rows, width), *_unknown(case.rows, width)]
    found += [*_noisy(case), *_elsewhere(case)]
    return [Text.assemble((heading, "bold"), f": {text}") for heading, text in found[:LINES]]


def elsewhere(case: MeasuredCase) -> tuple[str, str] | None:
    """The other distances of the cores at which it was measured: those runs do not count among the rounds."""
    others = [duration(each.round_trip) for each in case.others if each.round_trip is not None]
    return ("left out", f"runs with cores {' and '.join(others)} apart: see the report") if others else None


def own_steps(case: MeasuredCase, what: str) -> tuple[str, str] | None:
    """The effect of a chosen number of timesteps on the measured `what`."""
    if not case.steps:
        return None
    short = f"start and end weigh more than in runs of {STEPS}"
    return f"-steps {case.steps}", short if case.steps < STEPS else f"{what} of runs of this length only"


def _missing(case: MeasuredCase, width: int) -> list[tuple[str, str]]:
    """The missing systems, as far as they fit in the line, and the reason if it is one and fits."""
    found: dict[str, dict[str, list[str]]] = {}
    for reason, those in absent(case).items():
        found.setdefault(heading_of(reason), {})[reason] = [each.id for each in those]
    return [_line(heading, reasons, case.minutes, width) for heading, reasons in found.items()]


def _line(heading: str, reasons: Mapping[str, Sequence[str]], minutes: int | None, width: int) -> tuple[str, str]:
    ids = [id_ for those in reasons.values() for id_ in those]
    (reason, _), *others = reasons.items()
    heading = f"{len(ids)} {heading}"
    if reason == NO_TURN:
        end = f"; about {counted_minutes(minutes)} more: --resume" if minutes else "; go on with --resume"
    elif not others and (room := width - cell_len(f"{heading}: {', '.join(ids)}: ")) >= min(_TELLING, cell_len(reason)):
        why = Text(reason)
        why.truncate(room, overflow="ellipsis")
        return heading, f"{', '.join(ids)}: {why.plain}"
    else:
        end = "; the report says why"
    shown = list(ids)
    while shown and cell_len(f"{heading}: {_listed(shown, ids)}{end}") > width:
        shown.pop()
    return heading, f"{_listed(shown, ids)}{end}" if shown else end.removeprefix("; ")


def _listed(shown: Sequence[str], ids: Sequence[str]) -> str:
    return ", ".join(shown) + (" and others" if len(shown) < len(ids) else "")


def _uncertain(rows: Sequence[MetgRow], width: int) -> list[tuple[str, str]]:
    """How many, and where it fits how many rounds an interval lacks that is unknown."""
    measured = [row for row in rows if row.metg]
    wide = [row for row in measured if is_uncertain(row) and not why_unknown(row)]
    if not wide:
        return []
    untold = [rounds_to_tell(row.metg.rounds) for row in wide if row.metg and not row.metg.is_told]
    of_them = f", {len(untold)} of them unknown" if 0 < len(untold) < len(wide) else ""
    what = "unknown" if len(untold) == len(wide) else "wider than ± 5 %"
    verb = "is" if len(wide) == 1 else "are"
    text = f"{len(wide)} of {len(measured)} intervals {verb} {what}{of_them}"
    more = f"; {max(untold)} rounds more may tell" if untold else ""
    fits = cell_len(f"more minutes: {text}{more}") <= width
    return [("more minutes", f"{text}{more}" if fits else text)]


def _unknown(rows: Sequence[MetgRow], width: int) -> list[tuple[str, str]]:
    """The systems with an interval that more rounds will hardly narrow, with the reason, as far as they fit."""
    found = [f"{row.variant.id}: {why}" for row in rows if (why := why_unknown(row))]
    if not found:
        return []
    shown = list(found)
    while shown and cell_len(f"unknown: {_listed(shown, found)}") > width:
        shown.pop()
    return [("unknown", _listed(shown, found) if shown else f"{len(found)} intervals; the report says why")]


def _noisy(case: MeasuredCase) -> list[tuple[str, str]]:
    noisy, runs = noisy_runs(case)
    parts = [f"{percent(noisy / runs)} of the runs were noisy"] if runs and noisy / runs > MUCH_NOISE else []
    if spread := ceiling_spread(case.rows):
        parts.append(f"ceilings differ by x {digits(spread, 2)}")
    return [("a quieter machine", ", ".join(parts))] if parts else []


def _elsewhere(case: MeasuredCase) -> list[tuple[str, str]]:
    """One more remark in one line: a warning for comparisons, or a hint to the report."""
    if own := own_steps(case, "METG"):
        return [own]
    if others := elsewhere(case):
        return [others]
    if any(row.metg and row.metg.relation != "=" for row in case.rows):
        return [("< and >", "the value lies beyond the smallest or the largest task measured")]
    noted = [row.variant.id for row in case.rows if row.metg and row.note]
    return [("in the report", f"a note on {noted[0]}{' and others' if noted[1:] else ''}")] if noted else []
