"""The source that is kept with a sitting."""

import subprocess
from pathlib import Path

import pytest

from tefflab.host.machine import read_revision


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A clone with one commit."""
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "old.cpp").touch()
    (tmp_path / ".gitignore").write_text("*.pyc\n")
    for words in ("init -q", "add .", "-c user.name=a -c user.email=a commit -q -m first"):
        subprocess.run(["git", *words.split()], cwd=tmp_path, check=True)
    return tmp_path


def test_a_source_that_git_does_not_know_yet_makes_the_revision_dirty(checkout: Path) -> None:
    assert not read_revision(checkout).dirty
    (checkout / "bench" / "new.cpp").touch()
    assert read_revision(checkout).dirty


def test_neither_results_nor_ignored_files_make_it_dirty(checkout: Path) -> None:
    for name in ("notes.txt", "bench/cached.pyc"):
        (checkout / name).touch()
    assert not read_revision(checkout).dirty


def test_a_source_that_was_changed_makes_it_dirty(checkout: Path) -> None:
    (checkout / "bench" / "old.cpp").write_text("int main() {}")
    assert read_revision(checkout).dirty
