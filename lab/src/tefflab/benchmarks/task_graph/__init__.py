"""Task graphs: `teff metg`, the smallest task that is worth its overhead, and `teff measure graph`, whole curves."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Self

from tefflab.benchmarks.benchmark import Benchmark, Command, Option, Request, Round, Scales
from tefflab.benchmarks.graphs import parse, refuse_unknown_values
from tefflab.benchmarks.task_graph.estimates import GraphEstimates
from tefflab.benchmarks.task_graph.plan import NODES, Asks, GraphExperiment, GraphPlan, one_number_of_workers, planned
from tefflab.benchmarks.task_graph.questions import CurveQuestion, MetgQuestion
from tefflab.benchmarks.task_graph.record import Ceiling, GraphRecord, Peak
from tefflab.durations import seconds
from tefflab.records.plan import Plan
from tefflab.records.run import Run
from tefflab.systems.registry import Registry
from tefflab.systems.simulated import SimulatedProgram, machines, peak

_SIMULATE = Option("--simulate")


class TaskGraph(Benchmark[GraphRecord]):
    """A round of a system answers the questions of all cases; each run is compared with the ceiling."""

    name = "task_graph"
    word = "graph"
    measured = "METG"
    row_word = "configuration"
    alike = "under one configuration"
    record = GraphRecord
    timeout = 60.0
    runs_beside_load = True
    of_fixed_size = "-kernel compute_bound -iter 8000 -steps 4000 -width {width}"
    plan_type = GraphPlan
    experiment_type = GraphExperiment
    estimates_type = GraphEstimates
    reference = Ceiling()

    def __init__(self, simulated: Sequence[Mapping[str, Any]] = ()) -> None:
        """`simulated`: machines that are asked in the place of the systems that are here."""
        self.simulated = simulated
        self.own_commands = [SimulatedProgram.on(each, self.name) for each in simulated]
        if simulated:
            self.simulated_cores = simulated[0]["cores"]
            self.reference = Peak(machine=peak(simulated[0]))
        self.commands = (
            Command(
                "metg",
                "Measure METG, the smallest task that is worth its overhead, of every system that is here.\n\nIts "
                "flags are the published Task Bench's; steps and iterations are chosen.",
                "teff metg -type nearest -radix 5",
                lambda request: _plan(request, "metg"),
                (Option("--threshold", "Efficiency asked for, 0.05 to 0.95.", 0.5, 0.05, 0.95), _SIMULATE),
                takes_flags=True,
                check=_check,
                rounds=100,
                takes_one_number=True,
                takes_nodes=True,
                is_alone=True,
            ),
            Command(
                "graph",
                "Measure curves: efficiency and rate of every system that is here, from the smallest task to the "
                "longest.",
                "teff measure graph --points 8 --longest 300us -type fft -width 8",
                lambda request: _plan(request, "curve"),
                (
                    Option("--points", "Sizes of task, 3 to 100, evenly in log.", 12, 3, 100),
                    Option("--longest", "The largest task, as 3ms or 200us.", "3ms", metavar="TIME"),
                    _SIMULATE,
                ),
                takes_flags=True,
                check=_check,
                rounds=5,
                takes_one_number=True,
                takes_nodes=True,
            ),
        )

    def narrowed(self, own: Mapping[str, Any]) -> Self:
        asked = own.get("simulate")
        return type(self)(machines(asked, own.get("systems", ()))) if asked else self

    def resumed(self, plan: Plan) -> Self:
        return type(self)(plan.simulated) if plan.simulated else self

    def rounds(self, plan: Plan, scales: Scales) -> Sequence[Round[GraphRecord]]:
        assert isinstance(plan, GraphPlan)
        question = MetgQuestion if plan.asks == "metg" else CurveQuestion
        over_nodes = [[case] for case in plan.cases if case.nodes]  # each starts its program anew
        here = [case for case in plan.cases if not case.nodes]
        return [
            Round(
                variant,
                cases[0].workers,
                [question(case, scales[variant.ceiling, case], plan) for case in cases],
                company=", ".join([variant.id, *(case.configuration for case in cases if case.nodes)]),
                case=cases[0] if cases[0].nodes else None,
            )
            for cases in (here, *over_nodes)
            for variant in plan.variants
            if cases
        ]

    def round_of(self, run: Run[GraphRecord]) -> Hashable:
        return run.system_id, run.round, run.workers


def _check(_registry: Registry, own: Mapping[str, Any], flags: Sequence[str]) -> None:
    if "longest" in own:
        seconds(own["longest"])
    parse(flags, 1)
    refuse_unknown_values(flags)


def _plan(request: Request, asks: Asks) -> GraphPlan:
    """Of the one case that flags describe, on each number of nodes."""
    own, workers = request.own, one_number_of_workers(request)
    how = {"threshold": own["threshold"]} if asks == "metg" else {"points": own["points"]}
    how |= {"longest_task": seconds(own["longest"])} if asks == "curve" else {}
    cases = tuple(parse(request.flags, workers, nodes=nodes) for nodes in request.nodes or (None,))
    first, *more = cases
    if more:
        counts = ", ".join(each.x_text for each in cases)
        how |= {"title": f"{first.group}, {counts} nodes", "x_label": NODES}
        how |= {"charts": ("metg_lines", "efficiency")} if asks == "metg" else {}
    return planned(request, cases, request.flags, **{"asks": asks, "title": first.name} | how)


BENCHMARK = TaskGraph()
