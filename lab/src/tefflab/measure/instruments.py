"""The hands of a sitting: runs a configuration on a system with the ceiling just before and just after it.

Every answer is in the store before the next question is asked. A sitting that is resumed asks its questions again, in
the same order, and takes what the store has; programs are started only when something is left to be measured.
"""

import statistics
import time
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tefflab.benchmarks.configuration import Configuration
from tefflab.errors import BAD_INPUT, TeffError
from tefflab.measure.batch import BatchProgram, ProgramError
from tefflab.measure.noisy import is_disturbed
from tefflab.records.record import Record
from tefflab.records.store import Envelope, Failure, Role, RunKey, Store
from tefflab.systems.systems import BUILD_FOLDER, Variant

CEILING = "ceiling"
ATTEMPTS = 3  # of one point, where it is disturbed
TIMEOUT = 60.0  # seconds for one answer
_LEAST_TASK = 20e-6  # seconds of one task of the ceiling: what its loop costs is lost in that
_CALIBRATIONS = 4  # runs of the ceiling that must all find its tasks long enough
_CEILING_SECONDS = 0.02  # of one run of the ceiling,
_MEMORY_SECONDS = 0.1  # and where it moves bytes: its first pass over cold pages, about 2 ms, has to be lost in that
_FRESH = 0.25  # seconds for which the ceiling after one run is the ceiling before the next


class Instruments:
    """The ceiling's program, the system at hand, and the store of one sitting. Close it when done."""

    def __init__(self, root: Path, store: Store, sitting: str, workers: int) -> None:
        self.workers = workers
        self._root = root
        self._store = store
        self._sitting = sitting
        self._known = {key: deque(answers) for key, answers in store.done(sitting).items()}
        self._attempts: Counter[RunKey] = Counter()
        self._ceiling = BatchProgram(
            CEILING, [str(root / BUILD_FOLDER / "bin" / "ceiling"), "--workers", str(workers)], {}
        )
        self._ceiling_lines: dict[Configuration, str] = {}
        self._rates: dict[Configuration, list[float]] = {}
        self._latest: tuple[Configuration, Record, float] | None = None  # the last ceiling, and when it was measured
        self._variant: Variant | None = None
        self._program: BatchProgram | None = None

    def close(self, patiently: bool = True) -> None:
        self._leave(patiently)
        self._ceiling.close(patiently)

    @property
    def round_trip(self) -> float | None:
        """How far apart the cores were when the ceiling last ran [s]."""
        return None if self._latest is None else self._latest[1].round_trip

    @contextmanager
    def launch(self, variant: Variant) -> Iterator[None]:
        """Within it `measure` asks this variant, which is started by the first question new to the store."""
        self._variant = variant
        try:
            yield
        except BaseException:
            self._leave(patiently=False)
            raise
        self._leave(patiently=True)

    def give_up(self, variant: Variant, turn: int, reason: str) -> None:
        """Keeps why this variant is asked no more."""
        self._store.append_failure(Failure(sitting=self._sitting, round=turn, system_id=variant.id, reason=reason))

    def seconds_per_iteration(self, configuration: Configuration) -> float:
        """Ideal time of one iteration of one task on one core. Runs the ceiling until its tasks are long enough.

        TeffError where the kernel has no rate, or its tasks do not grow with the iterations.
        """
        iterations = 1
        while (quickest := self._calibrated(configuration, iterations)).granularity < _LEAST_TASK:
            if iterations > 1 << 30:
                raise TeffError(f"{configuration.title}: its tasks do not grow with -iter: nothing to search for")
            iterations *= 2
        wanted = _MEMORY_SECONDS if quickest.bytes else _CEILING_SECONDS
        steps = max(10, round(wanted / quickest.granularity))
        self._ceiling_lines[configuration] = configuration.ceiling_line(self.workers, steps, iterations)
        return quickest.granularity / iterations

    def _calibrated(self, configuration: Configuration, iterations: int) -> Record:
        """A short run of the ceiling with so many iterations. One that seems long enough may only have been disturbed,
        so it is made again; the quickest counts."""
        line = configuration.ceiling_line(self.workers, 10, iterations)
        key = RunKey(0, "ceiling", CEILING, configuration.flags, line)
        runs: list[Record] = []
        for _ in range(_CALIBRATIONS):
            known = self._known.get(key)
            record = known.popleft().record if known else self._run_ceiling(line, 0, configuration)
            if not record.flops and not record.bytes:
                raise TeffError(
                    f"{configuration.title}: this kernel counts neither FLOPs nor bytes, so it has no efficiency; "
                    "METG needs one that does, as -kernel compute_bound",
                    exit_code=BAD_INPUT,
                )
            runs.append(record)
            if record.granularity < _LEAST_TASK:
                break
        return min(runs, key=lambda each: each.granularity)

    def probe(self, configuration: Configuration, turn: int, line: str) -> Record:
        """A run that only warms the launch up and says about how long a task takes."""
        return self._asked("probe", configuration, turn, line).record

    def measure(self, configuration: Configuration, turn: int, line: str) -> list[Envelope]:
        """One run with its ceilings; where it is disturbed again, ATTEMPTS times in all. All attempts, in order."""
        attempts = [self._asked("system", configuration, turn, line)]
        while attempts[-1].disturbed and len(attempts) < ATTEMPTS:
            attempts.append(self._asked("system", configuration, turn, line))
        return attempts

    def _asked(self, role: Role, configuration: Configuration, turn: int, line: str) -> Envelope:
        """The store's next answer to this question, or a new one."""
        assert self._variant is not None
        key = RunKey(turn, role, self._variant.id, configuration.flags, line)
        known = self._known.get(key)
        if known:
            self._attempts[key] += 1
            return known.popleft()
        run = self._with_ceilings if role == "system" else self._without
        envelope = run(key, configuration, line)
        self._attempts[key] += 1
        self._store.append(envelope)
        return envelope

    def _without(self, key: RunKey, _configuration: Configuration, line: str) -> Envelope:
        record = self._ask_system(line)
        return self._envelope(key, record, disturbed=False)

    def _with_ceilings(self, key: RunKey, configuration: Configuration, line: str) -> Envelope:
        before = self._ceiling_before(configuration, key.round)
        record = self._ask_system(line)
        after = self._ceiling_now(configuration, key.round)
        disturbed = is_disturbed(record, before, after, statistics.median(self._rates[configuration]))
        return self._envelope(key, record, disturbed, (before, after))

    def _envelope(
        self, key: RunKey, record: Record, disturbed: bool, ceilings: tuple[Record, Record] | None = None
    ) -> Envelope:
        assert self._program is not None
        return Envelope(
            sitting=self._sitting,
            round=key.round,
            system_id=key.system_id,
            role=key.role,
            attempt=self._attempts[key],
            disturbed=disturbed,
            command=self._program.command,
            flags=key.flags,
            record=record,
            configuration=key.configuration,
            ceilings=(ceilings[0].rate, ceilings[1].rate) if ceilings else None,
            round_trips=_round_trips(*ceilings) if ceilings else None,
        )

    def _ask_system(self, line: str) -> Record:
        if self._program is None:
            assert self._variant is not None
            self._program = BatchProgram(
                self._variant.id,
                [*self._variant.command_line(self._root, self.workers), "--workers", str(self.workers)],
                self._variant.environment_for(self._root, self.workers),
            )
        record = self._program.ask(line, TIMEOUT)
        self._program.suspend()
        if record.error is not None:
            raise ProgramError(f"{self._program.name}: {record.error} ({line})")
        return record

    def _ceiling_before(self, configuration: Configuration, turn: int) -> Record:
        if self._latest is not None:
            of, record, at = self._latest
            if of == configuration and time.monotonic() - at < _FRESH:
                return record
        return self._ceiling_now(configuration, turn)

    def _ceiling_now(self, configuration: Configuration, turn: int) -> Record:
        record = self._run_ceiling(self._ceiling_lines[configuration], turn, configuration)
        self._latest = (configuration, record, time.monotonic())
        self._rates.setdefault(configuration, []).append(record.rate)
        return record

    def _run_ceiling(self, line: str, turn: int, configuration: Configuration) -> Record:
        record = self._ceiling.ask(line, TIMEOUT)
        self._ceiling.suspend()
        if record.error is not None:
            raise TeffError(f"the ceiling could not be measured: {record.error} ({line})")
        self._store.append(
            Envelope(
                sitting=self._sitting,
                round=turn,
                system_id=CEILING,
                role="ceiling",
                attempt=0,
                disturbed=False,
                command=self._ceiling.command,
                flags=line,
                record=record,
                configuration=configuration.flags,
            )
        )
        return record

    def _leave(self, patiently: bool) -> None:
        if self._program is not None:
            self._program.close(patiently)
        self._program = None


def _round_trips(before: Record, after: Record) -> tuple[float, float] | None:
    """None for one worker, who is near to himself."""
    first, last = before.round_trip, after.round_trip
    return None if first is None or last is None else (first, last)
