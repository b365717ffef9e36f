"""The record: the facts of one run from one program (schema `teff-record-2`, `bench/driver/record.schema.json`).

Its head is the same for all kinds of benchmark and is here; a kind's own keys stand beside it, in a subclass in the
kind's file. The program counts; the lab reads its counters. A record is either *good* - all numbers are there, and
validation passed or was switched off on purpose - or it carries an `error`. A record in between is refused, so no
unproven number gets further than this module.
"""

from datetime import datetime
from typing import Annotated, ClassVar, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from tefflab.errors import TeffError, first_fault, shortened

Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
GAPS = 0.10  # of the spins beside a run that may be lost in gaps: beyond it the run is noisy
Hex64 = Annotated[str, Field(pattern=r"^0x[0-9a-f]{16}$")]


class RecordError(TeffError):
    """A line is no record, or a record does not have the number that was asked for."""


class Strict(BaseModel):
    """No unknown field, no silent conversion, no NaN, no change after reading."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class Validation(Strict):
    """Whether the run did all its work, as the program checked itself. A kind adds the compared values."""

    model_config = ConfigDict(extra="ignore")

    passed: bool


class Checksums(Validation, extra="forbid"):
    """The checksum of what a run computed beside the checksum of one thread."""

    checksum: Hex64
    expected: Hex64

    @property
    def agree(self) -> bool:
        return self.passed and self.checksum == self.expected


class Noise(Strict):
    """How much of the machine the run did not get. Shares are of wall time, in [0, 1]."""

    cpu_seconds: Annotated[float, Field(ge=0)]
    voluntary_switches: Count
    involuntary_switches: Count
    gap_share_before: Share
    gap_share_after: Share
    round_trip_seconds: Annotated[float, Field(gt=0)] | None = None  # how far apart the cores were, by the ceiling


class Record(Strict):
    """The head of a record. If `error` is set, the run is no measurement, even with numbers.

    A kind's subclass refuses keys that it does not know. `needed` names its keys without which a record that has no
    error means nothing.
    """

    model_config = ConfigDict(populate_by_name=True, extra="ignore")

    needed: ClassVar[tuple[str, ...]] = ()
    more_work: ClassVar[str] = "ask for more"  # what to do where a run is too short
    _of_all: ClassVar[tuple[str, ...]] = (
        "version",
        "workers",
        "ranks",
        "started_at",
        "elapsed_seconds",
        "noise",
        "validation",
    )

    schema_: Literal["teff-record-2"] = Field(alias="schema")
    benchmark: Annotated[str, Field(min_length=1)]
    system: Annotated[str, Field(min_length=1)]
    variant: Annotated[str, Field(min_length=1)]
    version: str | None = None
    workers: Annotated[int, Field(ge=1)] | None = None
    ranks: Annotated[int, Field(ge=1)] | None = None
    started_at: datetime | None = None
    elapsed_seconds: Annotated[float, Field(ge=0)] | None = None
    noise: Noise | None = None
    validation: Validation | None = None
    peak_rss_bytes: Count | None = None
    error: Annotated[str, Field(min_length=1)] | None = None
    lacks: Literal[True] | None = None  # the error is what the system does not have: nothing went wrong

    @model_validator(mode="after")
    def _good_or_failed(self) -> Self:
        """Refuses the record in between: numbers missing or validation failed, yet no `error`."""
        if self.error is not None:
            return self
        if self.lacks:
            raise ValueError("it lacks something, yet no error says what")
        if missing := [name for name in (*self.needed, *self._of_all) if getattr(self, name) in (None, ())]:
            raise ValueError(f"no error is given, yet these are missing: {', '.join(missing)}")
        if fault := self.fault():
            raise ValueError(f"{fault}, yet no error is given")
        return self

    def fault(self) -> str:
        """The fault of a record that has all its numbers; empty if there is none."""
        passed = self.validation is not None and self.validation.passed
        return "" if passed else "validation did not pass"

    def refusal(self, workers: int) -> str:
        """Why this is not a run with so many workers; empty if it is one."""
        if self.error is not None or self.workers == workers:
            return ""
        return (
            f"had {self.workers} of {workers} workers: remove what limits it (a variable of the environment, the cores "
            f"of this shell), or say --workers {self.workers}"
        )

    @property
    def ok(self) -> bool:
        """Whether the run finished and, where validation was on, passed it."""
        return self.error is None

    @property
    def wall_seconds(self) -> float:
        """Wall time of the timed region [s]. Raises RecordError for a failed record or a zero time."""
        if self.error is not None or self.elapsed_seconds is None:
            raise RecordError(f"a failed record has no numbers: {self.error}")
        if self.elapsed_seconds == 0:
            raise RecordError(f"elapsed_seconds is 0: the run was too short to be timed; {self.more_work}")
        return self.elapsed_seconds

    @property
    def gap_share(self) -> float:
        """The worse of the shares of a spin just before and just after the run that were lost in gaps."""
        return max(self.noise.gap_share_before, self.noise.gap_share_after) if self.noise else 0.0

    @property
    def round_trip(self) -> float | None:
        """How far apart the cores were [s], where the program measured it."""
        return self.noise.round_trip_seconds if self.noise else None

    @property
    def rate(self) -> float | None:
        """Work done a second, in a kind whose runs are held against a ceiling."""
        return None


AnyRecord = TypeVar("AnyRecord", bound=Record)


def parse_record(line: str, kind: type[AnyRecord]) -> AnyRecord:
    """The record, of this `kind` of benchmark, that a program printed as `line`.

    Raises RecordError with one line that names the first field at fault and its value.
    """
    text = line.strip()
    if not text:
        raise RecordError("an empty line is no record: did the program end without answering?")
    try:
        return kind.model_validate_json(text)
    except ValidationError as failure:
        raise RecordError(f"no valid record ({first_fault(failure)}): {shortened(text)}") from None
