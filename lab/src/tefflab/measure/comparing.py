"""Finds the sittings that two names mean, and compares what both have, for each kind of benchmark."""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from tefflab.analysis.comparison import Answer, beside_others, compare_sittings, compare_systems, relative
from tefflab.analysis.rows import Row
from tefflab.benchmarks.benchmark import AnyBenchmark, benchmarks
from tefflab.errors import InputError
from tefflab.host.terminal import say
from tefflab.measure.measurement import estimated
from tefflab.records.run import Sitting
from tefflab.records.store import Store, full_name, is_store, open_sittings, stores_in
from tefflab.systems.naming import canonical, owner_of
from tefflab.systems.registry import Registry

_DEFAULT = "default"  # the store that measuring commands use unless told otherwise
_NAMED = 3  # sittings in a sentence
_EARLIER = "an earlier sitting is named STORE:SITTING"

Answers = tuple[list[Answer], list[str]]  # of each kind that could be compared, and the reason why another could not


@dataclass(frozen=True)
class _Source:
    """One sitting in its store."""

    registry: Registry
    store: Store
    kind: AnyBenchmark
    head: Sitting

    @property
    def name(self) -> str:
        return full_name(self.registry, self.store, self.head)

    @property
    def systems(self) -> list[str]:
        """The planned ones."""
        return [each.id for each in self.kind.plan_of(self.head).variants]

    @cached_property
    def rows(self) -> Sequence[Row]:
        return estimated(self.store, self.kind, self.head).rows

    def rows_beside(self, against: str | None) -> Sequence[Row]:
        return relative(self.rows, against) if against else self.rows


def answer(registry: Registry, a: str, b: str, store: str | None, against: str | None = None) -> Answers:
    """`a` and `b` are two stores (or STORE:SITTING), or two systems of a sitting of `store` (its last, if not said).

    Without `store` they are stores where both are, else systems of the store `default`. TeffError for anything else,
    and where nothing could be compared. With `against` the systems of two stores are compared in relation to this one.
    """
    a, b = canonical(a), canonical(b)
    if store is None and are_stores(registry, a, b):
        answers, reasons = _of_stores(registry, a, b, against)
    elif against:
        raise InputError(f"--against {against}: is for two stores, which {a} and {b} are not")
    else:
        answers, reasons = _of_systems(registry, a, b, store)
    if not answers:
        raise InputError("; ".join(reasons))
    return answers, reasons


def _of_systems(registry: Registry, a: str, b: str, store: str | None) -> Answers:
    usual = registry.results / _DEFAULT  # a sitting in it that can't be read counts: that has to be told
    has_usual = is_store(usual) and any(Store(usual).lines("sittings", Sitting))
    sources = list(_sources(registry, store or _DEFAULT)[0].values()) if store or has_usual else []
    known = dict.fromkeys(system for source in sources for system in source.systems)
    a, b = (_only_way(each, known) for each in (a, b))
    if unknown := [each for each in (a, b) if each not in known]:
        nowhere = [] if store else [each for each in unknown if not _is_store(registry, each)]
        what = [f"no system (there are: {' '.join(known)})"] if sources else []
        way_out = ""
        if nowhere:
            there = " ".join(stores_in(registry.results))
            what.append(f"no store ({f'there are: {there}' if there else 'there is none'})")
            way_out = f"; what is measured with --store {nowhere[0]} is kept in a store of that name"
        where = f"; looked in {_some([each.name for each in sources])}" if sources else ""
        names = " and ".join(map(repr, nowhere or unknown))
        raise InputError(f"{names}: {' and '.join(what)}{way_out}{where}")
    answers, lacking = [], []
    for source in sources:
        kind = source.kind
        if found := compare_systems(source.rows, a, b):
            answers.append(Answer(kind.commands[0].name, kind.row_word, a, b, tuple(found), False, True))
        else:
            lacking.append(source)
    if not lacking:
        return answers, []
    where = _some([f"{source.name} ({source.kind.measured})" for source in lacking])
    way_out = f"measure them in one, with --systems {a},{b}; {_EARLIER}"
    reason = f"{a} and {b} are compared where one sitting has both: {way_out}; no value of both in {where}"
    return answers, [reason]


def _some(names: Sequence[str]) -> str:
    """The first of them, and how many more there are."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"


def _only_way(name: str, known: Iterable[str]) -> str:
    """A system's name stands for its way that was measured, where that is one."""
    ways = [each for each in known if owner_of(each) == name]
    return ways[0] if len(ways) == 1 else name


def _of_stores(registry: Registry, a: str, b: str, against: str | None) -> Answers:
    left, right = _sources(registry, a, b)
    answers, reasons = [], []
    if against:
        both = (source.systems for side in (left, right) for source in side.values())
        against = _only_way(against, dict.fromkeys(itertools.chain(*both)))
    for kind in benchmarks():
        if kind in left and kind in right:
            one, other = left[kind], right[kind]
            one_sitting = one.head.sitting == other.head.sitting
            sides = one.rows_beside(against), other.rows_beside(against)
            if found := compare_sittings(*sides, one_sitting=one_sitting):
                shift = None
                if not one_sitting and not against:
                    found, shift = beside_others(found)
                about = kind.commands[0].name, kind.row_word, one.name, other.name
                machines = one.head.machine, other.head.machine
                on_two = (machines[0].summary, machines[1].summary) if machines[0].id != machines[1].id else None
                answers.append(Answer(*about, tuple(found), True, one_sitting, against, shift, on_two))
            else:
                beside = f" beside {against}" if against else ""
                what = f"{kind.measured} of no system {kind.alike}{beside}; {_EARLIER}"
                reasons.append(f"{one.name} and {other.name} have {what}")
        elif kind in left or kind in right:
            has, lacks = (a, b) if kind in left else (b, a)
            reasons.append(f"{has} has {kind.measured}, {lacks} has none")
    return answers, reasons


def are_stores(registry: Registry, *names: str) -> bool:
    return all(_is_store(registry, each) for each in names)


def _is_store(registry: Registry, name: str) -> bool:
    return is_store(registry.results / name.partition(":")[0])


def _sources(registry: Registry, *names: str) -> list[dict[AnyBenchmark, _Source]]:
    """The source behind each name of a store or sitting, by kind. Says once which lines there can't be read."""
    opened = [open_sittings(registry, name) for name in names]
    for store in {store.folder: store for store, _ in opened}.values():
        for sentence in store.warnings():
            say(sentence)
    return [
        {kind: _Source(registry, store, kind, heads[kind.name]) for kind in benchmarks() if kind.name in heads}
        for store, heads in opened
    ]
