"""Programs over nodes: the limits that METG predicts, and pictures of graphs whose work stays or is shared.

docs/explanation/prediction.md says what is predicted, and what is assumed.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from tefflab.analysis.curves import TracePoint
from tefflab.analysis.prediction import Limit, Program, limit
from tefflab.analysis.rows import Row
from tefflab.analysis.sharing import exactly
from tefflab.analysis.statistics import Interval
from tefflab.benchmarks.task_graph.tables import Measured, mean_name, metg_name
from tefflab.output.charts.lines import values_chart
from tefflab.output.charts.looks import DASHED, DOTTED
from tefflab.output.charts.sheet import SOFT, Head, Picture
from tefflab.output.quantities import bound, brief, digits, duration, interval_text, percent, range_text
from tefflab.output.sections import Section
from tefflab.output.table import Column
from tefflab.records.plan import Variant

_AXIS = "nodes (log scale)"
_COLORS = ("#440154", "#46327e", "#365c8d", "#277f8e", "#1fa187", "#4ac16d", "#a0da39", "#c2b21a")
_WORKS = {10.0**power: color for power, color in enumerate(_COLORS, start=-7)}  # of a task [s]: a line each
_METG = "#d62728"
_FEW = 10  # nodes, of which a part counts
_IDLE = 0.05  # the share of one node's time that is not work, above which the reader is told


@dataclass(frozen=True, slots=True)
class Prediction:
    """The limit of a program on one system, from METG of the mean run of one graph: a long run is many of these.
    `ideal`: of a program whose cores lose no time."""

    program: Program
    threshold: float
    metg: Mapping[int, Row]  # by nodes
    own: Limit
    ideal: Limit

    @property
    def row(self) -> Row:
        """Of METG on the fewest nodes."""
        return self.metg[min(self.metg)]

    @property
    def factors(self) -> tuple[float | None, float | None]:
        """The own limit over the ideal one: nodes and time, which multiply to 1 / threshold. None of bounds."""
        if self.own.nodes.relation != "=" or self.ideal.nodes.relation != "=":
            return None, None
        nodes = self.own.nodes.value / self.ideal.nodes.value
        return nodes, self.own.seconds.value / self.ideal.seconds.value

    @property
    def task(self) -> float:
        """How long a task is at the limit."""
        return self.program.task_on(self.own.nodes.value, self.threshold)

    @property
    def loss_on_one_node(self) -> float:
        """The share of the time that is not work, if a task's overhead does not depend on its length; 0 if METG is not
        known there."""
        metg = self.metg[1].value if 1 in self.metg else None
        return min(1.0, (1 - self.threshold) * metg.value / self.program.task_on(1)) if metg else 0.0

    def rows(self) -> Iterator[Row]:
        """The nodes, then the time there."""
        facts = {
            "threshold": self.threshold,
            "task_seconds": self.task,
            "ideal_nodes": self.ideal.nodes.value,
            "ideal_seconds": self.ideal.seconds.value,
            **dict(zip(("nodes_to_ideal", "time_to_ideal"), self.factors, strict=True)),
        }
        bare = replace(self.row, kind="prediction", case=self.row.group, facts=facts, nodes=None, x=None, ratio=None)
        share = percent(self.threshold)
        yield replace(bare, quantity=f"nodes at {share}", value=self.own.nodes, unit="nodes", is_beside=False)
        yield replace(bare, quantity=f"time at {share}", value=self.own.seconds, is_beside=True)


def predictions(rows: Iterable[Row], program: Program, threshold: float) -> list[Prediction]:
    """Of each graph and system whose METG is known at two numbers of nodes: in a graph, the most nodes first."""
    known: dict[tuple[str, Variant], dict[int, Row]] = defaultdict(dict)
    for row in rows:
        if row.quantity == mean_name(threshold) and row.value and row.nodes:
            known[row.group, row.variant][row.nodes] = row
    graphs = list(dict.fromkeys(graph for graph, _ in known))
    found = []
    for own in known.values():
        metg = {nodes: row.value for nodes, row in own.items() if row.value}
        if len(metg) > 1:
            limits = limit(program, metg, threshold), limit(program, metg)
            found.append(Prediction(program, threshold, own, *limits))
    return sorted(found, key=lambda each: (graphs.index(each.row.group), -each.own.nodes.value))


def section(found: Sequence[Prediction]) -> Section:
    """A row a system, below the name of the graph if there are several."""
    share, program = percent(found[0].threshold), found[0].program
    graphs = [each.row.group for each in found]
    headings = {graphs.index(graph): graph for graph in graphs} if len(set(graphs)) > 1 else {}
    meaning = f"divided by those of a program that loses no time; they multiply to 1 / {share}, and tell how METG grows"
    quotients = [", ".join("-" if one is None else digits(one) for one in each.factors) for each in found]
    columns = [
        Column("system", ["  " * bool(headings) + each.row.id for each in found], "left"),
        Column(f"nodes\nat {share}", [_nodes(each.own.nodes) for each in found]),
        Column("95 % interval", [range_text(each.own.nodes, _count) for each in found]),
        Column("time there", [_time(each.own) for each in found]),
        Column("95 % interval", [interval_text(each.own.seconds) for each in found]),
        Column("nodes, time\nto ideal", quotients, meaning=meaning),
        Column("a task\nthere", [duration(each.task) for each in found], priority=3),
    ]
    of = found[0].row.variant.cluster
    title = f"Nodes{of and f' of {of}'} at which {share} of the cores' time is left to the program"
    a_task = duration(program.task_on(1))
    run = f"on one node {duration(program.seconds)}, {digits(program.tasks)} tasks a core of {a_task}"
    return Section(title, columns, list(_notes(found, graphs)), run, headings)


def _notes(found: Sequence[Prediction], graphs: Sequence[str]) -> Iterator[str]:
    graph = graphs[0] if len(set(graphs)) == 1 else "the graph"
    yield f"assumed: a core has as many tasks on more nodes, of less work each, that wait as the tasks of {graph} do"
    bounds = [(each.row.id, _why_bound(each)) for each in found if each.own.nodes.relation != "="]
    for why in dict.fromkeys(why for _, why in bounds):
        yield f"{', '.join(dict.fromkeys(one for one, of in bounds if of == why))}: {why}"
    slow = [f"{each.row.id} ({percent(each.loss_on_one_node)})" for each in found if each.loss_on_one_node > _IDLE]
    if slow:
        yield f"so much of the run on one node is not work, and the limit is at fewer nodes: {', '.join(slow)}"


def _why_bound(of: Prediction) -> str:
    relation, nodes = of.own.nodes.relation, of.own.nodes.value
    if relation == ">" and nodes == max(of.metg):
        return ">: the program keeps more nodes busy than METG was measured on"
    if relation == "<" and nodes == min(of.metg):
        return "<: the program has less of their time on the fewest nodes"
    return f"{relation}: METG on the nodes beside is a bound, too"


def _nodes(nodes: Interval) -> str:
    return bound(nodes.relation, _count(nodes.value))


def _count(nodes: float) -> str:
    return digits(nodes, 2) if nodes < _FEW else f"{nodes:.0f}"


def _time(of: Limit) -> str:
    return bound(of.seconds.relation, duration(of.seconds.value))


def limits_chart(found: Sequence[Prediction], head: Head, cases: Sequence[Measured] = ()) -> Picture:
    """METG of each system, the program's tasks, and where they meet. `cases`: of one graph, whose own tasks are drawn
    as the program's, so far as they were measured."""
    first = found[0]
    program, share = first.program, percent(first.threshold)
    nodes = sorted({each for one in found for each in one.metg})
    parts = {
        Variant("program", f"tasks of the program, {share} of them work", "", SOFT, DASHED): first.threshold,
        Variant("program/ideal", "tasks of the program, all work", "", SOFT, DOTTED): 1.0,
    }
    bare = [_row(of, at, program.task_on(at, part)) for of, part in parts.items() for at in nodes]
    for each in found:
        of = each.row.variant
        itself = Variant(f"{of.id} itself", f"{of.title}, the graph with that work", "", of.color, DOTTED)
        bare += _with_work(cases, of, itself, program.task_on(1), is_shared=True)
    details = {each.row.id: f"{_nodes(each.own.nodes)} nodes, {_time(each.own)}" for each in found}
    meets = (each for each in found if each.own.nodes.relation == "=")
    meaning = (
        f"{mean_name(first.threshold)} with 95 % intervals, and how long the program's tasks are. Where they meet, "
        f"{share} of the time is work."
    )
    return values_chart(
        [row for each in found for row in each.metg.values()],
        {float(each): str(each) for each in nodes},
        _AXIS,
        replace(head, meaning=[meaning, *head.meaning]),
        details=details | {each.id: "" for each in bare},
        bare=bare,
        crossings={each.row.id: (each.own.nodes.value, each.task) for each in meets},
    )


def scaling_chart(cases: Sequence[Measured], of: Variant, head: Head, *, is_weak: bool) -> Picture | None:
    """The length of tasks whose work is the same on any number of nodes, or is shared by them: a line for each amount
    of work. Beside them METG. None if fewer than two numbers of nodes were measured."""
    traces, threshold = _traces(cases, of), cases[0].threshold
    lines = []
    for work, color in _WORKS.items():
        variant = Variant(f"{work}", f"{brief(duration(work))} of work", "", color, 0)
        lines.append(_with_work(cases, of, variant, work, is_shared=not is_weak))
    metg = Variant("METG", metg_name(threshold), "", _METG, DASHED)
    lengths = {nodes: _granularity(trace, "efficiency", threshold) for nodes, trace in traces.items()}
    rows = [_row(metg, nodes, length) for nodes, length in lengths.items() if length]
    texts = {float(nodes): str(nodes) for nodes in traces}
    bare = [each for line in lines if len(line) > 1 for each in line]
    return values_chart(rows, texts, _AXIS, head, bare=bare) if len(traces) > 1 else None


def _row(of: Variant, nodes: int, seconds: float) -> Row:
    value = exactly(seconds)
    return Row(kind="scaling", variant=of, case="", configuration="", quantity="granularity", x=nodes, value=value)


def _traces(cases: Iterable[Measured], of: Variant) -> dict[int, Sequence[TracePoint]]:
    """The lines through the runs of a variant, by nodes."""
    curves = ((case.case.nodes, curve) for case in cases for curve in case.curves if curve.variant.id == of.id)
    return {nodes: curve.trace for nodes, curve in curves if nodes and curve.trace}


def _with_work(cases: Iterable[Measured], of: Variant, line: Variant, work: float, *, is_shared: bool) -> list[Row]:
    """The granularity of tasks of so much work, or of a node's share of it, where it was measured."""
    shares = {nodes: work / nodes if is_shared else work for nodes in _traces(cases, of)}
    found = {nodes: _granularity(trace, "ideal", shares[nodes]) for nodes, trace in _traces(cases, of).items()}
    return [_row(line, nodes, seconds) for nodes, seconds in found.items() if seconds]


def _granularity(trace: Sequence[TracePoint], axis: Literal["ideal", "efficiency"], at: float) -> float | None:
    """Between two places of the line; None beyond its ends."""
    places = np.log([getattr(each, axis) for each in trace])
    if not places[0] <= math.log(at) <= places[-1]:
        return None
    return math.exp(np.interp(math.log(at), places, np.log([each.granularity for each in trace])))
