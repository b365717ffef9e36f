"""Axes: how far they reach, where their ticks stand, and the text of each."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import altair as alt

from tefflab.output.charts.sheet import HAIR, RULE
from tefflab.output.quantities import brief

# From dense to sparse: the mantissas labelled in each decade.
_MANTISSAS: Sequence[Sequence[float]] = ((1, 1.5, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,))
_MOST = 7  # labels
_MANY = 3e4  # beyond this span, nine hairs a decade would be a hatching
_LEAST_SPAN = 4.0  # a shorter log axis would blow noise up to the size of the picture
_LOG_FROM = 50.0  # a parameter that varies by more than this factor is drawn on a log axis
_FEWEST_STEPS = 3  # so is a parameter with at least so many values that grow by one factor

Channel = TypeVar("Channel", alt.X, alt.Y)


@dataclass(frozen=True, slots=True)
class Axis:
    """From `low` to `high`; a tick without a text is a hair."""

    low: float
    high: float
    ticks: Mapping[float, str]
    title: str = ""
    is_log: bool = True
    drops_labels: bool = False  # that would touch others

    def of(self, channel: type[Channel], field: str) -> Channel:
        """The channel that draws a field on this axis."""
        ticks, texts = list(self.ticks), list(self.ticks.values())
        hairs = [tick for tick, text in self.ticks.items() if not text]
        is_hair = {"test": f"indexof({hairs}, datum.value) >= 0", "value": HAIR}
        return channel(
            field,
            type="quantitative",
            scale=alt.Scale(
                type="log" if self.is_log else "linear", domain=[self.low, self.high], nice=False, zero=False
            ),
            axis=alt.Axis(
                values=ticks,
                labelExpr=f"{texts}[indexof({ticks}, datum.value)]",
                labelOverlap="greedy" if self.drops_labels else False,
                labelSeparation=6,
                gridColor={"condition": is_hair, "value": RULE} if hairs else RULE,
                title=self.title or None,
            ),
        )

    def clipped(self, value: float) -> float:
        return min(max(value, self.low), self.high)

    def place(self, value: float) -> float:
        """Where `value` lies between the ends, 0 to 1; beyond them at the nearer end."""
        value, low, high = self.clipped(value), self.low, self.high
        return math.log(value / low) / math.log(high / low) if self.is_log else (value - low) / (high - low)


def log_axis(values: Iterable[float], written: Callable[[float], str], title: str = "", padding: float = 0.05) -> Axis:
    """The axis that holds all positive, finite `values`, with a margin of `padding` of its length at each end. Without
    any value it reaches over one decade, from 1."""
    kept = [value for value in values if 0 < value < math.inf] or [1.0, 10.0]
    low, high = math.log10(min(kept)), math.log10(max(kept))
    missing = max(math.log10(_LEAST_SPAN) - (high - low), 0.0)
    margin = padding * (high - low + missing) + missing / 2
    low, high = 10 ** (low - margin), 10 ** (high + margin)
    known = (_ticks(low, high, each) for each in _MANTISSAS)
    labelled = next((each for each in known if len(each) <= _MOST), _ticks(low, high, (1,)))
    labelled = labelled[:: math.ceil(len(labelled) / _MOST)]
    hairs = _ticks(low, high, (1, 2, 5) if high / low > _MANY else range(1, 10))
    return Axis(low, high, dict.fromkeys(hairs, "") | {tick: brief(written(tick)) for tick in labelled}, title)


def _ticks(low: float, high: float, mantissas: Iterable[float]) -> list[float]:
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    at = (float(f"{each}e{decade}") for decade in decades for each in mantissas)
    return [each for each in at if low <= each <= high]


def linear_axis(most: float, written: Callable[[float], str], title: str = "", *, step: float = 0.0) -> Axis:
    """From none to a little more than `most`, with a tick at each `step`, or at about five."""
    decade = 10.0 ** math.floor(math.log10(most / 5))
    step = step or next(decade * each for each in (1, 2, 5, 10) if most <= 5.5 * decade * each)
    ticks = [float(f"{step * number:.6g}") for number in range(math.floor(most / step * (1 + 1e-9)) + 1)]
    return Axis(0.0, 1.03 * most, {each: brief(written(each)) if each else "0" for each in ticks}, title, is_log=False)


def parameter_axis(texts: Mapping[float, str], title: str) -> Axis:
    """A tick at every value (rising), with its text where that touches no other."""
    xs = list(texts) or [0.0, 1.0]
    low, high = xs[0], xs[-1]
    steps = [after / before for before, after in pairwise(xs) if before > 0]
    is_geometric = len(xs) >= _FEWEST_STEPS and len(steps) == len(xs) - 1 and max(steps) < 1.1 * min(steps)
    if low > 0 and (high / low >= _LOG_FROM or is_geometric):
        margin = (high / low) ** 0.05
        return Axis(low / margin, high * margin, texts, title, drops_labels=True)
    margin = 0.05 * (high - low) or 1.0
    return Axis(low - margin, high + margin, texts, title, is_log=False, drops_labels=True)
