"""`teff predict`: at how many nodes a program's efficiency falls to a threshold, from METG over nodes and one run."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tefflab.analysis.prediction import Program
from tefflab.benchmarks.benchmark import find_benchmark
from tefflab.benchmarks.task_graph.estimates import GraphEstimates
from tefflab.benchmarks.task_graph.scaling import limits_chart, predictions, section
from tefflab.benchmarks.task_graph.tables import mean_name, metg_name
from tefflab.carried import TYPED
from tefflab.cli.publishing import draw
from tefflab.cli.telling import tell
from tefflab.durations import seconds
from tefflab.errors import InputError
from tefflab.measure.measurement import estimated
from tefflab.output.charts.sheet import Head, signature, slug
from tefflab.output.quantities import duration
from tefflab.records.plan import counted_nodes
from tefflab.records.store import full_name, open_sittings
from tefflab.systems.registry import Registry

_OF_GRAPHS = "task_graph"  # the kind of benchmark that has METG
_TO_SAY = "say --time and --tasks of a run on one node, or --run with what `teff explain --json` printed of it"
_TO_MEASURE = f"measure it: {TYPED} metg --nodes 1,2,4"


def predict(
    registry: Registry,
    store: str,
    time: str | None,
    tasks: float | None,
    run: Path | None,
    threshold: float | None,
    systems: Sequence[str],
    picture: Path | None,
    as_json: bool,
) -> None:
    """Of the systems of the store's last sitting of METG. InputError without METG over nodes, or without a run."""
    opened, sittings = open_sittings(registry, store)
    head = sittings.get(_OF_GRAPHS)
    if head is None:
        raise InputError(f"{store}: it has no METG; {_TO_MEASURE} --store {store}")
    if threshold is not None:
        head = head.model_copy(update={"plan": {**head.plan, "threshold": threshold}})
    estimates = estimated(opened, find_benchmark(_OF_GRAPHS), head)
    assert isinstance(estimates, GraphEstimates)
    plan = estimates.plan
    if (time is None) != (tasks is None):
        said = f"--tasks {tasks:g}" if time is None else f"--time {time}"
        raise InputError(f"{said} is half of a run; {_TO_SAY}")
    if run and time:
        raise InputError(f"--run {run} says time and tasks; leave out --time and --tasks, or --run")
    typed = Program(seconds=seconds(time), tasks=tasks) if time and tasks else None
    program = _read(run) if run else typed or plan.program
    if program is None:
        raise InputError(f"which program? {_TO_SAY}")
    rows = [row for row in estimates.rows if not systems or {row.id, row.variant.system} & set(systems)]
    if not rows:
        raise InputError(f"--systems {','.join(systems)}: {store} has {' '.join(each.id for each in plan.variants)}")
    found = predictions(rows, program, plan.threshold)
    if not found:
        nodes = sorted({row.nodes for row in rows if row.nodes and row.value})
        if len(nodes) > 1:
            raise InputError(f"{store}: it has no {mean_name(plan.threshold)}; {_TO_MEASURE}")
        there = f"{' and '.join(map(counted_nodes, nodes))} only" if nodes else "one machine, not over nodes"
        raise InputError(f"{store}: it has {metg_name(plan.threshold)} of {there}; it takes two; {_TO_MEASURE}")
    name = full_name(registry, opened, head)
    graphs = dict.fromkeys(each.row.group for each in found)
    if picture:
        for graph in graphs:
            of = plan.variants[0].cluster and f" of {plan.variants[0].cluster}"
            title = f"A program of {duration(program.seconds)} and {program.tasks:g} tasks a core, on more nodes{of}"
            footer = signature(head)
            file = picture if len(graphs) == 1 else picture.with_stem(f"{picture.stem}-{slug(graph)}")
            own = [each for each in found if each.row.group == graph]
            draw(limits_chart(own, Head(title, [f"{graph}; {name}"], footer)), file)
    tell(
        as_json,
        lambda: (row.to_json() | {"source": name} for each in found for row in each.rows()),
        lambda: section(found),
    )


def _read(report: Path) -> Program:
    """A program, by the report of `teff explain --json`. InputError for another file."""
    try:
        lines: list[Any] = [json.loads(line) for line in report.read_text(encoding="utf-8").splitlines()]
        whole = lines[0]
        sites = [each for each in lines if each["of"] == "site"]
        bodies = [each for each in sites if each["kind"] != "region"] or sites  # which regions hold
        return Program(seconds=whole["seconds"], tasks=sum(each["count"] for each in bodies) / whole["threads"])
    except OSError as failure:
        raise InputError(f"--run {report}: {failure.strerror}") from None
    except (ValueError, TypeError, LookupError, AttributeError, ZeroDivisionError):
        way_out = f"write it by {TYPED} explain --json -- PROGRAM > {report.name}, or say --time and --tasks"
        raise InputError(f"--run {report}: it does not say the time, tasks and workers of a run; {way_out}") from None
