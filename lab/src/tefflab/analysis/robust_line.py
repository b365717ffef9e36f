"""A straight line through points of which some may be outliers, and its refits to resampled points. Pure."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_BISQUARE = 4.685  # Tukey's constant: 95 % as efficient as least squares with normal noise
_FREEDOM = 10  # runs share their round, so more of them tell no more about the scatter than ten
_LEAST_SCALE = 0.002  # relative noise below which nothing is an outlier
_STEPS = 12  # of reweighting; the weights are still to three digits after about eight


@dataclass(frozen=True, slots=True)
class Line:
    """y = level + slope * x, and the data to fit it again to resampled runs with the same weights."""

    level: float
    slope: float
    moments: Floats  # a row a run: weight * (1, x, x*x, y, x*y), y already drawn in by the robust fit
    trust: Floats  # a run's weight, 0 (an outlier, or far away) to 1
    residual: Floats  # log(y / line) of each run that is not an outlier, 0 of one that is
    inflation: float  # by which fixed weights understate the spread of the refitted lines
    least: float  # the least height of the line, since a slowdown or a time is positive

    def at(self, x: Floats) -> Floats:
        """The line's height."""
        return np.maximum(self.level + self.slope * x, self.least)

    def refitted(self, counts: Floats) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """Level and slope with run i counted counts[:, i] times, and whether there was enough to fit."""
        level, slope, solvable = _solve(counts @ self.moments)
        return level, slope, solvable if self.slope != 0 else counts @ self.moments[:, 0] > 0

    def shifted(self, counts: Floats) -> Floats:
        """How far the runs so counted lie above the line, in log y, where there are any."""
        share = counts @ self.trust
        return (counts @ (self.trust * self.residual)) / np.where(share > 0, share, 1.0) * self.inflation


def robust_line(x: Floats, y: Floats, kernel: Floats) -> Line:
    """Tukey's bisquare fit of log y, from Siegel's repeated medians; with one distinct x, of the level only. `kernel`
    weighs each run by its nearness."""
    level, slope = _repeated_medians(x, y)
    least = 1e-3 * float(y.min())
    freedom = min(max(len(y) - (2 if slope else 1), 1), _FREEDOM)
    powers = np.stack([np.ones_like(x), x, x * x, x, x])  # 1, x, x*x, y, x*y: the last two as of each step
    for _ in range(_STEPS):
        fitted = np.maximum(level + slope * x, least)
        residual = np.log(y / fitted)
        # Rousseeuw and Leroy's small-sample factor: few runs look closer to a line through them than they are
        scale = max(1.4826 * (1 + 5 / freedom) * _median(np.abs(residual)), _LEAST_SCALE)
        distance = np.minimum((residual / (_BISQUARE * scale)) ** 2, 1.0)
        trust = kernel * (1 - distance) ** 2
        weight = trust / fitted**2
        inlying = np.where(distance < 1, residual, 0.0)
        powers[3] = fitted * (1 + inlying)
        powers[4] = powers[3] * x
        moments = weight * powers
        levels, slopes, _solvable = _solve(moments.sum(axis=1)[np.newaxis])
        level, slope = float(levels[0]), float(slopes[0])
    bend = float(np.sum(kernel * (1 - distance) * (1 - 5 * distance)))
    total = float(np.sum(trust))
    return Line(level, slope, moments.T, trust, inlying, total / max(bend, total / 2), least)


def _repeated_medians(x: Floats, y: Floats) -> tuple[float, float]:
    run, rise = np.subtract.outer(x, x), np.subtract.outer(y, y)
    apart = np.abs(run) > 1e-9 * np.abs(x).max()
    if not apart.any():
        return _median(y), 0.0
    # np.nanmedian of each row, in a third of the time: NaN is sorted last
    slopes = np.sort(np.where(apart, rise / np.where(apart, run, 1.0), np.nan))
    of, numbers = np.arange(len(x)), np.count_nonzero(apart, axis=1)
    slope = _median((slopes[of, (numbers - 1) // 2] + slopes[of, numbers // 2]) / 2)
    return _median(y - slope * x), slope


def _median(values: Floats) -> float:
    """np.median of a row of numbers, in a tenth of its time where they are few."""
    half = len(values) // 2
    middle = np.partition(values, [(len(values) - 1) // 2, half])
    return float(middle[(len(values) - 1) // 2] + middle[half]) / 2


def _solve(sums: Floats) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Weighted least squares from rows of summed moments; where x hardly varies the slope is 0."""
    weight, x, xx, y, xy = sums.T
    safe = np.where(weight > 0, weight, 1.0)
    determinant = weight * xx - x * x
    solvable = determinant > 1e-4 * weight * xx
    slope = np.where(solvable, (weight * xy - x * y) / np.where(solvable, determinant, 1.0), 0.0)
    return (y - slope * x) / safe, slope, solvable
