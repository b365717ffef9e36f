"""`teff measure KIND --trace`: a trace of each case on each system that can trace."""

from click.exceptions import Exit

from tefflab.benchmarks.benchmark import AnyBenchmark, Command
from tefflab.benchmarks.declared import described_kind
from tefflab.cli.session import Options, request_of
from tefflab.cli.telling import tell
from tefflab.errors import FAILED, InputError, TeffError
from tefflab.host.ranks import start_ranks_by
from tefflab.host.terminal import path_text, progress
from tefflab.measure.presence import Selection
from tefflab.measure.single_runs import Launch, SingleRun, refuse_traceless
from tefflab.output.charts.sheet import slug
from tefflab.output.quantities import duration
from tefflab.output.table import Column, Table
from tefflab.records.store import checked_name
from tefflab.systems.registry import Registry

_TRACES = "traces"  # the folder of a store


def trace_cases(registry: Registry, kind: AnyBenchmark, command: Command, options: Options) -> None:
    """Traces a run of each case on each system that can, in the place of measuring. Leaves with 1 if a run failed.
    TeffError if no system that is here can trace."""
    if options.nodes:
        raise InputError("--trace: a traced run is of one machine; leave out --nodes")
    start_ranks_by(options.launcher, options.hosts)
    command.check(registry, options.own, options.flags)
    folder = registry.results / checked_name(options.store) / _TRACES
    selection = Selection(registry, kind, options.systems, options.all_variants)
    chosen = selection.measured(selection.set_up(options.installing))
    plan = command.plan(request_of(registry, options, chosen))
    traced = [each.program for each in chosen if registry.owner(each.program).trace]
    if not traced:
        refuse_traceless(registry, chosen[0].program)
    if others := [each.program.id for each in chosen if each.program not in traced]:
        progress().print(f"teff: these write no trace: {' '.join(others)}", soft_wrap=True)
    folder.mkdir(parents=True, exist_ok=True)
    rows: list[tuple[str, SingleRun, str]] = []
    is_failed = False
    for case in plan.cases:
        launch = Launch(registry, case.flags.split(), case.workers, kind=described_kind(kind.name))
        for program in traced:
            file = folder / f"{slug(f'{case.place} {program.id}')}.json"
            run = launch.run(program, trace=file)
            if run.ok:
                rows.append((case.place, run, path_text(file)))
                continue
            is_failed = is_failed or run.record is None or not run.record.lacks
            progress().print(f"teff: {case.place}: {program.id}: {run.error}", soft_wrap=True, markup=False)
    if not rows:
        raise TeffError("no run has left a trace")
    columns = [
        Column("a run", [duration(run.record.wall_seconds) if run.record else "-" for _, run, _ in rows]),
        Column("trace, for ui.perfetto.dev", [file for _, _, file in rows], "left"),
    ]
    lines = ({"case": case, "system_id": run.program.id, "file": file} for case, run, file in rows)
    tell(options.as_json, lambda: lines, lambda: Table(columns))
    if is_failed:
        raise Exit(FAILED)
