"""The line that pictures draw through a system's efficiencies. Near the crossing it is the line that METG is read from
(`crossing.py`), with its band.

Beyond the fitted runs it follows a fit to the medians of the points, from one to the next by the law of that line, with
rounded corners. Where tasks grow, neither efficiency nor granularity falls.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from scipy.optimize import isotonic_regression

from tefflab.analysis.crossing import find_crossing
from tefflab.analysis.curves import CurvePoint, TracePoint
from tefflab.analysis.robust_line import Floats
from tefflab.analysis.statistics import Observation, as_runs

_FITTED = 49  # places on the fitted part
_STEPS = 16  # places from one median to the next
_ROUNDING = float(np.log(2.0))  # corners are rounded over so much log ideal to either side, less near the line's ends
_KERNEL = np.arange(-10, 11) / 11  # places of the mean that rounds them, Epanechnikov's
_APART = float(np.log(1.4))  # medians nearer than this to the end of the fitted part are left to the fit
_PROJECTIONS = 20  # until both constraints hold to three digits


def trace(
    observations: Iterable[Observation],
    points: Sequence[CurvePoint],
    threshold: float,
) -> tuple[TracePoint, ...]:
    """From left to right; empty without a point that has an efficiency. `points` are the medians of `observations`.

    Knots are rows of an array: of these medians log ideal (rising), log slowdown, and the number of runs."""
    medians = [each for each in points if each.efficiency.value > 0]
    if not medians:
        return ()
    crossing = find_crossing(as_runs(observations), threshold)
    ideal = np.log([each.granularity.value * each.efficiency.value for each in medians])
    slowdown = -np.log([each.efficiency.value for each in medians])
    order = np.argsort(ideal, kind="stable")
    knots = np.stack([ideal, slowdown, [each.runs for each in medians]])[:, order]
    if crossing.undecided or crossing.line.slope <= 0:
        return tuple(_smooth(knots[0], _monotone(*knots)))
    ideal, slowdown, arm = crossing.band(_FITTED)
    x, y = np.log(ideal), np.log(slowdown)
    left, right = knots[:, knots[0] < x[0] - _APART], knots[:, knots[0] > x[-1] + _APART]
    fitted = [
        TracePoint(float(at), float(1 / height), (float(np.exp(-half) / height), float(np.exp(half) / height)))
        for at, height, half in zip(ideal, slowdown, np.minimum(arm, 700.0), strict=True)
    ]
    return (*_joined(left, x[0], y[0]), *fitted, *_joined(right, x[-1], y[-1]))


def _joined(knots: Floats, x: float, y: float) -> list[TracePoint]:
    """The line through the knots to one end of the fitted part or away from it."""
    ideal = knots[0]
    if not len(ideal):
        return []
    far = y + x - ideal  # beyond it efficiency or granularity would fall on the way to or from the end
    inner = np.clip(_monotone(*knots), np.minimum(far, y), np.maximum(far, y))
    at = 0 if x < ideal[0] else len(ideal)
    points = _smooth(np.insert(ideal, at, x), np.insert(inner, at, y))
    return points[1:] if at == 0 else points[:-1]


def _monotone(x: Floats, y: Floats, weight: Floats) -> Floats:
    """The log slowdowns nearest to `y` that do not rise along `x`, and do not fall faster than `x` rises."""
    if len(x) < 2:
        return y
    for _ in range(_PROJECTIONS):
        y = np.asarray(isotonic_regression(y, weights=weight, increasing=False).x)
        y = np.asarray(isotonic_regression(y + x, weights=weight).x) - x
    return y


def _smooth(x: Floats, y: Floats) -> list[TracePoint]:
    """Through all knots, which are monotone, with places between them. Between two knots a task's time is its ideal
    time and a constant. A mean rounds the corners, whose reach changes by at most as much as its middle moves, so that
    no slope lies beyond the knots' slopes."""
    x, first = np.unique(x, return_index=True)
    y = y[first]
    if len(x) < 2:
        return _points(x, y)
    dense = np.interp(np.arange(_STEPS * (len(x) - 1) + 1) / _STEPS, np.arange(len(x)), x)
    line = np.log(np.interp(np.exp(dense), np.exp(x), np.exp(x + y))) - dense
    reach = np.minimum(_ROUNDING, np.minimum(dense - dense[0], dense[-1] - dense))
    around = np.interp(dense[:, np.newaxis] + np.outer(reach, _KERNEL), dense, line)
    return _points(dense, around @ (1 - _KERNEL**2) / np.sum(1 - _KERNEL**2))


def _points(x: Floats, y: Floats) -> list[TracePoint]:
    return [TracePoint(float(np.exp(a)), float(np.exp(-b))) for a, b in zip(x, y, strict=True)]
