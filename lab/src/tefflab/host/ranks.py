"""How the ranks of a program are started: by variables, which `start_ranks` reads."""

import os
import re
import shutil
from pathlib import Path

_LAUNCHER, _HOSTS, _NODES = "TEFF_LAUNCHER", "TEFF_HOSTS", "TEFF_NODES"
_LOST = re.compile(  # srun, which fails to start on a node, and Open MPI
    r"Node failure on ([^\s,]+)|failed on node ([^\s:]+)|^ *Remote daemon: .* on node (\S+)", re.MULTILINE
)
_ALLOCATED = "SLURM_JOB_NUM_NODES"
_HARMLESS = re.compile("lacks support for cpu binding|got SIGCONT")  # words of srun
_LONGEST = 300  # characters of last words


def start_ranks_by(launcher: str | None, hosts: str | None) -> None:
    """Every program of several ranks that this process starts is started so; None leaves it to the user's shell."""
    os.environ |= {name: said for name, said in ((_LAUNCHER, launcher), (_HOSTS, hosts)) if said is not None}


def launcher_and_hosts() -> tuple[str, tuple[str, ...]]:
    """By which, and on which, ranks are started now; empty where the usual ones do it."""
    hosts = os.environ.get(_HOSTS, "").split(",")
    return os.environ.get(_LAUNCHER, "").strip(), tuple(dict.fromkeys(filter(None, map(str.strip, hosts))))


def hint_at_launcher(said: str) -> str:
    """A hint at the launcher, where a rank that said this could not begin."""
    if "MPI_INIT" in said and "srun" in launcher_and_hosts()[0]:
        return "; `srun --mpi=list` names the kinds of MPI for --launcher 'srun --mpi=KIND'"
    return ""


def why_fewer(nodes: int | None) -> str:
    """Why ranks can't be started on so many nodes; empty where they can."""
    if nodes is None:
        return ""
    launcher, hosts = launcher_and_hosts()
    command = launcher.partition(" ")[0]
    if command and not shutil.which(command):
        return f"{command}, which is to start the ranks, is not here"
    if Path(command).name == "srun":
        there = int(os.environ.get(_ALLOCATED) or 0)
        why = f"this allocation has {there} ({_ALLOCATED})"
        if not there:
            return f"{launcher} needs an allocation: begin with salloc or sbatch, or give a template by --batch"
    elif hosts:
        there, why = len(hosts), f"--hosts names {len(hosts)}: name more, or ask for fewer nodes"
    else:
        there, why = 1, "say by --hosts which they are, or --launcher 'srun --mpi=pmix'"
    return why if nodes > there else ""


def lost_node(words: str) -> str:
    """The node that a launcher says it has lost; empty where it says nothing of the kind."""
    found = _LOST.search(words)
    return "".join(filter(None, found.groups())) if found else ""


def last_words(said: str) -> str:
    """`: ` and the last line that a program wrote; its launcher's line if it wrote none; empty without a line."""
    lines = [line.strip() for line in said.splitlines() if line.strip() and not _HARMLESS.search(line)]
    own = [line for line in lines if not line.startswith("srun: ")] or lines
    return f": {own[-1][:_LONGEST]}" if own else ""


def on_nodes(nodes: int | None) -> dict[str, str]:
    """The variables of a program whose ranks share so many nodes; None: as its launcher chooses."""
    return {_NODES: str(nodes or "")}
