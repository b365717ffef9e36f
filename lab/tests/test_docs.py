"""The documentation against what it documents."""

import pytest
import typer

from tefflab import project_root
from tefflab.cli import main as cli
from tefflab.errors import TeffError
from tools.declarations import contract, declarations, find
from tools.site import DIRECTIVE, on_page_markdown

DOCS = project_root() / "docs"
HEADERS = project_root() / "runtime" / "include" / "teff"

HEADER = """\
// A file.
#pragma once

namespace teff {

namespace detail {

// Nobody's business.
struct hidden {};

}  // namespace detail

// Boils `water` for cups(n), n in [1, 9].
//
//   auto tea = teff::boil(3);
template <class Water>
  requires(sizeof(Water) > 0)
[[nodiscard]] int boil(Water&& water, int cups = 1) {
  if (cups == 0) return '{';
  return cups;
}

// Holds tea.
class pot : detail::hidden {
  int secret_ = 0;

 public:
  explicit pot(int size) : secret_(size) {}
  pot(const pot&) = delete;

  // Until it is full.
  void fill() noexcept { secret_ = 9; }
  [[nodiscard]] bool full() const noexcept;
  int cups{4};  // at most

 private:
  void leak();
};

}  // namespace teff
"""


def test_every_command_stands_in_the_reference() -> None:
    text = (DOCS / "reference" / "commands.md").read_text(encoding="utf-8")
    for name in typer.main.get_command(cli.app).commands:  # type: ignore[attr-defined]
        assert f"| `teff {name}" in text, name


def test_every_page_stands_in_the_navigation() -> None:
    navigation = (project_root() / "mkdocs.yml").read_text(encoding="utf-8")
    for page in DOCS.rglob("*.md"):
        assert str(page.relative_to(DOCS)) in navigation, page


def test_every_public_declaration_of_libteff_stands_in_its_reference() -> None:
    pages = [page.read_text(encoding="utf-8") for page in (DOCS / "reference").rglob("*.md")]
    shown = {(found["file"], found["name"]) for page in pages for found in DIRECTIVE.finditer(page)}
    for header in [*HEADERS.glob("*.hpp"), *HEADERS.glob("*.h")]:
        for each in declarations(header.read_text(encoding="utf-8")):
            if each.comment:  # a definition outside of its class has none
                assert (str(header.relative_to(project_root())), each.name) in shown


def test_the_readme_shows_an_example_as_it_is() -> None:
    example = (project_root() / "runtime" / "examples" / "paths.cpp").read_text(encoding="utf-8")
    assert f"```cpp\n{example}```" in (project_root() / "README.md").read_text(encoding="utf-8")


def test_a_contract_is_the_signature_without_its_body_then_the_comment_as_prose() -> None:
    (boil,) = find(HEADER, "boil", file="tea.hpp")
    assert contract(boil) == (
        "```cpp\ntemplate <class Water>\n  requires(sizeof(Water) > 0)\n"
        "[[nodiscard]] int boil(Water&& water, int cups = 1);\n```\n\n"
        "Boils `water` for `cups(n)`, n in \\[1, 9\\].\n\n\n```cpp\nauto tea = teff::boil(3);\n```"
    )


def test_the_contract_of_a_class_has_its_public_members_and_nothing_else() -> None:
    (pot,) = find(HEADER, "pot", file="tea.hpp")
    assert contract(pot) == (
        "```cpp\nclass pot;\n```\n\nHolds tea.\n\n```cpp\nexplicit pot(int size);\n```\n\n"
        "```cpp\nvoid fill() noexcept;\n[[nodiscard]] bool full() const noexcept;\nint cups{4};  // at most\n```\n\n"
        "Until it is full."
    )


def test_a_definition_is_shown_as_it_stands() -> None:
    page = on_page_markdown("Look:\n\n::: runtime/examples/fib.cpp fib\n")
    assert page.startswith("Look:\n\n```cpp\nlong fib(long n) {\n  if (n < 2) return n;\n")
    assert page.endswith("  return a + b;\n}\n```\n")


@pytest.mark.parametrize("name", ["hidden", "leak", "coffee"])
def test_a_name_that_is_not_public_in_the_header_is_an_error(name: str) -> None:
    with pytest.raises(TeffError, match=f"tea.hpp declares no '{name}'"):
        find(HEADER, name, file="tea.hpp")
