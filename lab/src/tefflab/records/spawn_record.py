"""The record of a spawn pattern's run (schema `teff-spawn-record-1`, `bench/patterns/spawn_record.schema.json`).

The program counts and validates; the lab reads. What is derived here (seconds a task) is derived nowhere else. As in
`tefflab.records.record`, a record is either good or carries an `error`; one in between is refused.
"""

from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import Field, JsonValue, ValidationError, model_validator

from tefflab.records.record import Count, Disturbance, RecordError, Strict, first_fault, shortened

_GAPS = 0.10  # share of the spins beside a run that may be lost in gaps

_MEASURED = (
    "version",
    "workers",
    "pattern",
    "parameters",
    "tasks",
    "elapsed_seconds",
    "peak_rss_bytes",
    "peak_rss_above_empty_bytes",
    "validation",
    "disturbance",
    "started_at",
)


class SpawnValidation(Strict):
    """What the run counted beside what it should have."""

    passed: bool
    found: dict[str, int]
    expected: dict[str, int]


class SpawnRecord(Strict):
    """One run of one pattern. Where `error` is set the run is no measurement, whatever else is known."""

    schema_: Literal["teff-spawn-record-1"] = Field(alias="schema")
    system: Annotated[str, Field(min_length=1)]
    variant: Annotated[str, Field(min_length=1)]
    version: str | None = None
    workers: Annotated[int, Field(ge=1)] | None = None
    pattern: Literal["serial", "parallel", "fibonacci", "tree"] | None = None
    parameters: dict[str, JsonValue] | None = None
    tasks: Count | None = None
    elapsed_seconds: Annotated[float, Field(ge=0)] | None = None
    peak_rss_bytes: Count | None = None
    peak_rss_above_empty_bytes: int | None = None
    generator_seconds: Annotated[float, Field(ge=0)] | None = None
    validation: SpawnValidation | None = None
    disturbance: Disturbance | None = None
    started_at: datetime | None = None
    error: Annotated[str, Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def _good_or_failed(self) -> Self:
        if self.error is not None:
            return self
        missing = [name for name in _MEASURED if getattr(self, name) is None]
        if missing:
            raise ValueError(f"no error is given, yet these are missing: {', '.join(missing)}")
        validation = self.validation
        if validation is None or not validation.passed or validation.found != validation.expected:
            raise ValueError("validation did not pass, yet no error is given")
        if not self.tasks or not self.elapsed_seconds:
            raise ValueError("no error is given, yet there was no task or no time")
        return self

    @property
    def seconds_per_task(self) -> float:
        """Wall time / tasks [s]: the runtime's inverse rate, with all its workers. RecordError for a failed record."""
        if self.error is not None or not self.tasks or not self.elapsed_seconds:
            raise RecordError(f"a failed record has no numbers: {self.error}")
        return self.elapsed_seconds / self.tasks

    @property
    def gap_share(self) -> float:
        """The worse of the shares of a spin just before and just after the run that were lost in gaps."""
        seen = self.disturbance
        return max(seen.gap_share_before, seen.gap_share_after) if seen else 0.0

    @property
    def is_disturbed(self) -> bool:
        """Whether the machine was too busy elsewhere for the run to count."""
        return self.gap_share > _GAPS


def parse_spawn_line(line: str) -> SpawnRecord:
    """The record a program printed as `line`. RecordError names the first field at fault."""
    try:
        return SpawnRecord.model_validate_json(line.strip())
    except ValidationError as failure:
        raise RecordError(f"no valid record ({first_fault(failure)}): {shortened(line.strip())}") from None
