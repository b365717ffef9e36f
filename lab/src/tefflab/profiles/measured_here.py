"""Sittings on this machine tell how long tasks should be, by the share of the time that tasks of a length keep.

A curve is of tasks of one shape, as a recursion or a loop. The micro-benchmarks have cases of each shape that spin.
"""

import math
from collections.abc import Collection
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tefflab.benchmarks.micro import BENCHMARK as SPINNING
from tefflab.carried import TYPED
from tefflab.errors import InputError
from tefflab.host.machine import read_machine
from tefflab.records.run import Line, Sitting
from tefflab.records.store import Damage, Store, new_sitting_name, stores_in
from tefflab.systems.registry import Registry

ENOUGH = 0.9
_FEWEST = 3  # lengths that make a curve
_LENGTHS = np.geomspace(1e-8, 1e-1, 701)  # seconds: some 2 % from one to the next


@dataclass(frozen=True)
class Curve:
    """A body of this length costs a worker of the system so much besides, in seconds."""

    system_id: str
    title: str
    workers: int
    costs: dict[float, float]
    source: str

    def cost(self, length: float) -> float:
        """Between two measured lengths it changes with the logarithm of the length. Beyond them it stays."""
        lengths = sorted(self.costs)
        return float(np.interp(math.log(length), np.log(lengths), [self.costs[each] for each in lengths]))

    def efficiency(self, length: float) -> float:
        return length / (length + self.cost(length))

    @property
    def enough(self) -> float:
        """The length from which on bodies have the share ENOUGH of the time."""
        short = [length for length in _LENGTHS if self.efficiency(length) < ENOUGH]
        return float(short[-1] * _LENGTHS[1] / _LENGTHS[0]) if short else float(_LENGTHS[0])

    def is_of(self, runtime: str) -> bool:
        """Whether it was measured on this runtime."""
        return bool(runtime) and runtime in self.title

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"costs": sorted(self.costs.items())}


class _Spun(Line, extra="ignore"):
    """An estimate of bodies that spin."""

    sitting: str
    system_id: str
    title: str
    configuration: str
    workers: int
    value: float
    spin_seconds: float


def curves_of(registry: Registry, shape: str, workers: int) -> tuple[list[Curve], str]:
    """Of each way of a system that has the shape, as it was measured last on this machine; the cheapest first. A curve
    is left out if even its longest tasks kept too little: other programs had the cores. If there is none: why."""
    machine, now = read_machine().id, new_sitting_name().rpartition("-")[0]
    found: dict[tuple[str, str], Curve] = {}
    for name in stores_in(registry.results):
        store = Store(registry.results / name)
        here = (each for each in store.sittings(SPINNING.name) if each.machine.id == machine)
        # Later ones are of a clock that was wrong.
        shaped = {each.sitting: _configurations(each, shape) for each in here if each.sitting[: len(now)] <= now}
        for row in store.lines("estimates", _Spun) if shaped else ():
            if isinstance(row, Damage) or row.configuration not in shaped.get(row.sitting, ()):
                continue
            if row.workers == workers and row.value > row.spin_seconds:
                new = Curve(row.system_id, row.title, workers, {}, f"{name}:{row.sitting}")
                curve = found.setdefault((row.system_id, row.sitting), new)
                curve.costs[row.spin_seconds] = row.value - row.spin_seconds
    long = {at: each for at, each in found.items() if len(each.costs) >= _FEWEST}
    kept = {at: each.efficiency(max(each.costs)) for at, each in long.items()}
    last = {at[0]: long[at] for at in sorted(long) if kept[at] >= ENOUGH}
    if last:
        return sorted(last.values(), key=lambda curve: min(curve.costs.values())), ""
    if not kept:
        return [], f"fewer than {_FEWEST} lengths of bodies were measured"
    way_out = f"other programs had the cores, and {TYPED} systems doctor names them"
    return [], f"even the longest bodies kept only {max(kept.values()):.0%} of the time: {way_out}"


def _configurations(sitting: Sitting, shape: str) -> Collection[str]:
    with suppress(InputError):  # of another version of the lab
        return {case.configuration for case in SPINNING.plan_of(sitting).cases if case.bodies == shape}
    return ()
