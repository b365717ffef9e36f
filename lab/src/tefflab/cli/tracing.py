"""`teff measure apps --trace`: traces a run of each case on each system that can, in the place of measuring."""

from click.exceptions import Exit

from tefflab.benchmarks.benchmark import AnyBenchmark, Command
from tefflab.benchmarks.declared import described_kind
from tefflab.cli.session import Options, checked_name, request_of
from tefflab.errors import FAILED, TeffError
from tefflab.host.terminal import output, path_text, progress
from tefflab.json_lines import json_lines
from tefflab.measure.measurement import best_of_each
from tefflab.measure.presence import prepare, whoever_is_here
from tefflab.measure.single_runs import SingleRun, refuse_traceless, run_once
from tefflab.output.charts.sheet import slug
from tefflab.output.quantities import duration
from tefflab.output.table import Column, Table
from tefflab.systems.registry import Registry

FOLDER = "traces"  # of a store


def trace_cases(registry: Registry, kind: AnyBenchmark, command: Command, options: Options) -> None:
    """Leaves with 1 if a run failed. TeffError if no system that is here can trace."""
    command.check(options.own, options.flags)
    folder = registry.results / checked_name(options.store) / FOLDER
    prepare(registry, kind, options.systems, all_variants=options.all_variants, installing=options.installing)
    found = whoever_is_here(registry, kind, options.systems, all_ways=options.all_variants)
    chosen = found if options.all_variants else best_of_each(found, options.systems)
    plan = command.plan(request_of(registry, options, chosen))
    owner = {each.program.id: registry.owner(each.program) for each in chosen}
    traced = [each.program for each in chosen if owner[each.program.id].trace]
    if not traced:
        refuse_traceless(registry, chosen[0].program)
    if others := [each.program.id for each in chosen if each.program not in traced]:
        progress().print(f"teff: these write no trace: {' '.join(others)}", soft_wrap=True)
    folder.mkdir(parents=True, exist_ok=True)
    rows: list[tuple[str, SingleRun, str]] = []
    is_failed = False
    for case in plan.cases:
        for program in traced:
            file = folder / f"{slug(f'{case.place} {program.id}')}.json"
            one = described_kind(kind.name)
            flags = case.flags.split()
            run = run_once(registry, program, owner[program.id], flags, case.workers, kind=one, trace=file)
            if run.ok:
                rows.append((case.place, run, path_text(file)))
                continue
            is_failed = is_failed or run.record is None or not run.record.lacks
            progress().print(f"teff: {case.place}: {program.id}: {run.error}", soft_wrap=True, markup=False)
    if not rows:
        raise TeffError("no run has left a trace")
    if options.as_json:
        print(json_lines({"case": case, "system_id": run.program.id, "file": file} for case, run, file in rows))
    else:
        output().print(
            Table(
                [
                    Column("a run", [duration(run.record.wall_seconds) if run.record else "-" for _, run, _ in rows]),
                    Column("trace, for ui.perfetto.dev", [file for _, _, file in rows], "left"),
                ]
            )
        )
    if is_failed:
        raise Exit(FAILED)
