"""Real programs, each written once and run by every system: their times, and geometric means over all of them."""

from collections.abc import Mapping, Sequence
from typing import Any

from tefflab.benchmarks.benchmark import Option
from tefflab.benchmarks.case_rows import Fact
from tefflab.benchmarks.cases import CaseBenchmark, ListedCase, refuse_unknown
from tefflab.benchmarks.compared import ComparedBenchmark
from tefflab.records.record import Checked
from tefflab.systems.registry import Registry

_MIB = 1 << 20
_SCALES = ("tiny", "usual", "large")


class ProgramRecord(Checked):
    """One run of one program; the expected checksum is that of one thread."""

    schema = "programs"

    def fault(self) -> str:
        return super().fault() or ("" if self.elapsed_seconds else "there was no time")


class Programs(ComparedBenchmark[ProgramRecord]):
    name = "programs"
    runs_beside_load = True
    measured = "programs"
    row_word = "program"
    mean = "geometric mean"
    record = ProgramRecord
    quantity = "a run"
    meaning = "Time of a run, divided by that of one system, with 95 % intervals; smaller is better."
    title = "Real programs"
    help = "Measure real programs on every system, and their geometric mean against one of them."
    example = "teff measure programs --workers 2 --minutes 10"
    lesson = "a ratio is what the choice of a system makes of a whole program, its work and its tasks together"
    options = (
        *CaseBenchmark.options,
        Option("--scale", "How large the inputs are: tiny, usual or large. [usual]", metavar="WORD"),
        Option("--against"),
    )
    facts = (Fact("peak_rss_bytes", "RSS,\nMiB", lambda count: f"{count / _MIB:.0f}"),)

    def check(self, registry: Registry, own: Mapping[str, Any]) -> None:
        """TeffError for a scale that there is not, too."""
        self.choose([], {"scale": own.get("scale")})
        super().check(registry, own)

    def choose(self, listed: Sequence[ListedCase], own: Mapping[str, Any]) -> list[ListedCase]:
        refuse_unknown("scale", [own.get("scale") or "usual"], _SCALES)
        flags = f" -scale {own['scale']}" if own.get("scale") else ""
        return [each.model_copy(update={"flags": each.flags + flags}) for each in super().choose(listed, own)]


BENCHMARK = Programs()
