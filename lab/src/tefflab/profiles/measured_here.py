"""Sittings on this machine tell how long tasks should be: by the METG, and by the share of the time that tasks keep.

A curve is of tasks of one shape, as a recursion or a loop. The micro-benchmarks have cases of each shape that spin.
"""

import json
import math
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tefflab import durations
from tefflab.benchmarks.graphs import is_usual
from tefflab.benchmarks.micro import BENCHMARK as SPINNING
from tefflab.benchmarks.task_graph.tables import metg_name
from tefflab.carried import TYPED
from tefflab.errors import InputError
from tefflab.host.machine import read_machine
from tefflab.records.run import Sitting
from tefflab.records.store import Store, file_of, new_sitting_name, stores_in
from tefflab.systems.registry import Registry

_WAY = "teff/flow"  # whose METG counts: its tasks name their memory
_METG = metg_name(0.5)
ENOUGH = 0.9
_FEWEST = 3  # lengths that make a curve
_LENGTHS = np.geomspace(1e-8, 1e-1, 701)  # seconds: some 2 % from one to the next


@dataclass(frozen=True, slots=True)
class Metg:
    """How long a task must be so that half of worker time is its own, and where that number is from."""

    seconds: float
    source: str


USUAL = Metg(1.6e-6, "a stencil of libteff's data flow on two cores; measure yours: teff metg --systems teff/flow")


def metg_of(registry: Registry, said: str) -> Metg:
    """As the user says, as it was measured last on this machine, or the usual one."""
    if said:
        return Metg(durations.seconds(said), f"--metg {said}")
    found: list[tuple[str, float, str]] = []
    for sitting, store, row in _kept(registry):
        value, is_known = row.get("value"), row.get("low") and row.get("high")
        is_metg = (row.get("system_id"), row.get("quantity"), row.get("relation")) == (_WAY, _METG, "=")
        if is_metg and value and is_known and is_usual(str(row.get("configuration"))):
            found.append((sitting.sitting, -float(value), f"{_WAY} in {store}:{sitting.sitting}"))
    if not found:
        return USUAL
    _, value, source = max(found)
    return Metg(-value, source)


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


def curves_of(registry: Registry, shape: str, workers: int) -> tuple[list[Curve], str]:
    """Of each way of a system that has the shape, as it was measured last on this machine; the cheapest first. A curve
    is left out if even its longest tasks kept too little: other programs had the cores. If there is none: why."""
    found: dict[tuple[str, str], Curve] = {}
    shaped: dict[str, Collection[str]] = {}  # by sitting, the configurations of this shape
    for sitting, store, row in _kept(registry, SPINNING.name):
        if sitting.sitting not in shaped:
            shaped[sitting.sitting] = _configurations(sitting, shape)
        cost = (row.get("value") or 0.0) - (row.get("spin_seconds") or math.inf)
        if cost > 0 and row["workers"] == workers and row["configuration"] in shaped[sitting.sitting]:
            name, source = str(row["system_id"]), f"{store}:{sitting.sitting}"
            new = Curve(name, row["title"], workers, {}, source)
            found.setdefault((name, sitting.sitting), new).costs[row["spin_seconds"]] = cost
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


def _kept(registry: Registry, benchmark: str | None = None) -> Iterator[tuple[Sitting, str, dict[str, Any]]]:
    """The estimates that were made on this machine, each with its sitting and its store."""
    machine, now = read_machine().id, new_sitting_name().rpartition("-")[0]
    for name in stores_in(registry.results):
        folder = registry.results / name
        every = Store(folder).sittings(benchmark)
        own = {each.sitting: each for each in every if each.machine.id == machine and each.sitting[: len(now)] <= now}
        file = file_of(folder, "estimates")
        for row in map(object_of, file.read_text(encoding="utf-8").splitlines() if own and file.is_file() else ()):
            if sitting := own.get(str(row.get("sitting"))):  # later ones: a clock was wrong
                yield sitting, name, row


def object_of(line: str) -> dict[str, Any]:
    """A line of JSON; empty if it can't be read."""
    with suppress(ValueError):
        if isinstance(row := json.loads(line), dict):
            return row
    return {}
