"""The lab on a cluster: a real Slurm, and hosts with ssh. A cluster that the lab can't have here skips the tests."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from cluster import Hosts, Slurm, clone, skip_without, wait_until
from tefflab import project_root

SLURM = ("slurmctld", "slurmd", "munged", "sbatch")
HOSTS = ("sshd", "ssh-keygen", "ip", "mpirun")
GUIDE = project_root() / "docs" / "how-to" / "measure-a-cluster.md"
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


def _template(root: Path, mark: str) -> Path:
    """The guide's template for a batch system."""
    (text,) = (each for each in re.findall(r"```sh\n(.*?)```", GUIDE.read_text(), re.DOTALL) if f"\n{mark} " in each)
    file = root / "template.sh"
    file.write_text(text)
    return file


def _rounds(root: Path) -> int:
    """That the store's runs of systems are of; they are all of one sitting."""
    runs = [json.loads(line) for line in (root / "results" / "default" / "runs.jsonl").read_text().splitlines()]
    assert len({each["sitting"] for each in runs}) == 1
    return len({(each["round"], each["workers"]) for each in runs if each["role"] == "system"})


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return clone(tmp_path)


def test_a_job_measures_and_another_one_goes_on(slurm: Slurm, root: Path) -> None:
    teff = str(root / "teff")
    template = _template(root, "#SBATCH")
    words = ("--minutes", "0.1", "--batch", str(template), "--rounds")
    slurm.run("sbatch", "--nodes=2", "--wrap", "sleep 3")
    first = slurm.run(teff, "metg", "--systems", "mpi", "--workers", "1", *words, "2")
    assert first.returncode == 0, first.stderr
    assert "waits in the queue: PENDING" in first.stderr
    assert "METG(50 %)" in first.stdout
    rounds = _rounds(root)
    second = slurm.run(teff, "metg", "--resume", "--json", *words, "3")
    assert second.returncode == 0, second.stderr
    assert all(json.loads(line) for line in second.stdout.splitlines())
    assert (rounds, _rounds(root)) == (2, 3)


def test_ranks_start_on_hosts_by_ssh(hosts: Hosts) -> None:
    started = hosts.run("mpirun", "--allow-run-as-root", "--host", "h1,h2", "-n", "2", "hostname")
    assert sorted(started.stdout.split()) == ["h1", "h2"], started.stderr
