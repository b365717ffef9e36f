"""`teff run`: one case once, on one system or on each of several; a look, not a measurement."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.exceptions import Exit
from rich.markup import escape

from tefflab.benchmarks.declared import described_kind
from tefflab.benchmarks.graphs import refuse_unknown_values
from tefflab.errors import FAILED, INTERRUPTED, InputError, TeffError
from tefflab.host.ranks import start_ranks_by
from tefflab.host.terminal import output, progress
from tefflab.measure.single_runs import GRAPH, Launch, SingleRun, refuse_untraced, trace_to
from tefflab.systems.bringing import bring_version
from tefflab.systems.naming import canonical
from tefflab.systems.probing import probe_all
from tefflab.systems.programs import ask_cases, built_cases, call_program, find_program
from tefflab.systems.registry import Registry
from tefflab.systems.setup import ensure
from tefflab.systems.systems import BENCH_FOLDER, Program, System

if TYPE_CHECKING:
    from rich.console import Group


def run(
    registry: Registry,
    system: str,
    words: Sequence[str],
    ranks: int | None,
    workers: int | None,
    launcher: str | None,
    hosts: str | None,
    trace: Path | None,
    as_json: bool,
    kind: str | None = None,
) -> None:
    """On one system, whose program's exit code it leaves with, or on several. `words` are a kind and flags."""
    start_ranks_by(launcher, hosts)
    said, flags = (words[0], words[1:]) if words and not words[0].startswith("-") else ("", words)
    named, _, case = said.partition(":")
    launch = Launch(registry, flags, workers, ranks, described_kind(kind or named or GRAPH.word))
    if launch.kind == GRAPH:
        refuse_unknown_values(flags)
    names = [canonical(name) for name in system.split(",") if name]
    if case:
        launch = replace(launch, flags=[*_flags_of(launch, case, names), *flags])
    if system == "all" or len(names) > 1 or "@" in system:
        if trace is not None:
            raise InputError(f"--trace {trace}: a file holds one run; name one system")
        run_each(launch, [] if system == "all" else names, as_json=as_json)
        return
    program = find_program(registry, launch.kind.name, system, launch.kind.adapters)
    told = ["--report"] if launch.kind == GRAPH and not as_json else []
    (first, *rest), environment = replace(launch, flags=[*told, *launch.flags]).command(program)
    if trace is not None:
        environment |= trace_to(registry, program, trace)
    path = click.get_current_context().command_path
    try:
        call_program(registry, first, rest, environment, program, path, as_json=as_json)
    except Exit as ended:
        if trace is not None and not ended.exit_code:
            refuse_untraced(program, trace)
        raise


def _flags_of(launch: Launch, case: str, names: Sequence[str]) -> list[str]:
    """As a program that is here lists them, else one that is built now. InputError for a case that it does not list."""
    registry, kind = launch.registry, launch.kind
    every = [each for system in registry.systems for each in kind.programs(system)]
    cases = built_cases(every, registry.root / BENCH_FOLDER / kind.name)
    if not cases:
        if names != ["all"]:
            every = [find_program(registry, kind.name, names[0], kind.adapters)]
        elif not (every := [each for each in every if each.program_path.is_file()]):
            raise TeffError(f"no program of {kind.word} is built yet, which would list its cases; name a system")
        program = every[0]
        ensure(registry, [registry.owner(program)], console=progress(), ways=lambda _: [[program]])
        cases = ask_cases(program)
    listed = {each["name"]: each["flags"] for each in cases}
    if case not in listed:
        raise InputError(f"no case is called {case!r}; there are: {' '.join(listed)}")
    return str(listed[case]).split()


def run_each(launch: Launch, names: Sequence[str], *, as_json: bool) -> None:
    """Runs on each system named, or on all that are here, and prints the results. With ranks, all are the systems that
    can be started as so many processes. Leaves with 1 if a run failed, and with 130 after Ctrl-C. TeffError with the
    program's words if every program refuses the flags."""
    registry, kind = launch.registry, launch.kind
    launch.count()
    chosen = [find_program(registry, kind.name, name, kind.adapters) for name in dict.fromkeys(names)]
    for program in chosen:
        launch.refuse_ranks(program)
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
        chosen = [program for program in here if launch.ranks is None or program.command_for_ranks]
    if not chosen:
        raise TeffError("none of the systems is here; see `teff systems`")
    runs: list[SingleRun] = []
    interrupted = False
    try:
        for program in chosen:
            runs.append(launch.run(program))
    except KeyboardInterrupt:
        interrupted = True
    if not interrupted and all(run.was_refused for run in runs):
        raise InputError(runs[0].error)
    for run in runs if as_json else ():
        if not run.ok:
            progress().print(f"teff: {escape(run.program.id)}: {escape(run.error)}", soft_wrap=True)
        if run.line:
            print(run.line)
    if runs and not as_json:
        output().print(_table(runs))
    if interrupted:
        missing = " ".join(program.id for program in chosen[len(runs) :])
        raise TeffError(f"interrupted; no run of {missing}", exit_code=INTERRUPTED)
    if not all(run.ok for run in runs):
        raise Exit(FAILED)


def _table(runs: Sequence[SingleRun]) -> "Group":
    """A row a system, the quickest first; then a line for each run that failed."""
    from rich.console import Group  # what follows takes a second
    from rich.text import Text

    from tefflab.benchmarks.task_graph.record import GraphRecord
    from tefflab.output.quantities import duration, rate
    from tefflab.output.table import Column, Table

    good = [(run.program.id, run.record) for run in runs if run.record is not None and run.record.ok]
    good.sort(key=lambda pair: pair[1].wall_seconds)
    records = [record for _, record in good]
    failed = [run for run in runs if not run.ok]
    none = ["-"] * len(failed)
    graphs = [record for record in records if isinstance(record, GraphRecord)]
    unproven = [record for record in graphs if not record.proven]
    proven = [Text("switched off" if record in unproven else "yes") for record in records]
    of_graphs = [
        Column("granularity", [duration(record.granularity) for record in graphs] + none),
        Column("rate", [rate(record.rate, record.rate_unit) for record in graphs] + none),
    ]
    columns = [
        Column("system", [name for name, _ in good] + [run.program.id for run in failed], "left"),
        Column("elapsed", [duration(record.wall_seconds) for record in records] + none),
        *(of_graphs if len(graphs) == len(records) else []),
        Column("validated", proven + [Text("failed", "red") for _ in failed], "left"),
    ]
    return Group(Table(columns), *(Text.assemble((run.program.id, "red"), f": {run.error}") for run in failed))
