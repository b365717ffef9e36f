"""Systems on request: announced before they are installed, kept apart, continued or not there at all; the contents of
environments."""

import io
import json
import os
import sys
from pathlib import Path

import pytest
from rich.console import Console

from tefflab.cli import systems as requested
from tefflab.errors import BAD_INPUT, TeffError
from tefflab.systems import setup
from tefflab.systems.building import LOOKS_AT, search_environment
from tefflab.systems.needs import STAMP
from tefflab.systems.packages import PackageState
from tefflab.systems.probing import is_absent, probe
from tefflab.systems.registry import Registry, load_system
from tefflab.systems.setup import bring_missing, install, not_here, remove, telling
from tefflab.systems.systems import INSTALLED_FOLDER, System

HEAD = """
name = "lake"
title = "Lake Tasks"
paradigm = "task-based"
parallelism = "implicit"
distributed = false
language = "Python"
homepage = "https://example.org/lake"
color = "#0072B2"

[install]
"""
ON_REQUEST = 'on_request = true\nlicence = "MIT"\nmegabytes = 3\nseconds = 1\n'
PROGRAM = """
[[program]]
benchmark = "task_graph"
name = "tasks"
title = "tasks"
program = "lake.py"
"""
ANSWER = """import json, sys
print(json.dumps({"system": "lake", "variant": "tasks", "version": sys.prefix}))
"""


def lake(root: Path, asked: str) -> System:
    file = root / "bench/systems/lake/system.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(HEAD + asked + PROGRAM, encoding="utf-8")
    file.with_name("lake.py").write_text(ANSWER, encoding="utf-8")
    return load_system(file)


def fetched(root: Path, script: str) -> System:
    """A system whose client is a line of Python; `{installed}` is in `sys.argv`."""
    command = json.dumps([sys.executable, "-c", script, "{installed}", "{folder}"])
    return lake(root, f"fetch = [{command}]\n{ON_REQUEST}")


def console() -> Console:
    return Console(file=io.StringIO(), width=500)


def told(to: Console) -> str:
    assert isinstance(to.file, io.StringIO)
    return to.file.getvalue()


@pytest.fixture(autouse=True)
def _nothing_else_is_set_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(setup, "ensure", lambda *_, **__: None)


def folder_of(root: Path) -> Path:
    return root / INSTALLED_FOLDER / "lake"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("apt = ['a']\non_request = true", "on_request needs licence, megabytes and seconds"),
        (ON_REQUEST, "on_request needs packages of a registry"),
        ("pip = ['a==1']\napart = true", "apart is about the packages of pip that come on_request"),
        (f"pip = ['a==1']\n{ON_REQUEST}", "pip on_request needs apart = true"),
        ("fetch = [['npm']]", "fetch is done on_request only"),
        (
            f"fetch = [['npm', '{{program}}']]\n{ON_REQUEST}",
            "{program} can't stand in it; {folder}, {installed} can",
        ),
        (f"apt = ['a']\n{ON_REQUEST}\nmegabyte = 3", "install.megabyte"),
    ],
)
def test_what_install_says_is_checked(tmp_path: Path, asked: str, said: str) -> None:
    with pytest.raises(TeffError) as caught:
        lake(tmp_path, f"{asked}\n")
    assert said in str(caught.value)


def test_it_says_what_comes_then_brings_it_once(tmp_path: Path) -> None:
    system = fetched(tmp_path, "import sys, pathlib; pathlib.Path(sys.argv[1], 'water').write_text(sys.argv[2])")
    to = console()
    assert install(Registry(tmp_path), [system], to) == {}
    place = f"in {INSTALLED_FOLDER / 'lake'}"
    first = told(to).splitlines()[0]
    assert first.startswith("teff: lake: Lake Tasks, 3 MB, MIT, about 1 s, by ")
    assert first.endswith(place)
    assert (folder_of(tmp_path) / "water").read_text() == str(system.folder)
    assert system.is_installed
    again = console()
    assert install(Registry(tmp_path), [system], again) == {}
    assert told(again) == "teff: lake is here\n"


def test_what_asks_for_something_else_than_was_brought_is_brought_again(tmp_path: Path) -> None:
    assert install(Registry(tmp_path), [fetched(tmp_path, "'one'")], console()) == {}
    assert not fetched(tmp_path, "'two'").is_installed


def test_a_failure_leaves_the_telling_lines_and_nothing_else(tmp_path: Path) -> None:
    system = fetched(tmp_path, "import sys; print('hello'); print('fatal: no water in ' + 'x' * 300); sys.exit(3)")
    problems = install(Registry(tmp_path), [system], console())
    head, line, log = problems["lake"].splitlines()
    assert head.endswith(" failed")
    assert line.startswith("  fatal: no water in")
    assert len(line) < 130
    assert log.endswith("install-lake.log")
    assert "hello" not in problems["lake"]
    assert not folder_of(tmp_path).exists()


def test_where_no_line_is_telling_the_last_ones_are_told(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("$ client\none\ntwo\n\n")
    assert telling(log).splitlines()[1:3] == ["  one", "  two"]


def test_after_ctrl_c_the_folder_stays_without_counting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> int:
        (folder_of(tmp_path) / "half").touch()
        raise KeyboardInterrupt

    system = fetched(tmp_path, "pass")
    with monkeypatch.context() as patched:
        patched.setattr(setup, "run_step", interrupted)
        with pytest.raises(KeyboardInterrupt):
            install(Registry(tmp_path), [system], console())
    assert (folder_of(tmp_path) / "half").exists()
    assert not system.is_installed
    assert install(Registry(tmp_path), [system], console()) == {}
    assert (folder_of(tmp_path) / STAMP).is_file()


def test_one_that_fails_keeps_no_other_from_coming(tmp_path: Path) -> None:
    good = fetched(tmp_path, "pass")
    bad = load_system(good.folder / "system.toml").model_copy(update={"name": "pond"}).placed_in(good.folder)
    bad.install.fetch[0] = ["no-such-client"]
    assert install(Registry(tmp_path), [bad, good], console()).keys() == {"pond"}
    assert good.is_installed


def test_a_disk_that_is_too_small_is_told_before_anything_is_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(setup.shutil, "disk_usage", lambda _: _Disk(2e6))
    monkeypatch.setattr(setup, "run_step", lambda *_, **__: pytest.fail("fetched"))
    problems = install(Registry(tmp_path), [fetched(tmp_path, "pass")], console())
    assert problems == {"lake": "needs about 4 MB on the disk, and 2 MB are free"}


class _Disk:
    def __init__(self, free: float) -> None:
        self.free = free


def test_who_may_not_install_debian_packages_is_told_what_to_type(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PackageState, "of", lambda _: PackageState(frozenset(), known=True))
    monkeypatch.setattr("tefflab.systems.packages.as_root", lambda: None)
    monkeypatch.setattr("tefflab.systems.packages.available", lambda _: frozenset({"liblake-dev"}))
    problems = install(Registry(tmp_path), [lake(tmp_path, f"apt = ['liblake-dev']\n{ON_REQUEST}")], console())
    assert "apt-get install --no-install-recommends liblake-dev, then ./teff systems add lake" in problems["lake"]
    assert not folder_of(tmp_path).exists()


def test_python_packages_have_an_environment_of_their_own_whose_python_runs_the_programs(tmp_path: Path) -> None:
    system = lake(tmp_path, f"pip = ['pip']\napart = true\n{ON_REQUEST}")  # which is there: nothing is fetched
    (program,) = system.programs
    before = probe(program, system)
    assert (before.found, before.reason) == (False, "is not installed")
    assert (before.source, before.how_to_install) == ("install", "./teff systems add lake")
    assert install(Registry(tmp_path), [system], console()) == {}
    found = probe(program, system)
    assert (found.found, found.version) == (True, str(folder_of(tmp_path) / "venv"))


def test_it_is_removed_with_what_was_built_with_it_and_debian_packages_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f"apt = ['liblake-dev']\n{ON_REQUEST}"
    system = lake(tmp_path, text)
    system = load_system(_with(system.folder / "system.toml", 'program = "lake.py"', 'program = "lake_{benchmark}"'))
    built = tmp_path / ".teff/build/bin"
    built.mkdir(parents=True)
    for name in ("lake_spawn", "lake_wake", "pond_spawn"):
        (built / name).touch()
    folder_of(tmp_path).mkdir(parents=True)
    monkeypatch.setattr(PackageState, "of", lambda _: PackageState(frozenset({"liblake-dev"}), known=True))
    to = console()
    remove(system, to)
    assert [each.name for each in built.iterdir()] == ["pond_spawn"]
    assert not folder_of(tmp_path).exists()
    assert "Debian packages stay; to remove them:" in told(to)
    assert told(to).endswith("apt-get remove liblake-dev\n")


def test_what_there_is_not_to_remove_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lake(tmp_path, f"apt = ['liblake-dev']\n{ON_REQUEST}")
    requested.remove(Registry(tmp_path), [])
    assert capsys.readouterr().err == "teff: `teff systems add` has brought nothing that could be removed\n"
    requested.remove(Registry(tmp_path), ["lake"])
    assert capsys.readouterr().err == "teff: lake is not installed by `teff systems add`\n"
    lake(tmp_path, "")
    with pytest.raises(TeffError, match=r"^lake: not brought by `teff systems add`, so not removed; "):
        requested.remove(Registry(tmp_path), ["lake"])


def _with(file: Path, was: str, becomes: str) -> Path:
    file.write_text(file.read_text().replace(was, becomes))
    return file


def test_only_what_is_missing_is_brought_before_measuring(tmp_path: Path) -> None:
    system = fetched(tmp_path, "pass")
    to = console()
    bring_missing(Registry(tmp_path), [system], to)
    assert system.is_installed
    assert "lake: " in told(to)
    again = console()
    bring_missing(Registry(tmp_path), [system], again)
    assert told(again) == ""


def test_a_client_of_the_system_s_own_environment_is_called_by_its_name(tmp_path: Path) -> None:
    system = lake(tmp_path, f"fetch = [['{{installed}}/venv/bin/pip', 'install', 'lake']]\n{ON_REQUEST}")
    assert system.install.registries == ["pip"]
    to = console()
    assert install(Registry(tmp_path), [system], to).keys() == {"lake"}
    assert "s, by pip, in " in told(to)


def test_what_a_person_has_brought_is_not_brought_again(tmp_path: Path) -> None:
    system = lake(tmp_path, f"apt = ['liblake-dev']\n{ON_REQUEST}")
    assert not is_absent(system)
    (system.folder / "lake.py").unlink()
    assert is_absent(system)


def test_what_comes_on_request_is_listed_as_what_a_set_up_builds_once_its_packages_are_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    packages: set[str] = set()
    monkeypatch.setattr(PackageState, "of", lambda _: PackageState(frozenset(packages), known=True))
    system = lake(tmp_path, f"apt = ['liblake-dev']\n{ON_REQUEST}")
    (system.folder / "lake.py").write_text("raise SystemExit('lake is there and its classes are not')")

    def said() -> bool:
        """Whether the list says that it has to be installed."""
        requested.add(Registry(tmp_path), [], every=False, as_json=False)
        listed = " ".join(capsys.readouterr().out.split())
        assert ("teff systems add" in listed) != ("Not built yet; a command builds" in listed)
        return "teff systems add" in listed

    assert not said()  # the set-up makes its classes
    file = _with(system.folder / "system.toml", 'program = "lake.py"', 'program = "lake_{benchmark}"')
    system = load_system(file)
    assert said()
    packages.add("liblake-dev")
    assert not said()  # the set-up builds it


@pytest.mark.parametrize(
    ("asked", "name", "said"),
    [
        ("apt = ['liblake-dev']\n", "lake", "lake comes by itself: every command that measures sets it up"),
        ('[install.elsewhere]\nspack = "lake"\n', "lake", "in no registry that Teff asks (lake in Spack): install it"),
        ("", "pond", "no system is called 'pond'; ./teff systems add has those that this brings, ./teff systems"),
        ("", "lkae", "no system is called 'lkae'; did you mean lake?"),
    ],
)
def test_what_does_not_come_on_request_is_refused_with_the_way_out(
    tmp_path: Path, asked: str, name: str, said: str
) -> None:
    lake(tmp_path, asked)
    with pytest.raises(TeffError) as caught:
        requested.bring(Registry(tmp_path), [name])
    assert said in str(caught.value)
    assert caught.value.exit_code == BAD_INPUT


def test_the_list_says_what_each_costs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    system = fetched(tmp_path, "pass")
    requested.add(Registry(tmp_path), [], every=False, as_json=True)
    listed = json.loads(capsys.readouterr().out)
    assert (listed["name"], listed["installed"], listed["licence"], listed["megabytes"]) == ("lake", False, "MIT", 3)
    assert not_here([system]) == "lake (3 MB, MIT); ./teff systems add lake"
    install(Registry(tmp_path), [system], console())
    requested.add(Registry(tmp_path), [], every=False, as_json=True)
    assert json.loads(capsys.readouterr().out)["installed"]
    assert not_here([]) == ""


def test_what_an_active_environment_has_is_looked_for_after_what_the_user_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    conda, spack = tmp_path / "conda", tmp_path / "spack"
    (conda / "lib/pkgconfig").mkdir(parents=True)
    (spack / ".spack-env/view").mkdir(parents=True)
    monkeypatch.setattr(os, "environ", {"CMAKE_PREFIX_PATH": "/mine"})
    assert search_environment() == {}
    monkeypatch.setattr(os, "environ", os.environ | {"CONDA_PREFIX": str(conda), "SPACK_ENV": str(spack)})
    assert os.environ.keys() <= set(LOOKS_AT), "CMake runs again where one of them has changed"
    assert search_environment() == {
        "CMAKE_PREFIX_PATH": os.pathsep.join(["/mine", str(conda), str(spack / ".spack-env/view")]),
        "PKG_CONFIG_PATH": str(conda / "lib/pkgconfig"),
    }
