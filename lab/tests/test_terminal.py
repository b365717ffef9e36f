"""How things look in the terminal."""

import codecs
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from rich.console import Group
from rich.table import Table
from rich.text import Text

from tefflab.errors import BAD_INPUT, FAILED
from tefflab.host.terminal import in_ascii, is_redrawn, output, path_text, progress, say
from tefflab.output.table import Column
from tefflab.output.table import Table as OurTable

MAIN = "from tefflab.cli.main import main; main()"


def test_a_path_that_is_told_can_be_opened_from_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = tmp_path / "clone" / "results" / "report.html"
    for here, told in ((tmp_path, "clone/results/report.html"), (tmp_path / "other", str(report))):
        here.mkdir(exist_ok=True)
        monkeypatch.chdir(here)
        assert path_text(report) == told


def test_no_line_of_results_ends_in_blanks(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    table = Table(box=None, show_header=False)
    table.add_row("a  b", "a long value that is broken in two")
    table.add_row("", "short")
    output().print(Group(table, Text("and a sentence  that is broken, too, between words")))
    output().print("kept ", end="")
    *lines, last = capsys.readouterr().out.split("\n")
    assert all(line == line.rstrip() for line in lines)
    assert "a  b" in lines[0]
    assert "sentence  that" in " ".join(lines)
    assert last == "kept "


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_long_line_of_ours_is_broken_between_words_on_a_terminal_alone(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, is_terminal: bool
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("TTY_COMPATIBLE", "1" if is_terminal else "0")
    monkeypatch.setenv("NO_COLOR", "1")
    names = " ".join(["harbour", "[lake]", "pond"] * 9)
    say(f"no system is called 'puddle'; there are: {names}")
    lines = capsys.readouterr().err.splitlines()
    assert " ".join(lines) == f"teff: no system is called 'puddle'; there are: {names}"
    assert (max(map(len, lines)) <= 40) is is_terminal


def said_by(words: Sequence[str], **variables: str) -> tuple[int, bytes]:
    """The exit code and the output of a command on a pipe, with these variables."""
    usual = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "PYTHON", "COLUMNS"))}
    ended = subprocess.run(words, env={**usual, **variables}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return ended.returncode, ended.stdout


def prints(*texts: str) -> list[str]:
    """A program that prints these as the lab does."""
    program = "import sys; from tefflab.host import terminal; terminal.prepare_streams(); "
    return [sys.executable, "-c", program + "[terminal.output().print(text) for text in sys.argv[1:]]", *texts]


@pytest.mark.parametrize(
    ("variables", "shown"),
    [
        ({"PYTHONIOENCODING": "latin-1"}, "2 µs ± 1 -> caf\xe9 ?".encode("latin-1")),
        ({"LC_ALL": "C"}, b"2 us +- 1 -> cafe ?"),
        ({"LC_ALL": "C.UTF-8"}, "2 µs ± 1 → café 宽".encode()),
    ],
)
def test_text_is_in_the_encoding_of_the_terminal_with_ascii_for_what_it_lacks(
    variables: dict[str, str], shown: bytes
) -> None:
    assert said_by(prints("2 µs ± 1 → café 宽"), PYTHONUTF8="1", **variables) == (0, shown + b"\n")


def test_every_sign_of_the_lab_has_a_counterpart_in_ascii() -> None:
    files = (Path(__file__).parents[1] / "src").rglob("*.py")
    codecs.register_error("teff", in_ascii)
    signs = {sign for file in files for sign in file.read_text(encoding="utf-8") if not sign.isascii()}
    lacking = {sign for sign in signs if "?" in sign.encode("ascii", "teff").decode()}
    assert signs
    assert not lacking


def test_a_name_of_a_file_that_is_no_text_is_written_as_it_is() -> None:
    assert said_by(prints(os.fsdecode(b"a\xff.svg")), LC_ALL="C.UTF-8", PYTHONUTF8="1") == (0, b"a\xff.svg\n")


@pytest.mark.parametrize("columns", ["0", "1", "-3", "wide", ""])
def test_a_table_is_printed_whatever_the_width_of_the_terminal_is_said_to_be(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    output().print(OurTable([Column("system", ["one", "another"], "left"), Column("METG", ["1 µs", "2 µs"])]))
    lines = capsys.readouterr().out.split("\n")
    assert [line.split() for line in lines] == [["system", "METG"], ["one", "1", "µs"], ["another", "2", "µs"], []]


COMMANDS = ["systems", "report", "graph -type fft -width 8 -steps 9"]


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_refuses_a_closed_stdout_in_one_line(command: str) -> None:
    words = f'exec "$0" -c {shlex.quote(MAIN)} {command} 2>&1 >&-'
    code, said = said_by(["sh", "-c", words, sys.executable])
    assert code == FAILED
    assert said == b"teff: standard output: it is closed; give it a terminal, a file, a pipe or /dev/null\n"


def test_a_reader_that_has_seen_enough_ends_a_command_in_silence() -> None:
    words = f'{{ "$0" -c {shlex.quote(MAIN)}; echo $? >&2; }} | true'
    assert said_by(["bash", "-c", words, sys.executable]) == (0, b"0\n")


def test_a_closed_stderr_is_silent_and_keeps_the_exit_code() -> None:
    words = f'exec "$0" -c {shlex.quote(MAIN)} nonsense 2>&-'
    assert said_by(["sh", "-c", words, sys.executable]) == (BAD_INPUT, b"")


def test_a_full_disk_is_one_line() -> None:
    code, said = said_by(["sh", "-c", f'exec "$0" -c {shlex.quote(MAIN)} >/dev/full', sys.executable])
    assert (code, said) == (FAILED, b"teff: input or output: No space left on device\n")


def test_variables_of_another_python_are_not_for_ours(tmp_path: Path) -> None:
    (tmp_path / "numpy.py").write_text("raise ImportError('of another Python')\n", encoding="utf-8")
    root = Path(__file__).parents[2]
    seen = said_by([str(root / "teff"), "--version"], PYTHONPATH=str(tmp_path), PYTHONHOME=str(tmp_path))
    assert seen[0] == 0, seen
    script = (root / "teff").read_text(encoding="utf-8")
    (tmp_path / "teff").write_text(script.partition("root=$(")[0] + "env\n", encoding="utf-8")
    _, variables = said_by(["sh", str(tmp_path / "teff")], PYTHONPATH="a", PYTHONHOME="b", PIP_TARGET="c")
    assert b"PYTHONPATH" not in variables
    assert b"PYTHONHOME" not in variables
    assert b"PIP_TARGET" not in variables


@pytest.mark.parametrize(
    ("variables", "redrawn"),
    [
        ({"TTY_COMPATIBLE": "1", "TERM": "xterm"}, True),
        ({"TTY_COMPATIBLE": "1", "TERM": "dumb"}, False),
        ({"FORCE_COLOR": "1", "TERM": "xterm"}, False),
        ({"TERM": "xterm"}, False),
    ],
)
def test_nothing_is_redrawn_where_no_cursor_can_be_moved(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], redrawn: bool
) -> None:
    for name in ("TTY_COMPATIBLE", "FORCE_COLOR", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert is_redrawn(progress()) is redrawn
    assert (progress().color_system is not None) is ("FORCE_COLOR" in variables or redrawn)
