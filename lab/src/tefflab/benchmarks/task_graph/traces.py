"""The lines of the pictures: which of a case's curves are labelled by name, and where each line runs.

Pictures and report share them. A rate is drawn by the same line as an efficiency: rate = efficiency x ceiling. The work
of a task is in proportion to its time at the ceiling's rate.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from tefflab.analysis.curves import Curve, CurvePoint, TracePoint
from tefflab.benchmarks.task_graph.measured import Measured, WorkAxis
from tefflab.systems.naming import owner_of

NAMED = 8  # curves that are labelled by name by default; the others are grey
_VAGUE = 1.3  # a band whose ends differ by more is not drawn

Place = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Line:
    """A curve in the axes of a picture."""

    curve: Curve
    dots: tuple[tuple[CurvePoint, Place], ...]
    through: tuple[Place, ...]  # all of it, from left to right
    fitted: tuple[Place, ...]  # the part that METG is read from
    beyond: tuple[tuple[Place, ...], ...]  # the other parts, which begin or end with the fitted one
    band: tuple[Place, ...]  # around the fitted part, as a closed outline; empty if too wide to be drawn
    anchor: Place | None  # its crossing with the threshold, else the end or point that is nearest to it


def named(case: Measured) -> list[str]:
    """The ids of the curves that are labelled by name, in the order of the table: the best of each system first."""
    ids = [curve.variant.id for curve in case.curves_in_order]
    best: dict[str, str] = {}
    for each in ids:
        best.setdefault(owner_of(each), each)
    chosen = [*best.values(), *(each for each in ids if each not in best.values())][:NAMED]
    return [each for each in ids if each in chosen]


def efficiency_lines(case: Measured) -> list[Line]:
    """Efficiency over granularity, in the order of the table."""
    return [
        _line(
            curve,
            case.threshold,
            lambda point: (point.granularity.value, point.efficiency.value),
            lambda ideal, efficiency: (ideal / efficiency, efficiency),
        )
        for curve in case.curves_in_order
    ]


def rate_lines(case: Measured) -> list[Line]:
    """Rate over the work of a task, in the order of the table."""
    work = WorkAxis(case.curves)
    return [_rate_line(curve, case.threshold, work) for curve in case.curves_in_order]


def within(lines: Sequence[Line], which: int) -> list[float]:
    """All that an axis has to hold: 0 the one across, 1 the one along."""
    return [place[which] for line in lines for place in (*line.through, *(dot for _, dot in line.dots))]


def _rate_line(curve: Curve, threshold: float, work: WorkAxis) -> Line:
    known = [each for each in curve.points if each.efficiency.value > 0]
    # of one curve these are constants, but for noise
    ceiling = median(each.rate.value / each.efficiency.value for each in known) if known else 1.0
    pace = median(work.of(each) / (each.granularity.value * each.efficiency.value) for each in known) if known else 1.0
    return _line(
        curve,
        threshold,
        lambda point: (work.of(point), point.rate.value),
        lambda ideal, efficiency: (ideal * pace, efficiency * ceiling),
    )


def _line(
    curve: Curve,
    threshold: float,
    dot: Callable[[CurvePoint], Place],
    place: Callable[[float, float], Place],
) -> Line:
    dots = tuple((each, dot(each)) for each in curve.points if dot(each)[1] > 0)
    through = tuple(place(each.ideal, each.efficiency) for each in curve.trace)
    fitted = [number for number, each in enumerate(curve.trace) if each.band]
    return Line(
        curve,
        dots,
        through=through,
        fitted=through[fitted[0] : fitted[-1] + 1] if fitted else (),
        beyond=(through[: fitted[0] + 1], through[fitted[-1] :]) if fitted else (through,),
        band=_outline([curve.trace[number] for number in fitted], place),
        anchor=_anchor(curve, threshold, dots, place),
    )


def _outline(fitted: Sequence[TracePoint], place: Callable[[float, float], Place]) -> tuple[Place, ...]:
    """The whole band, or nothing where part of it says too little: a piece of it would seem to be all."""
    bands = [(each.ideal, each.band) for each in fitted if each.band]
    if any(high > _VAGUE * low for _, (low, high) in bands):
        return ()
    upper = [place(ideal, high) for ideal, (_, high) in bands]
    lower = [place(ideal, low) for ideal, (low, _) in reversed(bands)]
    return (*upper, *lower)


def _anchor(
    curve: Curve,
    threshold: float,
    dots: Sequence[tuple[CurvePoint, Place]],
    place: Callable[[float, float], Place],
) -> Place | None:
    line = curve.trace
    above = [number for number, each in enumerate(line) if each.efficiency >= threshold]
    if line and above and above[0] > 0:
        before, after = line[above[0] - 1], line[above[0]]
        share = (threshold - before.efficiency) / (after.efficiency - before.efficiency)
        return place(before.ideal * (after.ideal / before.ideal) ** share, threshold)
    if line:
        end = line[0] if above else line[-1]
        return place(end.ideal, end.efficiency)
    nearest = min(dots, key=lambda each: abs(each[0].efficiency.value - threshold), default=None)
    return nearest[1] if nearest else None
