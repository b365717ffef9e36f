"""A cluster's file for `--simulate`, of nodes like this machine: from METG of three graphs.

docs/explanation/simulated-nodes.md has the model. At METG(p) a task's overhead is a share 1 - p of its time. Without
dependences this is the task's own. Several stencils at once add the messages of a rank. One stencil adds the latency,
in which its core has nothing else to do.
"""

import re

from tefflab.benchmarks.task_graph.estimates import GraphEstimates
from tefflab.benchmarks.task_graph.tables import CEILING

_GRAPHS = ("trivial", False), ("stencil_1d", False), ("stencil_1d", True)  # and whether several run at once
_FILE = """\
# Measured on {machine}
title = "{title}"

[node]
cores = {cores}
flops = {flops:.4g} # the ceiling of all cores

[[level]] # a node: each system has its own latency there
latency = 0.0

[[level]] # between nodes, beyond that. Assumed: measure yours by `teff measure messages --nodes 1,2`
latency = "1.3us"

{systems}[model.quiet] # `here` is the noise of this machine: --simulate FILE,here
"""
_SYSTEM = '[system.{name}]\ntitle = "{title}"\ntask = {task:.4g}\nmessage = {message:.4g}\nlatency = {latency:.4g}\n\n'


def cluster_file(estimates: GraphEstimates) -> str | None:
    """None without a system whose three METGs are known, and for one worker, which sends no messages."""
    machine, plan, workers = estimates.sitting.machine, estimates.plan, estimates.plan.workers[0]
    overheads = {
        (row.id, str(dict(case.case.graphs[0])["type"]), len(case.case.graphs) > 1): row.value.value
        for case in estimates.cases
        for row in case.rows
        if row.value and row.relation == "=" and row.is_told
    }
    systems = ""
    for each in plan.variants:
        task, one, many = ((1 - plan.threshold) * overheads.get((each.id, *graph), 0) for graph in _GRAPHS)
        if task and one and many and workers > 1:
            message = max(many - task, 0) / min(workers - 1, 2)  # each rank has so many neighbours
            latency = max(one - max(many, task), 0)
            name = re.sub("[^a-z0-9_-]", "_", each.id)
            systems += _SYSTEM.format(name=name, title=each.title, task=task, message=message, latency=latency)
    flops = max((row.value.value for row in estimates.rows if row.quantity == CEILING and row.value), default=0)
    told = {"machine": machine.summary, "title": machine.cpu, "cores": workers, "flops": flops, "systems": systems}
    return _FILE.format(**told) if systems else None
