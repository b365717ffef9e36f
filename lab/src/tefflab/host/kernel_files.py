"""The kernel's files that several parts of the lab read, each in one place.

All stand below a root folder (`/`), so that a test can show another machine.
"""

import re
from pathlib import Path

# Names that firmware gives virtual machines, as systemd-detect-virt knows them. A cloud rents whole machines as metal.
_VIRTUAL = re.compile(
    r"^(?!.*metal$).*"
    r"(KVM|QEMU|Amazon EC2|Google Compute Engine|VMware|VirtualBox|Xen|Parallels|Hyper-V|OpenStack|Virtual)"
)


def text(file: Path) -> str | None:
    """The contents; None where the kernel has no such file or does not show it."""
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def hypervisor(root: Path) -> str | None:
    """The name of the hypervisor as the firmware tells it, `unnamed` if it does not; None on bare metal. Only an x86
    processor itself says that it is virtual; elsewhere the firmware's names or the kernel's files do."""
    product, vendor = (text(root / f"sys/class/dmi/id/{name}") or "" for name in ("product_name", "sys_vendor"))
    named = " ".join(dict.fromkeys(part for part in (vendor.strip(), product.strip()) if part))
    flags = re.search(r"^flags\s*:(.*)$", text(root / "proc/cpuinfo") or "", re.MULTILINE)
    if flags:
        is_virtual = "hypervisor" in flags[1].split()
    else:
        signs = ("proc/device-tree/hypervisor", "sys/hypervisor/type")
        is_virtual = bool(_VIRTUAL.search(named)) or any((root / sign).exists() for sign in signs)
    return (named or "unnamed") if is_virtual else None


def governors(root: Path) -> list[str]:
    """The frequency governor of every core; none on most virtual machines."""
    files = sorted((root / "sys/devices/system/cpu").glob("cpu[0-9]*/cpufreq/scaling_governor"))
    return [name.strip() for file in files if (name := text(file))]


def tightest_quota(root: Path) -> float | None:
    """The least CPU quota [cores] of the control groups we are in and of those around them; None without any."""
    folders = _control_groups(text(root / "proc/self/cgroup") or "", root)
    files = ("cpu.max", "cpu.cfs_quota_us", "cpu.cfs_period_us")
    quotas = (quota_cores(*(text(folder / name) for name in files)) for folder in folders)
    return min((cores for cores in quotas if cores is not None), default=None)


def _control_groups(own: str, root: Path) -> list[Path]:
    """The folders that limit our CPU, from `/proc/self/cgroup`: our group's and all above it.

    In a container the group may be named as the host sees it; the folders that are not there limit nothing.
    """
    mount = root / "sys/fs/cgroup"
    folders: list[Path] = []
    for line in own.splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            tops = [mount, mount / "unified"]
        elif "cpu" in controllers.split(","):
            tops = [mount / "cpu", mount / controllers]
        else:
            continue
        inner = (Path(path), *Path(path).parents)
        folders += [top / str(part).lstrip("/") for top in tops for part in inner]
    return [folder for folder in dict.fromkeys(folders) if folder.is_dir()]


def quota_cores(cpu_max: str | None, cfs_quota_us: str | None, cfs_period_us: str | None) -> float | None:
    """Cores a control group may use, by version 2's `cpu.max` or version 1's pair; None is no limit."""
    if cpu_max is not None:
        quota, _, period = cpu_max.partition(" ")
        return int(quota) / int(period) if quota.strip().isdecimal() else None
    if cfs_quota_us is None or cfs_period_us is None or int(cfs_quota_us) < 0:
        return None
    return int(cfs_quota_us) / int(cfs_period_us)
