"""A whole sitting in simulated time: programs that cost what real ones cost, on a host as restless as a real one.

The lab's own code plans, repeats and estimates; only programs, clock and store are replaced. Of the programs, the tests
know a fact that no sitting can know: the true METG at each distance of the cores.
"""

import json
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from samples import sitting
from simulated_program import SECONDS_PER_ITERATION, flags_of, record
from simulated_sitting import Silent, plan
from tefflab.analysis.distance import Distance
from tefflab.analysis.rows import Row
from tefflab.benchmarks.task_graph import TaskGraph
from tefflab.benchmarks.task_graph.estimates import GraphEstimates, GraphRun, at_distance
from tefflab.benchmarks.task_graph.plan import GraphPlan
from tefflab.measure import runner as runner_module
from tefflab.measure import sitting as sitting_module
from tefflab.measure.runner import Runner
from tefflab.measure.sitting import Entry, Sitting
from tefflab.measure.time_budget import TimeBudget
from tefflab.records.plan import Case
from tefflab.records.record import Record
from tefflab.records.run import Run
from tefflab.systems.systems import Program as Started

NEAR, FAR = 55e-9, 330e-9  # seconds of a cache line's round trip
LEVEL = 1.01  # slowdown of the kernel inside every system
_ASKING = 0.004  # seconds of a question beside its run
_WORKERS = 2


@dataclass(frozen=True)
class Program:
    """Its costs, and its true METG(50 %)."""

    metg: float  # seconds, with the cores near to each other
    start: float = 0.03  # seconds, of a launch and of its end
    far: float = 2.0  # the factor of the overhead with the cores far from each other
    spread: float = 0.03  # of the overhead between launches

    def overhead(self, *, is_far: bool) -> float:
        return self.metg * (1 - 0.5 * LEVEL) * (self.far if is_far else 1.0)


PROGRAMS = (
    Program(0.18e-6), Program(0.22e-6), Program(0.26e-6), Program(0.365e-6, 0.45), Program(0.487e-6),
    Program(0.52e-6, 0.45), Program(0.53e-6), Program(0.74e-6, 0.45), Program(0.81e-6), Program(0.945e-6),
    Program(1.1e-6), Program(5.3e-6, spread=0.04), Program(9.7e-6, 0.1, 1.5, 0.04), Program(11.3e-6, 0.5, 1.5, 0.04),
    Program(22.6e-6, far=1.5, spread=0.04), Program(280e-6, 1.3, 1.2, 0.05), Program(6.5e-3, 1.8, 1.2, 0.05),
    Program(13e-3, 3.5, 1.2, 0.05),
)  # fmt: skip


@dataclass(frozen=True)
class Weather:
    """The host's behaviour. Durations in seconds."""

    near: float = 120.0  # mean stretch with the cores near to each other
    far: float = 10.0  # mean stretch with the cores far from each other; 0: they stay near
    calm: float = 16.0  # mean stretch without a neighbour on the same cores
    busy: float = 4.0  # mean stretch with a neighbour
    noise: float = 0.03  # of a run, lognormal
    gaps: float = 0.5  # a second, of 20 ms in the mean
    drift: float = 0.05  # amplitude of the machine's speed, which comes back after 150 s


STILL = Weather(far=0.0)
RARELY_MOVED = Weather()
OFTEN_MOVED = Weather(near=60.0, far=60.0)


class Host:
    """The clock and the noise that all programs share."""

    def __init__(self, weather: Weather, seed: int) -> None:
        self.weather = weather
        self.random = random.Random(seed)
        self.now = 0.0
        self.speeds: dict[float, float] = {}  # the machine's, by the seconds that a run took in it
        self._phase = self.random.uniform(0, 2 * math.pi)
        self._far = _Stretches(f"far {seed}", weather.near, weather.far)
        self._busy = _Stretches(f"busy {seed}", weather.calm, weather.busy)

    def monotonic(self) -> float:
        return self.now

    def is_far(self) -> bool:
        return self._far.is_second(self.now)

    def run(self, ideal: float, noise: float) -> tuple[float, dict[str, float]]:
        """Seconds of a run that takes `ideal` on a quiet machine, and its record's noise."""
        before = self._gap_share()
        taken = ideal * self.speed() * math.exp(self.random.gauss(0, noise))
        if self._busy.is_second(self.now):
            taken *= 1 + self.random.expovariate(1 / 0.3)
        hits = int(np.random.default_rng(self.random.getrandbits(32)).poisson(self.weather.gaps * taken))
        taken += sum(self.random.expovariate(1 / 0.02) for _ in range(hits))
        self.now += taken
        after = self._gap_share()
        round_trip = (FAR if self.is_far() else NEAR) * math.exp(self.random.gauss(0, 0.02))
        return taken, {"gap_share_before": before, "gap_share_after": after, "round_trip_seconds": round_trip}

    def speed(self) -> float:
        return math.exp(self.weather.drift * math.sin(2 * math.pi * self.now / 150 + self._phase))

    def _gap_share(self) -> float:
        return 0.3 if self.random.random() < (0.6 if self._busy.is_second(self.now) else 0.03) else 0.0


class _Stretches:
    """A state that comes and goes in exponentially long stretches, unaffected by the sitting."""

    def __init__(self, seed: str, first: float, second: float) -> None:
        self._random, self._means = random.Random(seed), (first, second)
        self._is_second = second > 0 and self._random.random() < second / (first + second)
        self._until = 0.0
        self._draw()

    def is_second(self, now: float) -> bool:
        while now > self._until:
            self._is_second = not self._is_second
            self._draw()
        return self._is_second

    def _draw(self) -> None:
        mean = self._means[self._is_second]
        self._until += self._random.expovariate(1 / mean) if self._means[1] > 0 else math.inf


class _Launched:
    """One launch of a program, or of the ceiling if there is no program, in the place of a process."""

    def __init__(self, host: Host, name: str, program: Program | None) -> None:
        self.name, self.command = name, name
        self._host, self._program = host, program
        self._factor = math.exp(host.random.gauss(0, program.spread)) if program else 1.0
        self._asked = 0
        self._wait_half_a_start()

    def ask(self, line: str, timeout: float) -> str:
        del timeout
        host, flags = self._host, flags_of(line)
        host.now += _ASKING
        tasks, iterations = int(flags["steps"]) * int(flags["width"]), int(flags["iter"])
        granularity = iterations * SECONDS_PER_ITERATION
        noise = 0.01
        if self._program is not None:
            noise = host.weather.noise
            granularity = LEVEL * granularity + self._program.overhead(is_far=host.is_far()) * self._factor
            granularity *= 1.3 if self._asked == 0 else 1.0  # cold
        self._asked += 1
        speed = host.speed()
        taken, seen = host.run(granularity * tasks / _WORKERS, noise)
        host.speeds[taken] = speed
        answer = record(self.name, 0.0, line, 0)
        own = answer["noise"]
        assert isinstance(own, dict)
        return json.dumps(answer | {"elapsed_seconds": taken, "noise": own | seen})

    def suspend(self) -> None: ...

    def close(self, patiently: bool = True) -> None:
        del patiently
        self._wait_half_a_start()

    def _wait_half_a_start(self) -> None:
        self._host.now += self._program.start / 2 if self._program else 0.0


@dataclass
class _Shelf:
    """A store that keeps its lines in memory."""

    kept: list[GraphRun] = field(default_factory=list)

    def runs(self, record: type[Record]) -> list[GraphRun]:
        del record
        return self.kept

    def sittings(self, benchmark: str) -> list[Any]:
        del benchmark
        return []

    def append(self, kind: str, line: GraphRun) -> None:
        assert isinstance(line, Run), f"{kind}: {line}"
        self.kept.append(line)


@dataclass(frozen=True)
class Outcome:
    """A sitting's rows at the distance of its table, the smallest METG first, and their true values."""

    rows: Sequence[Row]
    truths: dict[str, float]
    seconds: float
    launches: dict[str, int]
    where: Distance

    def within(self, half_width: float, first: int | None = None) -> int:
        kept = self.rows if first is None else self.rows[:first]
        return sum(row.value is not None and row.value.relative_half_width <= half_width for row in kept)

    def missed(self) -> list[str]:
        """The rows whose interval does not hold the truth."""
        return [
            row.id
            for row in self.rows
            if row.value is not None and not row.value.low <= self.truths[row.id] <= row.value.high
        ]


def sit(
    weather: Weather,
    seed: int,
    patched: pytest.MonkeyPatch,
    programs: Sequence[Program] = PROGRAMS,
    budget: float = 300.0,
) -> Outcome:
    """A sitting of these programs, each named by its place, after so many simulated seconds."""
    host, shelf = Host(weather, seed), _Shelf()
    named = {f"program_{i:02}": program for i, program in enumerate(programs)}
    wanted = plan(*named)
    entries = _measured(host, shelf, named, wanted, budget, patched)
    runs = [run for run in shelf.kept if run.role == "system"]
    case = GraphEstimates(TaskGraph(), sitting(), wanted, runs, []).cases[0]
    assert case.where is not None
    launches = {each.round.variant.id: each.rounds for each in entries}
    return Outcome(case.rows, _truths(host, named, runs, case.where), host.now, launches, case.where)


def _measured(
    host: Host,
    shelf: _Shelf,
    named: Mapping[str, Program],
    wanted: GraphPlan,
    budget: float,
    patched: pytest.MonkeyPatch,
) -> list[Entry]:
    """The entries of the launches, once the sitting is over and the shelf has its runs."""

    def launched(name: str, _command: object, _environment: object, _cores: object = ()) -> _Launched:
        return _Launched(host, name, named.get(name))

    clock = SimpleNamespace(monotonic=host.monotonic)
    for module in (runner_module, sitting_module):
        patched.setattr(module, "time", clock)
    patched.setattr(runner_module, "BatchProgram", launched)
    patched.setattr(sitting_module, "TimeBudget", lambda seconds: TimeBudget(seconds, host.monotonic))
    kind = TaskGraph()
    runner = Runner(Path("/"), shelf, "simulated", kind)  # type: ignore[arg-type]
    scales: dict[tuple[str, Case], float] = {("", case): runner.calibrate(case) for case in wanted.cases}
    entries = [Entry(one, _started(one.variant.id)) for one in kind.rounds(wanted, scales)]
    Sitting(entries, runner, Silent(), budget, rounds=1000).run()
    assert not any(each.failure for each in entries)
    return entries


def _started(name: str) -> Started:
    started = Started(benchmark="task_graph", name="simulated", title=name, program=name)
    started.folder = Path("/bench/systems/simulated")
    return started


def _truths(host: Host, named: Mapping[str, Program], runs: Sequence[GraphRun], where: Distance) -> dict[str, float]:
    """METG at a distance, at the machine's mean speed in the runs near it that were not noisy."""
    is_far = where.round_trip > (NEAR * FAR) ** 0.5
    calm = [run for run in at_distance(runs, where.round_trip) if not run.noisy]
    truths = {}
    for name, program in named.items():
        truth = program.metg * (program.far if is_far else 1.0)
        near = [run for run in calm if run.system_id == name and truth / 2 < run.record.granularity < truth * 2]
        speeds = [math.log(host.speeds[run.record.wall_seconds]) for run in near]
        truths[name] = truth * math.exp(float(np.mean(speeds)) if speeds else 0.0)
    return truths
