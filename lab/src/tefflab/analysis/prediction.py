"""How many nodes a program can use: where its tasks, which are shorter on more nodes, become as short as METG.

docs/explanation/prediction.md has the method and its assumption. Pure: the same arguments give the same values.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import Field

from tefflab.analysis.crossing import Relation
from tefflab.analysis.robust_line import Floats
from tefflab.analysis.statistics import Interval
from tefflab.records.plan import Frozen

_OPPOSITE: Mapping[Relation, Relation] = {"=": "=", "<": ">", ">": "<"}


class Program(Frozen):
    """One run on one node: how long it took, and how many tasks each core had. On more nodes a core has as many tasks,
    which share the same work."""

    seconds: Annotated[float, Field(gt=0)]
    tasks: Annotated[float, Field(gt=0)]

    def task_on(self, nodes: float, share: float = 1.0) -> float:
        """How long a task is on so many nodes, of whose time this share is work [s]."""
        return self.seconds / self.tasks / (share * nodes)


@dataclass(frozen=True, slots=True)
class Limit:
    """The number of nodes at which the tasks are as long as METG, and how long the program runs there."""

    nodes: Interval
    seconds: Interval


def limit(program: Program, metg: Mapping[int, Interval], share: float = 1.0) -> Limit:
    """Where `program.task_on(nodes, share)` meets METG, which goes from one measured number of nodes to the next as a
    straight line in a log-log plot. Beyond these numbers the limit is a bound. ValueError for fewer than two."""
    nodes = sorted(metg)
    if len(nodes) < 2:
        raise ValueError(f"METG at {len(nodes)} number of nodes tells no limit; it takes two")

    ends = np.array([(metg[each].value, metg[each].high, metg[each].low) for each in nodes])
    at = np.array(nodes, float)
    found = [_crossing(at, at * of, program.task_on(1, share)) for of in ends.T]
    (value, relation), (low, below), (high, above) = found  # the longer METG is, the fewer nodes
    if relation == "=":
        beside = (
            metg[max(each for each in nodes if each <= value)],
            metg[min(each for each in nodes if each >= value)],
        )
        relation = next((_OPPOSITE[each.relation] for each in beside if each.relation != "="), relation)
    least, most = 0.0 if below == "<" else low, math.inf if above == ">" else high
    time = program.seconds / share
    longest = time / least if least > 0 else math.inf
    return Limit(
        Interval(value, least, most, relation), Interval(time / value, time / most, longest, _OPPOSITE[relation])
    )


def _crossing(nodes: Floats, all_tasks: Floats, wanted: float) -> tuple[float, Relation]:
    """The first place where `all_tasks`, nodes times METG, reach what is wanted. If METG is 0 before it, or
    infinite behind it, the place is a measured number of nodes: the later one, or the earlier one."""
    reached = np.flatnonzero(all_tasks >= wanted)
    if not len(reached):
        return float(nodes[-1]), ">"
    after = int(reached[0])
    if after == 0:
        return float(nodes[0]), "<"
    before = after - 1
    if all_tasks[before] <= 0:
        return float(nodes[after]), "="
    part = math.log(wanted / all_tasks[before]) / math.log(all_tasks[after] / all_tasks[before])
    return float(nodes[before] * (nodes[after] / nodes[before]) ** part), "="
