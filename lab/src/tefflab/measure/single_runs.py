"""Runs one case once on one system."""

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from tefflab.benchmarks.declared import Kind
from tefflab.errors import BAD_INPUT, InputError, TeffError
from tefflab.host.processes import answer, how_it_ended
from tefflab.host.terminal import progress
from tefflab.records.record import Record, RecordError, parse_record
from tefflab.systems.logged import Waiting
from tefflab.systems.probing import absence
from tefflab.systems.programs import EXIT_CODES
from tefflab.systems.registry import Registry
from tefflab.systems.systems import Program, System, usable_cores

TIMEOUT = 600.0  # seconds
GRAPH = Kind("task_graph", "graph")


@dataclass(frozen=True, slots=True)
class SingleRun:
    """The result of one run: the program's line with its record, or the reason why there is none."""

    program: Program
    line: str
    record: Record | None
    error: str
    was_refused: bool  # by the program, for its flags

    @property
    def ok(self) -> bool:
        return self.record is not None and self.record.ok


def command_of(
    registry: Registry,
    program: Program,
    flags: Sequence[str],
    workers: int | None = None,
    ranks: int | None = None,
    kind: Kind = GRAPH,
) -> tuple[list[str], dict[str, str]]:
    """The command line and the environment of one run. Without `workers` it has all cores that are here, or one a rank
    if there are more ranks, and one of a sequential system.

    A program is always told: its own default may be wrong once its threads are bound to cores. TeffError where it does
    not spread over ranks.
    """
    refuse_ranks(registry, program, ranks, kind)
    count = workers_of(workers, ranks, registry.owner(program))
    words = [*program.command_line(count, ranks), "--workers", str(count), *flags]
    return words, program.environment_for(count)


def trace_to(registry: Registry, program: Program, file: Path) -> dict[str, str]:
    """The environment in which a program traces a run to the file. An earlier trace is removed. TeffError where the
    program's system can't trace."""
    variables = registry.owner(program).trace
    if not variables:
        refuse_traceless(registry, program)
    try:
        file.unlink(missing_ok=True)
    except OSError as failure:
        raise InputError(f"--trace {file}: {failure.strerror}; name a file that can be written") from None
    path = str(file.absolute())
    return {
        name: value.replace("{file}", path) if "{file}" in value else os.environ.get(name, value)
        for name, value in variables.items()
    }


def refuse_traceless(registry: Registry, program: Program) -> NoReturn:
    able = " ".join(each.name for each in registry.systems if each.trace)
    raise InputError(
        f"{program.id} can't trace its tasks; name a way of a system that can, as `teff systems` lists them: {able}"
    )


def refuse_untraced(program: Program, file: Path) -> None:
    """TeffError where the run has left no trace."""
    if not file.is_file():
        raise TeffError(f"{program.id} has left no trace in {file}: it writes the trace at its end")


def refuse_ranks(registry: Registry, program: Program, ranks: int | None, kind: Kind = GRAPH) -> None:
    """TeffError where `ranks` are asked for, and the program does not spread over them."""
    if ranks is None or program.command_for_ranks:
        return
    spread = [each.id for system in registry.systems for each in kind.programs(system) if each.command_for_ranks]
    raise InputError(
        f"{program.id} takes no --ranks: it runs in one process, or starts as many as it wants; "
        f"these take them: {' '.join(spread)}"
    )


def one_number(workers: Sequence[int]) -> int | None:
    """The number of workers of a single run, where it is given. InputError for several."""
    if len(workers) > 1:
        raise InputError(f"--workers {','.join(map(str, workers))}: one number is run at a time here")
    return workers[0] if workers else None


def workers_of(workers: int | None, ranks: int | None, system: System | None = None) -> int:
    """How many workers a run on this system has. TeffError where there are more ranks."""
    usual = 1 if system and system.is_sequential else max(usable_cores(), ranks or 1)
    count = workers or usual
    if ranks is not None and ranks > count:
        raise InputError(
            f"--workers {count} --ranks {ranks}: each rank has a worker; say --workers {ranks}, or leave it out"
        )
    return count


def run_once(
    registry: Registry,
    program: Program,
    system: System,
    flags: Sequence[str],
    workers: int | None = None,
    ranks: int | None = None,
    kind: Kind = GRAPH,
    trace: Path | None = None,
) -> SingleRun:
    """Starts the program of a system for one run, which libteff traces to the file `trace`."""
    if reason := absence(program, system):
        return SingleRun(program, "", None, reason, False)
    words, environment = command_of(registry, program, flags, workers, ranks, kind)
    if trace is not None:
        environment |= trace_to(registry, program, trace)
    try:
        with Waiting(progress(), f"running {program.id}, for {TIMEOUT:.0f} s at most") as waiting:
            done = answer(words, environment=environment, timeout=TIMEOUT, look=waiting.look)
    except OSError as error:
        return SingleRun(program, "", None, f"{program.executable} can't be started: {error.strerror}", False)
    except subprocess.TimeoutExpired:
        return SingleRun(program, "", None, f"did not end within {TIMEOUT:.0f} s", False)
    line = next((text for text in done.stdout.splitlines() if text.lstrip().startswith("{")), "")
    if not line:
        return SingleRun(
            program, "", None, _why_without_record(done.returncode, done.stderr), done.returncode == BAD_INPUT
        )
    from tefflab.benchmarks.benchmark import find_benchmark  # takes seconds

    try:
        record = parse_record(line, find_benchmark(kind.name).record)
    except RecordError as error:
        return SingleRun(program, line, None, str(error), False)
    if refusal := record.refusal(workers_of(workers, ranks, system)):
        return SingleRun(program, line, None, refusal, False)
    return SingleRun(program, line, record, record.error or "", False)


def _why_without_record(code: int, said: str) -> str:
    """The program's words for it. Unless it exited by itself, its end is told before the last of them."""
    words = said.strip().splitlines()
    if error := next((word for word in words if word.startswith("error: ")), ""):
        return error.removeprefix("error: ")
    if words and code in EXIT_CODES:
        return words[-1]
    return f"{how_it_ended(code)} without a record" + (f": {words[-1]}" if words else "")
