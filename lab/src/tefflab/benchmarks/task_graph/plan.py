"""The plan of a sitting of task graphs, and how long a run is: so long that start and end hardly count."""

import math
from typing import Literal

from tefflab.benchmarks.graphs import GraphCase
from tefflab.records.plan import Plan

LEAST_SECONDS = 0.05  # of a run
STEPS = 1000  # at least, unless that takes longer than
MOST_SECONDS = 0.5
FEWEST_STEPS = 100  # however long they take
PROBE_STEPS = 50

Asks = Literal["metg", "curve"]  # where efficiency crosses the threshold; or all of it, at the same sizes of task


def steps_for(granularity: float, width: int, workers: int) -> int:
    """Timesteps of a run whose tasks take `granularity` seconds of a core, `width` of them in a timestep."""
    timestep = granularity * width / workers
    wanted = max(STEPS, math.ceil(LEAST_SECONDS / timestep))
    if wanted * timestep > MOST_SECONDS:
        wanted = max(FEWEST_STEPS, math.floor(MOST_SECONDS / timestep))
    unit = int(10 ** max(len(str(wanted)) - 2, 0))  # to two digits, upwards: a person reads these
    return -(-wanted // unit) * unit


class GraphPlan(Plan):
    asks: Asks
    cases: tuple[GraphCase, ...]
    threshold: float = 0.5
    longest_task: float = 3e-3  # seconds: where a curve ends
    points: int = 12  # of a curve

    @property
    def warning(self) -> str:
        """The effect of a chosen number of timesteps on the result."""
        said = [case.steps for case in self.cases if case.steps]
        if not said:
            return ""
        few = "; start and end of a graph weigh more the fewer they are" if said[0] < STEPS else ""
        return (
            f"-steps {said[0]}: compare this only with what was measured with the same, for every run has {said[0]} "
            f"timesteps{few}. Without -steps a run has at least {STEPS}"
        )
