"""Addresses of a program as a user knows them: the source line, else the function, else the module and the offset.

addr2line comes with the compiler. It reads the debugger's tables, in the module or in a separate file.
"""

import posixpath
import re
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from tefflab.errors import TeffError
from tefflab.host.processes import answer

UNKNOWN = "??"  # as addr2line has it
Place = tuple[str, int]  # a module's path, and the offset in it
_STANDARD = "/include/c++/"  # the folder of the standard library, whose functions bear a construct but have none
_LINE = re.compile(r"([^/]+:[1-9]\d*)(?: \(discriminator \d+\))?$")


def ask_addr2line(module: str, offsets: Sequence[int]) -> list[list[tuple[str, str]]]:
    """For each offset the functions with file:line, the innermost first; inlined ones included. TeffError where
    addr2line can't be run."""
    if not Path(module).is_file():
        return [[] for _ in offsets]
    told = _run("addr2line", "-afiC", "-e", module, stdin="".join(f"{offset:#x}\n" for offset in offsets))
    blocks = [block.splitlines() for block in re.split(r"^0x[0-9a-f]+\n", told, flags=re.MULTILINE)[1:]]
    return [list(zip(lines[::2], lines[1::2], strict=False)) for lines in blocks]


def names_of(places: Iterable[Place]) -> dict[Place, str]:
    """`solver.cpp:42`, `relax()` or `libsolver.so + 0x4f2`. An offset is a function's begin, or the return address of a
    call, whose line is that of the byte before."""
    found: dict[Place, str] = {}
    every = list(dict.fromkeys(places))
    for module in dict.fromkeys(module for module, _ in every):
        offsets = [offset for of, offset in every if of == module]
        near = [each for offset in offsets for each in (offset, max(offset - 1, 0))]
        try:
            told = ask_addr2line(module, near)
        except TeffError:  # without binutils, or of no program that they read, an offset must do
            told = [[] for _ in near]
        has_symbols = None
        for offset, at, before in zip(offsets, told[::2], told[1::2], strict=True):
            frames = at if at and before and at[-1][0] != before[-1][0] else before
            frames = [each for each in frames if _STANDARD not in each[1]] or frames  # as of a std::function
            # A call in line has the line of its own code. Clang's construct stands in line in a function of its name.
            outermost = frames[-1][0] if frames else UNKNOWN
            function, where = next((each for each in frames if each[0] == outermost), (UNKNOWN, UNKNOWN))
            name = f"{posixpath.basename(module)} + {offset:#x}"
            if line := _LINE.search(where):
                name = line[1]
            elif function != UNKNOWN:  # without a table of symbols, the name is of any exported function before it
                has_symbols = _has_symbols(module) if has_symbols is None else has_symbols
                name = f"{base_name(function)}()" if has_symbols else name
            found[module, offset] = name
    return found


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


def _has_symbols(module: str) -> bool:
    return ".symtab" in _run("readelf", "-SW", module)


def _run(*command: str, stdin: str = "") -> str:
    try:
        said = answer(command, stdin=stdin)
        said.check_returncode()
    except (OSError, subprocess.CalledProcessError) as failure:
        raise TeffError(f"{command[0]} (of binutils) can't be run on {command[-1]}: {failure}") from None
    return said.stdout
