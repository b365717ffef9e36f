"""The laws of the house, checked: which file may name a system, and which may import which.

A law is a row of `LAWS`. A law passes if the files that it is about don't exist, say because nothing is built.
"""

import ast
import json
import re
import subprocess
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

# A package of the lab imports itself and those before it.
LAYERS = (
    {"carried", "errors", "durations", "json_lines", "whole_files"},
    {"host"},
    {"systems"},
    {"records"},
    {"analysis"},
    {"output"},
    {"benchmarks"},
    {"profiles"},
    {"measure"},
    {"cli"},
)
ROOM_OF_TOOLS = ("lab/tools", "lab/src/tefflab/cli/checking.py")
# Words that are a system's name, and more than that: word -> (where it may stand, why).
WORDS = {
    "teff": (("",), "this project"),
    "serial": (("",), "English, and a spawn pattern"),
    "mpi": (
        ("bench", "lab/tools/house.py", "lab/src/tefflab/host/ranks.py", "lab/src/tefflab/profiles"),
        "the protocol of ranks, which several speak",
    ),
    "openmp": (
        ("lab/tools/house.py", "lab/src/tefflab/profiles", "lab/src/tefflab/cli/tree.py"),
        "a standard, which programs of users follow",
    ),
    "tbb": (
        ("lab/tools/house.py", "lab/src/tefflab/profiles"),
        "a library that programs of users have, and its namespace",
    ),
}
# Names of cases that the lab may say: word -> (where, why).
_OF_GRAPHS = "lab/src/tefflab/benchmarks/task_graph"
WORDS_OF_CASES = {
    "sweep": (("lab/src/tefflab/cli/tree.py",), "a former command of teff"),
    "tree": (("lab/src/tefflab/benchmarks/spawn.py",), "an option of teff measure spawn"),
    "trivial": ((_OF_GRAPHS,), "no dependences: what the ceiling runs"),
    "stencil_1d": ((_OF_GRAPHS, "lab/src/tefflab/benchmarks/graphs.py"), "the default graph of METG"),
}
_EXAMPLE = "Example:  "
# A part of libteff includes itself and those before it.
PARTS = (
    "platform",
    "trace",
    "scheduler",
    "fork_join",
    "loops",
    "ready",
    "task_source",
    "attached_events",
    "graph",
    "replay",
    "flow",
    "future",
    "pipeline",
    "message",
    "distributed",
    "mpi",
    "c_api",
)
# The words of a way in, besides the folder of its mechanics.
WAYS_IN = {"flow", "graph", "replay"}
# Parts of libteff that are no way in. Of fork_join, the frames that workers' deques hold are the scheduler's own.
FOUNDATIONS = {"scheduler", "platform", "ready", "trace", "fork_join"}

SYSTEMS = "bench/systems"
PROGRAMS = ".teff/build/bin"
_ANSWER = 10.0  # seconds that a program has to list its cases
_CODE = (".c", ".h", ".cpp", ".hpp", ".ipp", ".in")
_LAB, _TOOLS = "lab/src/tefflab", "lab/tools"
_KINDS = f"{_LAB}/benchmarks"
_HOMES = ("runtime/src", "runtime/include/teff/detail")  # of the parts of libteff
_SCHEDULER = tuple(f"{home}/scheduler" for home in _HOMES)


@dataclass(frozen=True)
class Law:
    """A rule for some files of the checkout; `find` gives the place of each breach."""

    says: str
    files: Callable[[Path], Sequence[Path]]
    find: Callable[[Path, Sequence[Path]], Iterable[str]]


def breaches(law: Law, root: Path) -> list[str] | None:
    """`file:line: text`, for each breach of the law in the checkout; None if the law has nothing to check."""
    files = law.files(root)
    return list(law.find(root, files)) if files else None


def _files(root: Path, *places: str) -> list[Path]:
    """The text files of some folders, or files, of the checkout."""
    below = [file for place in places for file in [root / place, *sorted((root / place).rglob("*"))]]
    return [file for file in below if file.is_file() and "__pycache__" not in file.parts and _text(file)]


def _ending(endings: str | tuple[str, ...], *places: str) -> Callable[[Path], list[Path]]:
    """Finds the files of these folders whose names end so."""
    return lambda root: [file for file in _files(root, *places) if file.name.endswith(endings)]


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


def _hits(root: Path, files: Iterable[Path], wrong: re.Pattern[str]) -> Iterator[str]:
    """The places where the pattern matches; its first group is the shown text."""
    for file in files:
        for number, line in enumerate(_text(file).splitlines(), 1):
            for hit in wrong.finditer(line):
                yield f"{file.relative_to(root)}:{number}: {hit[1]}"


# --- names of systems


def _programs(root: Path) -> list[dict[str, str]]:
    """The program tables of the systems' files, for every kind of benchmark."""
    files = sorted((root / SYSTEMS).glob("*/system.toml"))
    tables = [value for file in files for value in tomllib.loads(_text(file)).values() if isinstance(value, list)]
    return [row for table in tables for row in table if isinstance(row, dict) and "program" in row]


def _outside_systems(root: Path) -> list[Path]:
    rooms = [f"bench/{place.name}" for place in (root / "bench").glob("*") if place.name != "systems"]
    return _files(root, "lab/src", "lab/tools", "cmake", *rooms)


def _systems_named(root: Path, files: Iterable[Path]) -> Iterator[str]:
    folders = {file.parent.name for file in (root / SYSTEMS).glob("*/system.toml")}
    programs = {row["program"].removesuffix(".py") for row in _programs(root) if "{" not in row["program"]}
    for file in files:
        place = file.relative_to(root).as_posix()
        left = {name for name in folders | programs if name not in WORDS or not place.startswith(WORDS[name][0])}
        one = "|".join(sorted(left)) or "(?!)"  # which matches nothing
        yield from _hits(root, [file], re.compile(rf"(?<![A-Za-z0-9])({one})(?![A-Za-z0-9])", re.IGNORECASE))


# --- imports of the lab


@dataclass(frozen=True)
class Import:
    """The import of a line of a module: `from MODULE import NAME`, or `import MODULE`."""

    line: int
    module: str
    name: str = ""

    @property
    def path(self) -> str:
        return f"{self.module}.{self.name}" if self.name else self.module


def _imports(tree: ast.AST) -> Iterator[Import]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            yield from (Import(node.lineno, module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (Import(node.lineno, alias.name) for alias in node.names)


def _layer(package: str) -> int | None:
    return next((number for number, layer in enumerate(LAYERS) if package in layer), None)


def _imported_upwards(root: Path, files: Iterable[Path]) -> Iterator[str]:
    package = root / _LAB
    for file in files:
        if file == package / "__init__.py":
            continue
        place = file.relative_to(root)
        ours = file.relative_to(package).parts[0].removesuffix(".py")
        own = _layer(ours)
        if own is None:
            yield f"{place}:1: {ours} stands in no layer"
            continue
        for one in _imports(ast.parse(_text(file))):
            words = one.path.split(".")
            theirs = _layer(words[1]) if words[0] == "tefflab" and len(words) > 1 else None
            if one.path.startswith(".") or (theirs is not None and theirs > own):  # a relative one hides where it leads
                yield f"{place}:{one.line}: {one.path}"


def _kinds_shown(root: Path, files: Iterable[Path]) -> Iterator[str]:
    return _hits(root, files, re.compile(r"(?i)(\w*metg\w*|task_graph|MeasuredCase)"))


def _kinds_in_kinds(root: Path, files: Iterable[Path]) -> Iterator[str]:
    """A kind is a module, or a package, with a `BENCHMARK`."""
    folder = root / _KINDS
    kinds = {
        file.relative_to(folder).parts[0].removesuffix(".py")
        for file in files
        if re.search(r"^BENCHMARK = ", _text(file), re.MULTILINE)
    }
    for file in files:
        own = file.relative_to(folder).parts[0].removesuffix(".py")
        for one in _imports(ast.parse(_text(file))):
            words = one.path.split(".")
            if words[:2] == ["tefflab", "benchmarks"] and len(words) > 2 and words[2] in kinds - {own}:
                yield f"{file.relative_to(root)}:{one.line}: {one.path}"


def _tools_imported(root: Path, files: Iterable[Path]) -> Iterator[str]:
    allowed = tuple(root / place for place in ROOM_OF_TOOLS)
    for file in files:
        for one in _imports(ast.parse(_text(file))):
            if one.module.split(".")[0] == "tools" and not any(file.is_relative_to(place) for place in allowed):
                yield f"{file.relative_to(root)}:{one.line}: {one.path}"


def _private_names_used(root: Path, files: Iterable[Path]) -> Iterator[str]:
    for file in files:
        tree = ast.parse(_text(file))
        place = file.relative_to(root)
        imported = [one for one in _imports(tree) if one.path.split(".")[0] in {"tefflab", "tools"}]
        for one in imported:
            if any(_is_private(word) for word in one.path.split(".")):
                yield f"{place}:{one.line}: {one.path}"
        names = {(one.name or one.module).split(".")[-1] for one in imported}
        for node in ast.walk(tree):
            of = node.value if isinstance(node, ast.Attribute) and _is_private(node.attr) else None
            if isinstance(of, ast.Name) and of.id in names:
                yield f"{place}:{of.lineno}: {ast.unparse(node)}"


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


# --- includes


def _included_upwards(root: Path, files: Iterable[Path]) -> Iterator[str]:
    include = re.compile(r"""\s*#\s*include\s*["<](?:teff/detail/)?(\w+)/\S+[">]""")
    for file in files:
        place = file.relative_to(root)
        below = next(place.relative_to(home) for home in _HOMES if place.is_relative_to(home))
        part = below.parts[0]
        if len(below.parts) == 1:  # beside the parts
            continue
        if part not in PARTS:
            yield f"{place}:1: {part} is no part of libteff"
            continue
        for number, line in enumerate(_text(file).splitlines(), 1):
            other = hit[1] if (hit := include.match(line)) else ""
            if other in PARTS and PARTS.index(other) > PARTS.index(part):
                yield f"{place}:{number}: {line.strip()}"


def _ways_into_the_scheduler(root: Path, files: Iterable[Path]) -> Iterator[str]:
    folders = {place.name for place in (root / "runtime/include/teff/detail").glob("*") if place.is_dir()}
    ways = "|".join(sorted((WAYS_IN | folders) - FOUNDATIONS))
    wrong = re.compile(rf"(?<![A-Za-z])((?:{ways})s?)(?![A-Za-z])", re.IGNORECASE)
    return _hits(root, files, wrong)


def _bench_in_the_runtime(root: Path, files: Iterable[Path]) -> Iterator[str]:
    names = [place.name for place in (root / "bench").glob("*/include/teff/*") if place.is_dir()]
    wrong = re.compile(
        rf"""(#\s*include\s*["<](?:\.\./)*(?:bench/|teff/(?:{"|".join(names) or "bench"})/)\S+|\bteff::bench\w*)"""
    )
    return _hits(root, files, wrong)


def _lab_in_the_bench(root: Path, files: Iterable[Path]) -> Iterator[str]:
    return _hits(root, files, re.compile(r"(\btefflab\b|#\s*include\s*[\"<]\S*\blab/\S+)"))


# --- names of cases


def _modules_beside_programs(root: Path) -> list[Path]:
    """The lab's modules; before a program is built, no case is known, and the list is empty."""
    return _ending(".py", _LAB)(root) if any((root / PROGRAMS).glob("*")) else []


def _names_of_cases(root: Path) -> dict[str, set[str]]:
    """By kind, the built programs' names of their cases, and the words of the cases' flags, as patterns and trees."""
    names: dict[str, set[str]] = {}
    for kind in sorted(place.name for place in (root / "bench").glob("*") if place.name != "systems"):
        filled = [row["program"].replace("{benchmark}", kind) for row in _programs(root) if _runs(row, kind)]
        answers = (_cases_of(root / PROGRAMS / program) for program in filled)
        words = {
            word
            for case in next(filter(None, answers), [])
            for word in (case["name"], case.get("group", ""), *case.get("flags", "").split())
        }
        names[kind] = {name for name in words if re.fullmatch(r"[A-Za-z][\w-]+", name)}
    return names


def _runs(row: dict[str, str], kind: str) -> bool:
    return "{benchmark}" in row["program"] or row.get("benchmark") == kind


def _cases_of(program: Path) -> list[dict[str, str]]:
    try:
        answer = subprocess.run([program, "--cases"], capture_output=True, text=True, timeout=_ANSWER, check=True)
        rows = [json.loads(line) for line in answer.stdout.splitlines()]
    except (OSError, subprocess.SubprocessError, ValueError):
        return []  # not a program of the bench
    return [row for row in rows if isinstance(row, dict) and "name" in row]


def _cases_named(root: Path, files: Iterable[Path]) -> Iterator[str]:
    """In strings, but not in a docstring, a command line that a reader is to type, or an example of help.

    A name that is no plain word, as `stencil_1d`, is wrong anywhere. A plain word, as `tree`, is wrong only in the
    files of its own kind, as a whole string or as a flag's value: elsewhere it is English.
    """
    names = _names_of_cases(root)
    odd = {name for those in names.values() for name in those if not name.isalpha()}
    for file in files:
        place = str(file.relative_to(root))
        excused = {word for word, (places, _) in WORDS_OF_CASES.items() if place.startswith(places)}
        of_kind = next((those for kind, those in names.items() if place.startswith(_files_of_kind(kind))), set())
        is_wrong = _says_one_of((odd | of_kind) - excused)
        tree = ast.parse(_text(file))
        told = {id(docstring) for node in ast.walk(tree) if (docstring := _docstring(node))}
        for node in ast.walk(tree):
            if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or id(node) in told:
                continue
            text = node.value.partition(_EXAMPLE)[0]
            if not text.startswith("teff ") and is_wrong(text):
                yield f"{place}:{node.lineno}: {node.value!r}"


def _files_of_kind(kind: str) -> tuple[str, str]:
    return f"lab/src/tefflab/benchmarks/{kind}.py", f"lab/src/tefflab/benchmarks/{kind}/"


def _says_one_of(names: set[str]) -> Callable[[str], bool]:
    one = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    whole = re.compile(rf"(?:{one})|.*--?\w+[ =](?:{one})\b.*", re.DOTALL)
    odd = [re.escape(name) for name in names if not name.isalpha()]
    anywhere = re.compile(rf"(?<![\w-])(?:{'|'.join(odd)})(?![\w-])") if odd else None
    return lambda text: bool(names and whole.fullmatch(text)) or bool(anywhere and anywhere.search(text))


def _docstring(node: ast.AST) -> ast.Constant | None:
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        first = node.body[0] if node.body else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            return first.value
    return None


# --- workers


_STATED = re.compile(
    r"(\.workers = \w*workers_?)(?=[,}])"  # C++
    r"|(Identity\(.*, self\.workers\b.*)"  # Python
)


def _workers_not_counted(root: Path, files: Iterable[Path]) -> Iterator[str]:
    for file in files:
        for number, line in enumerate(_text(file).splitlines(), 1):
            if found := _STATED.search(line):
                yield f"{file.relative_to(root)}:{number}: {found[0]}"


LAWS = (
    Law("only its own folder names a system", _outside_systems, _systems_named),
    Law("a package of the lab imports those below it", _ending(".py", _LAB), _imported_upwards),
    Law("what shows results knows no kind of benchmark", _ending(".py", f"{_LAB}/output"), _kinds_shown),
    Law("a kind of benchmark imports no other kind", _ending(".py", _KINDS), _kinds_in_kinds),
    Law("only `teff dev test` and `teff dev docs` import lab/tools", _ending(".py", _LAB, _TOOLS), _tools_imported),
    Law("a name with an underscore is its module's own", _ending(".py", _LAB, _TOOLS), _private_names_used),
    Law("the scheduler knows sources, and no way in", _ending(_CODE, *_SCHEDULER), _ways_into_the_scheduler),
    Law("a part of libteff includes those before it", _ending(_CODE, *_HOMES), _included_upwards),
    Law("the runtime knows no bench", _ending((*_CODE, "CMakeLists.txt"), "runtime"), _bench_in_the_runtime),
    Law("the bench knows no lab", _ending((*_CODE, ".py", ".txt", ".cmake"), "bench"), _lab_in_the_bench),
    Law("the lab names no case: programs list theirs", _modules_beside_programs, _cases_named),
    Law(
        "an adapter states the workers that it has seen, not those that it asked for",
        _ending((*_CODE, ".py"), SYSTEMS),
        _workers_not_counted,
    ),
)
