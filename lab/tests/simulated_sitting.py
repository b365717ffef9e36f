"""Sittings of programs that only simulate, for every test that needs one."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from samples import MACHINE
from tefflab.analysis.statistics import Progress
from tefflab.benchmarks.benchmark import AnyBenchmark, find_benchmark
from tefflab.benchmarks.graphs import GraphCase
from tefflab.benchmarks.task_graph.estimates import GraphEstimates
from tefflab.benchmarks.task_graph.plan import GraphPlan
from tefflab.host.machine import Revision
from tefflab.measure.measurement import measure
from tefflab.records.plan import Plan, Variant
from tefflab.records.run import Sitting
from tefflab.records.store import Store
from tefflab.systems.registry import Registry

CONFIGURATION = "-type stencil_1d -width 2 -kernel compute_bound"


class Silent:
    """An observer that only counts, and may interrupt."""

    def __init__(self, interrupt_at: int | None = None) -> None:
        self.launches: list[tuple[int, str, str]] = []
        self.failures: dict[str, str] = {}
        self.said: list[str] = []
        self._interrupt_at = interrupt_at

    def begins(self, variant_id: str, number: int, case: str, part: int, parts: int) -> None:
        del parts
        if part > 1:
            return
        if len(self.launches) == self._interrupt_at:
            raise KeyboardInterrupt
        self.launches.append((number, variant_id, case))

    def learned(self, variant_id: str, known: Sequence[Progress], *, is_whole: bool, is_from_store: bool) -> None: ...

    def told(self, text: str) -> None:
        self.said.append(text)

    def failed(self, variant_id: str, case: str, reason: str) -> None:
        del case
        self.failures[variant_id] = reason


def variant(name: str, **changes: Any) -> Variant:
    return Variant(**({"id": name, "title": name, "version": "1", "color": "#000000", "variant_index": 0} | changes))


def plan(*names: str, kind: str = "metg") -> GraphPlan:
    return GraphPlan(
        asks="metg" if kind == "metg" else "curve",
        title="simulated",
        cases=(GraphCase(name="stencil", flags=CONFIGURATION, workers=2),),
        variants=tuple(variant(name) for name in names),
        points=6,
    )


def begun(root: Path, wanted: Plan, name: str = "test", benchmark: str = "task_graph") -> tuple[Store, Sitting]:
    store = Store.create(root / "results" / name)
    sitting = Sitting.model_validate(
        {
            "sitting": f"one-of-{name}",
            "benchmark": benchmark,
            "started_at": "2026-11-20T22:00:00Z",
            "machine": MACHINE,
            "revision": Revision(commit="abc", dirty=False),
            "versions": {},
            "command": "teff metg",
            "plan": wanted.model_dump(mode="json"),
        }
    )
    store.append("sittings", sitting)
    return store, sitting


def graphs() -> AnyBenchmark:
    return find_benchmark("task_graph")


def measured(
    root: Path, store: Store, head: Sitting, observer: Silent, *, budget: float = 1e9, rounds: int = 5
) -> tuple[Any, bool]:
    """The result of continuing a sitting, and whether it was interrupted."""
    return measure(Registry(root), store, find_benchmark(head.benchmark), head, observer, budget, rounds)


def sat(root: Path, wanted: GraphPlan, observer: Silent, rounds: int = 5, name: str = "test") -> GraphEstimates:
    """A whole sitting of task graphs in the store of that name."""
    store, sitting = begun(root, wanted, name)
    with store:
        estimates, _ = measured(root, store, sitting, observer, rounds=rounds)
    assert isinstance(estimates, GraphEstimates)
    return estimates
