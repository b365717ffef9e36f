"""The documentation against its subjects."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from playwright.sync_api import Browser

from tefflab import project_root
from tefflab.cli import main as cli
from tefflab.cli.grammar import Tree
from tefflab.errors import TeffError
from tefflab.systems.registry import Registry
from tools.declarations import contract, declarations, find
from tools.mini_apps import app_pages
from tools.site import DIRECTIVE, as_a_page, on_page_markdown
from tools.system_pages import Source, comments, pages, sources

DOCS = project_root() / "docs"
DATE = re.compile(r"\b20\d\d-\d\d-\d\d\b")
BUILT = re.compile(r"\.teff/build/bin/(\w+)")
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


def test_every_command_and_option_stands_in_the_reference() -> None:
    text = (DOCS / "reference" / "commands.md").read_text(encoding="utf-8")
    for words, command in commands(cli.app):
        assert f"`teff {' '.join(words)}" in text, words
        for option in command.params:
            shown = isinstance(option, click.Option) and not option.hidden
            assert not shown or any(f"`{name}" in text for name in option.opts), (words, option.opts)


def commands(group: Tree, *before: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        if (one := group.get_command(context, name)) is not None:
            yield (*before, name), one
        if isinstance(one, Tree):
            yield from commands(one, *before, name)


STARTED = re.compile(r"\./teff ([a-z][^`\n#|]*)")


def test_a_command_that_a_page_starts_is_one_and_has_the_options() -> None:
    known = dict(commands(cli.app))
    for page in [project_root() / "README.md", project_root() / "CONTRIBUTING.md", *DOCS.rglob("*.md")]:
        for said in STARTED.findall(page.read_text(encoding="utf-8")):
            words = said.split(" -- ")[0].split()
            named = next((known[key] for end in (2, 1) if (key := tuple(words[:end])) in known), None)
            assert named, f"{page}: teff {said}"
            options = {name for each in named.params for name in each.opts if not getattr(each, "hidden", False)}
            if isinstance(named, Tree):
                options |= {name for one in named.commands.values() for each in one.params for name in each.opts}
            for word in words[1:]:
                name = word.strip(",.;:()").partition("=")[0]
                is_own = not word.endswith('"')  # else of another program, in a text
                assert not (name.startswith("--") and is_own) or name in options | {"--help"}, f"{page}: teff {said}"


def test_every_page_stands_in_the_navigation() -> None:
    navigation = (project_root() / "mkdocs.yml").read_text(encoding="utf-8")
    of_apps = [place for each in app_pages(project_root()) for place in each.values()]
    for page in DOCS.rglob("*.md"):
        place = str(page.relative_to(DOCS))
        assert place in of_apps or place in navigation, page


def test_measured_numbers_stand_in_the_results_with_their_date() -> None:
    for page in set(DOCS.rglob("*.md")) - {DOCS / "results" / "index.md"}:
        beginning, *sections = re.split("^## ", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
        if page.parent.name != "results":
            assert not any(map(DATE.search, [beginning, *sections])), page
        elif not DATE.search(beginning):
            assert [each for each in sections if not DATE.search(each)] == [], page


def test_a_link_of_a_file_of_the_root_leads_to_the_page_and_a_file_that_is_no_page_is_named() -> None:
    assert (
        as_a_page("![p](docs/images/metg.svg) [c](docs/how-to/compare.md#x)")
        == "![p](images/metg.svg) [c](how-to/compare.md#x)"
    )
    assert (
        as_a_page("[a](CONTRIBUTING.md), [examples](runtime/examples)")
        == "[a](contributing.md), examples (`runtime/examples`)"
    )
    for same in ("[e](https://example.org)", "[here](#libteff)", "[](auto cell)", "[no](docs/no.md)"):
        assert as_a_page(same) == same


@pytest.mark.browser
@pytest.mark.slow
def test_the_search_works_where_the_site_is_opened_from_the_disk(browser: Browser, tmp_path: Path) -> None:
    build = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(tmp_path)]
    subprocess.run(build, cwd=project_root(), check=True)
    page = browser.new_page()
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto((tmp_path / "explanation" / "metg.html").as_uri())
    page.get_by_placeholder("Search").click()
    page.keyboard.type("unstolen join")
    assert "What an unstolen join costs" in page.locator(".md-search-result__item").first.inner_text()
    assert [each for each in requests if not each.startswith("file:")] == []


def test_no_blank_line_cuts_a_table() -> None:
    """The text after a blank line is another table, or text with bars."""
    for page in [project_root() / "README.md", project_root() / "CONTRIBUTING.md", *DOCS.rglob("*.md")]:
        lines = ["", *page.read_text(encoding="utf-8").splitlines(), ""]
        for before, line, after in zip(lines, lines[1:], lines[2:], strict=False):
            if line.startswith("|") and not before.strip():
                assert after.startswith("| ---"), f"{page}: {line}"


def test_every_public_declaration_of_libteff_stands_in_its_reference() -> None:
    pages = [page.read_text(encoding="utf-8") for page in (DOCS / "reference").rglob("*.md")]
    shown = {(found["file"], found["name"]) for page in pages for found in DIRECTIVE.finditer(page)}
    for header in [*HEADERS.glob("*.hpp"), *HEADERS.glob("*.h")]:
        for each in declarations(header.read_text(encoding="utf-8")):
            if each.comment:  # a definition outside of its class has none
                assert (str(header.relative_to(project_root())), each.name) in shown


def test_every_built_program_that_a_page_starts_is_the_lab_s_or_the_page_says_how_to_build_it() -> None:
    """Only what measures is built without being asked for."""
    kinds = [folder.name for folder in (project_root() / "bench").iterdir()]
    patterns = [program.program for system in Registry(project_root()).systems for program in system.programs]
    measured = {each.replace("{benchmark}", kind) for each in patterns for kind in kinds}
    for page in [project_root() / "README.md", project_root() / "CONTRIBUTING.md", *DOCS.rglob("*.md")]:
        text = page.read_text(encoding="utf-8")
        for name in set(BUILT.findall(text)) - measured:
            target = "examples" if name.startswith("example_") else name
            assert f"cmake --build --preset release --target {target}" in text, f"{page}: {name}"
            source = re.sub("^(example|teff)_", "", name)
            folders = (project_root() / each for each in ("runtime/examples", "runtime/benchmarks", "bench"))
            assert any(next(folder.rglob(f"{source}.c*"), None) for folder in folders), f"{page}: {name}"


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


# --- a page for each system


def test_every_system_has_a_page_that_says_how_it_is_measured() -> None:
    root = project_root()
    made = {page.place: page.markdown for page in pages(Registry(root))}
    for system in Registry(root).systems:
        page = made[f"systems/{system.name}.md"]
        assert f"[{system.title}]({system.name}.md)" in made["systems/index.md"]
        for program in system.programs:
            assert f"| `{program.id}` | {program.title} |" in page
            assert all(f"`{name}`" in page for name in program.environment)
        for version in system.versions:
            assert f"`{system.name}@{version.example}`" in page
    assert len(made) == 1 + len(Registry(root).systems)


def test_a_comment_stands_with_what_it_is_about() -> None:
    toml = """name = "lake"
# Of the next line only.
color = "#000000"

# Tried:
# two lines.

[[version]]
name = "1"

# Slower.
[[program]]
benchmark = "spawn"
name = "deep"
"""
    assert list(comments(toml)) == [("", "Tried: two lines."), ("deep", "Slower.")]


@pytest.mark.parametrize(
    ("name", "text", "lines", "comment"),
    [
        (
            "a.cpp",
            "// Tasks of the lake.\n// All.\n#pragma once\n\nint x; // one\n  // not this\nint y;\n",
            3,
            "Tasks of the lake. All.",
        ),
        ("a.hpp", "#pragma once\n#include <x>\n\n/// The lake.\nclass lake {};\n", 3, "The lake."),
        ("a.cpp", "int x;\n// Below the code.\n", 1, ""),
        ("a.erl", "%% Tasks of the lake.\n-module(lake).\n\n%% One.\none() -> 1.\n", 2, "Tasks of the lake."),
        ("a.cpp", "// The lake.\n--x;\n", 1, "The lake."),
        ("a.rg", '-- Tasks of the lake.\n-- All.\nimport "lake"\n\n-- One.\nx = 1\n', 2, "Tasks of the lake. All."),
        ("a.py", '# mypy: strict\n"""The lake,\nby hand.\n"""\n\nx = 1  # one\n', 1, "The lake, by hand."),
    ],
)
def test_lines_of_an_adapter_are_those_of_code(tmp_path: Path, name: str, text: str, lines: int, comment: str) -> None:
    file = tmp_path / name
    file.write_text(text)
    assert (Source(file).lines, Source(file).comment) == (lines, comment)


LAKE = (  # a system.toml
    'name = "lake"\ntitle = "Lake"\nparadigm = "none"\nparallelism = "both"\ndistributed = false\nlanguage = "C"\n'
    'homepage = "https://example.org"\ncolor = "#000000"\n[[program]]\nbenchmark = "task_graph"\nname = "a"\n'
    'title = "A"\nprogram = "a"\n'
)


def test_every_construct_of_a_concept_occurs_in_the_adapter() -> None:
    for system in Registry(project_root()).systems:
        code = sources(system)
        for construct in (each for constructs in system.concepts.values() for each in constructs):
            assert any(each.uses(construct) for each in code), f"{system.name}: {construct}"


def test_a_page_counts_concepts_and_the_uses_of_their_constructs_in_code(tmp_path: Path) -> None:
    folder = tmp_path / "bench/systems/lake"
    folder.mkdir(parents=True)
    (folder / "system.toml").write_text(LAKE + '[concepts]\nwave = ["wave", "!"]\nboat = ["lk::boat"]\n')
    (folder / "a.cpp").write_text("// wave\nlk::boat b; wave(1); waves(2);\nif (!b) wave(3);\n")
    (page,) = (each.markdown for each in pages(Registry(tmp_path)) if each.place == "systems/lake.md")
    assert "| wave | `wave`, `!` | 2 | 3 |" in page
    assert "| boat | `lk::boat` | 1 | 1 |" in page
    assert "| all |  | 3 | 4 |" in page


def page_of_lake(root: Path, estimates: list[dict[str, Any]]) -> str:
    """Its page where a store has these."""
    folder, store = root / "bench/systems/lake", root / "results/mine"
    for each in (folder, store):
        each.mkdir(parents=True)
    (folder / "system.toml").write_text(LAKE)
    (store / "sittings.jsonl").touch()
    (store / "estimates.jsonl").write_text("".join(json.dumps(each) + "\n" for each in estimates))
    (page,) = (each.markdown for each in pages(Registry(root)) if each.place == "systems/lake.md")
    return page


def seconds(value: float | None, low: float | None, high: float | None) -> dict[str, Any]:
    return {"value": value, "low": low, "high": high, "unit": "s"}


def test_a_page_has_the_metg_of_each_graph_in_the_last_sitting_that_measured_it(tmp_path: Path) -> None:
    stored = [
        {
            "benchmark": "task_graph",
            "system_id": "lake",
            "version": "2",
            "configuration": graph,
            "sitting": sitting,
            **seconds(metg, metg, metg),
        }
        for graph, sitting, metg in (("-type fft", "1", 5e-6), ("-type dom", "1", 7e-6), ("-type fft", "2", 2e-6))
    ]
    page = page_of_lake(tmp_path, stored)
    assert "| 2.00 µs | 2.00 – 2.00 µs | `-type fft` | `mine:2` |" in page
    assert "| 7.00 µs | 7.00 – 7.00 µs | `-type dom` | `mine:1` |" in page
    assert "5.00 µs" not in page


def test_a_page_has_the_metg_of_the_last_sitting(tmp_path: Path) -> None:
    line = {"benchmark": "task_graph", "system_id": "lake@2.1", "version": "2.1.3", "configuration": "-type fft"}
    stored = [
        line | {"sitting": sitting, **seconds(metg, 0.9 * metg, high)}
        for sitting, metg, high in (("2026-01", 5e-6, 6e-6), ("2026-02", 4e-6, None), ("2026-02", 2e-6, 3e-6))
    ]
    stored.append(line | {"sitting": "2026-02", "configuration": "-type dom", **seconds(7e-6, 6.3e-6, None)})
    stored.append(stored[-1] | {"quantity": "overhead", "is_beside": True, "value": 1e-9})
    page = page_of_lake(tmp_path, stored)
    assert "| `lake@2.1` | 2.1.3 | 2.00 µs | 1.80 – 3.00 µs | `-type fft` | `mine:2026-02` |" in page
    assert "5.00 µs" not in page
    assert "4.00 µs" not in page, "the sitting was gone on with"
    assert "| 7.00 µs | > 6.30 µs | `-type dom` |" in page


def test_a_page_has_no_interval_of_metg_that_comes_from_two_rounds(tmp_path: Path) -> None:
    line = {"benchmark": "task_graph", "system_id": "lake", "version": "2", "sitting": "1"}
    stored = [
        line | {"configuration": graph, "rounds_counted": rounds, **seconds(2e-6, 1.9e-6, 2.1e-6)}
        for graph, rounds in (("-type fft", 2), ("-type dom", 3))
    ]
    page = page_of_lake(tmp_path, stored)
    assert "| 2.00 µs ? | too few runs | `-type fft` |" in page
    assert "| 2.00 µs | 1.90 – 2.10 µs | `-type dom` |" in page


def test_a_page_has_what_a_spawn_and_a_wake_cost_in_the_last_sitting(tmp_path: Path) -> None:
    line = {"system_id": "lake", "version": "2"}
    spawn = line | {"benchmark": "spawn", "case": "serial", "configuration": "-pattern serial", "workers": 1}
    wake = line | {"benchmark": "wake", "case": "1ms", "configuration": "-idle 0.001", "workers": 2}
    stored = [
        spawn | {"sitting": "1", **seconds(5e-9, 4e-9, 6e-9)},
        spawn | {"sitting": "2", **seconds(3e-9, 2e-9, 4e-9)},
        spawn | {"sitting": "1", "workers": 2, **seconds(8e-9, 7e-9, 9e-9)},
        wake | {"sitting": "3", **seconds(3e-5, 0, None)},
        wake | {"sitting": "4", **seconds(None, None, None)},
    ]
    page = page_of_lake(tmp_path, stored)
    assert "`./teff measure spawn`:" in page
    assert "| `lake` | 2 | serial | 1 | 3.00 ns | 2.00 – 4.00 ns | `mine:2` |" in page
    assert "| `lake` | 2 | serial | 2 | 8.00 ns | 7.00 – 9.00 ns | `mine:1` |" in page
    assert "5.00 ns" not in page
    assert "| `lake` | 2 | 1ms | 2 | 30.0 µs | too few runs | `mine:3` |" in page
    assert "METG here" not in page


@pytest.mark.parametrize(
    ("build", "says"),
    [
        ('teff_skip_system("lake is not here")', "found where you have built it"),
        ("teff_add_system_program(lake)", "Nothing is installed for it."),
    ],
)
def test_a_page_tells_what_nobody_installs_from_what_is_always_there(tmp_path: Path, build: str, says: str) -> None:
    folder = tmp_path / "bench/systems/lake"
    folder.mkdir(parents=True)
    (folder / "CMakeLists.txt").write_text(build)
    (folder / "system.toml").write_text(LAKE)
    (page,) = (each.markdown for each in pages(Registry(tmp_path)) if each.place == "systems/lake.md")
    assert says in page
