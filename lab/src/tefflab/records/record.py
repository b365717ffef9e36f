"""The record: the facts of one run from one program, as the program told them.

`bench/KIND/record.schema.json` says what a record of a kind holds; `bench/driver/record.schema.json` is the head of
all. A record is either *good* - all numbers are there, and validation passed or was switched off on purpose - or it
carries an `error`. A record in between is refused, so no unproven number gets further than this module.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, NoReturn, Self, TypeVar

import jsonschema_rs
from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from tefflab import project_root
from tefflab.errors import TeffError, shortened

GAPS = 0.10  # of the spins beside a run that may be lost in gaps: beyond it the run is noisy
HEAD = "driver"  # whose schema every record fulfils


class RecordError(TeffError):
    """A line is no record, or a record does not have the number that was asked for."""


class Record:
    """What a program told of a run, by the names of its schema. If `error` is set, the run is no measurement, even with
    numbers. A kind's subclass names its `schema`, and what it derives from its own keys."""

    schema: ClassVar[str] = HEAD  # the folder in bench/ that has it
    more_work: ClassVar[str] = "ask for more"  # what to do where a run is too short

    def __init__(self, told: Mapping[str, Any]) -> None:
        self.told = told
        self.error: str | None = told.get("error")
        self.ok = self.error is None  # the run finished and, where validation was on, passed it
        self.lacks = bool(told.get("lacks"))  # the error is what the system does not have: nothing went wrong
        self.version: str | None = told.get("version")
        self.workers = int(told.get("workers") or 0)  # 0 where a failed record does not say it
        self.started_at = datetime.fromisoformat(told["started_at"]) if told.get("started_at") else None
        self.elapsed_seconds = float(told.get("elapsed_seconds") or 0.0)  # 0 where a failed record does not say it
        noise = told.get("noise") or {}
        # The worse of the shares of a spin just before and just after the run that were lost in gaps.
        self.gap_share: float = max(noise.get(f"gap_share_{when}") or 0.0 for when in ("before", "after"))
        self.round_trip: float | None = noise.get("round_trip_seconds")  # how far apart the cores were [s], if measured

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and self.told == other.told

    @classmethod
    def of(cls, told: object) -> Self:
        """The record of an object of JSON. ValueError, naming the first field at fault, for what is none."""
        if isinstance(told, cls):
            return told
        for fault in validator(project_root(), cls.schema).iter_errors(told):
            place = ".".join(map(str, fault.instance_path))
            raise ValueError(f"{place}: {fault.message}" if place else fault.message)
        assert isinstance(told, Mapping)
        found = cls(told)
        if found.ok and (fault_of_numbers := found.fault()):
            raise ValueError(f"{fault_of_numbers}, yet no error is given")
        return found

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: object, _handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(cls.of)

    def get(self, *names: str) -> Any:
        """The value below these names; None where there is none."""
        found: Any = self.told
        for name in names:
            found = found.get(name) if isinstance(found, Mapping) else None
        return found

    def fault(self) -> str:
        """The fault of a record whose schema holds, where its numbers contradict each other; empty if there is none."""
        return ""

    def refusal(self, workers: int) -> str:
        """Why this is not a run with so many workers; empty if it is one."""
        if self.error is not None or self.workers == workers:
            return ""
        return (
            f"had {self.workers} of {workers} workers: remove what limits it (a variable of the environment, the cores "
            f"of this shell), or say --workers {self.workers}"
        )

    @property
    def wall_seconds(self) -> float:
        """Wall time of the timed region [s]. Raises RecordError for a failed record or a zero time."""
        if not self.ok:
            self.has_no_numbers()
        if self.elapsed_seconds == 0:
            raise RecordError(f"elapsed_seconds is 0: the run was too short to be timed; {self.more_work}")
        return self.elapsed_seconds

    def has_no_numbers(self) -> NoReturn:
        raise RecordError(f"a failed record has no numbers: {self.error}")

    @property
    def rate(self) -> float | None:
        """Work done a second, in a kind whose runs are held against a ceiling."""
        return None


class Checked(Record):
    """A record whose validation compares a checksum of what the run computed with the one that is expected."""

    def fault(self) -> str:
        same = self.get("validation", "checksum") == self.get("validation", "expected")
        return "" if same else "validation is said to have passed with a checksum not as expected"


AnyRecord = TypeVar("AnyRecord", bound=Record)


def parse_record(line: str, kind: type[AnyRecord]) -> AnyRecord:
    """The record, of this `kind`, that a program printed. RecordError, in one line, names the first field at fault."""
    text = line.strip()
    if not text:
        raise RecordError("an empty line is no record: did the program end without answering?")
    try:
        return kind.of(json.loads(text, parse_constant=_refuse))
    except ValueError as failure:
        raise RecordError(f"no valid record ({failure}): {shortened(text)}") from None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number")


@cache
def validator(root: Path, kind: str, what: str = "record") -> jsonschema_rs.Validator:
    """Of a kind's records, or of something else that its programs tell, by the schemas below this root."""
    head, own = _schema(root, HEAD, "record"), _schema(root, kind, what)
    return jsonschema_rs.validator_for(own, registry=jsonschema_rs.Registry([(head["$id"], head)]))


def _schema(root: Path, kind: str, what: str) -> Any:
    return json.loads((root / "bench" / kind / f"{what}.schema.json").read_text(encoding="utf-8"))
