"""The lab on a cluster: a real Slurm, and hosts with ssh. A cluster that the lab can't have here skips the tests."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from cluster import Hosts, Slurm, skip_without, wait_until

SLURM = ("slurmctld", "slurmd", "munged", "sbatch")
HOSTS = ("sshd", "ssh-keygen", "ip", "mpirun")
_SETS_UP = """
import sys, time
from pathlib import Path
from cluster import Slurm
with Slurm(Path(sys.argv[1])) as slurm:
    slurm.run("sbatch", "--nodes=2", "--wrap", f"tail -f {sys.argv[1]}/slurm.conf")
    print("up", flush=True)
    time.sleep(1000)
"""


@pytest.fixture
def slurm(tmp_path: Path) -> Iterator[Slurm]:
    """A Slurm of two nodes."""
    skip_without(*SLURM)
    with Slurm(tmp_path) as up:
        yield up


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[Hosts]:
    skip_without(*HOSTS)
    with Hosts(tmp_path) as up:
        yield up


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_cluster_leaves_no_process_however_its_program_ends(tmp_path: Path, number: signal.Signals) -> None:
    skip_without(*SLURM)
    command = [sys.executable, "-c", _SETS_UP, str(tmp_path)]
    with subprocess.Popen(
        command, cwd=Path(__file__).parent, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as program:
        assert program.stdout
        assert program.stdout.readline() == "up\n"
        wait_until(lambda: any("tail" in each for each in _processes_of(tmp_path)), "the job runs")
        program.send_signal(number)
    wait_until(lambda: not _processes_of(tmp_path), "the cluster's processes have ended")


def _processes_of(folder: Path) -> list[list[str]]:
    """The commands that name the folder, and run."""
    commands = [each.info["cmdline"] or [] for each in psutil.process_iter(["cmdline"])]
    return [command for command in commands if any(str(folder) in word for word in command)]


def test_ranks_start_on_hosts_by_ssh(hosts: Hosts) -> None:
    started = hosts.run("mpirun", "--allow-run-as-root", "--host", "h1,h2", "-n", "2", "hostname")
    assert sorted(started.stdout.split()) == ["h1", "h2"], started.stderr
