"""When a run does not count because the machine was busy elsewhere: two signs, each in a share of one."""

from tefflab.record import Disturbance

GAPS = 0.10  # of the spins beside a run that may be lost in gaps
SLOW = 0.95  # of the sitting's usual ceiling: where both beside a run are under it, somebody else had a part


def is_disturbed(seen: Disturbance, before: float, after: float, usual: float) -> bool:
    """Of a run between ceilings of the rates `before` and `after`, in a sitting whose ceiling is `usual`ly that.

    One low ceiling alone says that the ceiling was disturbed, not the run: efficiency is held against the other.
    """
    return max(seen.gap_share_before, seen.gap_share_after) > GAPS or max(before, after) < SLOW * usual
