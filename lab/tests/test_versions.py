"""Versions of a system side by side: how they are named, got and recognised; none is another than was asked for."""

import io
import json
import stat
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from unittest.mock import Mock

import pytest
from rich.console import Console

from conftest import PROGRAM, printed_rows, teff, write_system
from tefflab import project_root
from tefflab.cli.comparing import SLOWER
from tefflab.errors import BAD_INPUT, FAILED, TeffError
from tefflab.systems import bringing, logged
from tefflab.systems.building import working_tool
from tefflab.systems.naming import Named, canonical, owner_of, parsed
from tefflab.systems.needs import Asked, Version
from tefflab.systems.registry import Registry, load_system, no_such_system
from tefflab.systems.systems import System

NUMBERED = Version(name="{number}", example="2.1", title="PyPI's lake", pip=["lake=={number}.*"])
BY_GCC = Version(name="gcc-{number}", example="gcc-12", title="by GCC", says="GCC {number}")


# --- names


@pytest.mark.parametrize(
    ("name", "named"),
    [
        ("lake", Named("lake")),
        ("lake/graph", Named("lake", "graph")),
        ("lake@2.1", Named("lake", "", "2.1")),
        ("lake/graph@2.1", Named("lake", "graph", "2.1")),
        ("lake@/opt/my-lake", Named("lake", "", "/opt/my-lake")),
        ("lake/graph@/opt/my@lake/", Named("lake", "graph", "/opt/my@lake")),
    ],
)
def test_a_name_says_system_way_and_version(name: str, named: Named) -> None:
    assert parsed(name) == named
    assert parsed(str(named)) == named
    assert owner_of(name) == str(Named(named.system, "", named.version))


def test_a_folder_is_named_by_its_absolute_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert canonical("lake@./build/../install") == f"lake@{tmp_path}/install"
    assert canonical("lake@..") == f"lake@{tmp_path.parent}"
    assert canonical("lake/graph") == "lake/graph"
    with pytest.raises(TeffError, match="no version stands behind"):
        canonical("lake@")


def test_each_version_has_a_folder_of_its_own() -> None:
    names = ["lake@2.1", "lake@2.10", "lake@/opt/a-b", "lake@/opt/a/b", "pond@2.1", f"lake@/{'x' * 300}", "lake@/"]
    slugs = {parsed(each).slug for each in names}
    assert len(slugs) == len(names)
    assert all("/" not in each and len(each) < 100 for each in slugs)


# --- what system.toml says


@pytest.mark.parametrize(
    ("rule", "version", "number"),
    [
        (NUMBERED, "2022.3", "2022.3"),
        (NUMBERED, "2022", "2022"),
        (NUMBERED, "gcc-12", None),
        (NUMBERED, "2022.", None),
        (BY_GCC, "gcc-12", "12"),
        (BY_GCC, "12", None),
        (Version(name="trunk", example="trunk", title="t"), "trunk", ""),
    ],
)
def test_a_version_has_its_number(rule: Version, version: str, number: str | None) -> None:
    assert rule.number_of(version) == number


@pytest.mark.parametrize(
    ("rule", "number", "said", "is_it"),
    [
        (NUMBERED, "2022.3", "2022.3", True),
        (NUMBERED, "2022.3", "2022.3.1", True),
        (NUMBERED, "2022.3.1", "2022.3", True),  # as far as it says
        (NUMBERED, "2022.3", "2022.30", False),
        (NUMBERED, "2022.3", "2021.8", False),
        (NUMBERED, "2", "libwater 2.1", True),
        (NUMBERED, "2", "", False),
        (NUMBERED, "2", None, False),
        (BY_GCC, "12", "libgomp (GCC 12.2), OpenMP 201511", True),
        (BY_GCC, "12", "libgomp (GCC 13.2), OpenMP 12", False),
        (BY_GCC, "12", "LLVM libomp 12", False),
    ],
)
def test_a_program_says_whether_it_is_of_a_version(rule: Version, number: str, said: str | None, is_it: bool) -> None:
    refusal = Asked(Path(), Named("lake", "", number), number, rule).refusal(said)
    assert (not refusal) == is_it
    assert is_it or refusal == f"{number} was asked for, and the program says it has {said or 'none'}"


@pytest.mark.parametrize(
    ("version", "said"),
    [
        ('name = "{number}"\nexample = "new"\ntitle = "t"', "'new' is no example of '{number}'"),
        ('name = "{number}"\nexample = "2"\ntitle = "t"\nsays = "2"', "says needs {number} in it"),
        ('name = "{number}"\nexample = "2"\ntitle = "t"\nprograms = ["three"]', "no program is named 'three'"),
        ('name = "{number}"\nexample = "2"\ntitle = "t"\nnpm = []', "npm"),
    ],
)
def test_what_a_version_says_is_checked(tmp_path: Path, version: str, said: str) -> None:
    with pytest.raises(TeffError) as caught:
        lake(tmp_path, f"[[version]]\n{version}\n")
    assert said in str(caught.value)


def test_every_version_of_the_checkout_has_an_example_that_is_taken() -> None:
    every = [(system, rule) for system in Registry(project_root()).systems for rule in system.versions]
    assert every
    for system, rule in every:
        one = system.at(rule.example)
        assert one.name == f"{system.name}@{rule.example}"
        assert {program.system_name for program in one.programs} == {one.name}
        assert one.programs_for("task_graph")


# --- simulated versions, each a Python that prints its version


def lake(root: Path, versions: str = "", overhead: float = 1e-6) -> System:
    """A system whose ways are run by its version's own Python."""
    program = (
        '[[program]]\nbenchmark = "task_graph"\nname = "{}"\ntitle = "lake {}"\n'
        f'program = "{PROGRAM}"\ncommand = ["{{{{python}}}}", "{{{{program}}}}", "lake", "{overhead}", "fine"]\n'
    )
    write_system(root, "lake", versions + program.format("one", "one") + program.format("two", "two"))
    return load_system(root / "bench" / "systems" / "lake" / "system.toml")


def installed(folder: Path, version: str, overhead: float = 1e-6, then: str = "") -> Path:
    """A folder with a Python in which programs say that they are of this version; of `then`, once they are measured."""
    python = folder / "bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(
        "#!/bin/sh\nscript=$1 name=$2 fault=$4\nshift 4\n"
        f'version={version}\ncase "$*" in *--batch*) version={then or version};; esac\n'
        f'SIMULATED_VERSION=$version exec {sys.executable} "$script" "$name" {overhead} "$fault" "$@"\n'
    )
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    return folder


@pytest.fixture
def sitting(laboratory: Callable[..., Path], commanded: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with `lake`, whose version here is 1; pip brings every requested version."""
    lake(
        laboratory(usual=(1e-6, "fine")),
        '[[version]]\nname = "{number}"\nexample = "2.1"\ntitle = "PyPI\'s"\npip = ["lake"]\n',
    )

    def bring(asked: Asked, *_: object) -> None:
        installed(asked.home / "venv", asked.number)

    monkeypatch.setattr(bringing, "_install", bring)
    return commanded


def test_versions_are_rows_of_one_sitting(
    sitting: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = installed(sitting / "my", "7.7", overhead=3e-6)
    names = ["lake@2.1", "lake@3", f"lake@{mine}", "lake@1", "lake"]
    assert teff(monkeypatch, "metg", "--systems", ",".join(names), "--rounds", "3", "--workers", "2") == 0
    shown = capsys.readouterr().out
    for name, version in zip(names[:4], ("2.1", "3", "7.7", "1"), strict=True):
        assert f"{name} said it is {version}" in " ".join(shown.split())
    (head,) = (json.loads(line) for line in (sitting / "results/default/sittings.jsonl").read_text().splitlines())
    assert head["versions"] == {"lake@2.1": "2.1", "lake@3": "3", f"lake@{mine}": "7.7", "lake@1": "1", "lake": "1"}
    looks = [each["variant_index"] for each in head["plan"]["variants"]]
    assert len(set(looks)) == len(looks)
    assert teff(monkeypatch, "compare", f"lake@{mine}", "lake@3", "--json") == 0
    compared = json.loads(capsys.readouterr().out.splitlines()[0])
    assert compared["ratio"]["value"] == pytest.approx(3, rel=0.1)


@pytest.mark.usefixtures("sitting")
def test_a_way_of_a_version_is_named_before_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--systems", "lake/two@2.1,lake@3", "--all-variants", "--rounds", "2", "--workers", "2", "--json")
    assert teff(monkeypatch, "metg", *words) == 0
    assert {row["system_id"] for row in printed_rows(capsys)} == {"lake/two@2.1", "lake@3", "lake/two@3"}
    assert teff(monkeypatch, "metg", "--resume", "--rounds", "3") == 0


@pytest.mark.usefixtures("sitting")
def test_a_version_is_brought_once(monkeypatch: pytest.MonkeyPatch) -> None:
    once = Mock(wraps=bringing._install)
    monkeypatch.setattr(bringing, "_install", once)
    for _ in range(2):
        assert teff(monkeypatch, "metg", "--systems", "lake@2.1", "--rounds", "2", "--workers", "2") == 0
    assert once.call_count == 1


def test_a_slower_version_is_found(
    sitting: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = installed(sitting / "my", "1", overhead=1.5e-6)
    words = ("compare", f"lake@{mine}", "lake@2.1", "--fail-if-slower", "5%", "--workers", "2")
    assert teff(monkeypatch, *words) == SLOWER
    assert f"lake@{mine} is slower than lake@2.1" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        (
            "lake@new",
            BAD_INPUT,
            "no version 'new' of lake is known; there are: lake@2.1 (PyPI's); one that you have installed is named by",
        ),
        (
            "usual@2",
            BAD_INPUT,
            "no version '2' of usual is known; Teff can bring none of its versions by number; one that you have "
            "installed is named by its folder, as usual@/opt/usual",
        ),
        ("lake@/no/such", BAD_INPUT, "lake@/no/such: there is no folder /no/such"),
        ("lake@~nobody-here/lake", BAD_INPUT, "/~nobody-here/lake: there is no folder "),
        ("lake@2.1/two", BAD_INPUT, "a way stands before the version: lake/two@VERSION"),
        ("lake@", BAD_INPUT, "lake@: no version stands behind the @"),
        ("sea@2", BAD_INPUT, "no system is called 'sea@2'"),
        ("lake@{tmp}", FAILED, "lake@{tmp}: there is no {tmp}/bin/python, which would run it"),
    ],
)
@pytest.mark.usefixtures("sitting")
def test_a_version_that_is_not_there_is_said_in_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    code: int,
    said: str,
) -> None:
    name, said = (each.replace("{tmp}", str(tmp_path)) for each in (name, said))
    assert teff(monkeypatch, "metg", "--systems", name, "--rounds", "2", "--workers", "2") == code
    (line,) = (
        each
        for each in capsys.readouterr().err.splitlines()
        if (each.startswith("teff: ") and "lake" in each) or said in each
    )
    assert said in line


PIP_SAYS = (
    "ERROR: Ignored the following yanked versions: 2.9\n"
    "ERROR: Could not find a version that satisfies the requirement lake==1.2.* (from versions: {})\n"
    "ERROR: No matching distribution found for lake==1.2.*\n"
)


@pytest.mark.parametrize(
    ("versions", "code", "said"),
    [
        ("2.1, 2.2", BAD_INPUT, "lake@1.2: PyPI has no such version of lake for this Python; there are: 2.1 2.2"),
        (", ".join(f"2.{each}" for each in range(20)), BAD_INPUT, "2.18 2.19 (and 8 earlier ones)"),
        ("none", FAILED, "lake@1.2: pip failed\n  ERROR: Ignored"),  # there is no network, say
    ],
)
def test_a_version_that_pip_does_not_find_is_told_with_those_that_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, versions: str, code: int, said: str
) -> None:
    def fails(command: Sequence[str], log: Path, **_: object) -> int:
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(PIP_SAYS.format(versions))
        return "pip" in command

    monkeypatch.setattr(logged, "run_logged", fails)
    rule = NUMBERED.filled("1.2")
    asked = Asked(tmp_path, parsed("lake@1.2"), "1.2", rule)
    with pytest.raises(TeffError) as caught:
        bringing._install(asked, rule, tmp_path / "log", Console())
    assert said in str(caught.value)
    assert caught.value.exit_code == code


@pytest.mark.parametrize("then", ["", "1.9"])
@pytest.mark.usefixtures("sitting")
def test_another_version_than_was_asked_for_is_no_row(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], then: str
) -> None:
    """Whether it says so in its identity, or only in a record."""

    def bring(asked: Asked, *_: object) -> None:
        installed(asked.home / "venv", "2.1" if then else "1.9", then=then)

    monkeypatch.setattr(bringing, "_install", bring)
    assert teff(monkeypatch, "metg", "--systems", "lake@2.1", "--rounds", "2", "--workers", "2") == FAILED
    shown = capsys.readouterr()
    assert "2.1 was asked for, and the program says it has 1.9" in " ".join((shown.out + shown.err).split())


# --- compiled versions: a small checkout, and libraries of its system in folders

CHECKOUT = """cmake_minimum_required(VERSION 3.22)
project(small LANGUAGES CXX)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
include(TeffSystems.cmake)
add_library(bench INTERFACE)
add_library(teff::task_graph ALIAS bench)
teff_add_systems()
"""
PRESETS = """{"version": 3, "configurePresets": [
  {"name": "release", "generator": "Ninja", "binaryDir": "${sourceDir}/.teff/build"}]}"""
ADAPTER = """#include <cstdio>
#include <water.hpp>
int main() { std::printf("{\\"system\\": \\"pond\\", \\"variant\\": \\"one\\", \\"version\\": \\"%s\\"}\\n", water()); }
"""
FINDS = """find_path(water_headers water.hpp)
find_library(water_library water)
if(NOT water_headers OR NOT water_library)
  teff_skip_system("Water is not installed")
endif()
teff_add_system_program(pond_one one.cpp LIBRARIES ${water_library})
target_include_directories(pond_one PRIVATE ${water_headers})
"""
POND = """[[version]]
name = "{number}"
example = "2"
title = "of a test"
cmake = { CMAKE_PREFIX_PATH = "@/{number}" }
[[program]]
benchmark = "task_graph"
name = "one"
title = "pond"
program = "pond_one"
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A checkout with one system, which CMake builds if it finds the system's library."""
    try:
        working_tool("cmake"), working_tool("ninja")
    except TeffError as missing:
        pytest.skip(str(missing))
    root = tmp_path / "checkout"
    write_system(root, "pond", POND.replace("@", str(tmp_path)))
    folder = root / "bench/systems/pond"
    for file, text in {
        root / "CMakeLists.txt": CHECKOUT,
        root / "CMakePresets.json": PRESETS,
        root / "TeffSystems.cmake": (project_root() / "cmake/TeffSystems.cmake").read_text(),
        folder / "CMakeLists.txt": FINDS,
        folder / "one.cpp": ADAPTER,
    }.items():
        file.write_text(text)
    return root


def library(folder: Path, version: str) -> Path:
    """Installs the system's library there."""
    (folder / "lib").mkdir(parents=True)
    (folder / "include").mkdir()
    (folder / "include/water.hpp").write_text("const char* water();\n")
    source = folder / "water.cpp"
    source.write_text(f'const char* water() {{ return "Water {version}"; }}\n')
    made = folder / "lib/libwater.so"
    subprocess.run(["g++", "-shared", "-fPIC", "-Wl,-soname,libwater.so", "-o", made, source], check=True)
    return folder


def brought(root: Path, version: str) -> str:
    """The output of this version's program; TeffError if it can't be had."""
    registry = Registry(root)
    _, system = registry.named([f"pond@{version}"])
    bringing.bring_version(registry, system.programs, Console(file=io.StringIO()))
    return subprocess.run([system.programs[0].program_path], capture_output=True, text=True, check=True).stdout


def test_the_same_adapter_is_built_against_each_folder_once(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = library(tmp_path / "one", "3"), library(tmp_path / "other", "4")
    assert "Water 3" in brought(small, str(one))
    assert "Water 4" in brought(small, str(other))
    monkeypatch.setattr(
        bringing,
        "working_tool",
        Mock(side_effect=lambda name: pytest.fail("is configured again") if name == "cmake" else name),
    )
    assert "Water 3" in brought(small, str(one))  # is there
    assert not (small / ".teff/build").exists()


def test_what_was_linked_decides_which_version_it_is(small: Path, tmp_path: Path) -> None:
    library(tmp_path / "2.1", "2.1")
    library(tmp_path / "5", "4.9")
    assert "Water 2.1" in brought(small, "2.1")
    with pytest.raises(TeffError) as caught:
        brought(small, "5")
    assert str(caught.value) == "pond@5: 5 was asked for, and the program says it has Water 4.9"


def test_a_folder_without_the_system_is_an_error(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(TeffError) as caught:
        brought(small, str(empty))
    assert str(caught.value) == f"pond@{empty}: CMake did not find it in {empty}: Water is not installed"
    monkeypatch.setenv("CMAKE_PREFIX_PATH", str(library(tmp_path / "elsewhere", "3")))
    with pytest.raises(TeffError) as caught:
        brought(small, str(empty))
    assert str(caught.value) == f"pond@{empty}: nothing of {empty} is in pond_one: CMake found the system elsewhere"


def test_headers_of_one_folder_and_a_library_of_another_are_an_error(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, other = library(tmp_path / "mine", "3"), library(tmp_path / "other", "4")
    (mine / "lib/libwater.so").rename(mine / "lib/libwater.so.kept")
    monkeypatch.setenv("CMAKE_PREFIX_PATH", str(other))
    assert "Water 4" in brought(small, str(mine))  # it has headers alone, as far as can be seen
    (mine / "lib/libwater.so.kept").rename(mine / "lib/libwater.so")
    with pytest.raises(TeffError) as caught:
        brought(small, str(mine))
    assert f"its libwater.so is {other}/lib/libwater.so, not {mine}/lib/libwater.so" in str(caught.value)


def test_a_compiler_library_of_the_folder_is_no_matter(small: Path, tmp_path: Path) -> None:
    mine = library(tmp_path / "mine", "3")
    kept = mine / "lib/x86_64-linux-gnu"
    kept.mkdir()
    (kept / "libstdc++.so.6").touch()
    (kept / "libc.so.6").touch()
    assert "Water 3" in brought(small, str(mine))


def test_a_library_that_changed_is_measured_as_it_is_now(small: Path, tmp_path: Path) -> None:
    mine = library(tmp_path / "mine", "3")
    assert "Water 3" in brought(small, str(mine))
    mine.rename(tmp_path / "old")
    library(mine, "4")
    assert "Water 4" in brought(small, str(mine))


def test_a_version_of_nobody_is_like_a_system_of_nobody(small: Path) -> None:
    assert [each.name for each in Registry(small).named(["sea@2"])] == ["pond"]
    assert "no system is called 'sea@2'" in str(no_such_system("sea@2", ["pond"]))
