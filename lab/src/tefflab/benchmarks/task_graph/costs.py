"""A cluster's file for `--simulate`, of nodes like this machine: from METG of three graphs.

docs/explanation/simulated-nodes.md has the model. At METG(p) a task's overhead is a share 1 - p of its time. Without
dependences this is the task's own. Several stencils at once add the messages of a rank. One stencil adds the latency,
in which its core has nothing else to do.
"""

import re
from collections import defaultdict
from collections.abc import Iterator

from tefflab.benchmarks.task_graph.estimates import GraphEstimates
from tefflab.benchmarks.task_graph.tables import CEILING

_BARE, _ONE, _MANY = ("trivial", False), ("stencil_1d", False), ("stencil_1d", True)  # and whether several run at once
_LINK = 1.3e-6  # seconds that a message between nodes takes longer than within one: assumed


def cluster_file(estimates: GraphEstimates) -> str | None:
    """None without a system whose three METGs are known, and for one worker, which sends no messages."""
    sitting, workers = estimates.sitting, estimates.plan.workers[0]
    systems = [line for each in _systems(estimates, workers) for line in each]
    if not systems or workers == 1:
        return None
    peaks = [row.value.value for row in estimates.rows if row.quantity == CEILING and row.value]
    lines = [
        f"# Measured by `{sitting.command}`, {sitting.started_at:%Y-%m-%d}: {sitting.machine.summary}",
        f'title = "{sitting.machine.cpu}"',
        "",
        "[node]",
        f"cores = {workers}",
        f"flops = {max(peaks):.4g} # the ceiling of all cores",
        "",
        "[[level]] # a node: each system has its own latency there",
        "latency = 0.0",
        "",
        "[[level]] # between nodes, beyond that. Assumed: measure yours by `teff measure messages --nodes 1,2`",
        f'latency = "{_text(_LINK)}"',
        "",
        *systems,
        "[model.quiet] # `here` is the noise of this machine: --simulate FILE,here",
    ]
    return "\n".join(lines) + "\n"


def _systems(estimates: GraphEstimates, workers: int) -> Iterator[list[str]]:
    """A table of the file each."""
    known: dict[str, dict[tuple[str, bool], float]] = defaultdict(dict)
    share = 1 - estimates.plan.threshold
    for case in estimates.cases:
        kinds = [str(dict(graph)["type"]) for graph in case.case.graphs]
        for row in case.rows:
            if row.value and row.relation == "=" and row.is_told:
                known[row.id][kinds[0], len(kinds) > 1] = share * row.value.value
    titles = {each.id: each.title for each in estimates.plan.variants}
    messages = max(min(workers - 1, 2), 1)  # of a rank, to its neighbours
    for name, overhead in known.items():
        if not {_BARE, _ONE, _MANY} <= overhead.keys():
            continue
        task, many, one = (overhead[case] for case in (_BARE, _MANY, _ONE))
        yield [
            f"[system.{re.sub('[^a-z0-9_-]', '_', name)}]",
            f'title = "{titles[name]}"',
            f'task = "{_text(task)}"',
            f"message = {max(many - task, 0) / messages:.4g}",
            f"latency = {max(one - max(many, task), 0):.4g}",
            "",
        ]


def _text(seconds: float) -> str:
    return f"{1e9 * seconds:.4g}ns"
