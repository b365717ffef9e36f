"""Finds measurements: the stores below `results/`, by the names a user gives them."""

from tefflab.records.run import Sitting
from tefflab.records.store import Store
from tefflab.systems.registry import Registry


def open_sitting(registry: Registry, name: str) -> tuple[Store, Sitting]:
    """`STORE`, which means its last sitting, or `STORE:SITTING`. StoreError, with the existing names, for another."""
    store, _, sitting = name.partition(":")
    opened = Store.open(registry.results / store)
    return opened, opened.sitting(sitting or None)


def open_sittings(registry: Registry, name: str) -> tuple[Store, dict[str, Sitting]]:
    """The same by kind of benchmark: of `STORE` the last sitting of each that is there, of `STORE:SITTING` that one."""
    store, _, wanted = name.partition(":")
    opened = Store.open(registry.results / store)
    chosen = {each.benchmark: each for each in opened.sittings() if wanted in ("", each.sitting)}
    if not chosen:
        opened.sitting(wanted or None)  # raises
    return opened, chosen


def store_name(registry: Registry, store: Store) -> str:
    """The name of a store for `--store`: the folder's name in `results/`, else the path."""
    return store.folder.name if store.folder.parent == registry.results else str(store.folder)


def full_name(registry: Registry, store: Store, sitting: Sitting) -> str:
    """What `open_sitting` takes."""
    return f"{store_name(registry, store)}:{sitting.sitting}"
