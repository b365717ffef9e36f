"""Finding what was measured: the stores below `results/`, by the names a user gives them."""

from pathlib import Path

from tefflab.measurement import RESULTS_FOLDER
from tefflab.store import Sitting, Store


def open_sitting(root: Path, name: str) -> tuple[Store, Sitting]:
    """`STORE`, whose last sitting is meant, or `STORE:SITTING`. StoreError, naming those there are, for another."""
    store, _, sitting = name.partition(":")
    opened = Store.open(root / RESULTS_FOLDER / store)
    return opened, opened.sitting(sitting or None)


def full_name(store: Store, sitting: Sitting) -> str:
    """What `open_sitting` takes."""
    return f"{store.folder.name}:{sitting.sitting}"
