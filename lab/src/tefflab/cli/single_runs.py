"""`teff run`: one case once, on one system or on each of several; a look, not a measurement."""

from collections.abc import Sequence
from pathlib import Path

import click
from click.exceptions import Exit
from rich.markup import escape

from tefflab.benchmarks.declared import Kind, described_kind
from tefflab.benchmarks.graphs import refuse_unknown_values
from tefflab.cli.options import start_ranks_by
from tefflab.errors import FAILED, INTERRUPTED, InputError, TeffError
from tefflab.host.terminal import output, progress
from tefflab.measure.single_runs import (
    GRAPH,
    SingleRun,
    command_of,
    one_number,
    refuse_ranks,
    refuse_untraced,
    run_once,
    trace_to,
    workers_of,
)
from tefflab.systems.bringing import bring_version
from tefflab.systems.naming import canonical
from tefflab.systems.probing import absence, probe_all
from tefflab.systems.programs import ask_cases, call_program, find_program
from tefflab.systems.registry import Registry
from tefflab.systems.setup import ensure
from tefflab.systems.systems import Program, System


def run(
    registry: Registry,
    system: str,
    words: Sequence[str],
    ranks: int | None,
    workers: Sequence[int],
    launcher: str | None,
    hosts: str | None,
    trace: Path | None,
    as_json: bool,
    kind: str | None = None,
) -> None:
    """On one system, whose program's exit code it leaves with, or on several. `words` are a kind of benchmark and
    flags."""
    start_ranks_by(launcher, hosts)
    said, flags = (words[0], words[1:]) if words and not words[0].startswith("-") else ("", words)
    named, _, case = said.partition(":")
    of = described_kind(kind or named or GRAPH.word)
    if of == GRAPH:
        refuse_unknown_values(flags)
    count = one_number(workers)
    names = [canonical(name) for name in system.split(",") if name]
    if case:
        flags = [*_flags_of(registry, of, case, names), *flags]
    if system == "all" or len(names) > 1 or "@" in system:
        if trace is not None:
            raise InputError(f"--trace {trace}: a file holds one run; name one system")
        run_each(registry, [] if system == "all" else names, flags, count, ranks, as_json=as_json, kind=of)
        return
    program = find_program(registry, of.name, system, of.adapters)
    told = ["--report"] if of == GRAPH and not as_json else []
    (first, *rest), environment = command_of(registry, program, [*told, *flags], count, ranks, of)
    if trace is not None:
        environment |= trace_to(registry, program, trace)
    path = click.get_current_context().command_path
    try:
        call_program(registry, first, rest, environment, program, path, as_json=as_json)
    except Exit as ended:
        if trace is not None and not ended.exit_code:
            refuse_untraced(program, trace)
        raise


def _flags_of(registry: Registry, kind: Kind, case: str, names: Sequence[str]) -> list[str]:
    """As the first program that is here lists them. InputError for a case that it does not list."""
    if names == ["all"]:
        every = ((each, system) for system in registry.systems for each in kind.programs(system))
        program = next((each for each, system in every if not absence(each, system)), None)
        if program is None:
            raise TeffError(f"no program of {kind.word} is built yet, which would list its cases; name a system")
    else:
        program = find_program(registry, kind.name, names[0], kind.adapters)
        ensure(registry, [registry.owner(program)], console=progress(), ways=lambda _: [[program]])
    listed = {each["name"]: each["flags"] for each in ask_cases(program)}
    if case not in listed:
        raise InputError(f"no case is called {case!r}; there are: {' '.join(listed)}")
    return str(listed[case]).split()


def run_each(
    registry: Registry,
    names: Sequence[str],
    flags: Sequence[str],
    workers: int | None = None,
    ranks: int | None = None,
    *,
    as_json: bool,
    kind: Kind = GRAPH,
) -> None:
    """Runs the flags, of a kind of benchmark, on each system named and prints the results. Without names, it runs on
    all systems that are here, with `ranks` only on systems that can be started as so many processes.

    Leaves with 1 if a run failed, and with 130 after Ctrl-C, once it has printed the results before. TeffError with the
    program's words if every program refuses the flags.
    """
    workers_of(workers, ranks)
    chosen = [find_program(registry, kind.name, name, kind.adapters) for name in dict.fromkeys(names)]
    for program in chosen:
        refuse_ranks(registry, program, ranks, kind)
    owners = {program.identity for program in chosen}
    systems = [system for system in registry.systems if not names or system.name in owners]

    def ways(system: System) -> list[list[Program]]:
        every = chosen if names else kind.programs(system)
        return [[each] for each in every if each.identity == system.name]

    ensure(registry, systems, console=progress(), ways=ways)
    for program in chosen:
        bring_version(registry, [program], progress())
    if not names:
        probes = probe_all(systems, kind.programs)
        here = [program for system in systems for program in kind.programs(system) if probes[program.id].found]
        chosen = [program for program in here if ranks is None or program.command_for_ranks]
    if not chosen:
        raise TeffError("none of the systems is here; see `teff systems`")
    owner = {system.name: system for system in systems}
    runs: list[SingleRun] = []
    interrupted = False
    try:
        for program in chosen:
            runs.append(run_once(registry, program, owner[program.identity], flags, workers, ranks, kind))
    except KeyboardInterrupt:
        interrupted = True
    if not interrupted and all(run.was_refused for run in runs):
        raise InputError(runs[0].error)
    for run in runs:
        if not run.ok and as_json:
            progress().print(f"teff: {escape(run.program.id)}: {escape(run.error)}", soft_wrap=True)
        if run.line and as_json:
            print(run.line)
    if not as_json and runs:
        from tefflab.cli.single_runs_table import to_table

        output().print(to_table(runs))
    if interrupted:
        missing = " ".join(program.id for program in chosen[len(runs) :])
        raise TeffError(f"interrupted; no run of {missing}", exit_code=INTERRUPTED)
    if not all(run.ok for run in runs):
        raise Exit(FAILED)
