"""The record: what one program says of one run (schema `teff-record-1`, `bench/core/record.schema.json`).

The program counts its tasks, FLOPs and bytes; the lab reads them and never counts again. What is
derived here (granularity, rates) is derived nowhere else in Python. A record is either *good* - all
numbers there, validation passed or knowingly switched off - or it carries an `error`; a record in
between is refused, so no unproven number gets further than this module.
"""

from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from tefflab.errors import TeffError

Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Hex64 = Annotated[str, Field(pattern=r"^0x[0-9a-f]{16}$")]

# Numbers a record without error must have: without any of them its other numbers mean nothing.
_MEASURED = (
    "version",
    "nodes",
    "workers",
    "ranks",
    "isa",
    "elapsed_seconds",
    "tasks",
    "dependencies",
    "flops",
    "bytes",
    "validation",
    "disturbance",
    "started_at",
)
# These it must have too, but they are null where nobody asked for them.
_MAY_BE_NULL = ("local_dependencies", "nonlocal_dependencies")


class RecordError(TeffError):
    """A line that is no record, or a number asked of a record that does not have it."""


class Strict(BaseModel):
    """No unknown field, no silent conversion, no NaN, no change after reading."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class Graph(Strict):
    """One task graph of a configuration, every parameter spelled out."""

    type: str
    steps: Annotated[int, Field(ge=1)]
    width: Annotated[int, Field(ge=1)]
    radix: Count
    period: Count
    fraction: Share
    kernel: str
    iterations: Count
    samples: Annotated[int, Field(ge=1)]
    imbalance: Annotated[float, Field(ge=0, le=2)]
    persistent_imbalance: bool
    output_bytes: Annotated[int, Field(ge=16)]
    scratch_bytes: Count


class Validation(Strict):
    """Whether each task saw the inputs it was owed, as the program checked while it ran."""

    enabled: bool
    passed: bool
    checksum: Hex64
    expected: Hex64
    error: str | None

    @model_validator(mode="after")
    def _nothing_passes_unchecked(self) -> Self:
        if self.passed and not self.enabled:
            raise ValueError("validation is said to have passed, yet it was switched off")
        return self


class Disturbance(Strict):
    """How much of the machine the run did not get. Shares are of wall time, in [0, 1]."""

    cpu_seconds: Annotated[float, Field(ge=0)]
    voluntary_switches: Count
    involuntary_switches: Count
    gap_share_before: Share
    gap_share_after: Share
    round_trip_seconds: Annotated[float, Field(gt=0)] | None = None  # how far apart the cores were, by the ceiling


class Record(Strict):
    """One run of one program. Where `error` is set the run is no measurement, whatever else is known."""

    model_config = ConfigDict(populate_by_name=True)

    schema_: Literal["teff-record-1"] = Field(alias="schema")
    system: Annotated[str, Field(min_length=1)]
    variant: Annotated[str, Field(min_length=1)]
    version: str | None = None
    graphs: tuple[Graph, ...] = ()
    nodes: Count | None = None
    workers: Annotated[int, Field(ge=1)] | None = None
    ranks: Annotated[int, Field(ge=1)] | None = None
    isa: str | None = None
    elapsed_seconds: Annotated[float, Field(ge=0)] | None = None
    tasks: Count | None = None
    dependencies: Count | None = None
    flops: Count | None = None
    bytes: Count | None = None
    local_dependencies: Count | None = None
    nonlocal_dependencies: Count | None = None
    validation: Validation | None = None
    disturbance: Disturbance | None = None
    started_at: datetime | None = None
    error: Annotated[str, Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def _good_or_failed(self) -> Self:
        """Refuses the record in between: numbers missing or validation failed, yet no `error`."""
        if self.error is not None:
            return self
        missing = [name for name in _MEASURED if getattr(self, name) is None]
        missing += [name for name in _MAY_BE_NULL if name not in self.model_fields_set]
        if not self.graphs:
            missing.insert(0, "graphs")
        if missing:
            raise ValueError(f"no error is given, yet these are missing: {', '.join(missing)}")
        validation = self.validation
        if validation is not None and validation.enabled:
            if not validation.passed or validation.error is not None:
                raise ValueError("validation did not pass, yet no error is given")
            if validation.checksum != validation.expected:
                raise ValueError("validation is said to have passed with a checksum not as expected")
        return self

    @property
    def ok(self) -> bool:
        """Whether the run finished and, where validation was on, passed it."""
        return self.error is None

    @property
    def proven(self) -> bool:
        """Whether the run validated itself: what a curve or table may show."""
        return self.ok and self.validation is not None and self.validation.enabled

    @property
    def wall_seconds(self) -> float:
        """Wall time of the timed region [s]. Raises RecordError for a failed record or a zero time."""
        if self.error is not None or self.elapsed_seconds is None:
            raise RecordError(f"a failed record has no numbers: {self.error}")
        if self.elapsed_seconds == 0:
            raise RecordError("elapsed_seconds is 0: the run was too short to be timed; add timesteps")
        return self.elapsed_seconds

    @property
    def granularity(self) -> float:
        """Wall time x cores / tasks [s]: the mean time a core spends on a task, overhead included."""
        wall = self.wall_seconds
        if not self.tasks or self.workers is None:
            raise RecordError("a record without tasks has no granularity")
        return wall * self.workers / self.tasks

    @property
    def flops_per_second(self) -> float:
        """Achieved rate of all workers [FLOP/s]."""
        return (self.flops or 0) / self.wall_seconds

    @property
    def bytes_per_second(self) -> float:
        """Achieved memory rate of all workers [B/s]."""
        return (self.bytes or 0) / self.wall_seconds

    @property
    def tasks_per_second(self) -> float:
        """Tasks finished a second by all workers: what there is to say of empty kernels."""
        return (self.tasks or 0) / self.wall_seconds

    @property
    def rate_unit(self) -> str:
        """The unit of `rate`: `FLOP/s` where the kernel computes, `B/s` where it copies, else `task/s`."""
        if self.flops:
            return "FLOP/s"
        return "B/s" if self.bytes else "task/s"

    @property
    def rate(self) -> float:
        """The rate that suits the kernel, in `rate_unit`: what efficiency is a share of."""
        rates = {"FLOP/s": self.flops_per_second, "B/s": self.bytes_per_second}
        return rates.get(self.rate_unit, self.tasks_per_second)

    @property
    def round_trip(self) -> float | None:
        """How far apart the cores were [s], where the program measured it."""
        return self.disturbance.round_trip_seconds if self.disturbance else None

    @property
    def cpu_share(self) -> float:
        """CPU time / (wall time x workers): under 1 where workers slept or the machine took cores away."""
        wall = self.wall_seconds
        if self.disturbance is None or self.workers is None:
            raise RecordError("the record does not say its CPU time")
        return self.disturbance.cpu_seconds / (wall * self.workers)


def parse_line(line: str) -> Record:
    """The record a program printed as `line`.

    Raises RecordError with one line that names the first field at fault and what was there.
    """
    text = line.strip()
    if not text:
        raise RecordError("an empty line is no record: did the program end without answering?")
    try:
        return Record.model_validate_json(text)
    except ValidationError as failure:
        raise RecordError(f"no valid record ({first_fault(failure)}): {shortened(text)}") from None


def first_fault(failure: ValidationError) -> str:
    """The first fault of a pydantic failure as `where: what`, and how many more there are."""
    faults = failure.errors(include_url=False)
    fault = faults[0]
    where = ".".join(str(part) for part in fault["loc"])
    what = fault["msg"].removeprefix("Value error, ")
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    return f"{where}: {what}{more}" if where else f"{what}{more}"


def shortened(text: str, most: int = 120) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
