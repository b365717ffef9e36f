"""A throw-away kind of benchmark: all that the lab needs to know of a kind. Its programs are the spawn adapters'
own."""

from tefflab.benchmarks.case_rows import Fact
from tefflab.benchmarks.cases import CaseBenchmark
from tefflab.output.quantities import percent
from tefflab.records.record import Record


class ToyRecord(Record):
    """One run: how long a nap took, and what share of it was slept. It has no schema but that of all records' head."""

    def fault(self) -> str:
        return "" if self.get("nap_seconds") else "nobody slept"


class Toy(CaseBenchmark[ToyRecord]):
    name = "toy"
    adapters = "spawn"
    measured = "naps"
    record = ToyRecord
    quantity = "a nap"
    meaning = "Time of a nap against the workers, with 95 % intervals; smaller is better."
    title = "What a nap takes"
    help = "Measure how long a nap takes."
    example = "teff measure toy --cases short"
    lesson = "a toy costs what it costs"
    facts = (Fact("slept_share", "slept", percent),)

    def value(self, record: ToyRecord) -> float:
        return float(record.get("nap_seconds"))


BENCHMARK = Toy()
