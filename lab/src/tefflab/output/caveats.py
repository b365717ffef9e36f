"""The caveats of a sitting, which a reader has to know before believing its numbers."""

from collections.abc import Sequence

from tefflab.output import quantities
from tefflab.records.run import Sitting
from tefflab.records.store import Damage

MUCH_NOISE = 0.25  # share of the runs


def sitting_caveats(sitting: Sitting, noisy: int, runs: int, damage: Sequence[Damage]) -> list[str]:
    """The caveats of a whole sitting: noise (of so many runs), the machine, the source, and unreadable lines."""
    machine, revision = sitting.machine, sitting.revision
    found = []
    if runs:
        share = quantities.percent(noisy / runs)
        many = f"{noisy} of {runs} runs ({share}) were noisy and were repeated." if noisy else f"None of {runs} runs."
        found.append(f"noisy runs: {many}")
    if machine.hypervisor:
        found.append(
            f"virtual machine: The cores are shared out by {machine.hypervisor}; what its other guests take is not "
            "always seen. Compare ratios of one sitting, not times of two days."
        )
    if machine.cgroup_quota_cores is not None:
        found.append(f"quota: A quota of {machine.cgroup_quota_cores:g} cores may have stopped runs midway.")
    if machine.governor not in (None, "performance"):
        found.append(f"clock: The frequency governor was {machine.governor}: clocks may have moved.")
    if revision.commit is None:
        found.append("no revision: The source was in no repository: what was measured can't be named.")
    elif revision.dirty:
        found.append(
            f"changed source: The source held changes besides revision {revision.commit[:10]}: it can't be rebuilt."
        )
    return found + [f"unreadable: {each}. The measurements around it stand." for each in damage]
