"""The lines of a store: a sitting, a run, a failure."""

import math
import statistics
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Annotated, Generic, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, PlainSerializer, TypeAdapter

from tefflab.host.machine import Machine, Revision
from tefflab.host.node import Node
from tefflab.records.plan import Variant
from tefflab.records.record import AnyRecord

OFF = 0.05  # of a core: a load that got more or less than asked by this made its run a noisy one
Role = Literal["system", "ceiling", "probe"]  # a probe warms the program up; no result comes from it


class Line(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Sitting(Line):
    """One sitting: the runs that may be compared with each other, for they shared machine and hour."""

    sitting: str
    benchmark: str  # the kind
    started_at: datetime
    machine: Machine  # of the lab
    nodes: tuple[Node, ...] = ()  # as they were when it began; none: this machine is the only one
    revision: Revision
    versions: dict[str, str]  # system id -> version it gave of itself
    command: str  # what the user typed
    plan: dict[str, JsonValue] = Field(default_factory=dict)  # the kind's own, kept for resuming

    @cached_property
    def where(self) -> str:
        """The machine, or the cluster that was simulated in its place."""
        variants = TypeAdapter(list[Variant]).validate_python(self.plan.get("variants", []))
        return next((each.cluster for each in variants if each.cluster), self.machine.summary)


@dataclass(frozen=True, slots=True)
class RunKey:
    """One question a plan asks: in this round, as this, of this system, these flags with so many workers."""

    round: int
    role: Role
    system_id: str
    configuration: str
    workers: int
    flags: str


class Beside(Line):
    """The load that ran beside a run."""

    load: str  # as `tefflab.host.load` writes it
    asked: float = Field(ge=0, le=1)  # share of each of its cores
    got: float = Field(ge=0)  # the same, as the scheduler counted it, on average

    @property
    def is_as_asked(self) -> bool:
        return abs(self.got - self.asked) <= OFF


class Run(Line, Generic[AnyRecord]):
    """One run as the runner saw it, around the record as the program gave it."""

    sitting: str
    round: int = Field(ge=0)
    system_id: str
    role: Role
    attempt: int = Field(ge=0)
    noisy: bool
    command: str
    flags: str  # the line that was fed to the program
    record: Annotated[AnyRecord, PlainSerializer(lambda record: record.told)]
    configuration: str = ""  # of the run's case: without the flags that its question varies
    workers: int = Field(ge=1)  # asked for; the record says how many there were
    ceilings: tuple[float, float] | None = None  # rates just before and after a system's run, in the record's unit
    round_trips: tuple[float, float] | None = None  # between neighbouring cores, just before and after [s]
    beside: Beside | None = None

    @property
    def key(self) -> RunKey:
        """The question that this run answers; repeats share a key and differ in `attempt`."""
        return RunKey(self.round, self.role, self.system_id, self.configuration, self.workers, self.flags)


class Failure(Line):
    """A failed system, or a case of one, which is left out of its sitting until the sitting is resumed. A later line of
    the same system and case counts instead."""

    sitting: str
    round: int = Field(ge=0)
    system_id: str
    reason: str  # empty: it was tried again and has answered, so what failed before is forgotten
    configuration: str = ""
    workers: int | None = None
    at: str = ""  # flags of the case that it was asked about; empty where that is not known
    lacks: bool = False  # nothing went wrong: the system does not have the case
    lost: bool = False  # a node did not answer: the system is not to blame, so its runs count


def minutes_for(rounds: int, runs: Iterable[Run[AnyRecord]]) -> int | None:
    """About how many minutes so many rounds take, if they are like the rounds of `runs`; None without either."""
    begun: dict[Hashable, list[tuple[float, float]]] = {}
    for run in runs:
        if run.record.started_at:
            began = run.record.started_at.timestamp()
            place = (run.system_id, run.round, run.configuration, run.workers)
            begun.setdefault(place, []).append((began, began + (run.record.elapsed_seconds or 0.0)))
    taken = [max(end for _, end in each) - min(begin for begin, _ in each) for each in begun.values()]
    return math.ceil(rounds * statistics.median(taken) / 60) or None if taken else None


def in_time(runs: Iterable[Run[AnyRecord]]) -> list[Run[AnyRecord]]:
    """In the order in which they were made; those that do not say when come first."""
    return sorted(runs, key=lambda run: run.record.started_at.timestamp() if run.record.started_at else 0.0)


def counted(runs: Iterable[Run[AnyRecord]], alike: Callable[[Run[AnyRecord]], Hashable]) -> list[Run[AnyRecord]]:
    """Of the runs for which `alike` says the same, those that were not noisy, or all where every one was."""
    groups: dict[Hashable, list[Run[AnyRecord]]] = {}
    for run in runs:
        groups.setdefault(alike(run), []).append(run)
    kept = []
    for group in groups.values():
        kept += [run for run in group if not run.noisy] or group
    return kept
