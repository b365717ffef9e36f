"""The store: a folder of append-only JSON lines, safe to kill, to share and to query.

    results/<store>/sittings.jsonl   one line a sitting: when, where, which source, what was planned
    results/<store>/records.jsonl    one envelope a run: who ran it as what, and the program's own record
    results/<store>/metg.jsonl       one line an estimate: the METG row as it was printed
    results/<store>/failures.jsonl   one line a system that failed: at what, and why; the file is there once one has
    results/<store>/spawn_sittings.jsonl, spawn.jsonl   the same for the spawn patterns, once somebody measures them

A line is written with one `write` under `flock`, so writers in several processes never mix. It is in
the kernel's hands when `append` returns - a killed lab loses nothing - and on disk within about a
second. A torn line (power cut in mid-write) is skipped, reported as `Damage`, and never written over.
"""

import fcntl
import json
import os
import secrets
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TypeVar

import polars
from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from tefflab.errors import BAD_INPUT, TeffError
from tefflab.host.machine import Machine, Revision
from tefflab.records.record import Record, first_fault
from tefflab.records.spawn_record import SpawnRecord
from tefflab.records.store_sql import query_files

RECORDS, SITTINGS, METG = "records.jsonl", "sittings.jsonl", "metg.jsonl"
FAILURES = "failures.jsonl"
SPAWN, SPAWN_SITTINGS = "spawn.jsonl", "spawn_sittings.jsonl"
_SYNC_EVERY_SECONDS = 1.0

Role = Literal["system", "ceiling", "probe"]  # a probe warms a launch up; no result comes from it


class StoreError(TeffError):
    """A store or sitting that is not there, or a query that cannot be answered."""

    def __init__(self, message: str) -> None:
        super().__init__(message, exit_code=BAD_INPUT)


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


_Model = TypeVar("_Model", bound=_Line)


class Sitting(_Line):
    """One sitting: the runs that may be compared with each other, for they shared machine and hour."""

    sitting: str
    started_at: datetime
    machine: Machine
    revision: Revision
    versions: dict[str, str]  # system id -> version it gave of itself
    command: str  # what the user typed
    plan: dict[str, JsonValue] = Field(default_factory=dict)  # the runner's own, kept for resuming


class Envelope(_Line):
    """One run as the runner saw it, around the record as the program gave it."""

    sitting: str
    round: int = Field(ge=0)
    system_id: str
    role: Role
    attempt: int = Field(ge=0)
    disturbed: bool
    command: str
    flags: str  # the configuration line that was fed to the program
    record: Record
    configuration: str = ""  # that the run is about, without steps and iterations
    ceilings: tuple[float, float] | None = None  # rates just before and after a system's run, in the record's unit
    round_trips: tuple[float, float] | None = None  # between neighbouring cores, just before and after [s]

    @property
    def key(self) -> "RunKey":
        """What this run answers; repeats after a disturbance share a key and differ in `attempt`."""
        return RunKey(self.round, self.role, self.system_id, self.configuration, self.flags)


class SpawnRun(_Line):
    """One run of a spawn pattern as the runner saw it, around the record as the program gave it."""

    sitting: str
    round: int = Field(ge=0)
    system_id: str
    question: str
    workers: int = Field(ge=1)  # asked for; the record says how many there were
    attempt: int = Field(ge=0)  # 0 warms the launch up; no result comes from it
    command: str
    flags: str
    record: SpawnRecord


class Failure(_Line):
    """A system that failed, and is left out of its sitting from then on; of one of the spawn patterns only there."""

    sitting: str
    round: int = Field(ge=0)
    system_id: str
    reason: str
    question: str = ""
    workers: int | None = None


@dataclass(frozen=True, slots=True)
class RunKey:
    """One question a plan asks: in this round, as this, of this system, this configuration."""

    round: int
    role: Role
    system_id: str
    configuration: str
    flags: str


@dataclass(frozen=True, slots=True)
class Damage:
    """A line of a store that could not be read; the measurements around it stand."""

    file: Path
    line: int  # from 1
    why: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.why}"


class _Appender:
    """One open file of lines. Not for several threads at once; several processes are fine."""

    def __init__(self, file: Path) -> None:
        self._fd = os.open(file, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        self._synced_at = time.monotonic()
        self._unsynced = False

    def append(self, text: str) -> None:
        data = text.encode() + b"\n"
        fcntl.flock(self._fd, fcntl.LOCK_EX)
        try:
            if self._ends_torn():
                data = b"\n" + data  # leaves the torn line to itself
            if os.write(self._fd, data) != len(data):
                raise OSError(f"only part of a record could be written; is the disk full? ({text[:60]}…)")
        finally:
            fcntl.flock(self._fd, fcntl.LOCK_UN)
        self._unsynced = True
        if time.monotonic() - self._synced_at >= _SYNC_EVERY_SECONDS:
            self.sync()

    def sync(self) -> None:
        if self._unsynced:
            os.fsync(self._fd)
            self._unsynced = False
        self._synced_at = time.monotonic()

    def close(self) -> None:
        self.sync()
        os.close(self._fd)

    def _ends_torn(self) -> bool:
        end = os.fstat(self._fd).st_size
        return end > 0 and os.pread(self._fd, 1, end - 1) != b"\n"


class Store:
    """A folder of results. Reading needs no lock; writing is by `with Store.create(...) as store`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._appenders: dict[str, _Appender] = {}

    @classmethod
    def create(cls, folder: Path) -> Self:
        """The store at `folder`, made where it is missing."""
        folder.mkdir(parents=True, exist_ok=True)
        for name in (RECORDS, SITTINGS, METG):
            (folder / name).touch()
        return cls(folder)

    @classmethod
    def open(cls, folder: Path) -> Self:
        """The store at `folder`. Raises StoreError, naming the stores beside it, where there is none."""
        if (folder / RECORDS).is_file():
            return cls(folder)
        beside = sorted(file.parent.name for file in folder.parent.glob(f"*/{RECORDS}"))
        known = f"stores in {folder.parent}: {', '.join(beside)}" if beside else "run a measurement first"
        raise StoreError(f"no store at {folder}: a store holds {RECORDS}; {known}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        failure: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Forces what was appended to disk and lets the files go. Appending opens them again."""
        while self._appenders:
            self._appenders.popitem()[1].close()

    # Writing.

    def append(self, envelope: Envelope) -> None:
        """Keeps one run."""
        self._append(RECORDS, envelope.model_dump_json(by_alias=True, exclude_unset=True))

    def begin(self, sitting: Sitting) -> None:
        """Keeps the head of a sitting. Raises StoreError where the store has one of that name."""
        if any(known.sitting == sitting.sitting for known in self.sittings()):
            raise StoreError(f"sitting {sitting.sitting} is already in {self.folder}: resume it instead")
        self._append(SITTINGS, sitting.model_dump_json())

    def append_metg(self, line: Mapping[str, Any]) -> None:
        """Keeps one estimate: `MetgRow.to_json()` and besides it `sitting` and `configuration`."""
        missing = [name for name in ("sitting", "system_id", "configuration", "metg") if name not in line]
        if missing:
            raise StoreError(f"an estimate without {', '.join(missing)} cannot be found again")
        self._append(METG, json.dumps(line, allow_nan=False))

    def begin_spawn(self, sitting: Sitting) -> None:
        """Keeps the head of a sitting of spawn patterns."""
        self._append(SPAWN_SITTINGS, sitting.model_dump_json())

    def append_spawn(self, run: SpawnRun) -> None:
        """Keeps one run of a spawn pattern."""
        self._append(SPAWN, run.model_dump_json(by_alias=True, exclude_unset=True))

    def append_failure(self, failure: Failure) -> None:
        """Keeps why a system is left out."""
        self._append(FAILURES, failure.model_dump_json(exclude_defaults=True))

    def _append(self, name: str, text: str) -> None:
        if name not in self._appenders:
            self._appenders[name] = _Appender(self.folder / name)
        self._appenders[name].append(text)

    # Reading.

    def sittings(self) -> list[Sitting]:
        """All sittings, the oldest first."""
        return [line for line in self._models(SITTINGS, Sitting) if isinstance(line, Sitting)]

    def sitting(self, name: str | None = None) -> Sitting:
        """The sitting called `name`, or the latest. Raises StoreError naming those there are."""
        known = self.sittings()
        chosen = [sitting for sitting in known if name in (None, sitting.sitting)]
        if not chosen:
            names = ", ".join(sitting.sitting for sitting in known) or "none"
            raise StoreError(f"no sitting {name or ''} in {self.folder}: there is {names}")
        return chosen[-1]

    def envelopes(self, sitting: str | None = None) -> Iterator[Envelope]:
        """The runs of a sitting (of all where None), in the order they were made."""
        for line in self._models(RECORDS, Envelope):
            if isinstance(line, Envelope) and sitting in (None, line.sitting):
                yield line

    def spawn_sittings(self) -> list[Sitting]:
        """All sittings of spawn patterns, the oldest first."""
        return [line for line in self._models(SPAWN_SITTINGS, Sitting) if isinstance(line, Sitting)]

    def spawn_sitting(self) -> Sitting:
        """The latest sitting of spawn patterns. Raises StoreError where there is none."""
        known = self.spawn_sittings()
        if not known:
            raise StoreError(f"no sitting of spawn patterns in {self.folder}")
        return known[-1]

    def spawn_runs(self, sitting: str) -> Iterator[SpawnRun]:
        """The runs of a sitting of spawn patterns, in the order they were made."""
        for line in self._models(SPAWN, SpawnRun):
            if isinstance(line, SpawnRun) and line.sitting == sitting:
                yield line

    def failures(self, sitting: str) -> list[Failure]:
        """The systems that failed in a sitting, in the order in which they did."""
        lines = self._models(FAILURES, Failure)
        return [line for line in lines if isinstance(line, Failure) and line.sitting == sitting]

    def done(self, sitting: str) -> dict[RunKey, tuple[Envelope, ...]]:
        """What is measured of a sitting: each question with its attempts, in order.

        A runner that resumes asks its plan's questions again and takes the answer from here where
        there is one; whether a disturbed last attempt is worth another is the runner's to say.
        """
        answers: dict[RunKey, tuple[Envelope, ...]] = {}
        for envelope in self.envelopes(sitting):
            answers[envelope.key] = (*answers.get(envelope.key, ()), envelope)
        return answers

    def damage(self) -> list[Damage]:
        """Every line that cannot be read, for the caveats of a report."""
        lines: list[_Line | Damage] = [
            *self._models(RECORDS, Envelope),
            *self._models(SITTINGS, Sitting),
            *self._models(FAILURES, Failure),
        ]
        return [line for line in lines if isinstance(line, Damage)]

    def query(self, sql: str) -> polars.DataFrame:
        """The answer of DuckDB to `sql` over the views `records`, `graphs`, `sittings` and `metg`.

        `describe records` lists the columns. Raises StoreError with DuckDB's own words.
        """
        try:
            return query_files(sql, self.folder / RECORDS, self.folder / SITTINGS, self.folder / METG)
        except ValueError as failure:
            raise StoreError(str(failure)) from None

    def metg(self) -> polars.DataFrame:
        """The estimates, the latest of each (sitting, configuration, system) only."""
        return self.query(
            "select * exclude (line) from metg qualify row_number() over "
            "(partition by sitting, configuration, system_id order by line desc) = 1 order by line"
        )

    def _models(self, name: str, model: type[_Model]) -> Iterator[_Model | Damage]:
        file = self.folder / name
        if not file.exists():
            return
        with file.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                if line.isspace():
                    continue
                try:
                    yield model.model_validate_json(line)
                except ValidationError as failure:
                    torn = "torn line" if not line.endswith(b"\n") else "unreadable line"
                    yield Damage(file, number, f"{torn} ({first_fault(failure)})")


def new_sitting_name(now: datetime | None = None) -> str:
    """A name that sorts by time and never repeats: `2026-11-20T22.00.00-1a2b`."""
    moment = (now or datetime.now(UTC)).astimezone(UTC)
    return f"{moment:%Y-%m-%dT%H.%M.%S}-{secrets.token_hex(2)}"
