"""Sittings of programs that only simulate, for every test that needs one."""

from collections.abc import Sequence
from pathlib import Path

from samples import MACHINE
from tefflab.analysis.results import MetgRow
from tefflab.host.machine import Revision
from tefflab.measure.measurement import Competitor, Plan, Question, Results, measure
from tefflab.records.store import Sitting, Store
from tefflab.systems.systems import Variant

CONFIGURATION = "-type stencil_1d -width 2 -kernel compute_bound"


class Silent:
    """An audience that only counts, and may interrupt."""

    def __init__(self, interrupt_at: int | None = None) -> None:
        self.launches = 0
        self.failures: dict[str, str] = {}
        self._interrupt_at = interrupt_at

    def begins(self, turn: int, variant: Variant, part: int, parts: int) -> None:
        del turn, variant, parts
        if part > 1:
            return
        if self.launches == self._interrupt_at:
            raise KeyboardInterrupt
        self.launches += 1

    def learned(self, variant: Variant, rows: Sequence[MetgRow]) -> None: ...

    def failed(self, variant: Variant, reason: str) -> None:
        self.failures[variant.id] = reason


def plan(*names: str, kind: str = "metg") -> Plan:
    return Plan(
        kind="metg" if kind == "metg" else "curve",
        title="simulated",
        questions=(Question(name="stencil", flags=CONFIGURATION),),
        contenders=tuple(
            Competitor(id=name, title=name, version="1", color="#000000", variant_index=0) for name in names
        ),
        workers=2,
        points=6,
    )


def begun(root: Path, wanted: Plan, name: str = "test") -> tuple[Store, Sitting]:
    store = Store.create(root / "results" / name)
    sitting = Sitting.model_validate(
        {
            "sitting": f"one-of-{name}",
            "started_at": "2026-11-20T22:00:00Z",
            "machine": MACHINE,
            "revision": Revision(commit="abc", dirty=False),
            "versions": {},
            "command": "teff metg",
            "plan": wanted.model_dump(mode="json"),
        }
    )
    store.begin(sitting)
    return store, sitting


def sat(root: Path, wanted: Plan, audience: Silent, rounds: int = 5, name: str = "test") -> Results:
    """A whole sitting in the store of that name."""
    store, sitting = begun(root, wanted, name)
    with store:
        return measure(root, store, sitting, audience, budget=1e9, rounds=rounds)
