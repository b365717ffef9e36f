"""The caveats of a case, for reports; `remarks.py` sums them up."""

import math
from collections.abc import Callable, Sequence

from tefflab.analysis.results import Curve, MeasuredCase, MetgRow
from tefflab.analysis.statistics import FEWEST_ROUNDS
from tefflab.benchmarks.task_graph.readings import absent, heading_of, metg_name, why_unknown
from tefflab.benchmarks.task_graph.shape import STEPS
from tefflab.carried import TYPED
from tefflab.output import quantities
from tefflab.output.caveats import MUCH_NOISE, Caveat

WANTED_HALF_WIDTH = 0.05  # of an interval: rounds are repeated until it is reached
_ALL = 0.98  # share of the runs at one distance of the cores above which the other distances are not named
_CEILINGS_APART = 0.1  # between the ceilings of one sitting's systems


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
