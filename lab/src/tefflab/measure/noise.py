"""When a run does not count because the machine was busy with something else: signs beside the run, each a share."""

from tefflab.analysis.curves import BEYOND
from tefflab.analysis.distance import alike
from tefflab.records.record import GAPS, Record
from tefflab.records.run import Beside

SLOW = 0.95  # of the sitting's usual ceiling: if both ceilings beside a run are under it, another load had a part


def is_disturbed(run: Record, beside: Beside | None) -> bool:
    """Whether too much of a run was lost in gaps. A load makes gaps: a run beside one is disturbed if the load got
    another share than it was to get."""
    return run.gap_share > GAPS if beside is None else not beside.is_as_asked


def is_noisy(run: Record, before: Record, after: Record, usual: float, beside: Beside | None = None) -> bool:
    """Of a run between two ceilings, in a sitting whose ceiling is `usual`ly of that rate. One low ceiling alone means
    that the ceiling was measured badly, not the run. Both were measured badly if the run is beyond them."""
    ceiling = max(before.rate or 0.0, after.rate or 0.0)
    is_slow = ceiling < SLOW * usual or (run.rate or 0.0) > BEYOND * ceiling
    return is_disturbed(run, beside) or is_slow or not alike(before.round_trip, after.round_trip)
