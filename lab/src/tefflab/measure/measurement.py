"""From a plan to estimates: keeps a sitting in the store, measures, estimates.

A sitting that was interrupted is resumed from the store, which has its plan and every answer so far.
"""

import math
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from tefflab.benchmarks.benchmark import Benchmark, Estimates, Round
from tefflab.errors import BAD_INPUT, TeffError
from tefflab.host.machine import read_machine, read_revision
from tefflab.host.node import Node
from tefflab.host.ranks import launcher_and_hosts, why_fewer
from tefflab.measure.batch import LostAllocationError, LostNodeError
from tefflab.measure.runner import Runner
from tefflab.measure.sitting import Entry
from tefflab.measure.sitting import Sitting as Rounds
from tefflab.output.live import LiveTable
from tefflab.records.plan import Case, Plan, Variant, counted_nodes, counted_workers
from tefflab.records.run import Failure, Sitting
from tefflab.records.store import Store, UnwritableError, new_sitting_name
from tefflab.systems.registry import Registry
from tefflab.systems.systems import Program

BY_USER = "interrupted"  # a sitting, by Ctrl-C


def begin(registry: Registry, store: Store, kind: Benchmark[Any], plan: Plan, nodes: Sequence[Node] = ()) -> Sitting:
    """A new sitting of the command that runs, at this machine and this revision; its head is in the store."""
    launcher, hosts = launcher_and_hosts()
    head = Sitting(
        sitting=new_sitting_name(),
        benchmark=kind.name,
        started_at=datetime.now(UTC),
        machine=read_machine(),
        nodes=tuple(nodes),
        revision=read_revision(registry.root),
        versions={each.id: each.version for each in plan.variants},
        command=shlex.join(["teff", *sys.argv[1:]]),
        plan=plan.model_copy(update={"launcher": launcher, "hosts": hosts}).model_dump(mode="json"),
    )
    store.append("sittings", head)
    return head


def measure(
    registry: Registry,
    store: Store,
    kind: Benchmark[Any],
    head: Sitting,
    observer: LiveTable,
    budget: float,
    rounds: int,
    enough: Callable[[Estimates], bool] | None = None,
) -> tuple[Estimates, str]:
    """Measures what the store does not have yet, and estimates from all of it. The second result tells what ended the
    measuring too soon: Ctrl-C, or the end of the allocation. With `enough` the variants have their rounds in turns,
    until it returns true for the estimates. Without it, each has as many rounds as its place in the table needs."""
    plan = kind.plan_of(head)
    runner = Runner(registry.root, store, head.sitting, kind, budget)
    ended = ""
    try:
        scales, without_ceiling = _scales(runner, plan, head.nodes)
        entries = _entries(registry, kind, kind.rounds(plan, scales), store.failures(head.sitting))
        for each in entries:
            each.foreseen = runner.foreseen(each.round)
            cases = [question.case for question in each.round.questions]
            if enough is not None:  # in one company with all variants that are asked the same
                company = " ".join(f"{case.configuration} {case.workers}" for case in cases)
                each.round = replace(each.round, company=company)
            reasons = (without_ceiling.get((each.round.variant.ceiling, case)) for case in cases)
            if reason := next(filter(None, reasons), None):
                each.failure = str(reason)
                runner.give_up(each.round, 0, each.failure, at="", lost=isinstance(reason, LostNodeError))
        for name, failure in dict.fromkeys((each.round.variant.id, each.failure) for each in entries if each.failure):
            observer.failed(name, "", failure)

        def is_enough() -> bool:
            """Two systems that are compared have no more rounds once one has failed; commands of the user go on."""
            if any(each.is_out for each in entries) and not kind.own_commands:
                return True
            runs = [run for each in entries for question in each.round.questions for run in question.runs]
            return bool(runs) and enough is not None and enough(kind.estimate(head, runs, []))

        Rounds(entries, runner, observer, budget, rounds, is_enough if enough else None).run()
    except KeyboardInterrupt:
        ended = BY_USER
    except LostAllocationError as failure:
        ended = str(failure)
    finally:
        runner.close(patiently=not ended)
    estimates = estimated(store, kind, head)
    for line in estimates.lines():
        store.append("estimates", line)
    return estimates, ended


def estimated(store: Store, kind: Benchmark[Any], head: Sitting) -> Estimates:
    """The estimates from the store's runs of a sitting."""
    runs = [run for run in store.runs(kind.record, head.sitting) if run.role != "ceiling"]
    return kind.estimate(head, runs, store.failures(head.sitting))


def _scales(
    runner: Runner[Any], plan: Plan, nodes: Sequence[Node]
) -> tuple[dict[tuple[str, Case], float], dict[tuple[str, Case], TeffError]]:
    """Of each case at each of the variants' ceilings; and why one could not be measured. The ceiling of this machine's
    cores must be measured: without it no variant has an efficiency."""
    scales: dict[tuple[str, Case], float] = {}
    failed: dict[tuple[str, Case], TeffError] = {}
    for ceiling in dict.fromkeys(each.ceiling for each in plan.variants):
        for case in plan.cases:
            scales[ceiling, case] = 1.0
            if not plan.simulated and (why := _why_not(case, nodes)):
                failed[ceiling, case] = LostNodeError(why)
                continue
            try:
                scales[ceiling, case] = runner.calibrate(case, ceiling)
            except (UnwritableError, LostAllocationError):
                raise
            except TeffError as failure:
                if failure.exit_code == BAD_INPUT or not (ceiling or case.nodes):
                    raise
                failed[ceiling, case] = failure
    return scales, failed


def programs_of(registry: Registry, kind: Benchmark[Any], variants: Sequence[Variant]) -> dict[str, Program]:
    """The programs of the systems of these variants, by their ids."""
    systems = registry.named(each.id for each in variants)
    programs = {each.id: each for system in systems for each in kind.programs(system)}
    return programs | {each.id: each for each in kind.own_commands}


def _why_not(case: Case, nodes: Sequence[Node]) -> str:
    """Why the allocation or the nodes are too small for a case; empty where they are not. Ranks that share a core wait
    for each other without sleeping, so a run takes hundreds of times as long."""
    if why := why_fewer(case.nodes):
        return f"needs {counted_nodes(case.nodes or 1)}: {why}"
    cores = math.ceil(case.workers / (case.nodes or 1))
    small = next((each for each in nodes if each.machine.cores_usable < cores), None) if case.nodes else None
    if small is None:
        return ""
    has = f"node {small.number} has {small.machine.cores_usable}"
    return f"{counted_workers(case.workers)} on {counted_nodes(case.nodes or 1)} need {cores} cores of each; {has}"


def _entries(
    registry: Registry, kind: Benchmark[Any], rounds: Sequence[Round[Any]], failures: Sequence[Failure]
) -> list[Entry]:
    programs = programs_of(registry, kind, [each.variant for each in rounds])
    failed = {(each.system_id, each.configuration, each.workers): each for each in failures}

    def failure(one: Round[Any]) -> Failure | None:
        case = one.case
        return failed.get((one.variant.id, case.configuration, case.workers) if case else (one.variant.id, "", None))

    return [Entry(each, programs[each.variant.id], failure(each)) for each in rounds]
