"""Everything that a sitting says about one case while the cores were so far apart; the tables of METG and of curves,
their notes, and what they mean in one sentence.

Notes say what a reader has to know before believing a row, the most important first.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, dropwhile

from tefflab.analysis.comparison import compare
from tefflab.analysis.curves import Curve, CurvePoint
from tefflab.analysis.distance import Distance
from tefflab.analysis.rows import BUSY, ELSEWHERE, NO_TURN, Row
from tefflab.analysis.statistics import FEWEST_ROUNDS, Interval
from tefflab.benchmarks.closing import is_vague
from tefflab.benchmarks.graphs import GraphCase
from tefflab.benchmarks.task_graph.plan import STEPS
from tefflab.output import quantities
from tefflab.output.quantities import digits, doubtful, duration, interval_text, percent, rate
from tefflab.output.sections import Section, notes_of
from tefflab.output.table import Column

OVERHEAD, CEILING = "overhead", "ceiling"  # quantities of rows beside a METG
_ROUGH = 2.0  # METG(50 %) is about twice the overhead: one that may be twice as long may be METG itself
_NOTHING_KNOWN = 10.0  # an efficiency whose interval reaches this: few rounds, which differ ever so much
_ALL = 0.98  # share of the runs at one distance of the cores above which the other distances are not named
_CEILINGS_APART = 1.1  # a factor between the ceilings of one sitting's systems
_HEADINGS = {NO_TURN: "no turn", ELSEWHERE: "not measured", BUSY: "too busy"}
_FAILED = "failed"  # for any other reason


@dataclass(frozen=True)
class Measured:
    case: GraphCase
    threshold: float
    rows: Sequence[Row]  # METG, the smallest first; where only curves were measured, variants without one, and why
    curves: Sequence[Curve]
    beside: Mapping[tuple[str, str], Row] = field(default_factory=dict)  # of METG, by variant's id and quantity
    where: Distance | None = None  # of the cores, if it is known
    others: Sequence[float] = ()  # round trips at which it was measured, too [s]
    minutes: int | None = None  # that variants without a turn need, about; None if there are none, or it is unknown

    @property
    def name(self) -> str:
        """`stencil_1d, cores 52 ns apart`; the case's alone where the distance is not known."""
        return ", ".join([self.case.name, *([apart(self.where.round_trip)] if self.where else [])])

    @property
    def on(self) -> str:
        """` on simulated cori`, for a title; empty if it was measured."""
        clusters = (each.variant.cluster for some in (self.rows, self.curves) for each in some)
        return next((f" on {each}" for each in clusters if each), "")

    @property
    def rate_unit(self) -> str:
        """Of the curves."""
        return self.curves[0].rate_unit if self.curves else "FLOP/s"

    @property
    def ceiling(self) -> Interval | None:
        """The median of the ceilings beside the systems, from their lowest end to their highest; None without any. If
        some systems use the cores' ceiling, it is that one."""
        of_cores = [curve for curve in self.curves if not curve.variant.ceiling] or self.curves
        known = [curve.ceiling for curve in of_cores if curve.ceiling]
        if not known:
            return None
        middle = sorted(each.value for each in known)[(len(known) - 1) // 2]
        return Interval(middle, min(each.low for each in known), max(each.high for each in known))

    def overhead(self, row: Row) -> Row | None:
        """Of a METG row, where empty tasks were measured."""
        return self.beside.get((row.id, OVERHEAD))

    def mean(self, row: Row) -> Row | None:
        """Of the mean run, beside a METG row over nodes."""
        return self.beside.get((row.id, mean_name(self.threshold)))

    @property
    def curves_in_order(self) -> list[Curve]:
        """The smallest METG first. Without a table, by the smallest granularity measured that reaches the threshold."""

        def place(curve: Curve) -> tuple[int, float]:
            rank = next((rank for rank, row in enumerate(self.rows) if row.id == curve.variant.id), len(self.rows))
            enough = (each.granularity.value for each in curve.points if each.efficiency.value >= self.threshold)
            return rank, min(enough, default=math.inf)

        return sorted(self.curves, key=place)


def apart(round_trip: float) -> str:
    return f"cores {duration(round_trip)} apart"


def metg_name(threshold: float) -> str:
    """`METG(50 %)`."""
    return f"METG({percent(threshold)})"


def mean_name(threshold: float) -> str:
    """Of the quantity beside METG over nodes: of the mean run, where METG itself is of the usual one."""
    return f"{metg_name(threshold)} of the mean run"


def is_roughly_known(overhead: Row) -> bool:
    """Whether enough rounds tell it to a factor of two each way."""
    return overhead.rounds >= FEWEST_ROUNDS and overhead.value is not None and overhead.value.is_within(_ROUGH)


class WorkAxis:
    """The problem size: FLOPs or bytes of a task, or iterations where its kernel counts neither."""

    def __init__(self, curves: Sequence[Curve]) -> None:
        unit = curves[0].rate_unit.removesuffix("/s") if curves else "task"
        self._unit = "" if unit == "task" else unit
        self.title = "work of a task" if self._unit else "iterations of a task"

    def of(self, point: CurvePoint) -> float:
        return point.work_per_task if self._unit else float(point.iterations)

    def tick(self, value: float) -> str:
        """`1 kFLOP`, or `1 k` of iterations."""
        return quantities.brief(quantities.rate(value, self._unit)).strip()


def value_text(row: Row) -> str:
    """`1.23 µs`, `> 1.00 ms`, `1.23 µs ?` where its interval says nothing, or why there is none: `no turn`."""
    if row.value is None:
        return _HEADINGS.get(row.note, _FAILED)
    return doubtful(quantities.value_text(row), is_known=row.is_told)


def ends_text(row: Row) -> str:
    """As `interval_text`; `unknown` where it is not more runs that are needed, and `-` without a value."""
    if row.value is None:
        return "-"
    return "unknown" if is_vague(row) else interval_text(row.value)


def metg_section(*cases: Measured) -> Section:
    """A row a system, case by case where there are several."""
    pairs = [(case, row) for case in cases for row in case.rows]
    rows = [row for _, row in pairs]
    ceilings = [case.beside.get((row.id, CEILING)) for case, row in pairs]
    name = metg_name(cases[0].threshold)
    columns = [
        Column("system", [row.id for row in rows], "left", colors=[row.variant.color for row in rows]),
        Column(name, [value_text(row) for row in rows]),
        Column("95 % interval", [ends_text(row) for row in rows]),
        *(means := _means(cases)),
        Column("overhead\nper task", [_overhead(case.overhead(row)) for case, row in pairs], priority=not means),
        Column("noisy\nruns", [quantities.noise_text(row) for row in rows], priority=2),
        Column("rounds", [str(row.rounds) if row.value else "-" for row in rows], priority=3),
        Column("ceiling", [quantities.value_text(row) for row in ceilings], priority=4),
        Column("title", [row.variant.title for row in rows], "left", priority=5),
        Column("version", [row.variant.version or "?" for row in rows], "left", priority=6),
    ]
    if len(cases) == 1:
        (case,) = cases
        return Section(f"{name}{case.on} – {case.name}", columns if rows else (), notes(case), case.case.question)
    headings = {sum(len(each.rows) for each in cases[:number]): case.case.name for number, case in enumerate(cases)}
    return Section(f"{name} of {len(cases)} cases{cases[0].on}", columns, notes_of(rows), headings=headings)


def _means(cases: Sequence[Measured]) -> list[Column]:
    """Over nodes METG of the mean run beside that of the usual one: a detour on one node delays all."""
    means = [case.mean(row) for case in cases for row in case.rows]
    texts = [doubtful(quantities.value_text(row), is_known=row.is_told) if row else "-" for row in means]
    meaning = "as in published figures; the other METG is of the usual run"
    ends = [interval_text(row.value) if row and row.value else "-" for row in means]
    return [Column("of the\nmean run", texts, meaning=meaning), Column("95 % interval", ends)] if any(means) else []


def _overhead(row: Row | None) -> str:
    """`553 ns`, `553 ns ?` where that is hardly known, or `-` where none was measured."""
    return doubtful(quantities.value_text(row), is_known=is_roughly_known(row)) if row else "-"


def curve_section(case: Measured) -> Section:
    """The points of every curve, a row each, by the rising size of the task."""
    size = WorkAxis(case.curves)
    points = [(curve, point) for curve in case.curves_in_order for point in curve.points]
    starts = accumulate((len(curve.points) for curve in case.curves_in_order), initial=0)
    headings = {start: curve.variant.id for start, curve in zip(starts, case.curves_in_order, strict=False)}
    columns = [
        Column(size.title, [size.tick(size.of(each)) for _, each in points], priority=2),
        Column("granularity", [duration(each.granularity.value) for _, each in points]),
        Column("efficiency", [percent(each.efficiency.value) for _, each in points]),
        Column("95 % interval", [_ends(each) for _, each in points]),
        Column("rate", [rate(each.rate.value, curve.rate_unit) for curve, each in points], priority=1),
        Column("iterations", [str(each.iterations) for _, each in points], priority=3),
        Column("runs", [str(each.runs) for _, each in points], priority=4),
    ]
    return Section(f"Efficiency{case.on} – {case.name}", columns, notes(case), case.case.question, headings)


def _ends(point: CurvePoint) -> str:
    if point.efficiency.high >= _NOTHING_KNOWN:
        return quantities.TOO_FEW
    low, high = percent(point.efficiency.low), percent(point.efficiency.high)
    return f"{low.removesuffix(' %')} – {high}"


def notes(case: Measured) -> list[str]:
    return [*notes_of(case.rows), *_ceilings(case), *_of_place(case), *_of_rows(case)]


def _ceilings(case: Measured) -> Iterator[str]:
    """A note for each ceiling that differs between systems; cores and an accelerator have their own ceilings."""
    ceilings: dict[tuple[str, str], list[float]] = {}
    for (_, quantity), row in case.beside.items():
        if quantity == CEILING and row.value:
            ceilings.setdefault((row.variant.ceiling, row.unit), []).append(row.value.value)
    for (_, unit), rates in ceilings.items():
        low, high = min(rates), max(rates)
        if high / low > _CEILINGS_APART:
            yield f"ceilings differ by x {digits(high / low, 2)}, from {rate(low, unit)} to {rate(high, unit)}"


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
    """One note on all systems of which something holds, each with its figure."""
    known, share = [(row, row.value) for row in case.rows if row.value], percent(case.threshold)
    rows = [row for row, _ in known]
    below, above = ([row.id for row in rows if row.relation == sign] for sign in "<>")
    told = [(row.id, row.relation, value) for row, value in known if value.is_told]
    beyond = [id_ for id_, sign, of in told if (of.low <= 0 and sign != "<") or (math.isinf(of.high) and sign != ">")]
    steps = [(row.id, row.facts.get("timesteps") or math.inf) for row in rows]
    short = [f"{id_} ({number:g})" for id_, number in steps if number < STEPS]
    high = [(each, [one.efficiency.value for one in each.points if one.efficiency.low > 1]) for each in case.curves]
    over = [f"{each.variant.id} ({percent(max(shares))})" for each, shares in high if shares]
    for heading, names, text in (
        ("<", below, f"even the smallest tasks measured reach {share}; the value lies below"),
        (">", above, f"no task measured, up to the largest, reaches {share}; the value lies above"),
        ("open interval", beyond, "it reaches beyond what was measured, and is not extrapolated"),
        (f"under {STEPS} timesteps", short, "start and end of the graph weigh more than in longer runs"),
        ("above the ceiling", over, "by more than the interval; the ceiling is too low. Measure it again"),
    ):
        if names:
            yield f"{heading}: {', '.join(names)}: {text}"
    if drifts := [drift for row in rows if (drift := row.facts.get("drift")) is not None]:
        is_known = f"known to ± {percent(max(drifts))}" if max(drifts) < 1 else "not known to a factor of two"
        yield (
            f"drift: the machine's mean speed over the sitting is {is_known}. It moves all rows alike, so it is no "
            "part of their intervals; add it to compare with another hour"
        )


def metg_sentence(case: Measured) -> str:
    """The best system beside the median of all systems whose intervals are known: the spread between which a choice of
    system decides."""
    measured = [(row, row.value) for row in case.rows if row.value and row.relation == "=" and row.is_told]
    known = [(row, value) for row, value in measured if value.is_bounded]
    if not known:
        return "Too little is known yet to say how small a task may be."
    (row, best), (other, middle) = known[0], known[len(known) // 2]
    busy = "half busy" if case.threshold == 0.5 else f"{percent(case.threshold)} busy"
    first = f"On this machine {row.id} keeps the cores {busy} with tasks of {duration(best.value)}"
    ratio = compare(other, row, one_sitting=True).ratio
    if not ratio.significant:
        return f"{first}, and so may {other.id}." if other is not row else f"{first}."
    which = f"{other.id}, the median of {len(known)}," if len(known) > 2 else other.id
    times = " to ".join(dict.fromkeys(map(digits, (ratio.low, ratio.high))))
    return f"{first}; {which} needs {duration(middle.value)}, {times} times as long."


def curve_sentence(case: Measured) -> str:
    """The smallest measured size from which on tasks keep the cores busy enough: on the first system and the last."""
    busy = "half" if case.threshold == 0.5 else percent(case.threshold)
    if not (reached := _reached(case)):
        return f"No system was seen to reach {busy} of the cores' rate for sure: measure longer tasks (--longest)."
    (best, least), (last, most) = reached[0], reached[-1]
    others = f"; on {last} they have to be of {duration(most)}" if len(reached) > 1 else ""
    return (
        f"Of the sizes measured, tasks of {duration(least)} are the smallest that leave {busy} of the cores' rate, on "
        f"{best}{others}."
    )


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
