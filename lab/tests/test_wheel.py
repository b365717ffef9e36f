"""The wheel carries the sources that it builds: `teff` works outside a clone, and gives way to one."""

import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import hatch_build
from tefflab import __version__, carried, project_root
from tefflab.errors import TeffError
from tefflab.host.machine import Revision, read_revision
from tefflab.systems.registry import Registry

LAB = project_root() / "lab"
START = "import sys; sys.path.insert(0, {!r}); from tefflab.cli.main import main; main()"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder]
    subprocess.run(build, cwd=LAB, check=True, capture_output=True)
    (made,) = folder.glob("tefflab-*.whl")
    return made


@pytest.fixture(scope="module")
def site(wheel: Path) -> Path:
    """A folder into which the wheel is installed; the test's own environment has the packages that it needs."""
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(wheel.parent / "site")
    return wheel.parent / "site"


def teff(site: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The installed command, typed in this folder."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(site.parent / "cache")}
    command = [sys.executable, "-c", START.format(str(site)), *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_an_installed_teff_knows_its_systems_and_its_revision_outside_a_clone(site: Path, tmp_path: Path) -> None:
    listed = teff(site, tmp_path, "systems", "--json")
    assert listed.returncode == 0, listed.stderr
    folders = (project_root() / "bench" / "systems").glob("*/system.toml")
    assert {each["name"] for each in map(json.loads, listed.stdout.splitlines())} == {
        file.parent.name for file in folders
    }
    commit = read_revision(project_root()).short.rstrip("+")
    assert teff(site, tmp_path, "--version").stdout.rstrip("+)\n") == f"teff {__version__} ({commit}"
    assert "stencil_1d" in teff(site, tmp_path, "graph", "--help").stdout
    assert not list(tmp_path.iterdir())
    assert '"teff systems add ' in listed.stdout
    assert "./teff" not in listed.stdout


def test_help_unpacks_nothing(site: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    command = [sys.executable, "-c", START.format(str(site)), "--help"]
    helped = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert "metg" in helped.stdout
    assert not (tmp_path / "teff").exists()


@pytest.mark.parametrize("command", ["test", "docs"])
def test_what_only_a_clone_can_do_is_refused_outside(site: Path, tmp_path: Path, command: str) -> None:
    refused = teff(site, tmp_path, "dev", command)
    assert refused.returncode == 2
    assert f"teff dev {command} works in a clone of Teff only" in refused.stderr


def test_a_clone_s_own_teff_goes_on_if_the_user_stands_in_it(site: Path, tmp_path: Path) -> None:
    for folder in ("lab/src/tefflab", "bench/systems", "runtime", "some/where"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "teff").write_text('#!/bin/sh\necho "the clone: $1 $2"\nexit 7\n')
    (tmp_path / "teff").chmod(0o755)
    answered = teff(site, tmp_path / "some" / "where", "report", "--two words")
    assert (answered.stdout, answered.returncode) == ("the clone: report --two words\n", 7)


def test_a_cache_that_can_not_be_written_is_told_with_the_way_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("no folder")
    (tmp_path / "archive").write_text("sources")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr(carried, "ARCHIVE", tmp_path / "archive")
    with pytest.raises(TeffError, match=r"Not a directory; .* set XDG_CACHE_HOME to a folder"):
        carried.unpacked.__wrapped__()


def test_results_of_unpacked_sources_stand_where_the_user_stands(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "unpacked").mkdir()
    (tmp_path / "unpacked" / carried.REVISION).touch()
    assert Registry(tmp_path / "unpacked").results == tmp_path / "results"
    assert Registry(tmp_path / "clone").results == tmp_path / "clone" / "results"


def test_a_cache_folder_that_is_not_absolute_does_not_count(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", "cache")
    assert carried.cache_folder() == tmp_path / ".cache" / "teff"


def test_a_user_without_a_home_is_told_which_variable_to_set_and_gets_help_and_version_all_the_same(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = "import pwd\ndef unknown(_): raise KeyError\npwd.getpwuid = unknown\n"
    environment = {name: value for name, value in os.environ.items() if name not in ("HOME", "XDG_CACHE_HOME")}

    def teff(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", start + START.format(str(site)), *words]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    refused = teff("systems")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr == (
        "teff: no home folder is known for this user, and teff unpacks its sources there: set XDG_CACHE_HOME to a"
        " folder that you can write to\n"
    )
    assert "metg" in teff("--help").stdout
    assert teff("--version").stdout.startswith(f"teff {__version__} (")
    environment["XDG_CACHE_HOME"] = str(tmp_path / "cache")
    assert teff("graph", "--help").returncode == 0
    # A clone needs no home.
    monkeypatch.setattr(Path, "home", lambda: 1 / 0)
    assert Registry(tmp_path).results == tmp_path / "results"


def test_the_wheel_carries_every_file_that_a_build_may_need_and_its_licence(wheel: Path, site: Path) -> None:
    listing = ["git", "ls-files", "--", *hatch_build.CARRIED]
    tracked = subprocess.run(listing, cwd=project_root(), capture_output=True, text=True, check=False).stdout.split()
    with tarfile.open(site / "tefflab" / "sources.tar.gz") as packed:
        there = {member.name: member for member in packed.getmembers()}
    assert set(tracked) <= there.keys()
    for name in ("bench/task_graph/mpi/start_ranks.in", "CMakeLists.txt"):
        assert bool(there[name].mode & 0o100) == os.access(project_root() / name, os.X_OK)
    (licence,) = (name for name in zipfile.ZipFile(wheel).namelist() if name.endswith("/licenses/LICENSE"))
    assert zipfile.ZipFile(wheel).read(licence) == (project_root() / "LICENSE").read_bytes()


def test_the_same_sources_are_the_same_bytes(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    (clone / "bench").mkdir(parents=True)
    for number, name in enumerate(["one", "two"]):
        file = clone / "bench" / "program.cpp"
        file.write_text("int main() {}\n")
        os.utime(file, (number, number))
        hatch_build._write_archive(tmp_path / name, clone)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_sources_that_a_wheel_carries_say_their_commit(tmp_path: Path) -> None:
    (tmp_path / carried.REVISION).write_text('{"commit": "0123456789abcdef", "dirty": true}')
    assert read_revision(tmp_path) == Revision(commit="0123456789abcdef", dirty=True)


def test_library_lab_and_papers_name_one_version() -> None:
    def said(file: str, pattern: str) -> str:
        found = re.search(pattern, (project_root() / file).read_text(encoding="utf-8"), re.MULTILINE)
        assert found, file
        return found[1]

    number = int(said("runtime/include/teff/runtime.hpp", r"int version_number = (\d+);"))
    assert f"{number // 10000}.{number // 100 % 100}.{number % 100}" == __version__
    assert said("CITATION.cff", r"^version: (\S+)") == __version__
    assert said("packaging/vcpkg/teff/vcpkg.json", r'"version": "(\S+)"') == __version__
    assert said("CHANGELOG.md", r"^## (\d\S+)") == __version__
