"""Addresses of a program as a user knows them: the source line, else the function, else the module and the offset.

addr2line comes with the compiler. It reads the debugger's tables, in the module or in a separate file.
"""

import posixpath
import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from tefflab.errors import TeffError
from tefflab.host.processes import answer

UNKNOWN = "??"  # as addr2line has it
Place = tuple[str, int]  # a module's path, and the offset in it
_STANDARD = "/include/c++/"  # the folder of the standard library, whose functions bear a construct but have none
_LINE = re.compile(r"([^/]+:[1-9]\d*)(?: \(discriminator \d+\))?$")
_TASK_OF_TBB = "::execute(tbb::detail::"  # the end of the name of a function that runs a task of oneTBB
_OF_LIBRARIES = re.compile(r"/tbb/|/include/c\+\+/|^/usr/(include|lib)/|^\?")  # a file in which no user's code is
_OF_NOBODY = re.compile(r"(tbb|std)::|(const|unsigned|signed|bool|char|short|int|long|float|double|void)\b|\d|$")
_CLOSURE = re.compile(r"::(?:\{lambda|'lambda|\$_)")  # after the function that it is written in
_BETWEEN_ADDRESSES = 4  # bytes of a function of which lines are asked for
_SPELLING = re.compile(r"\bteff::detail::spelling_of<(.*?) ?>\(\)::text")  # a symbol
_READ_WHOLE = 1 << 25  # bytes of a module: readelf prints thirty times as many
_TYPE = re.compile(r"<(\w+)>: .*_type\)\n(?:    .*\n)*?.*decl_file +: (\d+)\n.*decl_line +: (\d+)\n")
_TEXT_FOR_TYPE = re.compile(  # of a function that is made for a type
    r"\(DW_TAG_template_type_param\)\n.*: T\n.*<0x(\w+)>\n"
    r"(?:.*\(DW_TAG_variable\)\n(?:    .*\n)*?)+?    .*DW_AT_location .*\(DW_OP_addr: (\w+)\)"
)
_FILE = re.compile(r"^  (\d+)\t(?:.*\): |.*\t)(?:.*/)?(.+)", re.MULTILINE)


def ask_addr2line(module: str, offsets: Sequence[int]) -> list[list[tuple[str, str]]]:
    """For each offset the functions with file:line, the innermost first; inlined ones included. TeffError where
    addr2line can't be run."""
    if not Path(module).is_file():
        return [[] for _ in offsets]
    told = _run("addr2line", "-afiC", "-e", module, stdin="".join(f"{offset:#x}\n" for offset in offsets))
    blocks = [block.splitlines() for block in re.split(r"^0x[0-9a-f]+\n", told, flags=re.MULTILINE)[1:]]
    return [list(zip(lines[::2], lines[1::2], strict=False)) for lines in blocks]


def names_of(places: Iterable[Place]) -> dict[Place, str]:
    """`solver.cpp:42`, `relax()` or `libsolver.so + 0x4f1`. An offset is 1 beyond a byte, as a return address is beyond
    its call."""
    found: dict[Place, str] = {}
    every = list(dict.fromkeys(places))
    for module in dict.fromkeys(module for module, _ in every):
        offsets = [offset for of, offset in every if of == module]
        try:
            told = ask_addr2line(module, [offset - 1 for offset in offsets])
        except TeffError:  # without binutils, or of no program that they read, an offset must do
            told = [[] for _ in offsets]
        for offset, every_frame in zip(offsets, told, strict=True):
            frames = [each for each in every_frame if _STANDARD not in each[1]] or every_frame  # as a std::function's
            # A call in line has the line of its own code. Clang's construct stands in line in a function of its name.
            outermost = frames[-1][0] if frames else UNKNOWN
            function, where = next((each for each in frames if each[0] == outermost), (UNKNOWN, UNKNOWN))
            name = f"{posixpath.basename(module)} + {offset - 1:#x}"
            if any(_TASK_OF_TBB in each for each, _ in frames):
                name = _body_in_task(module, offset - 1) or name
            elif line := _LINE.search(where):
                name = line[1]
            elif function != UNKNOWN:  # without a table of symbols, the name is of any exported function before it
                name = f"{base_name(function)}()" if _has_symbols(module) else name
            found[module, offset] = name
    return found


@cache
def lambdas_in(module: str) -> dict[int, str]:
    """A program with libteff has GCC's spelling of the type of each lambda. By the place of that, the lambda's line. If
    the program has no lines, a name with a number, as `main::{lambda(int)#2}`. The spelling itself has neither."""
    try:
        found = {at: spelt[1] for at, _, name in _functions_in(module) if (spelt := _SPELLING.search(name))}
        is_read = found and Path(module).stat().st_size < _READ_WHOLE
        types, files = (_run("readelf", section, module) if is_read else "" for section in ("-wi", "-wl"))
    except TeffError:
        return {}
    tables = {each.partition("\n")[0].strip(): each for each in files.split("  Offset: ")}
    for unit in types.split("Compilation Unit @"):
        if texts := _TEXT_FOR_TYPE.findall(unit):
            table = unit.partition("DW_AT_stmt_list")[2].partition("\n")[0].strip(" :")
            names = dict(_FILE.findall(tables.get(table, "")))
            declared = _TYPE.findall(unit)
            lines = {number: f"{names[file]}:{line}" for number, file, line in declared if file in names}
            for number, text in texts:
                if number in lines and found.get(at := int(text, 16), "").endswith("}"):
                    found[at] = lines[number]
    return found


def has_line(name: str) -> bool:
    """Whether it is a line of a source, and not a function or an offset."""
    return _LINE.search(name) is not None


def _body_in_task(module: str, offset: int) -> str | None:
    """The line that most of the user's code in a task of oneTBB has: the task's function calls it, or has it in line.
    Without lines, the function that the code is written in."""
    symbols = _functions_in(module)
    task = next((each for each in symbols if each[0] == offset and _TASK_OF_TBB in each[2]), None)
    if not task:
        return None
    user = _user_s(task[2])
    bodies = [each for each in symbols if user and each[2].startswith(f"{user}::operator()(")] or [task]
    addresses = [at for start, size, _ in bodies for at in range(start, start + size, _BETWEEN_ADDRESSES)]
    told = ask_addr2line(module, addresses)
    frames = filter(None, ([where for _, where in each if not _OF_LIBRARIES.search(where)] for each in told))
    if lines := Counter(line[1] for *_, outermost in frames if (line := _LINE.search(outermost))):
        return lines.most_common(1)[0][0]
    return f"{base_name(_CLOSURE.split(user)[0] or task[2].partition(_TASK_OF_TBB)[0])}()"


@cache
def _functions_in(module: str) -> list[tuple[int, int, str]]:
    """The begin, size and name of each."""
    rows = (line.split(maxsplit=3) for line in _run("nm", "-SC", "--defined-only", module).splitlines())
    return [(int(row[0], 16), int(row[1], 16), row[3]) for row in rows if len(row) == 4]


def _user_s(task: str) -> str:
    """The first type among the arguments of a task's template that is no library's; empty if there is none."""
    depth, begin = 0, 0
    for place, character in enumerate(task):
        depth += (character in "({") - (character in ")}")
        if character in "<,>" and depth == 0:
            if not _OF_NOBODY.match(name := task[begin:place].strip()):
                return name
            begin = place + 1
    return ""


def base_name(function: str) -> str:
    """A function's own name: without return type, scope, template arguments, parameters and clones' suffixes."""
    text = function.replace("(anonymous namespace)", "_").replace("operator()", "operator_call")
    text = re.sub(r"operator ?(<<=?|>>=?|<=>|<=?|>=?|->\*?)", "operator_sign", text)
    kept: list[str] = []
    depth = 0
    for character in text:
        depth += character in "<{"
        if not depth:
            kept.append(character)
        depth -= character in ">}"
    name = re.sub(r"\(.*", "", "".join(kept))
    name = name.rpartition("::")[2] if not re.search(r"operator (new|delete)", name) else name
    if not name.startswith("operator "):
        name = name.rpartition(" ")[2]
    return name.partition(".")[0].replace("operator_call", "operator()") or function


@cache
def _has_symbols(module: str) -> bool:
    return ".symtab" in _run("readelf", "-SW", module)


def _run(*command: str, stdin: str = "") -> str:
    try:
        said = answer(command, stdin=stdin)
        said.check_returncode()
    except (OSError, subprocess.CalledProcessError) as failure:
        raise TeffError(f"{command[0]} (of binutils) can't be run on {command[-1]}: {failure}") from None
    return said.stdout
