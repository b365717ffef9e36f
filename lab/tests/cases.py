"""Cases of systems that do not exist, from a model: granularity = overhead + ideal, with made-up intervals."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Self

import numpy as np

from tefflab.analysis.crossing import Relation
from tefflab.analysis.curves import Curve, CurvePoint, trace
from tefflab.analysis.rows import NO_TURN, Row, Samples
from tefflab.analysis.statistics import Interval, MetgEstimate, Observation
from tefflab.benchmarks.case_rows import ranked
from tefflab.benchmarks.graphs import GraphCase
from tefflab.benchmarks.task_graph.tables import CEILING as CEILING_QUANTITY
from tefflab.benchmarks.task_graph.tables import OVERHEAD, Measured, metg_name
from tefflab.records.plan import Variant

CEILING = 92.1e9  # FLOP/s of two cores
_COLORS = ("#555555", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442", "#7A4FB5", "#8C2D04")
_NAMES = (
    "floor", "swift", "heron", "magpie", "kestrel", "bittern", "plover", "curlew", "dunlin", "wren", "osprey", "crane",
    "turnstone", "albatross",
)  # fmt: skip


def variant(number: int, variant: int = 0) -> Variant:
    name = _NAMES[number]
    title = f"{name.title()} tasks with dependences (lib{name})" if number % 3 == 1 else name.title()
    if variant:
        return Variant(
            f"{name}/other_{variant}", f"{name.title()} loops, way {variant}", f"{number}.2", color(number), variant
        )
    return Variant(name, title, f"{number}.2.{number * 3}", color(number), 0)


def color(number: int) -> str:
    return _COLORS[number % len(_COLORS)]


def variants(count: int) -> list[Variant]:
    """So many, every third one the second variant of the one before."""
    found: list[Variant] = []
    while len(found) < count:
        number = len(found) - len(found) // 3
        found.append(variant(number - 1, 1) if len(found) % 3 == 2 else variant(number))
    return found


def estimate(value: float, spread: float = 0.05, relation: Relation = "=", **ends: float) -> MetgEstimate:
    low, high = value / (1 + spread), value * (1 + spread)
    if relation == "<":
        low = 0.0
    if relation == ">":
        high = math.inf
    return MetgEstimate(value, ends.get("low", low), ends.get("high", high), relation, 20.0, 0.021, 5, 60)


@dataclass(frozen=True)
class ByEnds(Samples):
    """Ratios from the two intervals alone."""

    value: Interval
    rounds: int = 5

    def over(self, other: Self) -> Interval:
        a, b = self.value, other.value
        return Interval(a.value / b.value, a.low / b.high, a.high / b.low if b.low > 0 else math.inf)

    def ratios_to(self, other: Self) -> Sequence[float]:
        del other
        return []


def row(who: Variant, metg: MetgEstimate | None, note: str = "", timesteps: int = 1000, **changes: Any) -> Row:
    """METG of a system."""
    return replace(
        Row(
            kind="task_graph",
            variant=who,
            case="stencil_1d",
            configuration="-type stencil_1d",
            quantity=metg_name(0.5),
            value=metg,
            workers=2,
            rounds=0 if metg is None else metg.rounds,
            runs=0 if metg is None else 64,
            noisy_share=0.0 if metg is None else 5 / 64,
            note=note or ("" if metg else NO_TURN),
            facts={
                "timesteps": timesteps,
                "drift": metg and metg.drift,
                "rounds_counted": metg.rounds if metg else 0,
            },
            samples=ByEnds(metg, metg.rounds) if metg else None,
        ),
        **changes,
    )


def beside(of: Row) -> list[Row]:
    """What the same runs say of a METG: an overhead of nearly half of it, and the ceiling of two cores."""
    if of.value is None:
        return []
    other = replace(of, is_beside=True, note="", samples=None)
    ceiling = replace(other, quantity=CEILING_QUANTITY, value=interval(CEILING, 0.008), unit="FLOP/s")
    if of.relation == "<":
        return [ceiling]
    return [replace(other, quantity=OVERHEAD, value=interval(of.value.value / 2.05, 0.03)), ceiling]


def interval(value: float, spread: float) -> Interval:
    return Interval(value, value / (1 + spread), value * (1 + spread))


@cache
def curve(who: Variant, overhead: float, seed: int = 0, slowdown: float = 1.02) -> Curve:
    """From empty tasks to a hundred times the overhead."""
    generator = np.random.default_rng(seed)
    points = []
    counts = sorted({0, *(int(each) for each in np.geomspace(1, max(overhead * 3e10, 40), 14))})
    for iterations in counts:
        work = 128.0 * iterations + 64
        ideal = work * 2 / CEILING
        taken = (overhead + slowdown * ideal) * float(np.exp(0.02 * generator.standard_normal()))
        share = ideal / taken if iterations else 0.0
        noise = 0.02 + 0.05 * float(generator.random())
        points.append(
            CurvePoint(
                iterations, interval(taken, noise), interval(share, noise), interval(share * CEILING, noise), work, 5, 0
            )
        )
    runs = [
        Observation(round_, each.iterations, each.granularity.value * factor, each.efficiency.value / factor)
        for round_, factor in enumerate((0.99, 1.0, 1.01))
        for each in points
    ]
    return Curve(who, "FLOP/s", tuple(points), interval(CEILING, 0.008), trace(runs, points, 0.5))


def measured(
    name: str,
    rows: Iterable[Row],
    curves: Sequence[Curve] = (),
    flags: str = "",
    others: Sequence[Row] = (),
    **more: Any,
) -> Measured:
    """A case with these METGs, each with what stands beside it, and `others` in its place."""
    asked = GraphCase(name=name, flags=flags or f"-type {name} -width 2 -kernel compute_bound", workers=2, **more)
    known = ranked(replace(each, case=name, x=asked.x) for each in rows)
    found = [*(each for row in known for each in beside(row)), *others]
    return Measured(asked, 0.5, known, curves, {(each.id, each.quantity): each for each in found})


def with_rows(base: Measured, rows: Sequence[Row]) -> Measured:
    case = base.case
    return measured(case.name, rows, base.curves, case.flags, x=case.x, x_text=case.x_text)


@cache
def case(count: int, name: str = "stencil_1d", scale: float = 1.0, x: float | None = None) -> Measured:
    """`count` systems from 60 ns of overhead upwards, each with its curve."""
    known = variants(count)
    overheads = [scale * 60e-9 * 2.1**number for number in range(count)]
    rows = [row(who, estimate(2.04 * overhead)) for who, overhead in zip(known, overheads, strict=True)]
    curves = [curve(who, overhead, seed) for seed, (who, overhead) in enumerate(zip(known, overheads, strict=True))]
    return measured(name, rows, curves, x=x, x_text=f"{x:g}" if x is not None else "")


def troubled() -> Measured:
    """Everything that can be odd about a row: bounds, open ends, nothing measured, few timesteps, notes."""
    known = variants(7)
    rows = [
        row(known[0], estimate(130e-9, relation="<")),
        row(known[1], estimate(1.2e-6, low=0.0)),
        row(known[2], estimate(3.4e-6, spread=0.3)),
        row(known[3], estimate(9e-6, high=math.inf), note="two rounds were cut off by the time limit"),
        row(known[4], estimate(1e-3), timesteps=100),
        row(known[5], estimate(2e-2, relation=">"), timesteps=40),
        row(known[6], None, note="the program ended with signal 11 before its first record; see .teff/log/plover.txt"),
    ]
    curves = [curve(known[1], 0.6e-6, 1), curve(known[2], 1.7e-6, 2), curve(known[4], 0.5e-3, 3, slowdown=0.9)]
    return measured("spread", rows, curves, "-type spread -radix 5 -width 8 -kernel compute_bound")
