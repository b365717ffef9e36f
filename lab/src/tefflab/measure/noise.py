"""When a run does not count because the machine was busy with something else: signs beside the run, each a share."""

from tefflab.analysis.distance import alike
from tefflab.analysis.results import BEYOND
from tefflab.records.record import GAPS, Record

SLOW = 0.95  # of the sitting's usual ceiling: if both ceilings beside a run are under it, another load had a part


def has_gaps(run: Record) -> bool:
    return run.gap_share > GAPS


def is_noisy(run: Record, before: Record, after: Record, usual: float) -> bool:
    """Of a run between two ceilings, in a sitting whose ceiling is `usual`ly of that rate.

    One low ceiling alone means that the ceiling was measured badly, not the run: efficiency then uses the other. Both
    were measured badly if the run is beyond them.
    """
    ceiling = max(before.rate or 0.0, after.rate or 0.0)
    is_slow = ceiling < SLOW * usual or (run.rate or 0.0) > BEYOND * ceiling
    return has_gaps(run) or is_slow or not alike(before.round_trip, after.round_trip)
