"""The source that is kept with a sitting."""

import errno
import subprocess
from pathlib import Path

import pytest

from tefflab.host.file_locks import locked
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


def test_the_revision_is_that_of_the_own_checkout(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = read_revision(checkout)
    other = checkout / "other"
    subprocess.run(["git", "init", "-q", str(other)], check=True)
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))  # as git does for its hooks
    assert read_revision(checkout) == own
    (checkout / "inside").mkdir()
    assert read_revision(checkout / "inside").commit is None, "the repository around is none of ours"


def test_a_file_system_without_locks_is_said_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def flock(_fd: int, _operation: int) -> None:
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr("fcntl.flock", flock)
    with (tmp_path / "a.lock").open("w") as file:
        for _ in range(2):
            with locked(file.fileno(), tmp_path / "a.lock"):
                pass
    assert capsys.readouterr().err.count(f"the file system of {tmp_path} has no locks") == 1
