"""`teff graph`."""

from pathlib import Path
from typing import Annotated

import typer


def command(
    context: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Print a line of JSON for each task.")] = False,
    svg: Annotated[Path | None, typer.Option("--svg", metavar="FILE", help="Draw it into this file.")] = None,
) -> None:
    """Say what a graph's flags describe: as text, with --json as its tasks, with --svg as a picture.

    Takes the published Task Bench's flags as they are. Several graphs, with -and between them, stand side by side.

    Example:  teff graph --svg fft.svg -type fft -width 8 -steps 9
    """
    from tefflab import project_root
    from tefflab.benchmarks.task_graph.drawing import describe_graphs, draw, expect_listable, listed_tasks
    from tefflab.benchmarks.task_graph.graphs import core_program, refuse_unknown_values
    from tefflab.errors import InputError
    from tefflab.host.terminal import output, progress
    from tefflab.json_lines import json_lines
    from tefflab.systems.programs import call_program
    from tefflab.systems.registry import Registry
    from tefflab.systems.setup import ensure
    from tefflab.whole_files import write_whole

    refuse_unknown_values(context.args)
    registry = Registry(project_root())
    if svg is None:
        expect_listable(context.args)
        if not as_json:  # first: a flag without its value would take it
            call_program(
                registry, core_program(registry.root), ["-vv", *context.args], command_path=context.command_path
            )
            return
        ensure(registry, [], console=progress())
        typer.echo(json_lines(listed_tasks(registry.root, context.args)))
        return
    if as_json:
        raise InputError("--json and --svg: one of them at a time")
    if svg.suffix != ".svg":
        raise InputError(f"--svg {svg}: the picture is SVG; give a name that ends in .svg")
    ensure(registry, [], console=progress())
    picture = draw(describe_graphs(registry.root, context.args)).svg
    try:
        svg.parent.stat()  # no folder is made for a name that was mistyped
        write_whole(svg, picture)
    except OSError as error:
        raise InputError(f"--svg {svg}: {error.strerror}; name a file that can be written") from None
    output().print(str(svg), soft_wrap=True)
