"""A system whose METG is known: granularity = overhead + slowdown * ideal, and the noise of a shared machine."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from tefflab.analysis.statistics import Observation

SECONDS_PER_ITERATION = 5e-9
_FIXED_ITERATIONS = 0.5  # work of a task that does not grow with its iterations (64 FLOPs beside 128 an iteration)


@dataclass(frozen=True)
class Noise:
    """What disturbs a run. The defaults are a virtual machine with busy neighbours."""

    run: float = 0.03  # lognormal
    run_spikes: float = 0.07  # share of the runs that take 2 to 100 times as long
    ceiling: float = 0.01
    ceiling_spikes: float = 0.03  # 2 to 10 times
    drift: float = 0.05  # amplitude of the machine's speed, of the system and the ceiling alike
    period: float = 23.0  # of the drift, in runs
    launch: float = 0.025  # between launches, on the whole run
    launch_overhead: float = 0.0  # between launches, on the overhead alone


QUIET = Noise(0, 0, 0, 0, 0, 23, 0, 0)


@dataclass
class SimulatedSystem:
    """Runs in the order they are asked for: time, and with it the drift, goes on by one a run."""

    overhead: float
    seed: tuple[int, ...]
    noise: Noise = Noise()
    slowdown: float = 1.01  # of the kernel inside this system
    shape: Callable[[int], float] = lambda _iterations: 1.0  # by which the overhead depends on the iterations
    _launches: dict[int, tuple[float, float]] = field(default_factory=dict)
    _drifts: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._generator = np.random.default_rng(self.seed)
        self._phase = self._generator.uniform(0, 2 * math.pi)

    def ideal(self, iterations: int) -> float:
        return SECONDS_PER_ITERATION * (iterations + _FIXED_ITERATIONS)

    def granularity(self, iterations: int) -> float:
        """Calm."""
        return self.overhead * self.shape(iterations) + self.slowdown * self.ideal(iterations)

    def metg(self, threshold: float = 0.5) -> float:
        """In seconds, at the machine's nominal speed, of the median launch."""
        return self.overhead / (1 - threshold * self.slowdown)

    def crossing(self, threshold: float = 0.5) -> float:
        """In iterations."""
        return self.metg(threshold) * threshold / SECONDS_PER_ITERATION - _FIXED_ITERATIONS

    @property
    def mean_speed(self) -> float:
        """The factor by which the runs so far were slowed down by drift, in the geometric mean."""
        return math.exp(sum(self._drifts) / len(self._drifts))

    def run(self, launch: int, iterations: int) -> Observation:
        """One run beside its ceiling."""
        noise, draw = self.noise, self._generator
        drift = noise.drift * math.sin(2 * math.pi * len(self._drifts) / noise.period + self._phase)
        self._drifts.append(drift)
        if launch not in self._launches:
            whole, overhead = draw.standard_normal(2)
            self._launches[launch] = math.exp(noise.launch * whole), math.exp(noise.launch_overhead * overhead)
        whole, overhead = self._launches[launch]
        taken = (self.granularity(iterations) + (overhead - 1) * self.overhead * self.shape(iterations)) * whole
        taken *= math.exp(drift + noise.run * draw.standard_normal())
        ceiling = self.ideal(iterations) * math.exp(drift + noise.ceiling * draw.standard_normal())
        if draw.random() < noise.run_spikes:
            taken *= math.exp(draw.uniform(math.log(2), math.log(100)))
        if draw.random() < noise.ceiling_spikes:
            ceiling *= math.exp(draw.uniform(math.log(2), math.log(10)))
        return Observation(launch, iterations, taken, ceiling / taken)

    def sweep(self, launches: int, grid: Iterable[int], repeats: int = 1) -> list[Observation]:
        """The same points in each launch."""
        points = [each for _ in range(repeats) for each in grid]
        return [self.run(launch, iterations) for launch in range(launches) for iterations in points]
