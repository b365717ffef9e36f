"""A page for each system, from its system.toml, the comments of its adapter and the checkout's stores."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tefflab.benchmarks.benchmark import AnyBenchmark, benchmarks
from tefflab.benchmarks.cases import CaseBenchmark
from tefflab.systems.needs import Install
from tefflab.systems.packages import alternatives
from tefflab.systems.registry import Registry
from tefflab.systems.systems import Program, System
from tools.stored_figures import METG, Figure, stored_figures

FOLDER = "systems"  # of the site
_SHEBANG_OR_PRAGMA = re.compile(r"^(#!|#pragma once$|#include|$|# mypy:|# ruff:)")
_COMMENT = re.compile(r"^\s*(?://+!?|%%+|--|#)\s?(.*)$")
_MARKS = ("//", "%%")  # of lines that are comments
_DASHES = {".rg", ".t"}  # files in which such lines begin with --, which is code elsewhere
_DOCSTRING = re.compile(r'^\s*"""(.*?)"""', re.DOTALL | re.MULTILINE)
_BESIDES = {".toml", ".txt", ".cmake", ".in", ".lock", ".mod"}  # files of an adapter that say how to build it


@dataclass(frozen=True)
class Page:
    """A page of the site that is made from files."""

    place: str  # from the folder of all pages
    title: str
    markdown: str


@dataclass(frozen=True)
class Source:
    """A file of an adapter."""

    file: Path

    @cached_property
    def text(self) -> str:
        return self.file.read_text(encoding="utf-8")

    @property
    def lines(self) -> int:
        """Without empty lines and comments."""
        return len(self._code)

    def uses(self, construct: str) -> int:
        """How often the code names it, as a whole word at an end that is a word character."""
        before, after = (r"\b" if re.match(r"\w", end) else "" for end in (construct[0], construct[-1]))
        return sum(len(re.findall(f"{before}{re.escape(construct)}{after}", line)) for line in self._code)

    @cached_property
    def _code(self) -> list[str]:
        text = _DOCSTRING.sub("", self.text) if self.file.suffix == ".py" else self.text
        said = (line.strip() for line in text.splitlines())
        return [
            line
            for line in said
            if line and not line.startswith((*self._marks, "/*", "*", "#!")) and not self._is_note(line)
        ]

    @property
    def _marks(self) -> tuple[str, ...]:
        return (*_MARKS, "--") if self.file.suffix in _DASHES else _MARKS

    def _is_note(self, line: str) -> bool:
        return self.file.suffix == ".py" and line.startswith("#")

    @property
    def comment(self) -> str:
        """The comment above the code, or the docstring of a script."""
        if self.file.suffix == ".py":
            found = _DOCSTRING.search(self.text)
            return " ".join(found[1].split()) if found else ""
        return " ".join(_first_block(self.text.splitlines(), self._marks))


def _first_block(lines: Sequence[str], marks: tuple[str, ...]) -> list[str]:
    """The first comment, if nothing but directives stands above it."""
    block: list[str] = []
    for line in lines:
        found = _COMMENT.match(line) if line.lstrip().startswith(marks) else None
        if found:
            block.append(found[1].strip())
        elif block or not _SHEBANG_OR_PRAGMA.match(line.strip()):
            break
    return block


def pages(registry: Registry) -> list[Page]:
    """The list of all systems, then a page each, by name."""
    systems = sorted(registry.systems, key=lambda each: each.title.lower())
    measured = stored_figures(registry.results)
    return [
        Page(f"{FOLDER}/index.md", "All systems", _index(systems)),
        *(Page(f"{FOLDER}/{each.name}.md", each.title, _page(each, measured.get(each.name, []))) for each in systems),
    ]


def _index(systems: Sequence[System]) -> str:
    rows = [
        [
            f"[{each.title}]({each.name}.md)",
            f"`{each.name}`",
            each.paradigm,
            each.language,
            _where(each),
            _ways_in(each),
        ]
        for each in systems
    ]
    head = ["system", "name", "paradigm", "language", "runs on", "measured by"]
    return f"# Systems\n\nEach page is made from the system's folder in `bench/systems`.\n\n{_table(head, rows)}\n"


def _page(system: System, measured: Sequence[Figure]) -> str:
    homepage = system.homepage if system.homepage.startswith("http") else f"../{system.homepage.removeprefix('docs/')}"
    who = (
        f"{system.paradigm}, parallelism {_parallelism(system)}, in {system.language}, on {_where(system)}. "
        f"[Homepage]({homepage})."
    )
    parts = [
        f"# {system.title}",
        f"`{system.name}` in all commands: {who}",
        "## How to get it",
        "\n\n".join(_how_to_get(system)),
        "## Versions",
        _versions(system),
        "## How it is measured",
        _ways(system),
        *_notes(system),
        *_environment(system),
        "## The adapter",
        _adapter(system),
        *_concepts(system),
        *_metg(measured),
        *_costs(measured),
    ]
    return "\n\n".join(parts) + "\n"


def _parallelism(system: System) -> str:
    return "implicit and explicit" if system.parallelism == "both" else system.parallelism


def _where(system: System) -> str:
    return "many machines" if system.distributed else "one machine"


def _kinds(system: System) -> Iterator[tuple[AnyBenchmark, list[Program]]]:
    for kind in benchmarks():
        if programs := kind.programs(system):
            yield kind, programs


def _ways_in(system: System) -> str:
    return ", ".join(f"`{kind.commands[0].path}`" for kind, _ in _kinds(system))


# --- how to get it


def _how_to_get(system: System) -> Iterator[str]:
    asked = system.install
    if asked.on_request:
        yield f"`./teff systems add {system.name}` brings it: {asked.cost}, about {asked.seconds:g} s, by " + (
            f"{' and '.join(asked.registries)}."
        )
    elif asked.registries:
        licence = f" ({asked.licence})" if asked.licence else ""
        yield f"Every command that measures sets it up by itself, by {' and '.join(asked.registries)}{licence}."
    elif asked.found_elsewhere:
        yield f"In no registry that Teff asks; it is found where you have it: {asked.found_elsewhere}."
    elif _may_be_missing(system):
        yield (
            "No package manager is known to have it; it is found where you have built it, "
            f"as its [homepage]({system.homepage}) says."
        )
    else:
        yield "Nothing is installed for it."
    yield from _packages(asked)


def _may_be_missing(system: System) -> bool:
    """Whether CMake looks for it."""
    file = system.folder / "CMakeLists.txt"
    return file.is_file() and "teff_skip_system(" in file.read_text(encoding="utf-8")


def _packages(asked: Install) -> Iterator[str]:
    said = {"Debian": asked.apt, "PyPI": asked.pip, "others": [" ".join(words) for words in asked.fetch]}
    rows = [
        [where, ", ".join(" or ".join(f"`{_cell(one)}`" for one in alternatives(each)) for each in those)]
        for where, those in said.items()
        if those
    ]
    if rows:
        yield _table(["from", "packages"], rows)


def _versions(system: System) -> str:
    rows = [[f"`{system.name}@{each.example}`", each.title, f"`{system.name}@{each.name}`"] for each in system.versions]
    rows.append(
        [f"`{system.name}@/opt/{system.name}`", "whatever is installed in that folder", f"`{system.name}@FOLDER`"]
    )
    link = "[Versions side by side](../how-to/versions.md) are rows of one sitting."
    return f"{link}\n\n{_table(['for example', 'is', 'in general'], rows)}"


# --- how it is measured


def _ways(system: System) -> str:
    rows = [
        [
            f"`{kind.commands[0].path}`",
            f"`{program.id}`",
            _cell(program.title),
            "best" if _is_best(program, ways) else "",
        ]
        for kind, ways in _kinds(system)
        for program in ways
    ]
    return _table(["command", "row", "what runs", ""], rows)


def _is_best(program: Program, ways: Sequence[Program]) -> bool:
    best = next((each for each in ways if each.best), ways[0])
    return len(ways) > 1 and program.name == best.name


def _notes(system: System) -> Iterator[str]:
    """The comments of system.toml, of the system or of a program or version: trials, and reasons."""
    said = list(comments((system.folder / "system.toml").read_text(encoding="utf-8")))
    if said:
        yield "\n".join(f"- {f'`{name}`: ' if name else ''}{_plain(text)}" for name, text in said)


def comments(toml: str) -> Iterator[tuple[str, str]]:
    """Each comment above a `[[table]]`, with that table's name, and each that stands alone, with none."""
    lines = toml.splitlines()
    block: list[str] = []
    for number, line in enumerate(lines):
        if line.startswith("#"):
            block.append(line.lstrip("# "))
        elif block:
            names = (found[1] for each in lines[number:] if (found := re.match(r'name = "(.*)"', each)))
            if line.startswith("[["):
                yield next(names, ""), " ".join(block)
            elif not line:
                yield "", " ".join(block)
            block = []


def _environment(system: System) -> Iterator[str]:
    rows: dict[tuple[str, str, str], None] = {}
    for program in system.programs:
        for name, value in program.environment.items():
            rows[f"`{name}`", f"`{_cell(value)}`", _cell(_plain(program.why[name]))] = None
    if rows:
        yield _table(["variable", "is set to", "because"], [list(row) for row in rows])


def sources(system: System) -> list[Source]:
    """The code of its adapter."""
    return [Source(file) for file in sorted(system.folder.rglob("*")) if file.is_file() and file.suffix not in _BESIDES]


def _adapter(system: System) -> str:
    every = sources(system)
    rows = [
        [f"`{each.file.relative_to(system.folder)}`", str(each.lines), _cell(_plain(each.comment))] for each in every
    ]
    rows.append(["all", str(sum(each.lines for each in every)), ""])
    table = _table(["file", "lines", "what it does"], rows, "-:-")
    return f"In `bench/systems/{system.name}`; lines without comments and empty ones.\n\n{table}"


def _concepts(system: System) -> Iterator[str]:
    """The concepts that a programmer needs to write the adapter, and how much of them there is."""
    if not system.concepts:
        return
    code = sources(system)
    counts = {
        concept: {construct: sum(each.uses(construct) for each in code) for construct in constructs}
        for concept, constructs in system.concepts.items()
    }
    rows = [
        [concept, ", ".join(f"`{_cell(construct)}`" for construct in of), str(len(of)), str(sum(of.values()))]
        for concept, of in counts.items()
    ]
    rows.append(["all", "", *(str(sum(int(row[column]) for row in rows)) for column in (2, 3))])
    yield f"It takes {len(counts)} concepts of the system, of these constructs:"
    yield _table(["concept", "constructs", "how many", "uses"], rows, "--::")


# --- figures


def _metg(measured: Sequence[Figure]) -> Iterator[str]:
    if rows := [
        [f"`{each.row}`", each.version, each.value, each.interval, f"`{each.case}`", f"`{each.sitting}`"]
        for each in measured
        if each.kind == METG
    ]:
        yield "## METG here"
        link = "[how METG is made](../explanation/metg.md)"
        yield f"Of each store of this checkout the last sitting with that row and graph ({link})."
        yield _table(["row", "version", "METG(50 %)", "95 % interval", "graph", "sitting"], rows)


def _costs(measured: Sequence[Figure]) -> Iterator[str]:
    """A table for each other kind of benchmark that measured it: the costs of a spawn, a wake, a message."""
    if all(each.kind == METG for each in measured):
        return
    yield "## What costs what here"
    yield "Of each store of this checkout the last sitting with that row and case."
    for kind in benchmarks():
        rows = [
            [f"`{each.row}`", each.version, each.case, each.workers, each.value, each.interval, f"`{each.sitting}`"]
            for each in measured
            if each.kind == kind.name
        ]
        if isinstance(kind, CaseBenchmark) and rows:
            yield f"`./teff {kind.commands[0].path}`:"
            head = ["row", "version", kind.row_word, "workers", kind.quantity, "95 % interval", "sitting"]
            yield _table(head, rows, "---::")


# --- Markdown


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], align: str = "") -> str:
    marks = [{"-": "---", ":": "---:"}.get(align[number : number + 1], "---") for number in range(len(head))]
    lines = [head, marks, *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _plain(text: str) -> str:
    """Text of a comment, in which Markdown is to see no markup."""
    return re.sub(r"([\\*_<\[\]{}])", r"\\\1", text)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
