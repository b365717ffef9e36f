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
from tefflab.systems.systems import Program, usable_cores
from tefflab.whole_files import writing

TIMEOUT = 600.0  # seconds
GRAPH = Kind("task_graph", "graph")


@dataclass(frozen=True, slots=True)
class SingleRun:
    """The result of one run: the program's line with its record, or the reason why there is none."""

    program: Program
    error: str
    line: str = ""
    record: Record | None = None
    was_refused: bool = False  # by the program, for its flags

    @property
    def ok(self) -> bool:
        return self.record is not None and self.record.ok


@dataclass(frozen=True, slots=True)
class Launch:
    """The flags of a kind of benchmark, with which any of its programs is started once."""

    registry: Registry
    flags: Sequence[str]
    workers: int | None = None
    ranks: int | None = None
    kind: Kind = GRAPH

    def count(self, program: Program | None = None) -> int:
        """How many workers a run has. Without a number it has one on a sequential system, else one a core, or one a
        rank if there are more ranks. TeffError if there are more ranks than workers."""
        is_sequential = program is not None and self.registry.owner(program).is_sequential
        count = self.workers or (1 if is_sequential else max(usable_cores(), self.ranks or 1))
        if self.ranks is not None and self.ranks > count:
            way_out = f"say --workers {self.ranks}, or leave it out"
            raise InputError(f"--workers {count} --ranks {self.ranks}: each rank has a worker; {way_out}")
        return count

    def refuse_ranks(self, program: Program) -> None:
        """TeffError where ranks are asked for, and the program does not spread over them."""
        if self.ranks is None or program.command_for_ranks:
            return
        every = (each for system in self.registry.systems for each in self.kind.programs(system))
        raise InputError(
            f"{program.id} takes no --ranks: it runs in one process, or starts as many as it wants; "
            f"these take them: {' '.join(each.id for each in every if each.command_for_ranks)}"
        )

    def command(self, program: Program) -> tuple[list[str], dict[str, str]]:
        """The command line and the environment of one run. A program is always told its number of workers: its own
        default may be wrong once its threads are bound to cores."""
        self.refuse_ranks(program)
        count = self.count(program)
        words = [*program.command_line(count, self.ranks), "--workers", str(count), *self.flags]
        return words, program.environment_for(count)

    def run(self, program: Program, trace: Path | None = None) -> SingleRun:
        """Starts the program for one run, which its system traces to the file `trace`."""
        if reason := absence(program, self.registry.owner(program)):
            return SingleRun(program, reason)
        words, environment = self.command(program)
        if trace is not None:
            environment |= trace_to(self.registry, program, trace)
        try:
            with Waiting(progress(), f"running {program.id}, for {TIMEOUT:.0f} s at most") as waiting:
                done = answer(words, environment=environment, timeout=TIMEOUT, look=waiting.look)
        except OSError as error:
            return SingleRun(program, f"{program.executable} can't be started: {error.strerror}")
        except subprocess.TimeoutExpired:
            return SingleRun(program, f"did not end within {TIMEOUT:.0f} s")
        line = next((text for text in done.stdout.splitlines() if text.lstrip().startswith("{")), "")
        if not line:
            reason = _why_without_record(done.returncode, done.stderr)
            return SingleRun(program, reason, was_refused=done.returncode == BAD_INPUT)
        from tefflab.benchmarks.benchmark import find_benchmark  # takes seconds

        try:
            record = parse_record(line, find_benchmark(self.kind.name).record)
        except RecordError as error:
            return SingleRun(program, str(error), line)
        if refusal := record.refusal(self.count(program)):
            return SingleRun(program, refusal, line)
        return SingleRun(program, record.error or "", line, record)


def trace_to(registry: Registry, program: Program, file: Path) -> dict[str, str]:
    """The environment in which a program traces a run to the file. An earlier trace is removed. TeffError where the
    program's system can't trace."""
    variables = registry.owner(program).trace
    if not variables:
        refuse_traceless(registry, program)
    with writing("--trace", file):
        file.unlink(missing_ok=True)
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


def _why_without_record(code: int, said: str) -> str:
    """The program's words for it. Unless it exited by itself, its end is told before the last of them."""
    words = said.strip().splitlines()
    if error := next((word for word in words if word.startswith("error: ")), ""):
        return error.removeprefix("error: ")
    if words and code in EXIT_CODES:
        return words[-1]
    return f"{how_it_ended(code)} without a record" + (f": {words[-1]}" if words else "")
