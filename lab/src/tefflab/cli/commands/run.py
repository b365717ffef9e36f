"""`teff run`."""

from pathlib import Path
from typing import Annotated

import typer

from tefflab.cli import completion
from tefflab.cli.commands import options


def command(
    context: typer.Context,
    system: Annotated[
        str,
        typer.Argument(
            help="An id that `teff systems` shows, @VERSION of it, several by commas, or all that are here.",
            autocompletion=completion.systems,
        ),
    ],
    ranks: Annotated[
        int | None,
        options.number(
            "--ranks",
            "Processes, of a system that spreads over several.",
            2,
            1,
            options.most_workers,
        ),
    ] = None,
    workers: options.Workers = None,
    launcher: options.Launcher = "",
    hosts: options.Hosts = "",
    benchmark: Annotated[
        str,
        typer.Option("--benchmark", metavar="KIND", help="The kind of the flags, as apps."),
    ] = "task_graph",
    trace: Annotated[
        Path | None,
        typer.Option("--trace", metavar="FILE", help="Trace the run, for ui.perfetto.dev, if the system can."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print records, a line of JSON each.")] = False,
) -> None:
    """Run one case on one system, or on each of several; each run validates itself.

    Takes the published Task Bench's flags; -and begins another graph.

    Example:  teff run all -type stencil_1d -kernel compute_bound -iter 1000

    Example:  teff run all --ranks 3 -type fft -width 7
    """
    from tefflab import project_root
    from tefflab.benchmarks.benchmark import find_benchmark
    from tefflab.benchmarks.task_graph.graphs import refuse_unknown_values
    from tefflab.cli.single_runs import command_of, refuse_untraced, run_each, trace_to
    from tefflab.errors import InputError
    from tefflab.systems.naming import canonical
    from tefflab.systems.programs import call_program, find_program
    from tefflab.systems.registry import Registry

    options.start_ranks_by(launcher, hosts)
    asked = context.args if workers is None else ["--workers", str(workers), *context.args]
    kind = find_benchmark(benchmark)
    of_graphs = kind.name == "task_graph"
    if of_graphs:
        refuse_unknown_values(asked)
    registry = Registry(project_root())
    names = [canonical(name) for name in system.split(",") if name]
    if trace is not None and (system == "all" or len(names) > 1 or "@" in system):
        raise InputError(f"--trace {trace}: a file holds one run; name one system")
    if system == "all" or len(names) > 1 or "@" in system:
        run_each(registry, [] if system == "all" else names, asked, ranks, as_json=as_json, kind=kind)
        return
    program = find_program(registry, kind.name, system, kind.adapters)
    flags = ["--report", *asked] if of_graphs and not as_json else asked
    (first, *rest), environment = command_of(registry, program, flags, ranks, kind)
    if trace is not None:
        environment |= trace_to(registry, program, trace)
    try:
        call_program(registry, first, rest, environment, program, context.command_path, as_json=as_json)
    except typer.Exit as ended:
        if trace is not None and not ended.exit_code:
            refuse_untraced(program, trace)
        raise
