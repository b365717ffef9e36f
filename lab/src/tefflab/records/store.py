"""The store: a folder of append-only JSON lines, safe to kill and to share.

    results/<store>/sittings.jsonl   one line a sitting: time, machine, benchmark, source, plan
    results/<store>/runs.jsonl       one line a run: its system and role, and the program's record
    results/<store>/estimates.jsonl  one line an estimate, as it was printed
    results/<store>/failures.jsonl   one line a failed system, with the case and the reason; absent before a failure

    results/<store>/.SITTING.lock    while a process measures that sitting

A line is written with one `write` under `flock`, so writers in several processes never mix. It is in the kernel's hands
when `append` returns, so a killed lab loses nothing, and on disk within about a second. A torn line (power cut in
mid-write) is skipped, reported as `Damage`, and never written over.
"""

import errno
import json
import os
import secrets
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, Self, TypeVar, cast, get_args

from pydantic import ValidationError

from tefflab.carried import TYPED
from tefflab.errors import InputError, TeffError, first_fault, shortened
from tefflab.host.file_locks import held, lock
from tefflab.records.record import AnyRecord, Record
from tefflab.records.run import Failure, Line, Run, Sitting
from tefflab.systems.registry import Registry

_SYNC_EVERY_SECONDS = 1.0
_LONGEST_NAME = 255  # bytes, of a file

Kind = Literal["sittings", "runs", "estimates", "failures"]
_READ: dict[Kind, type[Line]] = {"runs": Run[Record], "sittings": Sitting, "failures": Failure}


class StoreError(InputError):
    """A store or sitting that is not there."""


class UnwritableError(TeffError):
    """A store that takes no more lines, as where the disk is full. No system is to blame."""


_Model = TypeVar("_Model", bound=Line)


@dataclass(frozen=True, slots=True)
class Damage:
    """A line of a store that could not be read; the measurements around it stand."""

    file: Path
    line: int  # from 1
    why: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.why}"


class Store(AbstractContextManager["Store"]):
    """A folder of results. Reading needs no lock; writing is by `with Store.create(...) as store`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._written: set[Path] = set()  # files, since this was made
        self._synced_at = time.monotonic()

    @classmethod
    def create(cls, folder: Path) -> Self:
        """The store at `folder`, which is made with its first line. StoreError where nothing can be written."""
        there = next(each for each in (folder, *folder.parents) if each.exists())
        try:
            with tempfile.TemporaryFile(dir=there):
                pass
        except OSError as failure:
            why = failure.strerror or str(failure)
            raise StoreError(f"no store can be written at {folder} ({why}): name a folder that can be") from None
        return cls(folder)

    @classmethod
    def open(cls, folder: Path) -> Self:
        """The store at `folder`. Raises StoreError, naming the stores beside it, where there is none."""
        if is_store(folder):
            return cls(folder)
        beside = stores_in(folder.parent)
        known = f"stores in {folder.parent}: {', '.join(beside)}" if beside else "run a measurement first"
        raise StoreError(f"no store at {folder}: a store holds sittings.jsonl; {known}")

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Forces the appended lines to disk."""
        for file in self._written:
            with suppress(FileNotFoundError), file.open("rb") as lines:
                os.fsync(lines.fileno())
        self._synced_at = time.monotonic()

    # Writing.

    def append(self, kind: Kind, line: Line | Mapping[str, Any]) -> None:
        """Keeps one line. StoreError for an estimate that lacks the keys to find it by. UnwritableError where it
        can't."""
        if isinstance(line, Sitting) and any(known.sitting == line.sitting for known in self.sittings()):
            raise StoreError(f"sitting {line.sitting} is already in {self.folder}: resume it instead")
        wanted = ("sitting", "benchmark", "system_id", "configuration") if kind == "estimates" else ()
        if missing := [name for name in wanted if isinstance(line, Mapping) and name not in line]:
            raise StoreError(f"an estimate without {', '.join(missing)} cannot be found again")
        file = file_of(self.folder, kind)
        if file in self._written and not file.exists():
            raise UnwritableError(f"{file} has vanished, and with it what it held: put it back, or measure anew")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            _append(file, _text(line).encode() + b"\n")
            self._written.add(file)
            if time.monotonic() - self._synced_at >= _SYNC_EVERY_SECONDS:
                self.close()
        except OSError as failure:
            why = failure.strerror or str(failure)
            raise UnwritableError(
                f"{file} can't be written ({why}); the measured runs are kept; mend that and go on with --resume"
            ) from None

    # Reading.

    def lines(self, kind: Kind, model: type[_Model]) -> Iterator[_Model | Damage]:
        """All lines of a kind, those that can't be read as the damage they are."""
        file = file_of(self.folder, kind)
        with file.open("rb") if file.is_file() else nullcontext(()) as lines:
            for number, line in enumerate(lines, start=1):
                try:
                    if not line.isspace():
                        yield model.model_validate_json(line.rstrip(b"\n"))
                except ValidationError as failure:
                    why = first_fault(failure).replace(" at line 1 column ", " at column ")  # the file's line is told
                    yield Damage(file, number, why if line.endswith(b"\n") else f"torn line: {why}")

    def sittings(self, benchmark: str | None = None) -> list[Sitting]:
        """All sittings (of that kind), in the order in which they were written: the clock may have been wrong."""
        known = [line for line in self.lines("sittings", Sitting) if isinstance(line, Sitting)]
        return [each for each in known if benchmark in (None, each.benchmark)]

    def sitting(self, name: str | None = None, benchmark: str | None = None) -> Sitting:
        """The sitting called `name`, or the latest (of that kind). Raises StoreError naming those there are."""
        known = self.sittings(benchmark)
        chosen = [sitting for sitting in known if name in (None, sitting.sitting)]
        if not chosen:
            what = f"sitting of {benchmark}" if benchmark else "sitting"
            names = ", ".join(sitting.sitting for sitting in known) or f"none; begin with {TYPED} metg"
            raise self.no_sitting(f"{what}{f' {name}' if name else ''}", f"there is {names}")
        return chosen[-1]

    def no_sitting(self, what: str, otherwise: str) -> StoreError:
        """The error that this sitting is not there or, if lines of sittings.jsonl can't be read, that one of them may
        be it. `otherwise` is the remedy, or the list of existing sittings."""
        if damage := self.damage("sittings"):
            last = damage[-1]
            return StoreError(
                f"line {last.line} of {last.file} can't be read ({last.why}); it may be the {what}, whose runs are "
                f"kept: put the line back from a copy of the store; else {otherwise}"
            )
        return StoreError(f"no {what} in {self.folder}: {otherwise}")

    def runs(self, record: type[AnyRecord], sitting: str | None = None) -> Iterator[Run[AnyRecord]]:
        """The runs of a sitting (of all where None) with their records, in the order they were made."""
        model = cast("type[Run[AnyRecord]]", Run.__class_getitem__(record))
        for line in self.lines("runs", model):
            if not isinstance(line, Damage) and sitting in (None, line.sitting):
                yield line

    def failures(self, sitting: str) -> list[Failure]:
        """The systems that failed in a sitting and have not answered since, in the order in which they first did."""
        lines = (line for line in self.lines("failures", Failure) if isinstance(line, Failure))
        latest = {(line.system_id, line.configuration, line.workers): line for line in lines if line.sitting == sitting}
        return [line for line in latest.values() if line.reason]

    def damage(self, *kinds: Kind) -> list[Damage]:
        """Every line (of these kinds) that cannot be read, for the caveats of a report."""
        lines = (line for kind in kinds or _READ for line in self.lines(kind, _READ[kind]))
        return [line for line in lines if isinstance(line, Damage)]

    def warnings(self) -> list[str]:
        """A sentence for each file in which lines can't be read, and for each sitting of the future."""
        return [_told(damage) for kind in _READ if (damage := self.damage(kind))] + [
            f"{each.sitting} has a time in the future ({each.started_at:%Y-%m-%d %H:%M}): a clock is wrong, or was; "
            "the last sitting is the one that was written last"
            for each in self.sittings()
            if each.started_at.timestamp() > time.time()
        ]


def file_of(folder: Path, kind: str) -> Path:
    """Where a store keeps its lines of a kind."""
    return folder / f"{kind}.jsonl"


def _append(file: Path, line: bytes) -> None:
    with file.open("ab+", buffering=0) as lines:
        lock(lines.fileno(), file)
        end = lines.seek(0, os.SEEK_END)
        is_torn = end > 0 and os.pread(lines.fileno(), 1, end - 1) != b"\n"
        whole = b"\n" * is_torn + line  # leaves the torn line to itself
        if lines.write(whole) != len(whole):
            raise OSError(errno.ENOSPC, "only part of a line could be written; is the disk full?")


def is_store(folder: Path) -> bool:
    """Whether there are runs in it: a command that failed leaves an empty file of sittings."""
    files = [file_of(folder, kind) for kind in get_args(Kind)]
    return any(file.is_file() and file.stat().st_size > 0 for file in files)


def stores_in(folder: Path) -> list[str]:
    """The names of the stores below a folder."""
    return sorted(each.name for each in folder.glob("*/") if is_store(each))


def open_sitting(registry: Registry, name: str) -> tuple[Store, Sitting]:
    """`STORE`, which means its last sitting, or `STORE:SITTING`. StoreError, with the existing names, for another."""
    store, _, sitting = name.partition(":")
    opened = Store.open(registry.results / store)
    return opened, opened.sitting(sitting or None)


def open_sittings(registry: Registry, name: str) -> tuple[Store, dict[str, Sitting]]:
    """The same by kind of benchmark: of `STORE` the last sitting of each that is there, of `STORE:SITTING` that one."""
    store, _, wanted = name.partition(":")
    opened = Store.open(registry.results / store)
    chosen = {each.benchmark: each for each in opened.sittings() if wanted in ("", each.sitting)}
    if not chosen:
        opened.sitting(wanted or None)  # raises
    return opened, chosen


def checked_name(store: str) -> str:
    """Raises TeffError for a name that is neither one folder's name nor an absolute path, or that no file can have."""
    if not store.isprintable():  # nor are bytes that are no text
        raise InputError(f"--store {store!r}: give a name in UTF-8")
    if max(len(os.fsencode(part)) for part in Path(store).parts or ("",)) > _LONGEST_NAME:
        raise InputError(f"--store {shortened(store, 40)}: longer than {_LONGEST_NAME} bytes; give a shorter name")
    if not Path(store).is_absolute() and (store in ("", ".", "..") or "/" in store or ":" in store):
        raise InputError(f"--store {store!r}: give the name of a folder below results/, or an absolute path")
    return store


def store_name(registry: Registry, store: Store) -> str:
    """The name of a store for `--store`: the folder's name in `results/`, else the path."""
    return store.folder.name if store.folder.parent == registry.results else str(store.folder)


def full_name(registry: Registry, store: Store, sitting: Sitting) -> str:
    """What `open_sitting` takes."""
    return f"{store_name(registry, store)}:{sitting.sitting}"


def measured_alone(folder: Path, sitting: str) -> AbstractContextManager[None]:
    """Only one process measures a sitting at a time: its rounds are counted from what is there when it begins.
    TeffError, with its name, if another process measures this sitting of the store at `folder`."""

    def refuse(process: str) -> None:
        raise TeffError(
            f"{process} measures the sitting {sitting} of {folder}: wait for its end, or leave out --resume to begin "
            "another"
        )

    return held(folder / f".{sitting}.lock", refuse)


def new_sitting_name(now: datetime | None = None) -> str:
    """A name that sorts by time and never repeats: `2026-11-20T22.00.00-1a2b`."""
    moment = (now or datetime.now(UTC)).astimezone(UTC)
    return f"{moment:%Y-%m-%dT%H.%M.%S}-{secrets.token_hex(2)}"


def _told(damage: Sequence[Damage]) -> str:
    """The damage of one file, as a sentence."""
    first, *more = damage
    if not more:
        return f"line {first.line} of {first.file} can't be read and counts for nothing ({first.why})"
    told = f"{len(damage)} lines of {first.file} can't be read and count for nothing"
    return f"{told}; the first is line {first.line} ({first.why})"


def _text(line: Line | Mapping[str, Any]) -> str:
    if isinstance(line, Line):
        return line.model_dump_json(exclude_unset=True, exclude_defaults=isinstance(line, Failure))
    return json.dumps(line, allow_nan=False)
