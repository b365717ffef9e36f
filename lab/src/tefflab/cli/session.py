"""The common steps of all measuring commands: set up, ask the systems' identities, measure with a live display, show
the results."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn

from click.exceptions import Exit
from rich.console import Console

from tefflab.benchmarks.benchmark import (
    AnyBenchmark,
    Estimates,
    Request,
)
from tefflab.carried import TYPED
from tefflab.cli.batch_job import JOBS, Template, command_of_job, run_as_job
from tefflab.cli.options import installing
from tefflab.cli.places import expect_alike, expect_nodes, start_ranks_as_before, told_nodes
from tefflab.cli.publishing import print_results, show, write_files
from tefflab.errors import FAILED, INTERRUPTED, InputError, TeffError
from tefflab.host.batch_system import seconds_of_allocation
from tefflab.host.doctor import busy_cores
from tefflab.host.load import Load
from tefflab.host.ranks import start_ranks_by
from tefflab.host.terminal import path_text, progress
from tefflab.measure.measurement import BY_USER, begin, measure, programs_of
from tefflab.measure.presence import Present, Selection, offer
from tefflab.measure.time_budget import GRACE, TimeBudget
from tefflab.output.last_words import of_store
from tefflab.output.live import LiveTable
from tefflab.records.plan import Plan, counted_workers
from tefflab.records.run import Sitting
from tefflab.records.store import Store, checked_name, measured_alone, store_name
from tefflab.systems.packages import Installing
from tefflab.systems.registry import Registry
from tefflab.systems.setup import bring_missing, ensure
from tefflab.systems.systems import usable_cores

_LOOK = 0.5  # seconds for which other programs are watched before measuring
_BUSY = 0.2  # cores that they may use
_CLOSING = 30.0  # seconds of a job that are left for table, pictures and report


@dataclass(frozen=True, kw_only=True)
class Options:
    """The values of a measuring command's options; seconds and rounds as the user says them, if at all."""

    seconds: float | None = None
    rounds: int | None = None
    systems: tuple[str, ...] = ()
    workers: tuple[int, ...] = ()
    store: str = "default"
    resume: bool = False
    install_missing: bool = False
    installs: bool | None = None  # packages, without asking
    all_variants: bool = False
    as_json: bool = False
    batch: Path | None = None  # the template of a job, which measures in the place of this process
    load: str | None = None  # that runs beside every run
    nodes: tuple[int, ...] = ()
    launcher: str | None = None
    hosts: str | None = None
    own: Mapping[str, Any] = field(default_factory=dict)  # that the command alone has, by name
    flags: Sequence[str] = ()

    def __post_init__(self) -> None:
        if self.installs is False and self.install_missing:
            raise InputError("--install-missing and --no-install: one of them")
        if self.batch and self.own.get("trace"):
            raise InputError("--batch and --trace: one of them")
        if self.load and self.nodes:
            raise InputError(f"--load {self.load}: a load runs on this machine; leave out --nodes")

    @property
    def installing(self) -> Installing:
        return "yes" if self.install_missing else installing(self.installs)

    @property
    def limits(self) -> tuple[float, int]:
        """Seconds and rounds; none where they are not known yet."""
        return self.seconds or 0.0, self.rounds or 0

    def within(self, minutes: float, rounds: int) -> "Options":
        """With these limits, where the user says none."""
        return replace(self, seconds=self.seconds or 60 * minutes, rounds=self.rounds or rounds)


def measure_plan(
    registry: Registry,
    kind: AnyBenchmark,
    options: Options,
    again: str,
    plan: Callable[[Request], Plan],
    named: Sequence[str],
    experiment: str | None = None,
) -> None:
    """`again` is the command that goes on with the sitting. `named` are the systems that the user asks for by name:
    TeffError if one of them was not measured, after the results are shown."""
    store_folder = registry.results / checked_name(options.store)
    template = Template(options.batch) if options.batch else None
    of_machine = {"--load": options.load, "--launcher": options.launcher, "--hosts": options.hosts}
    if kind.simulated and (flag := next(filter(of_machine.get, of_machine), "")):
        raise InputError(f"{flag} {of_machine[flag]}: simulated systems use nothing of a machine; leave it out")
    if not options.resume:
        start_ranks_by(options.launcher, options.hosts)
        most = max(options.nodes, default=None)
        if template:
            template.expect_ranks(most)
        elif not kind.simulated:
            expect_nodes(most)
    selection = Selection(registry, kind, options.systems, options.all_variants, bool(options.nodes))
    if options.install_missing:
        bring_missing(registry, [each for each in selection.systems if each.asked is None], progress())
    rounds_before = None
    if options.resume:
        store = Store(store_folder)
        head = _unfinished(registry, store, kind, experiment)
        rounds_before = _rounds_made(store, kind, head)
        kind = _go_on(registry, store, kind, head, options, template, rounds_before)
    else:
        store = Store.create(store_folder)
        head = _begin(registry, store, kind, options, template, plan, selection, named)
    estimates, ended = measured_live(registry, store, kind, head, options)
    print_results(registry, store, estimates, as_json=options.as_json, again=again)
    file = write_files(registry, store, estimates)
    progress().print(f"teff: report and pictures: {path_text(file)}", soft_wrap=True)
    rounds = _rounds(_rounds_made(store, kind, head), rounds_before)
    if ended:
        resume = f"{TYPED} {again} --resume{of_store(options.store)}"
        progress().print(f"teff: {ended}; the measured runs are kept: {rounds}; to go on: {resume}", soft_wrap=True)
        raise Exit(INTERRUPTED if ended == BY_USER else FAILED)
    if options.resume:
        progress().print(f"teff: the sitting now has {rounds}", soft_wrap=True, highlight=False)
    if not estimates.has_values:
        raise TeffError(f"no system could be measured; {path_text(file)} says why")
    if missing := _unmeasured(registry, store, kind, head):
        raise TeffError(f"asked for by name and not measured, or not to the end: {', '.join(missing)}")


def _go_on(
    registry: Registry,
    store: Store,
    kind: AnyBenchmark,
    head: Sitting,
    options: Options,
    template: Template | None,
    rounds_before: int,
) -> AnyBenchmark:
    """Prepares what the sitting of this head measures; returns the kind as that sitting has it."""
    with measured_alone(store.folder, head.sitting):
        pass  # said before a set-up that may take minutes
    progress().print(f"teff: goes on with a sitting of {_rounds(rounds_before)}", soft_wrap=True, highlight=False)
    plan = kind.plan_of(head)
    kind = kind.resumed(plan)
    start_ranks_as_before(plan, options.launcher, options.hosts)
    if not (template or plan.simulated):
        expect_nodes(min((case.nodes for case in plan.cases if case.nodes), default=None))
    if not kind.own_commands:
        Selection(registry, kind, [each.id for each in plan.variants]).prepare(options.installing)
    if template:
        _measure_in_job(registry, options, template, plan)
    expect_alike(registry, head)
    return kind


def _begin(
    registry: Registry,
    store: Store,
    kind: AnyBenchmark,
    options: Options,
    template: Template | None,
    plan: Callable[[Request], Plan],
    selection: Selection,
    named: Sequence[str],
) -> Sitting:
    """A new sitting."""
    found = chosen = [Present.of_user(each, number) for number, each in enumerate(kind.own_commands)]
    if not kind.own_commands:
        found = selection.set_up(options.installing)
        chosen = selection.measured(found)
    if kind.simulated:
        ensure(registry, [], console=progress(), installing=options.installing)
    nodes = [] if template or kind.simulated else told_nodes(registry, max(options.nodes, default=0))
    cores = kind.simulated_cores or min((each.machine.cores_usable for each in nodes), default=0)
    if kind.simulated and any(each > cores for each in options.workers):
        raise InputError(f"--workers {max(options.workers)}: a node of the simulated cluster has {cores} cores")
    asked = plan(request_of(registry, options, chosen, cores, kind.simulated))
    if not kind.own_commands:
        asked = asked.model_copy(update={"others": selection.others(found)})
    asked = _beside(options.load, asked.model_copy(update={"named": tuple(named)}))
    if template:
        _measure_in_job(registry, options, template, asked)
    head = begin(registry, store, kind, asked, nodes)
    if options.nodes and not (options.systems or kind.simulated) and (left_out := selection.left_out):
        progress().print(f"teff: left out: {left_out}", soft_wrap=True, highlight=False)
    if not (kind.own_commands or options.systems):  # only now: a mistyped flag comes first
        here = {each.program.system_name for each in found}
        offer([each for each in selection.systems if each.name not in here])
    return head


def _beside(load: str | None, plan: Plan) -> Plan:
    """The plan with each case beside each load."""
    if not load:
        return plan
    loads = [str(each) for each in Load.parse_all(load)]
    cases = tuple(case.model_copy(update={"load": each}) for case in plan.cases for each in loads)
    return plan.model_copy(update={"cases": cases, "title": f"{plan.title}, beside {load}"})


def _measure_in_job(registry: Registry, options: Options, template: Template, plan: Plan) -> NoReturn:
    """A job measures in the place of this process, which leaves with its exit code."""
    command = command_of_job(registry.root, sys.argv[1:])
    nodes = max(case.nodes or 1 for case in plan.cases)
    folder = registry.results / options.store / JOBS
    out = sys.stderr if options.as_json else sys.stdout
    code = run_as_job(progress(), template, command, nodes, options.limits[0], folder, out)
    if options.as_json:
        show(registry, options.store, as_json=True)
    raise Exit(code)


def _rounds_made(store: Store, kind: AnyBenchmark, head: Sitting) -> int:
    """Rounds that were cut off count too: a run counts, even if its round did not end."""
    return len({kind.round_of(run) for run in store.runs(kind.record, head.sitting) if run.role == "system"})


def _rounds(made: int, before: int | None = None) -> str:
    """So many; how many of them are new, where some were made before."""
    new = "" if before is None else f", {made - before or 'none'} of them new"
    return f"{made} round{'s' * (made != 1)}, all systems together{new}"


def _unmeasured(registry: Registry, store: Store, kind: AnyBenchmark, head: Sitting) -> list[str]:
    """Which of the systems that the user named were not here, failed, or had no turn: of the cases that they have."""
    plan = kind.plan_of(head)
    programs = programs_of(registry, kind, plan.variants)
    ran = {run.system_id for run in store.runs(kind.record, head.sitting) if run.role == "system"}
    failures = store.failures(head.sitting)
    good = ran - {failure.system_id for failure in failures if not failure.lacks}
    lacking = {failure.system_id for failure in failures if failure.lacks} - ran

    def ids(name: str) -> set[str]:
        here = (programs[each.id] for each in plan.variants)
        return {each.id for each in here if name in (each.id, each.system_name, each.long_name, each.title)}

    alone = {each.id for each in plan.variants if each.is_floor and 1 not in plan.workers}
    missing = (name for name in plan.named if not ids(name) & good or not good.issuperset(ids(name) - lacking))
    return [f"{name} (it runs with one worker only)" if ids(name) & alone else name for name in missing]


def request_of(
    registry: Registry,
    options: Options,
    found: Sequence[Present],
    cores: int = 0,
    simulated: Sequence[Mapping[str, Any]] = (),
) -> Request:
    """`cores` that each node has; 0: as many as this machine. `simulated`: machines in its place."""
    return Request(
        registry=registry,
        variants=tuple(each.variant for each in found),
        programs=tuple(each.program for each in found),
        workers=options.workers,
        cores=cores or usable_cores(),
        nodes=tuple(sorted(set(options.nodes or ([1] if simulated else [])))),
        simulated=tuple(simulated),
        own=options.own,
        flags=options.flags,
    )


def _unfinished(registry: Registry, store: Store, kind: AnyBenchmark, experiment: str | None) -> Sitting:
    """The store's last sitting of this kind, to go on with. TeffError where it is of another experiment."""
    if not store.sittings(kind.name):
        raise store.no_sitting(f"sitting of {kind.measured} to go on with", "leave out --resume to begin one")
    head = store.sitting(benchmark=kind.name)
    if (was := kind.plan_of(head).experiment) != experiment:
        again = f"experiment {was}" if was else kind.commands[0].path
        raise InputError(
            f"the last sitting of {kind.measured} in {store.folder} was begun by `{head.command}`: go on with it by "
            f"{TYPED} {again} --resume{of_store(store_name(registry, store))}, or leave out --resume to begin another"
        )
    return head


def measured_live(
    registry: Registry,
    store: Store,
    kind: AnyBenchmark,
    head: Sitting,
    options: Options,
    enough: Callable[[Estimates], bool] | None = None,
) -> tuple[Estimates, str]:
    """Measures with a live display; `enough` as of `measure`."""
    plan = kind.plan_of(head)
    console = progress()
    is_here = not any(case.nodes for case in plan.cases)
    if is_here:
        warn_of_others(console)
    *fewer, most = plan.workers
    workers = " and ".join(filter(None, (", ".join(map(str, fewer)), counted_workers(most))))
    count, word = (len(plan.commands), "command") if plan.commands else (len(plan.variants), "system")
    console.print(f"teff: {plan.title}; {workers}; {count} {word}{'s' * (count > 1)}", soft_wrap=True, markup=False)
    if is_here and most > usable_cores():
        console.print(f"teff: {most} workers share {usable_cores()} cores, so some of them always wait", soft_wrap=True)
    if plan.warning:
        console.print(f"teff: {plan.warning}", soft_wrap=True, markup=False)
    seconds, rounds = options.limits
    left = seconds_of_allocation()
    if left is not None and (room := max(left - _CLOSING, 0) / GRACE) < seconds:
        seconds = room
        console.print(
            f"teff: measures for {seconds:.0f} s, as the job has {left:.0f} s; --resume goes on in another job",
            soft_wrap=True,
        )
    budget = TimeBudget(seconds)
    alone = measured_alone(store.folder, head.sitting)
    with alone, store, LiveTable(console, plan.variants, lambda: str(budget)) as live:
        return measure(registry, store, kind, head, live, seconds, rounds, enough or kind.enough)


def warn_of_others(console: Console) -> None:
    """Warns before an hour is wasted: other programs take part of the cores."""
    busy = busy_cores(_LOOK)
    if busy > _BUSY:
        console.print(
            f"teff: [yellow]other programs use {busy:.1f} of {usable_cores()} cores: results will be poor and slow to "
            f"come; `{TYPED} systems doctor` names them[/]",
            soft_wrap=True,
        )
