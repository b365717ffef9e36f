"""The record of a task graph's run: the head of every record, and the graphs with their counters.

Only this module of the lab derives these values (granularity, rates).
"""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from tefflab.records.record import Count, Hex64, Record, RecordError, Share, Strict, Validation


class Graph(Strict):
    """One task graph of a case, every parameter spelled out."""

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


class GraphValidation(Validation, extra="forbid"):
    """Whether each task saw the inputs it was owed, as the program checked while it ran."""

    enabled: bool
    checksum: Hex64
    expected: Hex64
    error: str | None

    @model_validator(mode="after")
    def _nothing_passes_unchecked(self) -> Self:
        if self.passed and not self.enabled:
            raise ValueError("validation is said to have passed, yet it was switched off")
        return self


class GraphRecord(Record, extra="forbid"):
    """One run of one program."""

    needed: ClassVar[tuple[str, ...]] = (
        "graphs",
        "nodes",
        "isa",
        "tasks",
        "dependencies",
        "flops",
        "bytes",
    )
    more_work: ClassVar[str] = "add timesteps"
    _may_be_null: ClassVar[tuple[str, ...]] = ("local_dependencies", "nonlocal_dependencies")

    benchmark: Literal["task_graph"]
    graphs: tuple[Graph, ...] = ()
    nodes: Count | None = None
    isa: str | None = None
    tasks: Count | None = None
    dependencies: Count | None = None
    flops: Count | None = None
    bytes: Count | None = None
    local_dependencies: Count | None = None
    nonlocal_dependencies: Count | None = None
    validation: GraphValidation | None = None

    def fault(self) -> str:
        if missing := [name for name in self._may_be_null if name not in self.model_fields_set]:
            return f"these are missing: {', '.join(missing)}"
        seen = self.validation
        if seen is None or not seen.enabled:
            return ""
        if not seen.passed or seen.error is not None:
            return "validation did not pass"
        return (
            ""
            if seen.checksum == seen.expected
            else "validation is said to have passed with a checksum not as expected"
        )

    @property
    def proven(self) -> bool:
        """Whether the run validated itself: only such a run may stand in a curve or table."""
        return self.ok and self.validation is not None and self.validation.enabled

    @property
    def granularity(self) -> float:
        """Wall time x cores / tasks [s]: the mean time a core spends on a task, overhead included."""
        wall = self.wall_seconds
        if not self.tasks or self.workers is None:
            raise RecordError("a record without tasks has no granularity")
        return wall * self.workers / self.tasks

    @property
    def iterations(self) -> int:
        """Of a task; 0 for empty tasks, with any flags."""
        first = self.graphs[0]
        return 0 if first.kernel == "empty" else first.iterations

    @property
    def rate_unit(self) -> str:
        """The unit of `rate`: `FLOP/s` where the kernel computes, `B/s` where it copies, else `task/s`."""
        if self.flops:
            return "FLOP/s"
        return "B/s" if self.bytes else "task/s"

    @property
    def rate(self) -> float:
        """The rate that suits the kernel, in `rate_unit`; efficiency is a share of it."""
        return (self.flops or self.bytes or self.tasks or 0) / self.wall_seconds
