"""Which system or kind of benchmark caused a failed configuration or compilation, from the output of CMake and ninja.

A system goes by its name, a kind of benchmark by its folder, `bench/KIND`. A part that every adapter needs belongs to
the core, and no system is left out for it.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tefflab.systems.systems import Program

_OTHERS = r"FAILED: |ninja: |\[\d+/\d+\] "  # begin what is not a command's output
_FAILED = re.compile(  # its targets, the command itself, its output
    rf"^FAILED: (?:\[code=\d+\] )?(?P<outputs>.*)\n.*\n(?P<said>(?:(?!{_OTHERS}).*\n)*)", re.MULTILINE
)
_OF_SYSTEM = re.compile(r"(?:^|[\s/])bench/systems/([^/\s]+)/")
_OF_KIND = re.compile(
    r"(?:^|[\s/])(bench/(?!systems/|driver/|task_graph/)[^/\s]+)/"
)  # all but what every adapter needs
_OF_TARGET = re.compile(r"/CMakeFiles/([^/\s]+)\.dir/")
_CONFIGURE_ERROR = re.compile(r"^CMake Error.*\n(?:(?: .*|Call Stack.*)?\n)*", re.MULTILINE)  # with its call stack
_PLACE = re.compile(r"^(?:CMake Error at |  )(\S.*:\d+) \(\w+\):?$", re.MULTILINE)


@dataclass(frozen=True)
class Failure:
    """A command of ninja's that failed: its targets, and its output."""

    outputs: str
    lines: tuple[str, ...]


def failures(ninja_output: str) -> list[Failure]:
    """Reads the commands that failed from what ninja printed."""
    found = _FAILED.finditer(f"{ninja_output}\n")
    return [Failure(each["outputs"].strip(), tuple(each["said"].splitlines())) for each in found]


@dataclass(frozen=True)
class Owner:
    """The owner of a failure: a system, or a kind of benchmark (by its folder, `bench/KIND`). A program in which a kind
    runs on a system has both as owners. The core has neither."""

    system: str | None = None
    kind: str | None = None


def owner_of(failure: Failure, programs: Sequence[Program]) -> Owner:
    """By the folder and the program that a failed output is of."""
    for output in failure.outputs.split():
        in_system = _OF_SYSTEM.search(output)
        made = _OF_TARGET.search(output)
        name = made[1] if made else Path(output).name
        of_program = _program(name, programs) if in_system or Path(output).parent.name == "bin" else None
        if of_program is not None:
            return of_program
        if in_system:
            return Owner(system=in_system[1])
        if in_kind := _OF_KIND.search(output):
            return Owner(kind=in_kind[1])
    return Owner()


def _program(name: str, programs: Sequence[Program]) -> Owner | None:
    """Of the program of this name, or the target that is called as it is with a word behind it; of two names that fit,
    the longer."""
    for each in sorted(programs, key=lambda program: -len(program.program)):
        pattern = re.escape(each.program).replace(re.escape("{benchmark}"), "(?P<kind>[a-z][a-z0-9_-]*)")
        if found := re.fullmatch(f"{pattern}(?:_adapter|_tests)?", name):
            folder = f"bench/{found.groupdict().get('kind') or each.benchmark}"
            return Owner(each.system_name, folder if is_kind(folder) else None)
    return None


def kinds_to_blame(owners: Sequence[Owner], runs_on: Callable[[str], set[str]]) -> set[str]:
    """The kinds of benchmark that do not compile. Either one of their files fails, or their program fails with two
    systems and compiles with none. `runs_on` gives the systems for which a kind has a program."""
    failed: dict[str, set[str | None]] = {}
    for owner in owners:
        if owner.kind is not None:
            failed.setdefault(owner.kind, set()).add(owner.system)
    return {
        kind
        for kind, systems in failed.items()
        if None in systems or (len(systems) > 1 and not runs_on(kind) - systems)
    }


def first_line(failure: Failure) -> str:
    """The line that says what went wrong, if one does."""
    telling = [line for line in failure.lines if "error" in line.lower()]
    return (telling or list(failure.lines) or ["failed without a word"])[0].strip()


def culprit(configure_log: str) -> str | None:
    """The system or the kind in whose folder the newest of CMake's errors arose, or from which it was called."""
    for error in reversed(_CONFIGURE_ERROR.findall(f"{configure_log}\n")):
        for place in _PLACE.findall(error):
            if whose := _OF_SYSTEM.search(place) or _OF_KIND.search(place):
                return str(whose[1])
    return None


def is_kind(owner: str) -> bool:
    """Whether a kind of benchmark goes by that, rather than a system."""
    return _OF_KIND.fullmatch(f"{owner}/") is not None
