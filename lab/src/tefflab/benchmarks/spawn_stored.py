"""A sitting of spawn patterns as the store keeps it: its plan, its launches, and its cells made again."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from tefflab.analysis.results import Contender
from tefflab.benchmarks.spawn_judge import SpawnCell
from tefflab.measure.measurement import Competitor
from tefflab.records.spawn_record import SpawnRecord
from tefflab.records.store import Failure, Sitting, Store
from tefflab.systems.systems import load_systems

_SEQUENTIAL = "sequential"  # the paradigm of systems without tasks

Launch = tuple[int, str, str, int]  # round, system's id, question, workers


class SpawnPlan(BaseModel):
    """What a sitting is to find out, as the store keeps it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["spawn"] = "spawn"
    title: str
    questions: dict[str, str]  # name -> flags
    workers: tuple[int, ...]
    contenders: tuple[Competitor, ...]
    experiment: str | None = None


def plan_of(head: Sitting) -> SpawnPlan:
    return SpawnPlan.model_validate(head.plan)


def floors(root: Path) -> set[str]:
    """The spawn programs without tasks, by id: each is the floor, asked with one worker only, and beats nobody."""
    sequential = (system for system in load_systems(root) if system.paradigm == _SEQUENTIAL)
    return {program.id for system in sequential for program in system.spawn}


def launches(store: Store, sitting: str) -> dict[Launch, list[SpawnRecord]]:
    """The measured runs of each launch, without the one that warms it up. One that was interrupted and made again
    has those of its last time."""
    made: dict[Launch, list[SpawnRecord]] = {}
    for run in store.spawn_runs(sitting):
        launch: Launch = (run.round, run.system_id, run.question, run.workers)
        if run.attempt == 0:
            made[launch] = []
        elif run.record.error is None:
            made.setdefault(launch, []).append(run.record)
    return made


def planned_cells(
    people: Sequence[Contender],
    floor: Collection[str],
    questions: Sequence[str],
    workers: Sequence[int],
    failures: Sequence[Failure],
) -> list[SpawnCell]:
    """A cell for each pattern, number of workers and system, still without runs; with its reason where it failed."""
    cells = [
        SpawnCell(contender, contender.id in floor, question, count)
        for question in questions
        for count in workers
        for contender in people
        if count == 1 or contender.id not in floor
    ]
    reasons = {(each.system_id, each.question, each.workers): each.reason for each in failures}
    for cell in cells:
        cell.failure = reasons.get((cell.contender.id, *cell.group), "")
    return cells


def measured_cells(root: Path, store: Store, head: Sitting) -> list[SpawnCell]:
    """The cells of a sitting with all their runs."""
    plan = plan_of(head)
    people = [each.contender() for each in plan.contenders]
    failures = store.failures(head.sitting)
    cells = planned_cells(people, floors(root), list(plan.questions), plan.workers, failures)
    by_name = {(cell.contender.id, *cell.group): cell for cell in cells}
    for (turn, system, question, count), records in launches(store, head.sitting).items():
        for record in records:
            by_name[system, question, count].add(turn, record)
    return cells
