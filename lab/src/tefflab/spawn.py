"""`teff spawn` from the request to the table: who is here, a sitting in the store, the judgement."""

import json
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import typer

from tefflab.errors import BAD_INPUT, TeffError
from tefflab.machine import read_machine, read_revision
from tefflab.measurement import RESULTS_FOLDER, contenders
from tefflab.results import Contender
from tefflab.session import INTERRUPTED, prepare
from tefflab.spawn_judge import SpawnCell, judge_spawns
from tefflab.spawn_live import SpawnLive
from tefflab.spawn_sitting import SpawnAudience, Spawner, SpawnQuestion, SpawnSitting
from tefflab.spawn_table import to_tables
from tefflab.store import Sitting, Store, new_sitting_name
from tefflab.systems import System, Variant, load_systems, probe_all, usable_cores
from tefflab.terminal import output, progress

SEQUENTIAL = "sequential"  # the paradigm of systems without tasks
TREES = ("T1", "T1L", "T2", "T3", "T5")


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


def questions(patterns: Sequence[str], trees: Sequence[str]) -> list[SpawnQuestion]:
    """The patterns asked for (all where none is), in the report's order. TeffError names what is unknown."""
    known = {
        "serial": SpawnQuestion("serial", "--pattern serial"),
        "parallel": SpawnQuestion("parallel", "--pattern parallel"),
        "fib-both": SpawnQuestion("fib-both", "--pattern fibonacci --spawn both"),
        "fib-one": SpawnQuestion("fib-one", "--pattern fibonacci --spawn one"),
    }
    for name in patterns:
        if name not in (*known, "tree"):
            raise TeffError(f"no pattern is called {name!r}; there are: {' '.join(known)} tree", exit_code=BAD_INPUT)
    for name in trees:
        if name not in TREES:
            raise TeffError(f"no tree is called {name!r}; there are: {' '.join(TREES)}", exit_code=BAD_INPUT)
    chosen = [question for name, question in known.items() if not patterns or name in patterns]
    if not patterns or "tree" in patterns:
        chosen += [SpawnQuestion(f"tree {name}", f"--pattern tree --tree {name}") for name in trees]
    return chosen


def spawn(root: Path, wish: SpawnWish) -> None:
    """Measures and prints. Leaves with 130 where it was interrupted."""
    asked = questions(wish.patterns, wish.trees)
    prepare(root, wish.systems)
    spawners = present(root, wish.systems)
    workers = wish.workers or tuple(sorted({1, usable_cores()}))
    store = Store.create(root / RESULTS_FOLDER / wish.store)
    head = begin(root, store, spawners, asked, workers)
    progress().print(f"teff: {len(asked)} patterns; {len(spawners)} systems; {workers} workers", soft_wrap=True)
    with store, SpawnLive(progress(), wish.seconds) as live:
        cells, interrupted = measure(
            root, store, head.sitting, spawners, asked, workers, live, wish.seconds, wish.rounds
        )
    rows = judge_spawns(cells)
    if wish.as_json:
        for row in rows:
            typer.echo(json.dumps(row.to_json() | {"sitting": head.sitting}, ensure_ascii=False))
    else:
        output().print(to_tables(rows))
    if interrupted:
        raise typer.Exit(INTERRUPTED)


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


def present(root: Path, wanted: Sequence[str]) -> list[Spawner]:
    """The spawn programs that `wanted` names (all where it is empty) and that are here."""
    systems = {system.name: system for system in load_systems(root)}
    with progress().status("asking the systems whether they are there"):
        probes = probe_all(list(systems.values()), root, spawn_programs)
    people = contenders(root, wanted, probes, spawn_programs)
    programs = {program.id: program for system in systems.values() for program in system.spawn}
    return [
        Spawner(Contender(**each.model_dump()), programs[each.id], _is_sequential(systems, programs[each.id]))
        for each in people
    ]


def spawn_programs(system: System) -> Sequence[Variant]:
    return system.spawn


def _is_sequential(systems: dict[str, System], program: Variant) -> bool:
    return systems[program.system_name].paradigm == SEQUENTIAL


def begin(
    root: Path, store: Store, spawners: Sequence[Spawner], asked: Sequence[SpawnQuestion], workers: Sequence[int]
) -> Sitting:
    """A new sitting, its head in the store."""
    head = Sitting(
        sitting=new_sitting_name(),
        started_at=datetime.now(UTC),
        machine=read_machine(),
        revision=read_revision(root),
        versions={each.contender.id: each.contender.version for each in spawners},
        command=shlex.join(["teff", *sys.argv[1:]]),
        plan={"kind": "spawn", "questions": {each.name: each.flags for each in asked}, "workers": list(workers)},
    )
    store.begin_spawn(head)
    return head
