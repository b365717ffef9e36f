"""`teff run` and `teff graph`: one look, not a measurement."""

from pathlib import Path

import click

from tefflab.benchmarks import graph_flags
from tefflab.cli import completion, options
from tefflab.cli.grammar import FLAGS, Former, Number, Text, command


@command(
    "run",
    click.Argument(
        ["system"],
        type=Text(completion.systems),
        metavar="SYSTEM",
        help="An id that `teff systems` shows, @VERSION of it, several by commas, or all that are here.",
    ),
    click.Argument(["words"], nargs=-1, type=FLAGS, metavar="[KIND] [FLAGS]..."),
    click.Option(
        ["--ranks"],
        type=Number(2, 1, options.most_workers),
        metavar="N",
        help="Processes, of a system that spreads over several.",
    ),
    options.WORKERS,
    options.LAUNCHER,
    options.HOSTS,
    Former("--benchmark", "kind", now="teff run SYSTEM KIND"),
    click.Option(
        ["--trace"], type=options.FILE, metavar="FILE", help="Trace the run, for ui.perfetto.dev, if the system can."
    ),
    options.JSON,
    epilog=graph_flags.HELP,
)
def run(
    system: str,
    words: tuple[str, ...],
    ranks: int | None,
    workers: tuple[int, ...],
    launcher: str | None,
    hosts: str | None,
    trace: Path | None,
    as_json: bool,
    kind: str | None = None,
) -> None:
    """Run one case of a kind of benchmark on one system, or on each of several; each run validates itself.

    KIND is graph, if it is left out: then it takes the published Task Bench's flags, and -and begins another graph.

    Example:  teff run all graph -type stencil_1d -kernel compute_bound -iter 1000

    Example:  teff run all --ranks 3 -type fft -width 7
    """
    from click.exceptions import Exit

    from tefflab import project_root
    from tefflab.benchmarks.graphs import refuse_unknown_values
    from tefflab.cli.declared import described_kind
    from tefflab.cli.single_runs import command_of, one_number, refuse_untraced, run_each, trace_to
    from tefflab.errors import InputError
    from tefflab.systems.naming import canonical
    from tefflab.systems.programs import call_program, find_program
    from tefflab.systems.registry import Registry

    options.start_ranks_by(launcher, hosts)
    named, flags = (words[0], words[1:]) if words and not words[0].startswith("-") else ("", words)
    of = described_kind(kind or named or "graph")
    if of.word == "graph":
        refuse_unknown_values(flags)
    count = one_number(workers)
    registry = Registry(project_root())
    names = [canonical(name) for name in system.split(",") if name]
    if system == "all" or len(names) > 1 or "@" in system:
        if trace is not None:
            raise InputError(f"--trace {trace}: a file holds one run; name one system")
        run_each(registry, [] if system == "all" else names, flags, count, ranks, as_json=as_json, kind=of)
        return
    program = find_program(registry, of.name, system, of.adapters)
    told = ["--report"] if of.word == "graph" and not as_json else []
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


@command(
    "graph",
    options.GRAPH_FLAGS,
    options.JSON,
    click.Option(["--svg"], type=options.FILE, metavar="FILE", help="Draw it into this file."),
    epilog=graph_flags.HELP,
)
def graph(flags: tuple[str, ...], as_json: bool, svg: Path | None) -> None:
    """Say what a graph's flags describe: as text, with --json as its tasks, with --svg as a picture.

    Takes the published Task Bench's flags as they are. Several graphs, with -and between them, stand side by side.

    Example:  teff graph --svg fft.svg -type fft -width 8 -steps 9
    """
    from tefflab import project_root
    from tefflab.benchmarks.graph_drawing import describe_graphs, draw, expect_listable, listed_tasks
    from tefflab.benchmarks.graphs import core_program, refuse_unknown_values
    from tefflab.errors import InputError
    from tefflab.host.terminal import output, progress
    from tefflab.json_lines import json_lines
    from tefflab.systems.programs import call_program
    from tefflab.systems.registry import Registry
    from tefflab.systems.setup import ensure
    from tefflab.whole_files import write_whole

    refuse_unknown_values(flags)
    registry = Registry(project_root())
    if svg is None:
        expect_listable(flags)
        if not as_json:  # first: a flag without its value would take it
            path = click.get_current_context().command_path
            call_program(registry, core_program(registry.root), ["-vv", *flags], command_path=path)
            return
        ensure(registry, [], console=progress())
        print(json_lines(listed_tasks(registry.root, flags)))
        return
    if as_json:
        raise InputError("--json and --svg: one of them at a time")
    if svg.suffix != ".svg":
        raise InputError(f"--svg {svg}: the picture is SVG; give a name that ends in .svg")
    ensure(registry, [], console=progress())
    picture = draw(describe_graphs(registry.root, flags))
    try:
        svg.parent.stat()  # no folder is made for a name that was mistyped
        write_whole(svg, picture)
    except OSError as error:
        raise InputError(f"--svg {svg}: {error.strerror}; name a file that can be written") from None
    output().print(str(svg), soft_wrap=True)
