"""From a plan to estimates: finds the systems, keeps a sitting in the store, measures, estimates.

A sitting that was interrupted is resumed from the store, which has its plan and every answer so far.
"""

import shlex
import statistics
import sys
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from tefflab.benchmarks.benchmark import Benchmark, Estimates, Round
from tefflab.errors import BAD_INPUT, InputError, TeffError
from tefflab.host.machine import read_machine, read_revision
from tefflab.measure.runner import Runner
from tefflab.measure.sitting import Entry, Observer
from tefflab.measure.sitting import Sitting as Rounds
from tefflab.records.plan import Case, Plan, Variant
from tefflab.records.run import Failure, Sitting
from tefflab.records.store import Store, new_sitting_name
from tefflab.systems.naming import owner_of
from tefflab.systems.own_command import OwnCommand
from tefflab.systems.probing import Probe
from tefflab.systems.registry import Registry, no_adapter, no_such_system
from tefflab.systems.systems import Program, System, best_of

_OWN_COLOR = "#0072B2"


@dataclass(frozen=True)
class Present:
    """A variant that is here, and the program that runs it."""

    variant: Variant
    program: Program


def best_of_each(found: Sequence[Present], wanted: Sequence[str]) -> list[Present]:
    """The best of each system, of those here, besides what `wanted` names by `SYSTEM/NAME`. A system's name alone
    stands for its best, and so does no name at all. Of several kinds of benchmark, each has its best."""
    ways: dict[tuple[str, str], list[Program]] = {}
    for each in found:
        ways.setdefault((each.program.system_name, each.program.measured), []).append(each.program)
    best = {best_of(programs).id for (name, _), programs in ways.items() if not wanted or name in wanted}
    return [each for each in found if each.program.id in best or each.program.long_name in wanted]


def present(
    registry: Registry, kind: Benchmark[Any], wanted: Sequence[str], probes: Mapping[str, Probe]
) -> list[Present]:
    """The programs that `wanted` names (one by `SYSTEM/NAME`, all of a system by its name; all of all where it is
    empty) and that are here."""
    refuse_unknown(registry, kind, wanted)
    systems = [(system, programs) for system in registry.named(wanted) if (programs := kind.programs(system))]
    chosen: list[Present] = []
    for system, programs in systems:
        of_other_versions = sum(each.program.identity == programs[0].identity for each in chosen)
        chosen += [
            Present(_variant(system, of_other_versions + index, program, probes[program.id]), program)
            for index, program in enumerate(programs)
            if (not wanted or system.name in wanted or program.long_name in wanted) and probes[program.id].found
        ]
    if not chosen:
        raise TeffError(_nobody_here(systems, wanted, probes))
    return chosen


def own_present(command: OwnCommand) -> Present:
    """The user's own command, as if it were a system."""
    return Present(Variant(command.id, command.title, "", _OWN_COLOR, 0), command)


def _nobody_here(
    systems: Sequence[tuple[System, Sequence[Program]]], wanted: Sequence[str], probes: Mapping[str, Probe]
) -> str:
    """The message if no requested system can be measured: the reason for each that is named."""
    if not wanted:
        return "none of the systems is here; see `teff systems`"
    why = [
        f"{each.id}: {probes[each.id].reason}"
        for system, programs in systems
        for each in programs
        if each.long_name in wanted or (system.name in wanted and each is best_of(programs))
    ]
    return f"none of the systems asked for can be measured: {'; '.join(why)}; see `teff systems`"


def refuse_unknown(registry: Registry, kind: Benchmark[Any], wanted: Sequence[str]) -> None:
    """TeffError for a name that no system has, nor a program of one that runs this kind of benchmark."""
    every = registry.named(wanted)
    programs = [program for system in every for program in kind.programs(system)]
    owners = dict.fromkeys(program.system_name for program in programs)
    known = {*owners, *(program.id for program in programs), *(program.long_name for program in programs)}
    for name in wanted:
        if name in known:
            continue
        if name in {system.name for system in every}:
            raise no_adapter(name, kind.measured, owners)
        if ways := [program.long_name for program in programs if program.system_name == owner_of(name)]:
            raise InputError(f"no system is called {name!r}; there are: {' '.join(ways)}")
        raise no_such_system(name, list(owners))


def begin(registry: Registry, store: Store, kind: Benchmark[Any], plan: Plan) -> Sitting:
    """A new sitting of the command that runs, at this machine and this revision; its head is in the store."""
    head = Sitting(
        sitting=new_sitting_name(),
        benchmark=kind.name,
        started_at=datetime.now(UTC),
        machine=read_machine(),
        revision=read_revision(registry.root),
        versions={each.id: each.version for each in plan.variants},
        command=shlex.join(["teff", *sys.argv[1:]]),
        plan=plan.model_dump(mode="json"),
    )
    store.append("sittings", head)
    return head


def measure(
    registry: Registry,
    store: Store,
    kind: Benchmark[Any],
    head: Sitting,
    observer: Observer,
    budget: float,
    rounds: int,
    enough: Callable[[Estimates], bool] | None = None,
) -> tuple[Estimates, bool]:
    """Measures what the store does not have yet, and estimates from all of it. Ctrl-C ends the measuring, not the
    estimating; the second result tells whether it did. With `enough` the variants have their rounds in turns,
    until it returns true for the estimates. Without it, each has as many rounds as its place in the table needs."""
    plan = kind.plan_of(head)
    runner = Runner(registry.root, store, head.sitting, kind, budget)
    interrupted = False
    try:
        scales, without_ceiling = _scales(runner, plan)
        entries = _entries(registry, kind, kind.rounds(plan, scales), store.failures(head.sitting))
        _foresee(store, kind, head, entries)
        if enough is not None:
            entries = [replace(each, round=_in_turns(each.round)) for each in entries]
        for each in entries:
            if reason := without_ceiling.get(each.round.variant.ceiling, ""):
                each.failure = reason
                runner.give_up(each.round, 0, reason, at="")
                observer.failed(each.round.variant.id, "", reason)
        Rounds(entries, runner, observer, budget, rounds, _asked(kind, head, entries, enough)).run()
    except KeyboardInterrupt:
        interrupted = True
    finally:
        runner.close(patiently=not interrupted)
    estimates = estimated(store, kind, head)
    for line in estimates.lines():
        store.append("estimates", line)
    return estimates, interrupted


def estimated(store: Store, kind: Benchmark[Any], head: Sitting) -> Estimates:
    """The estimates from the store's runs of a sitting."""
    runs = [run for run in store.runs(kind.record, head.sitting) if run.role != "ceiling"]
    return kind.estimate(head, runs, store.failures(head.sitting))


def _foresee(store: Store, kind: Benchmark[Any], head: Sitting, entries: Sequence[Entry]) -> None:
    """How long the runs of a round of each take, by the store's sittings on this machine."""
    here = {each.sitting for each in store.sittings(kind.name) if each.machine.id == head.machine.id}
    # Seconds, by place and round.
    taken: defaultdict[Hashable, defaultdict[Hashable, float]] = defaultdict(lambda: defaultdict(float))
    for run in store.runs(kind.record):
        if run.sitting in here:
            place = run.system_id, run.configuration, run.workers
            taken[place][run.sitting, run.round] += run.record.elapsed_seconds
    for entry in entries:
        cases = [question.case for question in entry.round.questions]
        places = [(entry.round.variant.id, case.configuration, case.workers) for case in cases]
        if all(place in taken for place in places):
            entry.foreseen = sum(statistics.median(taken[place].values()) for place in places)


def _in_turns(one: Round[Any]) -> Round[Any]:
    """In one company with all variants that are asked the same."""
    return replace(one, company=" ".join(f"{each.case.configuration} {each.case.workers}" for each in one.questions))


def _asked(
    kind: Benchmark[Any], head: Sitting, entries: Sequence[Entry], enough: Callable[[Estimates], bool] | None
) -> Callable[[], bool] | None:
    """Whether the estimates so far are enough. Two systems that are compared have no more rounds once one has failed;
    commands of the user go on without it."""
    if enough is None:
        return None

    def is_enough() -> bool:
        if any(each.is_out for each in entries) and not kind.own_commands:
            return True
        runs = [run for each in entries for question in each.round.questions for run in question.runs]
        return bool(runs) and enough(kind.estimate(head, runs, []))

    return is_enough


def _variant(system: System, index: int, program: Program, probe: Probe) -> Variant:
    title = program.title if system.title.lower() in program.title.lower() else f"{system.title}: {program.title}"
    if program.asked:
        title += f", {program.asked.named.version}"
    version, ceiling = probe.version or "", program.ceiling or ""
    return Variant(program.id, title, version, system.color, index, system.is_sequential, ceiling)


def _scales(runner: Runner[Any], plan: Plan) -> tuple[dict[tuple[str, Case], float], dict[str, str]]:
    """Of each case at each of the variants' ceilings; and why one could not be measured. The ceiling of the cores must
    be measured: without it no variant has an efficiency."""
    scales: dict[tuple[str, Case], float] = {}
    failed: dict[str, str] = {}
    for ceiling in dict.fromkeys(each.ceiling for each in plan.variants):
        for case in plan.cases:
            scales[ceiling, case] = 1.0
            try:
                scales[ceiling, case] = runner.calibrate(case, ceiling)
            except TeffError as failure:
                if not ceiling or failure.exit_code == BAD_INPUT:
                    raise
                failed.setdefault(ceiling, str(failure))
    return scales, failed


def _entries(
    registry: Registry, kind: Benchmark[Any], rounds: Sequence[Round[Any]], failures: Sequence[Failure]
) -> list[Entry]:
    ids = [each.variant.id for each in rounds]
    programs = {each.id: each for system in registry.named(ids) for each in kind.programs(system)}
    programs |= {each.id: each for each in kind.own_commands}
    failed = {(each.system_id, each.configuration, each.workers): each for each in failures}

    def failure(one: Round[Any]) -> Failure | None:
        case = one.case
        return failed.get((one.variant.id, case.configuration, case.workers) if case else (one.variant.id, "", None))

    return [Entry(each, programs[each.variant.id], failure(each)) for each in rounds]
