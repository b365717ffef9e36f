"""A control group (version 1 or 2) whose processes together get a share of a core: for those that know of no share."""

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from tefflab.host.kernel_files import control_groups, text

_NAME = "teff-load-"  # and the process that made it
_LEAST_QUOTA = 0.001  # seconds: the kernel takes no less
_MOST_SHARES, _MOST_WEIGHT = 262144, 10000  # over other processes, in versions 1 and 2
_US = 1e6


def settings(folder: Path, share: float, period: float) -> Mapping[str, str]:
    """The texts for the files of a group's folder, by file; none if the folder does not limit CPU time. If the share of
    the period is less than the kernel's least quota, the period is lengthened."""
    micros = round(max(period, _LEAST_QUOTA / share) * _US)
    quota = round(share * micros)
    if (folder / "cpu.max").exists():
        return {"cpu.max": f"{quota} {micros}", "cpu.weight": str(_MOST_WEIGHT)}
    if (folder / "cpu.cfs_quota_us").exists():
        return {"cpu.cfs_period_us": str(micros), "cpu.cfs_quota_us": str(quota), "cpu.shares": str(_MOST_SHARES)}
    return {}


class QuotaGroup:
    """Close it once its processes have ended."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def holding(cls, pid: int, share: float, period: float) -> Self | None:
        """A new group with this process, below the first of our own groups that permits it; None where none does."""
        root = Path("/")
        for around in control_groups(text(root / "proc/self/cgroup") or "", root):
            _sweep(around)
            one = cls(around / f"{_NAME}{os.getpid()}-{pid}")
            try:
                one.folder.mkdir()
            except OSError:
                continue
            with contextlib.suppress(OSError):
                if written := settings(one.folder, share, period):
                    for name, value in {**written, "cgroup.procs": str(pid)}.items():
                        (one.folder / name).write_text(value)
                    return one
            one.close()
        return None

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self.folder.rmdir()


def _sweep(around: Path) -> None:
    """Removes the groups that a lab left behind because it was killed. The kernel removes none that has processes."""
    for left in around.glob(f"{_NAME}*"):
        if not Path(f"/proc/{left.name.removeprefix(_NAME).partition('-')[0]}").exists():
            QuotaGroup(left).close()
