"""Runs the questions of a sitting: calls programs, with a ceiling just before and after if the kind wants it.

Every answer is in the store before the next question is asked. A resumed sitting takes the answers that the store has,
and starts programs only for the missing answers.
"""

import math
import statistics
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Generic

from tefflab.benchmarks.benchmark import Ask, Benchmark, Question, Round
from tefflab.errors import TeffError
from tefflab.host.load import Competitors, Load
from tefflab.host.ranks import on_nodes
from tefflab.measure.batch import BatchProgram, LackingError, ProgramError
from tefflab.measure.noise import is_disturbed, is_noisy
from tefflab.records.plan import Case
from tefflab.records.record import AnyRecord, parse_record
from tefflab.records.run import Beside, Failure, Role, Run, RunKey
from tefflab.records.store import Store
from tefflab.systems.systems import Program

IN_VAIN = 2  # repeats in a round that were noisy again, after which the runner stops repeating: the noise will last
_LEAST_PATIENCE = 20.0  # seconds for an answer, even in a short sitting
_CEILINGS = 20  # runs of the ceiling over several nodes before the first round
_SIMULATED_CEILINGS = 2  # which are equal
_FRESH = 0.25  # seconds for which the ceiling after one run is the ceiling before the next


class Runner(Generic[AnyRecord]):
    """The current program and the store of one sitting. Close it when done."""

    def __init__(
        self, root: Path, store: Store, sitting: str, kind: Benchmark[AnyRecord], budget: float = math.inf
    ) -> None:
        """`budget`: seconds of the sitting."""
        self._root = root
        self._store = store
        self._sitting = sitting
        self._kind = kind
        self._known: defaultdict[RunKey, deque[Run[AnyRecord]]] = defaultdict(deque)
        # Seconds of the runs on this machine, by place and round.
        self._taken: defaultdict[Hashable, defaultdict[Hashable, float]] = defaultdict(lambda: defaultdict(float))
        machines = {each.sitting: each.machine.id for each in store.sittings(kind.name)}
        for run in store.runs(kind.record):
            if run.sitting == sitting:
                self._known[run.key].append(run)
            if run.sitting in machines and machines[run.sitting] == machines.get(sitting):
                place = run.system_id, run.configuration, run.workers
                self._taken[place][run.sitting, run.round] += run.record.elapsed_seconds
        self.goes_on = bool(self._known)  # whether the sitting had runs before
        self._attempts: Counter[RunKey] = Counter()
        # By the variants' names of their ceilings, and by nodes.
        self._ceilings: dict[tuple[str, int | None], _Ceiling[AnyRecord]] = {}
        self._round: Round[AnyRecord] | None = None
        self._started: Program | None = None
        self._budget = budget
        self._program: BatchProgram | None = None
        self._competitors: Competitors | None = None  # beside it
        self._latest_beside: Beside | None = None
        self._is_measuring = False  # whether the round has asked a question without an answer in the store
        self.round_trip: float | None = None  # the distance of the cores after the latest run [s]
        self._in_vain = 0  # repeats in this round that were noisy again
        self._warm_up = ""  # the first question of the round, if the store answered it

    def close(self, patiently: bool = True) -> None:
        self._leave(patiently)
        for each in self._ceilings.values():
            each.close(patiently)

    def foreseen(self, one: Round[AnyRecord]) -> float:
        """How many seconds a round takes, by the store's sittings on this machine; 0 where they do not tell it."""
        cases = [question.case for question in one.questions]
        places = [(one.variant.id, case.configuration, case.workers) for case in cases]
        if not all(place in self._taken for place in places):
            return 0.0
        return sum(statistics.median(self._taken[place].values()) for place in places)

    @contextmanager
    def begin(self, one: Round[AnyRecord], program: Program) -> Iterator[None]:
        """Within it `ask` asks this variant, whose program is started by the first question new to the store."""
        self._round, self._started, self._warm_up, self._in_vain = one, program, "", 0
        self._is_measuring = False
        try:
            yield
        except BaseException:
            self._leave(patiently=False)
            raise
        self._leave(patiently=True)

    def ask(
        self, question: Question[AnyRecord], number: int, is_over: Callable[[float], bool]
    ) -> tuple[list[Run[AnyRecord]], bool]:
        """One round of a question: its runs, and whether it came to its own end. It ends between two runs when
        `is_over` for the next, whose time it passes. A noisy run is repeated, as often as is wanted, as long as that
        helps."""
        runs: list[Run[AnyRecord]] = []
        asking = question.round()
        is_whole = False
        try:
            wanted = next(asking)
            while not is_over(wanted.seconds):
                attempts = [self._asked(question.case, number, wanted)]
                while attempts[-1].noisy and len(attempts) < wanted.attempts and self._in_vain < IN_VAIN:
                    attempts.append(self._asked(question.case, number, wanted))
                    self._in_vain += attempts[-1].noisy
                runs += attempts
                wanted = asking.send(attempts)
        except StopIteration:
            is_whole = True
        return runs, is_whole

    def put_back(self, runs: Sequence[Run[AnyRecord]]) -> None:
        """These answers are given again when their round is asked again, so that it goes on behind them."""
        for run in reversed(runs):
            self._known[run.key].appendleft(run)
            self._attempts[run.key] -= 1

    def give_up(self, one: Round[AnyRecord], number: int, reason: str, at: str, **why: bool) -> Failure:
        """Keeps why this variant is asked no more, or about this case no more; without a reason, that it is again.
        `why`, as a failure has it: `lacks` or `lost`."""
        case = one.case
        failure = Failure(
            sitting=self._sitting,
            round=number,
            system_id=one.variant.id,
            reason=reason,
            configuration=case.configuration if case else "",
            workers=case.workers if case else None,
            at=at,
            **why,
        )
        self._store.append("failures", failure)
        return failure

    def calibrate(self, case: Case, own: str = "") -> float:
        """The scale of a case, by the cores' ceiling or the variant's `own` ceiling; 1 if the kind has none."""
        if self._kind.reference is None:
            return 1.0
        reference = self._kind.reference.of(own)
        part = case
        if case.is_distributed and not self._kind.simulated:  # one of many nodes is disturbed, so short tasks seem long
            part = case.model_copy(update={"nodes": 1, "workers": case.workers // (case.nodes or 1)})
        for each in (part, case):
            if (own, each.nodes) not in self._ceilings:
                words = reference.command_line(self._root, each.workers, each.nodes)
                self._ceilings[own, each.nodes] = _Ceiling(reference.name, words, each.nodes)
        ceiling = self._ceilings[own, case.nodes]
        asking = reference.calibration(case, part)
        try:
            line = next(asking)
            while True:
                known = self._known.get(self._key(part, 0, "ceiling", reference.name, line))
                on = self._ceilings[own, part.nodes]
                line = asking.send(known.popleft().record if known else self._run_ceiling(on, part, 0, line))
        except StopIteration as said:
            ceiling.lines[case], scale = said.value
        ceilings = _SIMULATED_CEILINGS if self._kind.simulated else _CEILINGS
        for _ in range(ceilings if case.is_distributed else 0):
            self._ceiling_now(ceiling, case, 0)
        self._leave(patiently=True)
        return float(scale)

    def _asked(self, case: Case, number: int, wanted: Ask) -> Run[AnyRecord]:
        """The store's next answer to this question, or a new one."""
        assert self._round is not None
        key = self._key(case, number, wanted.role, self._round.variant.id, wanted.line)
        known = self._known.get(key)
        if known:
            if self._warm_up in ("", case.small):  # which warms nothing up
                self._warm_up = wanted.line
            run = known.popleft()
        else:
            self._is_measuring = True
            if wanted.warms_itself:
                self._warm_up = ""
            run = self._new_run(key, case)
            self._store.append("runs", run)
        self._attempts[key] += 1
        if run.round_trips is not None:
            self.round_trip = run.round_trips[1]
        return run

    def _new_run(self, key: RunKey, case: Case) -> Run[AnyRecord]:
        """A run of the program; of a system, between two runs of its ceiling, if it has one."""
        assert self._round is not None
        ceiling = self._ceilings.get((self._round.variant.ceiling, case.nodes)) if key.role == "system" else None
        fresh = math.inf if self._kind.simulated else _FRESH
        before = ceiling and (ceiling.latest(case, fresh) or self._ceiling_now(ceiling, case, key.round))
        record = self._ask_system(key.flags, case)
        after = before if self._kind.simulated else ceiling and self._ceiling_now(ceiling, case, key.round)
        beside = self._latest_beside
        noisy = key.role == "system" and is_disturbed(record, beside)
        trips = None
        rates = (before.rate or 0.0, after.rate or 0.0) if before and after else None
        if case.is_distributed:
            noisy = False
            rates = (ceiling.best(case),) * 2 if ceiling else None
        elif ceiling and before and after:
            noisy = is_noisy(record, before, after, statistics.median(ceiling.rates[case]), beside)
            if before.round_trip is not None and after.round_trip is not None:  # one worker has no neighbour
                trips = before.round_trip, after.round_trip
        assert self._program is not None
        return Run(
            sitting=self._sitting,
            **asdict(key),
            attempt=self._attempts[key],
            noisy=noisy,
            command=self._program.command,
            record=record,
            ceilings=rates,
            round_trips=trips,
            beside=beside,
        )

    def _ask_system(self, line: str, case: Case) -> AnyRecord:
        if self._program is None:
            assert self._round is not None
            assert self._started is not None
            workers = self._round.workers
            self._program = BatchProgram(
                self._round.variant.id,
                [*self._started.command_line(workers, case.ranks, case.nodes), "--workers", str(workers)],
                self._started.environment_for(workers) | on_nodes(case.nodes),
                case.cores,
            )
            if case.load:
                self._competitors = Competitors(Load.parse(case.load), self._root)
            if self._warm_up:  # the round goes on where it was interrupted, in a program that is cold
                self._program.ask(self._warm_up, self._patience)
        if self._competitors is None:
            self._latest_beside = None
            answer = self._program.ask(line, self._patience)
        else:
            with self._competitors.running():
                answer = self._program.ask(line, self._patience)
            load = self._competitors.load
            self._latest_beside = Beside(load=str(load), asked=load.share, got=self._competitors.share)
        record = parse_record(answer, self._kind.record)
        self._program.suspend()
        if self._started and self._started.asked and (refusal := self._started.asked.refusal(record.version)):
            raise ProgramError(refusal)
        if refusal := record.refusal(case.workers):
            raise ProgramError(refusal)
        if record.error is not None:
            kind = LackingError if record.lacks else ProgramError
            raise kind(record.error if line == case.flags else f"{record.error} ({line})")
        return record

    @property
    def is_from_store(self) -> bool:
        """Whether the latest round had answers, all from the store."""
        return bool(self._warm_up) and not self._is_measuring

    @property
    def _patience(self) -> float:
        """Seconds for one answer: no more than a short sitting has, but of a program that takes long to start."""
        is_slow = self._started is not None and self._started.slow_start
        return self._kind.timeout if is_slow else min(self._kind.timeout, max(_LEAST_PATIENCE, self._budget))

    def _ceiling_now(self, ceiling: "_Ceiling[AnyRecord]", case: Case, number: int) -> AnyRecord:
        record = self._run_ceiling(ceiling, case, number, ceiling.lines[case])
        ceiling.measured(case, record)
        return record

    def _run_ceiling(self, ceiling: "_Ceiling[AnyRecord]", case: Case, number: int, line: str) -> AnyRecord:
        program = ceiling.program
        record = parse_record(program.ask(line, self._kind.timeout), self._kind.record)
        program.suspend()
        if record.error is not None:
            raise TeffError(f"the ceiling could not be measured: {record.error} ({line})")
        if refusal := record.refusal(case.workers):
            raise TeffError(f"the ceiling {refusal}")
        key = asdict(self._key(case, number, "ceiling", program.name, line))
        run = Run(sitting=self._sitting, **key, attempt=0, noisy=False, command=program.command, record=record)
        self._store.append("runs", run)
        return record

    @staticmethod
    def _key(case: Case, number: int, role: Role, system_id: str, line: str) -> RunKey:
        return RunKey(number, role, system_id, case.configuration, case.workers, line)

    def _leave(self, patiently: bool) -> None:
        """Ends the programs of a round, and the ceiling's on other machines, where the lab can suspend none."""
        for each in self._ceilings.values():
            if each.nodes is not None:
                each.close(patiently)
        if self._program is not None:
            self._program.close(patiently)
        if self._competitors is not None:
            self._competitors.close()
        self._program = self._competitors = None


class _Ceiling(Generic[AnyRecord]):
    """The program that measures the ceiling, started once it is asked, and its last answer."""

    def __init__(self, name: str, words: Sequence[str], nodes: int | None) -> None:
        self._name, self._words, self.nodes = name, words, nodes
        self._program: BatchProgram | None = None
        self.lines: dict[Case, str] = {}
        self.rates: dict[Case, list[float]] = {}
        self._latest: tuple[Case, AnyRecord, float] | None = None  # and when it was measured

    @property
    def program(self) -> BatchProgram:
        if self._program is None:
            self._program = BatchProgram(self._name, self._words, on_nodes(self.nodes))
        return self._program

    def close(self, patiently: bool) -> None:
        if self._program is not None:
            self._program.close(patiently)
        self._program = None

    def best(self, case: Case) -> float:
        """The rate of the runs that no node's detours have disturbed, which over many nodes are few."""
        return statistics.quantiles(self.rates[case], n=10)[-1]

    def measured(self, case: Case, record: AnyRecord) -> None:
        self._latest = (case, record, time.monotonic())
        self.rates.setdefault(case, []).append(record.rate or 0.0)

    def latest(self, case: Case, fresh: float) -> AnyRecord | None:
        """Of this case, where it is no older [s]."""
        if self._latest is None:
            return None
        of, record, at = self._latest
        return record if of == case and time.monotonic() - at < fresh else None
