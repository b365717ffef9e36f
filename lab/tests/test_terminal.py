"""How things look in the terminal."""

from pathlib import Path

import pytest
from rich.console import Group
from rich.table import Table
from rich.text import Text

from tefflab.host.terminal import output, path_text, say


def test_a_path_in_the_clone_is_told_from_its_root_and_one_elsewhere_in_full(tmp_path: Path) -> None:
    root = tmp_path / "clone"
    assert path_text(root / "results" / "default" / "report.html", root) == "results/default/report.html"
    assert path_text(tmp_path / "elsewhere" / "report.html", root) == str(tmp_path / "elsewhere" / "report.html")


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
