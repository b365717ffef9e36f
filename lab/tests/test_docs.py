"""The documentation against what it documents."""

import typer

from tefflab import cli, project_root

DOCS = project_root() / "docs"


def test_every_command_stands_in_the_reference() -> None:
    text = (DOCS / "reference" / "commands.md").read_text(encoding="utf-8")
    for name in typer.main.get_command(cli.app).commands:  # type: ignore[attr-defined]
        assert f"| `teff {name}" in text, name


def test_every_page_stands_in_the_navigation() -> None:
    navigation = (project_root() / "mkdocs.yml").read_text(encoding="utf-8")
    for page in DOCS.rglob("*.md"):
        assert str(page.relative_to(DOCS)) in navigation, page
