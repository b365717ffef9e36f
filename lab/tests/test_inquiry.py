"""What one round asks of a system, and what it may not pass on to the next."""

import json
from typing import cast

import pytest

from simulated_program import SECONDS_PER_ITERATION, record
from simulated_sitting import CONFIGURATION
from tefflab.analysis.results import Contender
from tefflab.benchmarks.configuration import Configuration, parse
from tefflab.benchmarks.inquiry import CurveInquiry, Inquiry, MetgInquiry
from tefflab.benchmarks.shape import LEAST_SECONDS
from tefflab.measure.instruments import Instruments
from tefflab.records.record import Record, parse_line
from tefflab.records.store import Envelope, Role

OVERHEAD = 1e-6
CONTENDER = Contender(id="one", title="one", version="1", color="#000000", variant_index=0)


class HardStart:
    """Instruments whose system does empty tasks `slowness` times as slowly in the first round, and not after."""

    workers = 2

    def __init__(self, slowness: float) -> None:
        self._slowness = slowness

    def probe(self, configuration: Configuration, turn: int, line: str) -> Record:
        return self._asked("probe", configuration, turn, line).record

    def measure(self, configuration: Configuration, turn: int, line: str) -> list[Envelope]:
        return [self._asked("system", configuration, turn, line)]

    def _asked(self, role: Role, configuration: Configuration, turn: int, line: str) -> Envelope:
        slow = turn == 0 and "-kernel empty" in line
        answer = record("one", OVERHEAD * (self._slowness if slow else 1), line, turn)
        ceiling = 2 * 128 / SECONDS_PER_ITERATION
        return Envelope(
            sitting="one",
            round=turn,
            system_id="one",
            role=role,
            attempt=0,
            disturbed=False,
            command="one",
            flags=line,
            record=parse_line(json.dumps(answer)),
            configuration=configuration.flags,
            ceilings=(ceiling, ceiling),
        )


@pytest.mark.parametrize("slowness", [1, 20])
@pytest.mark.parametrize("kind", ["metg", "curve"])
def test_runs_last_as_long_as_they_should_whatever_an_earlier_round_mistook(kind: str, slowness: float) -> None:
    configuration = Configuration(parse(CONFIGURATION.split(), 2).graphs, None)
    inquiry: Inquiry = MetgInquiry(CONTENDER, configuration, SECONDS_PER_ITERATION, 0.5)
    if kind == "curve":
        inquiry = CurveInquiry(CONTENDER, configuration, SECONDS_PER_ITERATION, (1, 100, 1000, 10_000))
    instruments = cast("Instruments", HardStart(slowness))
    for turn in range(4):
        inquiry.measure(instruments, turn)
    later = [run for run in inquiry.runs if run.round > 0]
    assert {run.round for run in later} == {1, 2, 3}
    for run in later:
        assert run.record.elapsed_seconds == pytest.approx(LEAST_SECONDS, rel=0.15), run.flags
