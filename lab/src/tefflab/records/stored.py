"""Finding what was measured: the stores below `results/`, by the names a user gives them."""

from pathlib import Path
from typing import Literal

from tefflab.measure.measurement import RESULTS_FOLDER
from tefflab.records.store import Sitting, Store, StoreError

Kind = Literal["metg", "spawn"]  # of task graphs, of spawn patterns


def open_sitting(root: Path, name: str) -> tuple[Store, Sitting]:
    """`STORE`, whose last sitting is meant, or `STORE:SITTING`. StoreError, naming those there are, for another."""
    store, _, sitting = name.partition(":")
    opened = Store.open(root / RESULTS_FOLDER / store)
    return opened, opened.sitting(sitting or None)


def open_sittings(root: Path, name: str) -> tuple[Store, dict[Kind, Sitting]]:
    """The same of both kinds: of `STORE` the last sitting of each that is there, of `STORE:SITTING` that one."""
    store, _, wanted = name.partition(":")
    opened = Store.open(root / RESULTS_FOLDER / store)
    known: dict[Kind, list[Sitting]] = {"metg": opened.sittings(), "spawn": opened.spawn_sittings()}
    chosen: dict[Kind, Sitting] = {
        kind: those[-1]
        for kind, sittings in known.items()
        if (those := [each for each in sittings if wanted in ("", each.sitting)])
    }
    if not chosen:
        there = ", ".join(each.sitting for sittings in known.values() for each in sittings) or "none"
        raise StoreError(f"no sitting {wanted or 'at all'} in {opened.folder}: there is {there}")
    return opened, chosen


def full_name(store: Store, sitting: Sitting) -> str:
    """What `open_sitting` takes."""
    return f"{store.folder.name}:{sitting.sitting}"
