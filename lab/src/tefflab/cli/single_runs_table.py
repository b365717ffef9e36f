"""The table of `teff run`."""

from collections.abc import Sequence

from rich.console import Group
from rich.text import Text

from tefflab.benchmarks.task_graph.record import GraphRecord
from tefflab.measure.single_runs import SingleRun
from tefflab.output.quantities import duration, rate
from tefflab.output.table import Column, Table


def to_table(runs: Sequence[SingleRun]) -> Group:
    """A row a system, the quickest first; then a line for each run that failed."""
    good = [(run, run.record) for run in runs if run.record is not None and run.record.ok]
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
    table = Table(
        [
            Column("system", [run.program.id for run in (*(run for run, _ in good), *failed)], "left"),
            Column("elapsed", [duration(record.wall_seconds) for record in records] + none),
            *(of_graphs if len(graphs) == len(records) else []),
            Column("validated", proven + [Text("failed", "red") for _ in failed], "left"),
        ]
    )
    return Group(table, *(Text.assemble((run.program.id, "red"), f": {run.error}") for run in failed))
