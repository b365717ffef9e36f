"""Wake and park: how long a task waits for a worker that has gone to sleep, and what idle workers cost."""

from tefflab.benchmarks.case_rows import Fact
from tefflab.benchmarks.cases import CaseBenchmark
from tefflab.output.quantities import digits, duration, percent
from tefflab.records.record import Record


class WakeRecord(Record):
    """One run: `bare_wake_seconds` are of a thread that sleeps in a futex, before the system was started."""

    schema = "wake"

    def fault(self) -> str:
        found, expected = (self.get("validation", each) for each in ("found", "expected"))
        return "" if found == expected else "not every task found another worker"

    @property
    def times_bare(self) -> float | None:
        """How many times the machine's own wake it took; None where there is no second core to measure that on."""
        own, bare = self.get("wake_seconds", "median"), self.get("bare_wake_seconds", "median")
        return own / bare if own and bare else None


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
    usual_workers = (0,)
    lesson = "a wake is what a task waits for a worker that sleeps: shorter work is over before help comes"
    facts = (
        Fact("idle_cpu_share", "CPU while\nidle", percent, meaning="of all workers' time"),
        Fact("p95_seconds", "p95", duration, "wake_seconds.p95"),
        Fact(
            "times_bare",
            "times\na futex",
            lambda times: digits(times, 2),
            lambda record: record.times_bare,
            meaning="beside the machine's own wake of a thread in the same run",
        ),
    )

    def value(self, record: WakeRecord) -> float:
        return float(record.get("wake_seconds", "median") or record.has_no_numbers())


BENCHMARK = Wake()
