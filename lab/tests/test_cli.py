"""The command line: what it prints where, and how it ends."""

import json
import re
from pathlib import Path

import pytest
import typer

import tefflab
from tefflab import __version__, project_root
from tefflab.cli import main as cli
from tefflab.errors import BAD_INPUT, TeffError
from tefflab.systems.systems import load_systems


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    """The exit code of `teff WORDS`."""
    monkeypatch.setattr("sys.argv", ["teff", *words])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert isinstance(ended.value.code, int)
    return ended.value.code


def test_the_version_is_said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, "--version") == 0
    assert capsys.readouterr().out == f"teff {__version__}\n"


COMMANDS = cli.Commands.list_commands(typer.main.get_command(cli.app), None)  # type: ignore[arg-type]


def test_the_commands_that_measure_are_among_all() -> None:
    assert {"metg", "sweep", "spawn", "compare", "report"} <= set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_begins_with_an_example_and_fits_a_screen(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert run(monkeypatch, name, "--help") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"Example:  teff {name}")
    assert len(lines) < 30
    assert max(map(len, lines)) <= 80


def test_the_lab_names_no_system() -> None:
    ours = {"teff"}  # this program
    names = {system.name for system in load_systems(project_root())} - ours
    for file in Path(tefflab.__file__).parent.rglob("*.py"):
        words = set(re.findall(r"[\w-]+", file.read_text(encoding="utf-8")))
        assert not words & names, file


def test_a_command_that_is_not_there_is_bad_input(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(monkeypatch, "nonsense") == BAD_INPUT


def test_json_is_alone_on_stdout(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, "systems", "--as-is", "--json") == 0
    assert isinstance(json.loads(capsys.readouterr().out), list)


@pytest.mark.parametrize(
    ("raised", "code", "said"),
    [
        (TeffError("width 0: give at least 1", exit_code=BAD_INPUT), 2, "teff: width 0: give at least 1\n"),
        (TeffError("no compiler"), 1, "teff: no compiler\n"),
        (KeyboardInterrupt(), 130, "teff: interrupted\n"),
    ],
)
def test_what_is_expected_to_go_wrong_is_told_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    raised: BaseException,
    code: int,
    said: str,
) -> None:
    def fail(_: object) -> None:
        raise raised

    monkeypatch.setattr("tefflab.systems.systems.load_systems", fail)
    assert run(monkeypatch, "systems") == code
    assert capsys.readouterr().err == said
