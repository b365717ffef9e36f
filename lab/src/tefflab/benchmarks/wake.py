"""Wake and park: how long a task waits for a worker that has gone to sleep, and what idle workers cost."""

from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from tefflab.benchmarks.case_rows import Fact
from tefflab.benchmarks.cases import CaseBenchmark
from tefflab.output.quantities import digits, duration, percent
from tefflab.records.record import Count, Record, RecordError, Strict, Validation

Seconds = Annotated[float, Field(ge=0)]


class Quantiles(Strict):
    """Of the wakes of one run [s]."""

    median: Seconds
    p95: Seconds


class Parameters(Strict):
    wakes: Annotated[int, Field(ge=1)]
    idle_seconds: Seconds


class WakeValidation(Validation, extra="forbid"):
    """Tasks that another worker took, beside those that were spawned for it."""

    found: Count
    expected: Count


class WakeRecord(Record, extra="forbid"):
    """One run: `bare_wake_seconds` are of a thread that sleeps in a futex, before the system was started."""

    needed: ClassVar[tuple[str, ...]] = ("parameters", "wake_seconds", "idle_cpu_share")

    benchmark: Literal["wake"]
    parameters: Parameters | None = None
    wake_seconds: Quantiles | None = None
    bare_wake_seconds: Quantiles | None = None
    idle_cpu_share: Annotated[float, Field(ge=0)] | None = None
    validation: WakeValidation | None = None

    def fault(self) -> str:
        seen = self.validation
        return "" if seen and seen.passed and seen.found == seen.expected else "not every task found another worker"

    @property
    def times_bare(self) -> float | None:
        """How many times the machine's own wake it took; None where there is no second core to measure that on."""
        if self.wake_seconds is None or self.bare_wake_seconds is None:
            return None
        return self.wake_seconds.median / self.bare_wake_seconds.median


class Wake(CaseBenchmark[WakeRecord]):
    """It runs on the adapters of spawned tasks: every system that can spawn a task can also sleep without one."""

    name = "wake"
    adapters = "spawn"
    measured = "wakes"
    record = WakeRecord
    quantity = "a wake"
    meaning = "From spawning a task until it has begun on another worker, with 95 % intervals; smaller is better."
    title = "How long a worker takes to wake"
    help = "Measure how long a worker takes to wake after a pause (the case), and the CPU that idle workers burn."
    example = "teff measure wake --cases 1ms"
    lesson = "a wake is what a task waits for a worker that sleeps: shorter work is over before help comes"
    facts = (
        Fact(
            "idle_cpu_share",
            lambda record: record.idle_cpu_share,
            "CPU while\nidle",
            percent,
            meaning="of all workers' time",
        ),
        Fact("p95_seconds", lambda record: record.wake_seconds.p95 if record.wake_seconds else None, "p95", duration),
        Fact(
            "times_bare",
            lambda record: record.times_bare,
            "times\na futex",
            lambda times: digits(times, 2),
            meaning="beside the machine's own wake of a thread in the same run",
        ),
    )

    def usual_workers(self, cores: int) -> Sequence[int]:
        return (cores,)

    def value(self, record: WakeRecord) -> float:
        if record.wake_seconds is None:
            raise RecordError(f"a failed record has no numbers: {record.error}")
        return record.wake_seconds.median


BENCHMARK = Wake()
