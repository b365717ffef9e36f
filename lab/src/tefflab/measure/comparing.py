"""Finds the sittings that two names mean, and compares what both have, for each kind of benchmark."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tefflab.analysis.comparison import (
    Answer,
    beside_others,
    compare_sittings,
    compare_systems,
    relative,
)
from tefflab.analysis.rows import Row
from tefflab.benchmarks.benchmark import AnyBenchmark, benchmarks
from tefflab.errors import InputError
from tefflab.host.machine import Machine
from tefflab.host.terminal import say
from tefflab.measure.measurement import estimated
from tefflab.records.run import Sitting
from tefflab.records.store import Store, full_name, is_store, open_sittings, stores_in
from tefflab.systems.naming import canonical, owner_of
from tefflab.systems.registry import Registry

_DEFAULT = "default"  # the store that measuring commands use unless told otherwise
_NAMED = 3  # sittings in a sentence


@dataclass(frozen=True, slots=True)
class Answers:
    """The answer for each kind that could be compared, and the reason why another could not."""

    answers: tuple[Answer, ...]
    left_out: tuple[str, ...]

    @classmethod
    def of(cls, answers: Iterable[Answer], reasons: Iterable[str]) -> "Answers":
        """TeffError where nothing could be compared."""
        found = cls(tuple(answers), tuple(reasons))
        if not found.answers:
            raise InputError("; ".join(found.left_out))
        return found


@dataclass(frozen=True, slots=True)
class _Source:
    """One sitting, and its comparable quantities."""

    name: str
    sitting: str
    machine: Machine
    systems: tuple[str, ...]
    rows: tuple[Row, ...]


def answer(registry: Registry, a: str, b: str, store: str | None, against: str | None = None) -> Answers:
    """`a` and `b` are two stores (or STORE:SITTING), or two systems of a sitting of `store` (its last, if not said).

    Without `store` they are stores where both are, else systems of the store `default`. TeffError for anything else.
    With `against` the systems of two stores are compared in relation to this one.
    """
    a, b = canonical(a), canonical(b)
    if store is None and all(_is_store(registry, each) for each in (a, b)):
        return _of_stores(registry, a, b, against)
    if against:
        raise InputError(f"--against {against}: is for two stores, which {a} and {b} are not")
    sources = _sources(registry, store or _DEFAULT)[0] if store or _has_sittings(registry) else {}
    known = dict.fromkeys(system for source in sources.values() for system in source.systems)
    a, b = (_only_way(each, known) for each in (a, b))
    if unknown := [each for each in (a, b) if each not in known]:
        nowhere = [] if store else [each for each in unknown if not _is_store(registry, each)]
        earlier = _earlier_of_both(registry, a, b, sources)
        raise InputError(
            _unknown(registry, nowhere or unknown, list(sources.values()), earlier, as_stores=bool(nowhere))
        )
    answers, lacking = [], {}
    for kind, source in sources.items():
        if found := compare_systems(source.rows, a, b):
            answers.append(Answer(kind.commands[0].name, kind.row_word, a, b, tuple(found), False, True))
        else:
            lacking[kind] = source
    return Answers.of(answers, [_not_of_both(registry, a, b, lacking)] if lacking else [])


def _not_of_both(registry: Registry, a: str, b: str, lacking: Mapping[AnyBenchmark, _Source]) -> str:
    """That these sittings do not have both systems, and where they can be had."""
    way_out = _earlier_of_both(registry, a, b, lacking) or f"measure them in one, with --systems {a},{b}"
    where = _some([f"{source.name} ({kind.measured})" for kind, source in lacking.items()])
    return f"{a} and {b} are compared where one sitting has both: {way_out}; no value of both in {where}"


def _earlier_of_both(registry: Registry, a: str, b: str, sources: Mapping[AnyBenchmark, _Source]) -> str:
    """How an earlier sitting that has both systems is named; empty where there is none."""
    for kind, source in sources.items():
        for each in _before(registry, kind, source, a, b):
            if compare_systems(each.rows, _only_way(a, each.systems), _only_way(b, each.systems)):
                return f"add --store {each.name} ({kind.measured})"
    return ""


def _some(names: Sequence[str]) -> str:
    """The first of them, and how many more there are."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"


def _only_way(name: str, known: Iterable[str]) -> str:
    """A system's name stands for its way that was measured, where that is one."""
    ways = [each for each in known if owner_of(each) == name]
    return ways[0] if len(ways) == 1 else name


def _unknown(
    registry: Registry, names: Sequence[str], sources: Sequence[_Source], earlier: str, *, as_stores: bool
) -> str:
    """That these are no systems of the sources and, where that was looked for, no stores. `earlier` names a sitting
    that has both."""
    what = []
    if sources:
        systems = dict.fromkeys(system for source in sources for system in source.systems)
        what.append(f"no system (there are: {' '.join(systems)})")
    if as_stores:
        there = " ".join(stores_in(registry.results))
        what.append(f"no store ({f'there are: {there}' if there else 'there is none'})")
    if earlier:
        way_out = f"; an earlier sitting has both: {earlier}"
    else:
        way_out = f"; what is measured with --store {names[0]} is kept in a store of that name" if as_stores else ""
    where = f"; looked in {_some([each.name for each in sources])}" if sources else ""
    return f"{' and '.join(map(repr, names))}: {' and '.join(what)}{way_out}{where}"


def _of_stores(registry: Registry, a: str, b: str, against: str | None) -> Answers:
    left, right = _sources(registry, a, b)
    answers, reasons = [], []
    if against:
        both = (source.systems for side in (left, right) for source in side.values())
        against = _only_way(against, dict.fromkeys(itertools.chain(*both)))
    for kind in benchmarks():
        if kind in left and kind in right:
            one, other = left[kind], right[kind]
            one_sitting = one.sitting == other.sitting
            pair = [relative(each.rows, against) if against else each.rows for each in (one, other)]
            if found := compare_sittings(*pair, one_sitting=one_sitting):
                machine = None
                if not one_sitting and not against:
                    found, machine = beside_others(found)
                about = kind.commands[0].name, kind.row_word, one.name, other.name
                machines = one.machine.summary, other.machine.summary
                on_two = machines if one.machine.id != other.machine.id else None
                answers.append(Answer(*about, tuple(found), True, one_sitting, against, machine, on_two))
            else:
                beside = f" beside {against}" if against else ""
                older = _older(registry, kind, one, other, against)
                reasons.append(
                    f"{one.name} and {other.name} have {kind.measured} of no system {kind.alike}{beside}{older}"
                )
        elif kind in left or kind in right:
            has, lacks = (a, b) if kind in left else (b, a)
            reasons.append(f"{has} has {kind.measured}, {lacks} has none")
    return Answers.of(answers, reasons)


def _older(registry: Registry, kind: AnyBenchmark, one: _Source, other: _Source, against: str | None) -> str:
    """Which earlier sitting of either store could be compared: the last one may have been interrupted."""

    def rows(source: _Source) -> Sequence[Row]:
        return relative(source.rows, against) if against else source.rows

    for last, beside in ((other, one), (one, other)):
        for earlier in _before(registry, kind, last):
            if earlier.sitting != beside.sitting and compare_sittings(rows(earlier), rows(beside), one_sitting=False):
                return f"; {earlier.name} and {beside.name} can be compared"
    return ""


def _before(registry: Registry, kind: AnyBenchmark, last: _Source, *systems: str) -> Iterator[_Source]:
    """The sittings of its kind before the last one of a store, the newest first, of those that planned these systems:
    to estimate one takes time."""
    store, _ = open_sittings(registry, last.name)
    known = store.sittings(kind.name)
    for head in reversed(known[: [each.sitting for each in known].index(last.sitting)]):
        planned = _planned(kind, head)
        if all(_only_way(each, planned) in planned for each in systems):
            yield _source(registry, store, kind, head)


def _is_store(registry: Registry, name: str) -> bool:
    return is_store(registry.results / name.partition(":")[0])


def _has_sittings(registry: Registry) -> bool:
    """Whether the usual store is there, and not empty. A sitting that can't be read counts: that has to be told."""
    return _is_store(registry, _DEFAULT) and any(Store.open(registry.results / _DEFAULT).lines("sittings", Sitting))


def _sources(registry: Registry, *names: str) -> list[Mapping[AnyBenchmark, _Source]]:
    """The source behind each name of a store or sitting, by kind. Says once which lines there can't be read."""
    opened = [open_sittings(registry, name) for name in names]
    for store in {store.folder: store for store, _ in opened}.values():
        for sentence in store.warnings():
            say(sentence)
    return [
        {kind: _source(registry, store, kind, sittings[kind.name]) for kind in benchmarks() if kind.name in sittings}
        for store, sittings in opened
    ]


def _source(registry: Registry, store: Store, kind: AnyBenchmark, head: Sitting) -> _Source:
    rows = tuple(estimated(store, kind, head).rows)
    return _Source(full_name(registry, store, head), head.sitting, head.machine, _planned(kind, head), rows)


def _planned(kind: AnyBenchmark, head: Sitting) -> tuple[str, ...]:
    return tuple(each.id for each in kind.plan_of(head).variants)
