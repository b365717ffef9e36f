"""Calls a bench program and passes on its output and exit code. Also asks a program about its kind of benchmark."""

import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import IO, Any

from click.exceptions import Exit

from tefflab.errors import BAD_INPUT, FAILED, TeffError, shortened
from tefflab.host.processes import answer, end, how_it_ended
from tefflab.host.terminal import progress
from tefflab.systems.logged import LOOK, Waiting
from tefflab.systems.probing import COMPILED_TIMEOUT, absence
from tefflab.systems.registry import Registry, no_adapter, no_such_system
from tefflab.systems.setup import ensure
from tefflab.systems.systems import Program, best_of, usable_cores

EXIT_CODES = (0, FAILED, BAD_INPUT)  # of a program of bench/


def find_program(registry: Registry, benchmark: str, name: str, adapters: str = "") -> Program:
    """The program with this id, or `SYSTEM/NAME`; of a system's name alone its best. TeffError where there is none."""
    known = registry.named([name])
    systems = {each.name: programs for each in known if (programs := each.programs_for(benchmark, adapters))}
    every = [each for programs in systems.values() for each in programs]
    for program in every:
        if name in (program.id, program.long_name):
            return program
    if name in systems:
        return best_of(systems[name])
    if name in {each.name for each in known}:
        raise no_adapter(name, benchmark, systems)
    raise no_such_system(name, [each.id for each in every])


def ask_cases(program: Program) -> list[dict[str, Any]]:
    """The cases of the kind of benchmark that a program runs, as it lists them. TeffError where it does not."""
    workers = usable_cores()
    words = [*program.command_line(workers), "--cases"]
    try:
        asked = answer(words, environment=program.environment_for(workers), timeout=COMPILED_TIMEOUT)
        asked.check_returncode()
        return [json.loads(line) for line in asked.stdout.splitlines() if line.lstrip().startswith("{")]
    except (OSError, subprocess.SubprocessError, ValueError) as failure:
        raise TeffError(f"{program.id}: does not list its cases: {shortened(str(failure))}") from None


def built_cases(programs: Iterable[Program], sources: Path) -> list[dict[str, Any]]:
    """As a program lists them that was built after the last change of `sources`; none where no such program is here."""
    changed = max((each.stat().st_mtime for each in sources.rglob("*")), default=math.inf)
    for each in programs:
        if not each.is_python and each.program_path.is_file() and each.program_path.stat().st_mtime > changed:
            with suppress(TeffError):
                return ask_cases(each)
    return []


def call_program(
    registry: Registry,
    program: Path | str,
    words: Sequence[str],
    environment: Mapping[str, str] | None = None,
    started: Program | None = None,
    command_path: str = "teff",
    *,
    as_json: bool = False,
) -> None:
    """Sets up missing requirements, runs the program, and leaves with its exit code; TeffError if it has no exit code,
    as after a signal. `command_path` is the command that the user typed. Its help replaces the program's "see --help".
    `as_json`: only the program's records go to stdout, and what else it says there, as launchers do, to stderr.
    `started`: the only program whose system is set up; TeffError where it could not be built.
    """
    needed = [each for each in registry.systems if started and each.name == started.identity]
    ensure(registry, needed, console=progress(), ways=(lambda _: [[started]]) if started else None)
    for system in needed:
        if started and (reason := absence(started, system)):
            raise TeffError(f"{started.id}: {reason}")
    called = subprocess.Popen(
        [str(program), *words],
        env={**os.environ, **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        errors="replace",
    )
    name = started.id if started else Path(program).name
    try:
        code = _passed_on(called, f"running {name}", command_path, as_json=as_json)
    finally:
        end(called)
    if code not in EXIT_CODES:
        raise TeffError(f"{name}: {how_it_ended(code)}")
    raise Exit(code)


def _passed_on(called: "subprocess.Popen[str]", doing: str, command_path: str, *, as_json: bool) -> int:
    """Passes on the program's output as it comes; returns its exit code."""
    said: Queue[tuple[bool, str]] = Queue()  # lines, of stdout or not; an empty one is a stream's end

    def hear(stream: IO[str] | None) -> None:
        with suppress(ValueError):  # it was closed, for nobody reads on
            for line in stream or ():
                said.put((stream is called.stdout, line))
        said.put((stream is called.stdout, ""))

    for stream in (called.stdout, called.stderr):
        Thread(target=hear, args=(stream,), daemon=True).start()
    ends = 0
    with Waiting(progress(), doing) as waiting:
        while ends < 2:
            waiting.look()
            with suppress(Empty):
                is_output, line = said.get(timeout=LOOK)
                waiting.hide()
                if not line:
                    ends += 1
                elif is_output and (line.lstrip().startswith("{") or not as_json):
                    print(f"{line.rstrip()}\n" if as_json else line, end="", flush=True)
                else:
                    print(_as_ours(line.rstrip("\n"), command_path), file=sys.stderr)
    return called.wait()


def _as_ours(line: str, command_path: str) -> str:
    """The messages of all programs get one prefix, and point to the help of the command."""
    found = re.match(r"(?:error|note): (.*)", line)
    return f"teff: {found[1].replace('see --help', f'see {command_path} --help')}" if found else line
