"""How the ranks of a program are started: by variables, which `start_ranks` reads."""

import os
import re
from pathlib import Path

from tefflab.errors import InputError

_LAUNCHER, _HOSTS, _NODES = "TEFF_LAUNCHER", "TEFF_HOSTS", "TEFF_NODES"
_LOST = re.compile(r"Node failure on ([^\s,]+)|^ *Remote daemon: .* on node (\S+)", re.MULTILINE)  # srun, Open MPI
_ALLOCATED = "SLURM_JOB_NUM_NODES"


def start_ranks_by(launcher: str | None, hosts: str | None) -> None:
    """Every program of several ranks that this process starts is started so; None leaves it to the user's shell."""
    os.environ |= {name: said for name, said in ((_LAUNCHER, launcher), (_HOSTS, hosts)) if said is not None}


def launcher_and_hosts() -> tuple[str, tuple[str, ...]]:
    """By which, and on which, ranks are started now; empty where the usual ones do it."""
    hosts = os.environ.get(_HOSTS, "").split(",")
    return os.environ.get(_LAUNCHER, "").strip(), tuple(dict.fromkeys(filter(None, map(str.strip, hosts))))


def expect_nodes(most: int) -> None:
    """InputError where ranks can't be started on so many nodes."""
    launcher, hosts = launcher_and_hosts()
    if Path(launcher.partition(" ")[0]).name == "srun":
        there = int(os.environ.get(_ALLOCATED) or most)  # without an allocation, srun waits for one
        why = f"{_ALLOCATED} says that this allocation has {there}"
    else:
        there = len(hosts) or 1
        why = f"--hosts names {there}" if hosts else "say by --hosts which they are, or --launcher 'srun --mpi=pmix'"
    if most > there:
        raise InputError(f"--nodes {most}: {why}")


def lost_node(words: str) -> str:
    """The node that a launcher says it has lost; empty where it says nothing of the kind."""
    found = _LOST.search(words)
    return "".join(filter(None, found.groups())) if found else ""


def on_nodes(nodes: int | None) -> dict[str, str]:
    """The variables of a program whose ranks share so many nodes; None: as its launcher chooses."""
    return {_NODES: str(nodes or "")}
