"""Puts the sources that the lab builds and reads into the wheel, as one archive; `tefflab.carried` unpacks it.

A source distribution holds them as files, in `clone/`, so that a wheel can be made from it.
"""

import gzip
import io
import json
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.builders.utils import get_reproducible_timestamp

CARRIED = (
    "CMakeLists.txt",
    "CMakePresets.json",
    "LICENSE",
    "bench",
    "cmake",
    "collect",
    "experiments",
    "lab/constraints.txt",
    "runtime",
)
REVISION = "revision.json"  # as `tefflab.host.machine` reads it


class CarrySources(BuildHookInterface):
    """An editable installation carries nothing: it works on its clone."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        lab = Path(self.root)
        clone = lab / "clone" if (lab / "clone").is_dir() else lab.parent
        if missing := [name for name in CARRIED if not (clone / name).exists()]:
            raise FileNotFoundError(f"{clone} is no clone of Teff: it has no {', '.join(missing)}")
        if self.target_name == "sdist":
            build_data["force_include"] |= {str(file): f"clone/{file.relative_to(clone)}" for file in _files(clone)}
            made, place = _write_revision, f"clone/{REVISION}"
        else:
            made, place = _write_archive, "tefflab/sources.tar.gz"
        self._folder = tempfile.TemporaryDirectory()
        file = Path(self._folder.name) / "made"
        made(file, clone)
        build_data["force_include"][str(file)] = place

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        if hasattr(self, "_folder"):
            self._folder.cleanup()


def _files(clone: Path) -> Iterator[Path]:
    for name in CARRIED:
        for file in [clone / name, *sorted((clone / name).rglob("*"))]:
            if file.is_file() and "__pycache__" not in file.parts:
                yield file


def _write_archive(archive: Path, clone: Path) -> None:
    """The same sources give the same bytes, whenever and wherever they are packed."""

    def same(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.mtime = get_reproducible_timestamp()
        member.uid = member.gid = 0
        member.uname = member.gname = ""
        member.mode = 0o755 if member.mode & 0o100 else 0o644
        return member

    with (
        archive.open("wb") as file,
        gzip.GzipFile("", "wb", fileobj=file, mtime=0) as compressed,
        tarfile.open(fileobj=compressed, mode="w") as packed,
    ):
        for file in _files(clone):
            packed.add(file, str(file.relative_to(clone)), recursive=False, filter=same)
        revision = _revision(clone).encode()
        member = same(tarfile.TarInfo(REVISION))
        member.size = len(revision)
        packed.addfile(member, io.BytesIO(revision))


def _write_revision(file: Path, clone: Path) -> None:
    file.write_text(_revision(clone), encoding="utf-8")


def _revision(clone: Path) -> str:
    """The commit, and whether files differ from it. A source distribution names the commit that it was made from."""
    if (clone / REVISION).is_file():
        return (clone / REVISION).read_text(encoding="utf-8")
    is_repository = (clone / ".git").exists()  # else git would answer for a repository around it
    commit = _git(clone, "rev-parse", "--verify", "HEAD") if is_repository else ""
    changes = _git(clone, "status", "--porcelain", "--", *CARRIED, "lab") if commit else ""
    return json.dumps({"commit": commit or None, "dirty": bool(changes)})


def _git(clone: Path, *words: str) -> str:
    try:
        answer = subprocess.run(["git", "-C", clone, *words], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return answer.stdout.strip() if answer.returncode == 0 else ""
