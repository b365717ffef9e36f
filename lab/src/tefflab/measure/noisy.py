"""When a run does not count because the machine was busy elsewhere: three signs, each in a share of one."""

from tefflab.analysis.distance import alike
from tefflab.records.record import Record

GAPS = 0.10  # of the spins beside a run that may be lost in gaps
SLOW = 0.95  # of the sitting's usual ceiling: where both beside a run are under it, somebody else had a part


def is_disturbed(run: Record, before: Record, after: Record, usual: float) -> bool:
    """Of a run between two ceilings, in a sitting whose ceiling is `usual`ly of that rate.

    One low ceiling alone says that the ceiling was disturbed, not the run: efficiency is held against the other.
    """
    assert run.disturbance is not None
    gaps = max(run.disturbance.gap_share_before, run.disturbance.gap_share_after)
    return gaps > GAPS or max(before.rate, after.rate) < SLOW * usual or not alike(before.round_trip, after.round_trip)
