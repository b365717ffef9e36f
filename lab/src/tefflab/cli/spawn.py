"""`teff spawn` from the request to the table: who is here, a sitting in the store, the judgement."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from tefflab.benchmarks.spawn_judge import SpawnCell, judge_spawns
from tefflab.benchmarks.spawn_stored import SpawnPlan, floors, plan_of
from tefflab.cli.session import INTERRUPTED, prepare, warn_of_others
from tefflab.errors import BAD_INPUT, TeffError
from tefflab.host.terminal import output, path_text, progress
from tefflab.measure.measurement import RESULTS_FOLDER, Competitor, contenders, new_sitting
from tefflab.measure.spawn_sitting import SpawnAudience, Spawner, SpawnQuestion, SpawnSitting, questions
from tefflab.output.plots import save
from tefflab.output.spawn_live import SpawnLive
from tefflab.output.spawn_pictures import spawn_pictures
from tefflab.output.spawn_table import to_tables
from tefflab.records.store import Sitting, Store
from tefflab.systems.systems import System, Variant, load_systems, probe_all, usable_cores


@dataclass(frozen=True)
class SpawnWish:
    """What the command's options say."""

    systems: tuple[str, ...]
    patterns: tuple[str, ...]
    trees: tuple[str, ...]
    workers: tuple[int, ...]  # none: one, and all cores that are here
    seconds: float
    rounds: int
    store: str
    as_json: bool
    resume: bool = False
    title: str = "What a spawned task costs"  # stands over the pictures
    experiment: str | None = None  # whose figure it is


def spawn(root: Path, wish: SpawnWish) -> None:
    """Measures, prints tables and draws. Leaves with 130 where it was interrupted."""
    store = Store.create(root / RESULTS_FOLDER / wish.store)
    if wish.resume:
        head = _unfinished(store, wish)
        prepare(root, [each.id for each in plan_of(head).contenders])
    else:
        asked = questions(wish.patterns, wish.trees)
        prepare(root, wish.systems or [system.name for system in load_systems(root) if system.spawn])
        head = begin(root, store, _plan(wish, asked, present(root, wish.systems)))
    plan = plan_of(head)
    patterns = [SpawnQuestion(name, flags) for name, flags in plan.questions.items()]
    spawners = _spawners(root, plan.contenders)
    warn_of_others(progress())
    progress().print(f"teff: {len(patterns)} patterns; {len(spawners)} systems; {_numbers(plan.workers)} workers")
    with store, SpawnLive(progress(), wish.seconds) as live:
        cells, interrupted = measure(
            root, store, head.sitting, spawners, patterns, plan.workers, live, wish.seconds, wish.rounds
        )
    rows = judge_spawns(cells)
    if wish.as_json:
        for row in rows:
            typer.echo(json.dumps(row.to_json() | {"sitting": head.sitting}, ensure_ascii=False))
    else:
        output().print(to_tables(rows))
    folder = store.folder / head.sitting
    for name, figure in spawn_pictures(plan.experiment or "spawn", plan.title, rows, head):
        save(figure, folder / name)
    progress().print(f"teff: pictures: {path_text(folder, root)}", soft_wrap=True)
    if interrupted:
        command = f"experiment {plan.experiment}" if plan.experiment else "spawn"
        resume = f"./teff {command} --resume" + (f" --store {wish.store}" if wish.store != "default" else "")
        progress().print(f"teff: interrupted; everything measured is kept; to go on: {resume}", soft_wrap=True)
        raise typer.Exit(INTERRUPTED)


def _plan(wish: SpawnWish, asked: Sequence[SpawnQuestion], people: Sequence[Competitor]) -> SpawnPlan:
    return SpawnPlan(
        title=wish.title,
        questions={each.name: each.flags for each in asked},
        workers=wish.workers or tuple(sorted({1, usable_cores()})),
        contenders=tuple(people),
        experiment=wish.experiment,
    )


def _unfinished(store: Store, wish: SpawnWish) -> Sitting:
    """The store's last sitting, to go on with. TeffError where it is another's, or anything is asked beside it."""
    beside = [*wish.systems, *([] if wish.experiment else [*wish.patterns, *map(str, wish.workers)])]
    if beside:
        raise TeffError(f"--resume goes on with the plan it had; leave out {' '.join(beside)}", exit_code=BAD_INPUT)
    head = store.spawn_sitting()
    if (was := plan_of(head).experiment) != wish.experiment:
        what = f"of experiment {was}" if was else "of no experiment"
        raise TeffError(
            f"the last sitting in {store.folder} is {what}: --resume can't go on there", exit_code=BAD_INPUT
        )
    return head


def _numbers(workers: Sequence[int]) -> str:
    return " and ".join(map(str, workers))


def measure(
    root: Path,
    store: Store,
    sitting: str,
    spawners: Sequence[Spawner],
    asked: Sequence[SpawnQuestion],
    workers: Sequence[int],
    audience: SpawnAudience,
    budget: float,
    rounds: int,
) -> tuple[list[SpawnCell], bool]:
    """The cells with their runs, and whether Ctrl-C ended it: what was measured stays."""
    course = SpawnSitting(root, store, sitting, spawners, asked, workers, audience, budget, rounds)
    try:
        course.run()
    except KeyboardInterrupt:
        return course.cells, True
    return course.cells, False


def present(root: Path, wanted: Sequence[str]) -> list[Competitor]:
    """The spawn programs that `wanted` names (all where it is empty) and that are here."""
    with progress().status("asking the systems whether they are there"):
        probes = probe_all(load_systems(root), root, spawn_programs)
    return contenders(root, wanted, probes, spawn_programs)


def _spawners(root: Path, people: Sequence[Competitor]) -> list[Spawner]:
    programs = {program.id: program for system in load_systems(root) for program in system.spawn}
    floor = floors(root)
    return [Spawner(each.contender(), programs[each.id], each.id in floor) for each in people]


def profiled(root: Path, wanted: Sequence[str]) -> list[Variant]:
    """The spawn programs that `wanted` names (all where it is empty), that are here and can be profiled."""
    found = [spawner.variant for spawner in _spawners(root, present(root, wanted))]
    if missing := [each.id for each in found if each.profile is None and wanted]:
        raise TeffError(f"{missing[0]}: its system.toml has no [spawn.profile]", exit_code=BAD_INPUT)
    return [each for each in found if each.profile is not None]


def spawn_programs(system: System) -> Sequence[Variant]:
    return system.spawn


def begin(root: Path, store: Store, plan: SpawnPlan) -> Sitting:
    """A new sitting, its head in the store."""
    head = new_sitting(root, {each.id: each.version for each in plan.contenders}, plan)
    store.begin_spawn(head)
    return head
