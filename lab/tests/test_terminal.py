"""How things look in the terminal."""

from pathlib import Path

from tefflab.host.terminal import path_text


def test_a_path_in_the_clone_is_told_from_its_root_and_one_elsewhere_in_full(tmp_path: Path) -> None:
    root = tmp_path / "clone"
    assert path_text(root / "results" / "default" / "report.html", root) == "results/default/report.html"
    assert path_text(tmp_path / "elsewhere" / "report.html", root) == str(tmp_path / "elsewhere" / "report.html")
