"""Fixtures of several tests: a checkout with simulated programs, and whether a real program is here."""

import json
import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, sync_playwright

from samples import MACHINE
from tefflab import project_root
from tefflab.cli import main as cli
from tefflab.cli import publishing, session
from tefflab.measure import presence
from tefflab.output.charts.sheet import Picture
from tefflab.systems.probing import probe
from tefflab.systems.registry import Registry
from tefflab.systems.systems import BUILD_FOLDER, Program, System, usable_cores

PROGRAM = Path(__file__).parent / "simulated_program.py"
CORE_LIBRARY = Path(BUILD_FOLDER) / "lib" / "libteff_bench.so"  # what scripts call


CHROMIUM_FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--systems", metavar="NAMES", help="only the tests of these systems' adapters; names by commas")
    parser.addoption("--without-systems", action="store_true", help="no test of a system's adapter")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A test is of a system's adapter if it has a program of the system as a parameter."""
    if config.getoption("--without-systems"):
        kept = [each for each in items if not _systems_of(each)]
    elif names := config.getoption("--systems"):
        kept = [each for each in items if _systems_of(each) & set(names.split(","))]
    else:
        return
    config.hook.pytest_deselected(items=[each for each in items if each not in kept])
    items[:] = kept


def _systems_of(item: pytest.Item) -> set[str]:
    values = item.callspec.params.values() if isinstance(item, pytest.Function) and hasattr(item, "callspec") else ()
    return {each.identity for each in values if isinstance(each, Program)}


@pytest.fixture
def laboratory(tmp_path: Path) -> Callable[..., Path]:
    """A checkout with a ceiling, a core and simulated systems: name -> overhead and fault.

    Beside them a system that has spawn patterns alone.
    """

    def make(**systems: tuple[float, str]) -> Path:
        binaries = tmp_path / BUILD_FOLDER / "bin"
        binaries.mkdir(parents=True)
        write_program(binaries / "ceiling", "ceiling 0 fine")
        _script(binaries / "task_graph", "exit 0")  # takes all flags
        write_system(
            tmp_path,
            "spawner",
            f'[[program]]\nbenchmark = "spawn"\nname = "one"\ntitle = "spawner"\nprogram = "{PROGRAM}"\n',
        )
        for name, (overhead, fault) in systems.items():
            write_system(
                tmp_path,
                name,
                f'[[program]]\nbenchmark = "task_graph"\nname = "one"\ntitle = "{name}"\nprogram = "{PROGRAM}"\n'
                f'command = ["{sys.executable}", "{{program}}", "{name}", "{overhead}", "{fault}"]\n',
            )
        return tmp_path

    return make


@pytest.fixture
def unrendered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures are laid out and their files are there, but empty, and so they are in reports. Rendering takes half of
    such a test's time, and is tested with the pictures."""

    def touched(_: Picture, path: Path) -> tuple[Path, Path]:
        path.parent.mkdir(parents=True, exist_ok=True)
        svg, png = (path.with_name(path.name + ending) for ending in (".svg", ".png"))
        svg.touch()
        png.touch()
        return svg, png

    monkeypatch.setattr(publishing, "save", touched)
    monkeypatch.setattr(Picture, "svg", "<svg/>")


@pytest.fixture
def commanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unrendered: None) -> Path:  # noqa: ARG001
    """An empty checkout on which `teff` works, of a machine that is known and has all that it needs."""
    monkeypatch.setattr("tefflab.project_root", lambda: tmp_path)
    monkeypatch.setattr("tefflab.measure.measurement.read_machine", lambda: MACHINE)
    monkeypatch.setattr(presence, "ensure", lambda *_, **__: {})
    monkeypatch.setattr(session, "warn_of_others", lambda _: None)
    return tmp_path


def teff(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    """The command with these words; returns its exit code."""
    monkeypatch.setattr("sys.argv", ["teff", *words])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert isinstance(ended.value.code, int)
    return ended.value.code


def printed_rows(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """The rows that a command printed with --json, without further numbers of the same runs."""
    rows = map(json.loads, capsys.readouterr().out.splitlines())
    return [row for row in rows if not row["is_beside"]]


def write_system(root: Path, name: str, programs: str) -> None:
    folder = root / "bench" / "systems" / name
    folder.mkdir(parents=True)
    (folder / "system.toml").write_text(
        f'name = "{name}"\ntitle = "{name}"\nparadigm = "none"\nparallelism = "implicit"\n'
        f'distributed = false\nlanguage = "none"\nhomepage = "https://example.org"\ncolor = "#000000"\n' + programs
    )


def write_program(path: Path, words: str, before: str = "") -> None:
    """A program that simulates, as these words have it: name, overhead, fault."""
    _script(path, f'exec {before}{sys.executable} {PROGRAM} {words} "$@"')


def _script(path: Path, command: str) -> None:
    path.write_text(f"#!/bin/sh\n{command}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


@cache
def _systems(root: Path) -> dict[str, System]:
    return {system.name: system for system in Registry(root).systems}


def skip_unless_there(program: Program) -> None:
    """Skips the test where the program, or the package that a script needs, is not on this machine."""
    root = project_root()
    if not program.program_path.exists():
        pytest.skip(f"{program.executable} is not built here")
    if program.is_python and not (root / CORE_LIBRARY).exists():
        pytest.skip("the core's library is not built here")
    system = _systems(root)[program.system_name]
    _skip_without_its_machine(program)
    if system.install.apart:
        if not system.is_installed:
            pytest.skip(f"./teff systems add {system.name} brings it")
        return
    for requirement in system.install.pip:
        name = re.split(r"[^\w.-]", requirement, maxsplit=1)[0]
        try:
            version(name)
        except PackageNotFoundError:
            pytest.skip(f"{name} is not installed here")


def _skip_without_its_machine(program: Program) -> None:
    """Skips the test if the device of the program's kernels is not here."""
    root = project_root()
    if program.ceiling and (reason := probe(program, _systems(root)[program.system_name]).reason):
        pytest.skip(reason)


def answers(program: Program, workers: int, *words: str, lines: Iterable[str] = ()) -> list[dict[str, Any]]:
    """The lines of JSON that a built program prints; skips the test where it is not built here."""
    if not program.program_path.exists():
        pytest.skip(f"{program.executable} is not built here")
    _skip_without_its_machine(program)
    finished = subprocess.run(
        [*program.command_line(workers), "--workers", str(workers), *words],
        input="\n".join(lines),
        env={**os.environ, **program.environment_for(workers)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if (program.identity == "serial" or workers > usable_cores()) and f" of {workers} workers: " in finished.stderr:
        pytest.skip("it has no more workers here")
    finished.check_returncode()
    return [json.loads(line) for line in finished.stdout.splitlines()]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("there is no chromium")
    with sync_playwright() as play:
        started = play.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS)
        yield started
        started.close()
