"""When a run does not count because the machine was busy elsewhere: three signs, each in a share of one."""

from tefflab.record import Disturbance

GAPS = 0.10  # of the spins beside a run that may be lost in gaps
CEILINGS_APART = 0.05  # by which the ceilings before and after may differ
SLOW = 0.90  # of the sitting's usual ceiling: under it, somebody else had a part of the machine


def is_disturbed(seen: Disturbance, before: float, after: float, usual: float) -> bool:
    """Of a run between ceilings of the rates `before` and `after`, in a sitting whose ceiling is `usual`ly that."""
    return (
        max(seen.gap_share_before, seen.gap_share_after) > GAPS
        or abs(before - after) > CEILINGS_APART * max(before, after)
        or min(before, after) < SLOW * usual
    )
