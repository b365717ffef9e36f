"""`teff graph` says which task graph flags describe."""

from collections.abc import Sequence
from pathlib import Path

import click

from tefflab.benchmarks.graphs import core_program, expect_listable, listed_tasks, refuse_unknown_values
from tefflab.errors import InputError
from tefflab.host.terminal import output, progress
from tefflab.json_lines import json_lines
from tefflab.systems.programs import call_program
from tefflab.systems.registry import Registry
from tefflab.systems.setup import ensure
from tefflab.whole_files import write_whole, writing


def describe(registry: Registry, flags: Sequence[str], as_json: bool, svg: Path | None) -> None:
    """As text, as tasks or as a picture. InputError for graphs that are too large for it."""
    refuse_unknown_values(flags)
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
    from tefflab.benchmarks.graph_drawing import describe_graphs, draw  # which takes a third of a second

    ensure(registry, [], console=progress())
    picture = draw(describe_graphs(registry.root, flags)).svg
    with writing("--svg", svg):
        write_whole(svg, picture)
    output().print(str(svg), soft_wrap=True)
