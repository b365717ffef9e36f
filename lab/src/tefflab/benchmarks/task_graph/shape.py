"""How long a run is: enough timesteps that start and end hardly count; fewer only where tasks are very long."""

import math

LEAST_SECONDS = 0.05  # of a run
STEPS = 1000  # at least, unless that takes longer than
MOST_SECONDS = 0.5
FEWEST_STEPS = 100  # however long they take
PROBE_STEPS = 50


def steps_for(granularity: float, width: int, workers: int) -> int:
    """Timesteps of a run whose tasks take `granularity` seconds of a core, `width` of them in a timestep."""
    timestep = granularity * width / workers
    wanted = max(STEPS, math.ceil(LEAST_SECONDS / timestep))
    if wanted * timestep > MOST_SECONDS:
        wanted = max(FEWEST_STEPS, math.floor(MOST_SECONDS / timestep))
    return _rounded(wanted)


def _rounded(steps: int) -> int:
    """To two digits, upwards: a person reads these."""
    unit = int(10 ** max(len(str(steps)) - 2, 0))
    return -(-steps // unit) * unit
