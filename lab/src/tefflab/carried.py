"""The sources that a wheel carries, because the lab builds and reads them. `lab/hatch_build.py` writes the archive."""

import hashlib
import os
import sys
import tarfile
import tempfile
from functools import cache
from pathlib import Path

from tefflab.errors import InputError, TeffError

ARCHIVE = Path(__file__).with_name("sources.tar.gz")  # only in a wheel
TYPED = "teff" if ARCHIVE.is_file() else "./teff"  # what the user types to start a command
REVISION = "revision.json"  # at the top of the archive: the commit that the wheel was made from
_IN_A_CLONE = ("teff", "lab/src/tefflab", "bench/systems", "runtime")
_DIGITS = 12  # of the archive's digest, in the name of a folder


def cache_folder() -> Path:
    """Where wheels unpack their sources and keep what they build. TeffError without a home and XDG_CACHE_HOME."""
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))  # only an absolute path counts, says its specification
    if base.is_absolute():
        return base / "teff"
    try:
        return Path.home() / ".cache" / "teff"
    except RuntimeError:
        raise TeffError(
            "no home folder is known for this user, and teff unpacks its sources there: set XDG_CACHE_HOME to a"
            " folder that you can write to"
        ) from None


def is_unpacked(root: Path) -> bool:
    """Whether this root is a wheel's sources, and no clone."""
    return (root / REVISION).is_file()


def place() -> Path:
    """The folder of this wheel's sources, whether they are unpacked or not. TeffError as cache_folder()."""
    return cache_folder() / hashlib.sha256(ARCHIVE.read_bytes()).hexdigest()[:_DIGITS]


@cache
def unpacked() -> Path:
    """The folder of this wheel's sources. The first call on a machine unpacks them. Two commands may do so at the same
    time: the first one to end gives the folder its name, and both use it."""
    folder = place()
    if folder.is_dir():
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="unpacking-", dir=folder.parent) as name:
            part = Path(name) / folder.name
            with tarfile.open(ARCHIVE) as archive:
                # Early releases of Python 3.11 have no filters.
                archive.extraction_filter = getattr(tarfile, "data_filter", lambda member, _: member)
                archive.extractall(part)
            part.rename(folder)
    except OSError as error:
        if not folder.is_dir():
            raise TeffError(
                f"{error.filename or folder}: {error.strerror or error}; teff unpacks its sources there:"
                " set XDG_CACHE_HOME to a folder that you can write to"
            ) from None
    return folder


def expect_clone(root: Path, command: str) -> None:
    """TeffError if the command works on a clone only, and this root is none."""
    if is_unpacked(root):
        raise InputError(
            f"teff {command} works in a clone of Teff only, and here is none: a wheel carries neither tests nor docs;"
            " clone the repository and type ./teff there"
        )


def give_way_to_a_clone() -> None:
    """A wheel's `teff` starts the `teff` of the clone that the user stands in: a lab only measures its own sources."""
    here = Path.cwd()
    for clone in (here, *here.parents) if ARCHIVE.is_file() else ():
        if all((clone / name).exists() for name in _IN_A_CLONE):
            os.execv(clone / "teff", [str(clone / "teff"), *sys.argv[1:]])
