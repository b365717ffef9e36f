"""`teff compare`: finds out what two names mean, and compares what both have: METG, spawn patterns, or each."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tefflab.analysis.comparison import Comparison, Side, compare_sittings, compare_systems, relative
from tefflab.analysis.sides import metg_sides, spawn_sides
from tefflab.benchmarks import spawn_stored
from tefflab.errors import BAD_INPUT, TeffError
from tefflab.measure import measurement
from tefflab.measure.measurement import RESULTS_FOLDER
from tefflab.records.store import RECORDS, Sitting, Store
from tefflab.records.stored import Kind, full_name, open_sittings

_DEFAULT = "default"  # the store that measuring commands use unless told otherwise
_MEASURED: Mapping[Kind, str] = {"metg": "METG", "spawn": "spawn patterns"}
_ALIKE: Mapping[Kind, str] = {"metg": "under one configuration", "spawn": "with one number of workers"}


@dataclass(frozen=True, slots=True)
class Answer:
    """What is compared, and how it compares. `is_repeat`: the same systems, measured twice; with `against` each in
    relation to that system."""

    kind: Kind
    a: str
    b: str
    comparisons: tuple[Comparison, ...]
    is_repeat: bool
    one_sitting: bool
    against: str | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "a": self.a,
            "b": self.b,
            "one_sitting": self.one_sitting,
            "against": self.against,
            "comparisons": [each.to_json() for each in self.comparisons],
            "agreeing": sum(each.agrees for each in self.comparisons),
            "compared": len(self.comparisons),
        }


@dataclass(frozen=True, slots=True)
class Answers:
    """One of each kind that could be compared, and why another could not."""

    answers: tuple[Answer, ...]
    left_out: tuple[str, ...]

    @classmethod
    def of(cls, answers: Iterable[Answer], reasons: Iterable[str]) -> "Answers":
        """TeffError where nothing could be compared."""
        found = cls(tuple(answers), tuple(reasons))
        if not found.answers:
            raise TeffError("; ".join(found.left_out), exit_code=BAD_INPUT)
        return found


@dataclass(frozen=True, slots=True)
class _Source:
    """One sitting of one kind, and what it has to be compared."""

    name: str
    sitting: str
    systems: tuple[str, ...]
    sides: tuple[Side, ...]


def answer(root: Path, a: str, b: str, store: str | None, against: str | None = None) -> Answers:
    """`a` and `b` are two stores (or STORE:SITTING), or two systems of a sitting of `store` (its last, if not said).

    Without `store` they are stores where both are, else systems of the store `default`. TeffError for anything else.
    With `against` the systems of two stores are compared in relation to this one.
    """
    if store is None and all(_is_store(root, each) for each in (a, b)):
        return _of_stores(root, a, b, against)
    if against:
        raise TeffError(f"--against {against}: is for two stores, which {a} and {b} are not", exit_code=BAD_INPUT)
    sources = _sources(root, store or _DEFAULT) if store or _is_store(root, _DEFAULT) else {}
    known = dict.fromkeys(system for source in sources.values() for system in source.systems)
    if unknown := [each for each in (a, b) if each not in known]:
        nowhere = [] if store else [each for each in unknown if not _is_store(root, each)]
        raise TeffError(_unknown(root, nowhere or unknown, sources, as_stores=bool(nowhere)), exit_code=BAD_INPUT)
    answers, reasons = [], []
    for kind, source in sources.items():
        if found := compare_systems(source.sides, a, b):
            answers.append(Answer(kind, a, b, tuple(found), is_repeat=False, one_sitting=True))
        else:
            reasons.append(f"{source.name} has no {_MEASURED[kind]} of both {a} and {b}")
    return Answers.of(answers, reasons)


def _unknown(root: Path, names: Sequence[str], sources: Mapping[Kind, _Source], *, as_stores: bool) -> str:
    """That these are no systems of the sources and, where that was looked for, no stores."""
    what = []
    if as_stores:
        stores = sorted(file.parent.name for file in (root / RESULTS_FOLDER).glob(f"*/{RECORDS}"))
        what.append(f"no store ({' '.join(stores) or 'there is none'})")
    if sources:
        systems = dict.fromkeys(system for source in sources.values() for system in source.systems)
        what.append(f"no system of {' and '.join(each.name for each in sources.values())} ({' '.join(systems)})")
    return f"{' and '.join(map(repr, names))}: {' and '.join(what)}"


def _of_stores(root: Path, a: str, b: str, against: str | None) -> Answers:
    left, right = (_sources(root, each) for each in (a, b))
    answers, reasons = [], []
    for kind, what in _MEASURED.items():
        if kind in left and kind in right:
            one, other = left[kind], right[kind]
            one_sitting = one.sitting == other.sitting
            sides = [relative(each.sides, against) if against else each.sides for each in (one, other)]
            if found := compare_sittings(*sides, one_sitting=one_sitting):
                answers.append(
                    Answer(
                        kind,
                        one.name,
                        other.name,
                        tuple(found),
                        is_repeat=True,
                        one_sitting=one_sitting,
                        against=against,
                    )
                )
            else:
                beside = f" beside {against}" if against else ""
                reasons.append(f"{one.name} and {other.name} have {what} of no system {_ALIKE[kind]}{beside}")
        elif kind in left or kind in right:
            has, lacks = (a, b) if kind in left else (b, a)
            reasons.append(f"{has} has {what}, {lacks} has none")
    return Answers.of(answers, reasons)


def _is_store(root: Path, name: str) -> bool:
    return (root / RESULTS_FOLDER / name.partition(":")[0] / RECORDS).is_file()


def _sources(root: Path, name: str) -> dict[Kind, _Source]:
    """What a name of a store or sitting stands for, by kind."""
    store, sittings = open_sittings(root, name)
    return {
        kind: _of_metg(store, head) if kind == "metg" else _of_spawn(root, store, head)
        for kind, head in sittings.items()
    }


def _of_metg(store: Store, head: Sitting) -> _Source:
    systems = (each.id for each in measurement.plan_of(head).contenders)
    sides = metg_sides(measurement.judged(store, head), store.envelopes(head.sitting))
    return _Source(full_name(store, head), head.sitting, tuple(systems), tuple(sides))


def _of_spawn(root: Path, store: Store, head: Sitting) -> _Source:
    plan = spawn_stored.plan_of(head)
    sides = spawn_sides(spawn_stored.measured_cells(root, store, head), plan.questions)
    return _Source(full_name(store, head), head.sitting, tuple(each.id for each in plan.contenders), tuple(sides))
