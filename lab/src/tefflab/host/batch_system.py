"""Batch systems give the nodes of a cluster to jobs. Each has a record of its commands and its answers."""

import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

from tefflab.host.processes import answer

_ANSWERS = 20.0  # seconds in which a batch system answers
_TIME = re.compile(r"(?:(\d+)-)?(\d+):(\d\d):(\d\d)")  # [days-]hours:minutes:seconds


@dataclass(frozen=True)
class BatchSystem:
    """The last word of its commands is the id of a job. The patterns find values in its answer about a job."""

    name: str
    mark: str  # begins its lines in the script of a job
    job_variable: str  # has the id, within a job
    submit: tuple[str, ...]  # prints the id, and ends with the job and with its exit code
    interrupt: tuple[str, ...]  # sends all processes of a job the signal of Ctrl-C
    remove: tuple[str, ...]
    describe: tuple[str, ...]
    state: str
    reason: str
    limit: str
    used: str
    queued: tuple[str, ...]  # states of a job that has not begun
    running: str  # the state of a job that has its nodes
    never: str  # in the reason of a job that begins only if somebody changes the job or the cluster

    def asked(self, job: str) -> str:
        """The answer of the batch system about a job; empty if it does not answer."""
        try:
            return answer([*self.describe, job], timeout=_ANSWERS).stdout
        except (OSError, subprocess.TimeoutExpired):
            return ""

    def why_queued(self, job: str) -> str:
        """State and reason of a job in the queue, as `PENDING (Resources)`; empty once the job has begun."""
        said = self.asked(job)
        state, reason = _found(self.state, said), _found(self.reason, said)
        because = f" ({reason})" if reason not in ("", "None") else ""
        return f"{state}{because}" if state in self.queued else ""

    def seconds_left(self, job: str) -> float | None:
        """Until the job's time is up; None if its time has no limit, or the batch system does not answer."""
        said = self.asked(job)
        limit, used = _seconds(_found(self.limit, said)), _seconds(_found(self.used, said))
        return None if limit is None else limit - (used or 0.0)


SLURM = BatchSystem(
    name="Slurm",
    mark="#SBATCH",
    job_variable="SLURM_JOB_ID",
    submit=("sbatch", "--wait", "--parsable"),
    interrupt=("scancel", "--full", "--signal=INT"),
    remove=("scancel",),
    describe=("scontrol", "show", "job"),
    state=r"JobState=(\S+)",
    reason=r" Reason=(\S+)",
    limit=r"TimeLimit=(\S+)",
    used=r"RunTime=(\S+)",
    queued=("PENDING", "CONFIGURING"),
    running="RUNNING",
    never=r"\((PartitionConfig|Partition\w+Limit|BadConstraints|\w+NotAllowed|Invalid\w+|\w+PerJobLimit|\w+NeverSatisfied)",
)
PBS = BatchSystem(
    name="PBS",
    mark="#PBS",
    job_variable="PBS_JOBID",
    submit=("qsub", "-W", "block=true"),
    interrupt=("qsig", "-s", "INT"),
    remove=("qdel",),
    describe=("qstat", "-f"),
    state=r"job_state = (\S+)",
    reason=r"comment = (.+)",
    limit=r"Resource_List\.walltime = (\S+)",
    used=r"resources_used\.walltime = (\S+)",  # of a minute or two ago
    queued=("Q", "H", "W"),
    running="R",
    never="Can Never Run",
)
BATCH_SYSTEMS = (SLURM, PBS)


def seconds_of_allocation() -> float | None:
    """Until the time of the job is up in which this process runs; None outside of a job, and without a limit."""
    return next((system.seconds_left(job) for system, job in _own_jobs()), None)


def why_allocation_is_over() -> str:
    """The state of the job in which this process runs if the job has lost its nodes; else empty."""
    states = ((system, _found(system.state, system.asked(job))) for system, job in _own_jobs())
    return next((state for system, state in states if state not in (*system.queued, system.running)), "")


def _own_jobs() -> Iterator[tuple[BatchSystem, str]]:
    """The job in which this process runs, if it runs in one."""
    return ((system, job) for system in BATCH_SYSTEMS if (job := os.environ.get(system.job_variable)))


def _found(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    return found[1] if found else ""


def _seconds(text: str) -> float | None:
    """None for UNLIMITED, and for what is no time."""
    if not (found := _TIME.fullmatch(text)):
        return None
    days, hours, minutes, seconds = (int(each or 0) for each in found.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60.0 + seconds
