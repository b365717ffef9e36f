"""The lab on a cluster: a real Slurm, and hosts with ssh. A cluster that the lab can't have here skips the tests."""

import itertools
import json
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest

from cluster import LONGEST, Hosts, Slurm, clone, skip_without, wait_until
from tefflab import project_root
from tefflab.cli.batch_job import Template
from tefflab.errors import BAD_INPUT, FAILED, INTERRUPTED, InputError

SLURM = ("slurmctld", "slurmd", "munged", "sbatch")
HOSTS = ("sshd", "ssh-keygen", "ip", "mpirun")
TWICE, THRICE = ("--rounds", "2"), ("--rounds", "3")
CURVE = ("measure", "graph", "--points", "3")  # quicker than METG
SRUN = "srun --mpi=pmix"
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


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosts]:
    skip_without(*HOSTS, probe="ip link add cable type veth")
    with Hosts(tmp_path_factory.mktemp("hosts")) as up:
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


def _runs(root: Path) -> list[dict[str, Any]]:
    """The store's runs of systems, which are all of one sitting."""
    file = root / "results" / "default" / "runs.jsonl"
    lines = file.read_text().splitlines() if file.exists() else []
    runs = [run for run in map(json.loads, lines) if run["role"] == "system"]
    assert len({each["sitting"] for each in runs}) <= 1
    return runs


def _rounds(root: Path) -> int:
    return len({(each["round"], each["workers"]) for each in _runs(root)})


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return clone(tmp_path)


@pytest.mark.slow
def test_a_job_measures_and_another_one_goes_on(slurm: Slurm, root: Path) -> None:
    batch = ("--batch", str(_template(root, "#SBATCH")))
    first = slurm.run(*_measuring(root, *batch, *TWICE))
    assert first.returncode == 0, first.stderr
    assert "METG(50 %)" in first.stdout
    rounds = _rounds(root)
    second = slurm.run(str(root / "teff"), "metg", "--resume", "--json", *batch, *THRICE)
    assert second.returncode == 0, second.stderr
    assert all(json.loads(line) for line in second.stdout.splitlines())
    assert (rounds, _rounds(root)) == (2, 3)


@pytest.mark.slow
def test_ctrl_c_ends_the_job_and_what_it_measured_stays(slurm: Slurm, root: Path) -> None:
    words = ("metg", "--systems", "mpi", "--workers", "1", "--minutes", "5", "--batch", str(_template(root, "#SBATCH")))
    with slurm.popen(str(root / "teff"), *words) as command:
        assert command.stdout
        assert command.stderr
        wait_until(lambda: _runs(root), "the job measures")
        command.send_signal(signal.SIGINT)
        out, err = command.communicate(timeout=LONGEST)
    assert command.returncode == INTERRUPTED, err
    assert "teff: interrupted; the measured runs are kept" in out
    assert re.search(r"teff: ends job \d+", err)
    wait_until(lambda: not slurm.state("squeue"), "the job has ended")
    assert _rounds(root) >= 1


def test_ctrl_c_removes_a_job_that_waits(slurm: Slurm, root: Path) -> None:
    slurm.run("sbatch", "--nodes=2", "--wrap", "sleep 100")
    wait_until(lambda: slurm.state("squeue", "--format=%t") == "R", "all nodes are taken")
    with slurm.popen(
        str(root / "teff"), "measure", "--batch", str(_template(root, "#SBATCH")), "--", "true"
    ) as command:
        assert command.stderr
        assert any("waits in the queue: PENDING" in line for line in command.stderr)
        command.send_signal(signal.SIGINT)
        _, err = command.communicate(timeout=LONGEST)
    assert command.returncode == INTERRUPTED, err
    wait_until(lambda: "PD" not in slurm.state("squeue", "--format=%t"), "the job is removed")


def test_a_job_that_can_never_start_is_removed(slurm: Slurm, root: Path) -> None:
    ran = slurm.run(*_measuring(root, "--nodes", "4", "--batch", str(_template(root, "#SBATCH")), kind=CURVE))
    assert ran.returncode == FAILED
    assert re.search(r"teff: job \d+ can never start: PENDING \(PartitionConfig\)", ran.stderr)
    wait_until(lambda: not slurm.state("squeue"), "the job is removed")


@pytest.mark.slow
def test_an_allocation_that_ends_ends_the_sitting_with_one_line(slurm: Slurm, root: Path) -> None:
    words = _measuring(root, "--nodes", "1,2", "--launcher", SRUN, kind=CURVE)
    with slurm.popen("salloc", "--nodes=2", *words) as command:
        wait_until(lambda: _runs(root), "runs are made")
        slurm.run("scancel", "--user=root")
        _, err = command.communicate(timeout=LONGEST)
    ended = (
        r"^teff: the allocation has ended \((CANCELLED|COMPLETING)\), and another one can go on; the measured runs are"
    )
    assert len(re.findall(ended, err, re.MULTILINE)) == 1, err
    assert "Expired or invalid job" not in err
    assert command.returncode == FAILED


def test_pbs_takes_a_job_by_its_own_template(slurm: Slurm, root: Path) -> None:
    """Slurm's own commands in the place of PBS's."""
    skip_without("qsub", "qstat")
    template = _template(root, "#PBS")
    text = template.read_text().replace("32", "1")  # cores that a node has
    template.write_text(text.replace("$PBS_NODEFILE", "/dev/null"))  # Slurm writes none
    ran = slurm.run(str(root / "teff"), "measure", "--rounds", "2", "--batch", str(template), "--", "true")
    assert ran.returncode == 0, ran.stderr
    assert re.search(r"teff: PBS has job \d+", ran.stderr)
    assert "Commands in turns" in ran.stdout


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("{command} {output}", "no line begins with #SBATCH (Slurm) or #PBS (PBS)"),
        ("#SBATCH -N1\n#PBS -V\n{command} {output}", "has lines of both #SBATCH (Slurm) and #PBS (PBS)"),
        ("#PBS -l walltime={minuten}\n{command} {output}", "knows no {minuten}, but {minutes}"),
        ("#PBS -V\n{command}", "has no {output}"),
        ("#PBS -o {output}\n${command}", "has no {command}"),
    ],
)
def test_a_template_that_makes_no_job_is_refused(tmp_path: Path, text: str, fault: str) -> None:
    file = tmp_path / "template"
    file.write_text(text)
    with pytest.raises(InputError, match=re.escape(fault)):
        Template(file)


def test_a_template_that_starts_no_ranks_is_refused_for_several_nodes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TEFF_LAUNCHER", "TEFF_HOSTS"):
        monkeypatch.setenv(name, "")
    file = tmp_path / "template"
    file.write_text("#SBATCH -N{nodes}\n{command} >{output}")
    Template(file).expect_ranks(1)
    with pytest.raises(InputError, match="by neither TEFF_LAUNCHER nor TEFF_HOSTS what starts ranks on 2 nodes"):
        Template(file).expect_ranks(2)
    monkeypatch.setenv("TEFF_HOSTS", "a,b")
    Template(file).expect_ranks(2)


def test_a_template_keeps_the_braces_of_the_shell(tmp_path: Path) -> None:
    file = tmp_path / "template"
    file.write_text("#SBATCH --time={minutes} -N{nodes}\n{ awk '{print}' ${nodes}; } >{output}\n{command}")
    script = Template(file).filled("teff metg", 4, 60.0, Path("/o"), Path("/c"))
    assert script == (
        "#SBATCH --time=5 -N4\n{ awk '{print}' ${nodes}; } >/o\n(teff metg); code=$?; echo $code >/c; (exit $code)"
    )


def _measuring(root: Path, *words: str, kind: Sequence[str] = ("metg",)) -> list[str]:
    """With few steps: on a busy machine each takes some milliseconds, since the ranks wait for each other."""
    shared = ("--systems", "mpi", "--workers", "1", "--minutes", "1")
    return [str(root / "teff"), *kind, *shared, *words, "-steps", "20"]


def _rows(printed: str) -> dict[int, dict[str, Any]]:
    """METG's rows, by the number of nodes."""
    rows = map(json.loads, printed.splitlines())
    return {row["nodes"]: row for row in rows if row["quantity"] == "METG(50 %)"}


@pytest.mark.slow
def test_metg_is_measured_over_an_allocation_and_goes_on_in_another_one_without_the_shells_variable(
    slurm: Slurm, root: Path
) -> None:
    """`srun` is a script that keeps what it is asked for."""
    started = root / "started"
    srun = root / "srun"
    srun.write_text(f'#!/bin/sh\necho "$@" >>{started}\nexec /usr/bin/srun "$@"\n')
    srun.chmod(0o755)
    words = _measuring(root, "--nodes", "1,2", *TWICE, "--json")
    first = slurm.run("salloc", "--nodes=2", *words, TEFF_LAUNCHER=f"{srun} --mpi=pmix")
    rows = _rows(first.stdout)
    assert set(rows) == {1, 2}, first.stderr
    assert all(row["value"] for row in rows.values())
    assert [rows[nodes]["workers"] for nodes in (1, 2)] == [1, 2]
    started.unlink()
    again = slurm.run("salloc", "--nodes=2", str(root / "teff"), "metg", "--resume", *THRICE)
    assert again.returncode == 0, again.stderr
    ranks = [line for line in started.read_text().splitlines() if "mpi_nonblocking" in line]
    assert {word for line in ranks for word in line.split() if word.startswith("--nodes=")} == {
        "--nodes=1",
        "--nodes=2",
    }
    assert {(run["workers"], run["record"]["ranks"]) for run in _runs(root)} == {(1, 1), (2, 2)}


def test_an_allocation_of_too_few_nodes_is_refused(slurm: Slurm, root: Path) -> None:
    ran = slurm.run("salloc", "--nodes=1", *_measuring(root, "--nodes", "1,2", "--launcher", SRUN))
    assert "--nodes 2: this allocation has 1 (SLURM_JOB_NUM_NODES)" in ran.stderr
    assert ran.returncode == BAD_INPUT


@pytest.mark.slow
def test_a_killed_node_is_named_and_the_sitting_goes_on_when_it_is_back(slurm: Slurm, root: Path) -> None:
    batch = ("--batch", str(_template(root, "#SBATCH")))
    with slurm.popen(*_measuring(root, "--nodes", "2", *batch, kind=CURVE)) as command:
        wait_until(lambda: len(_runs(root)) > 1, "runs are made")
        slurm.kill("n2")
        out, err = command.communicate(timeout=LONGEST)
    # On a busy machine the lab may give the run up before the launcher says anything.
    assert re.search("node n2 does not answer|did not answer within", out), out + err
    before = _runs(root)
    slurm.start_slurmd("n2")
    slurm.wait_for_nodes()
    again = slurm.run(str(root / "teff"), *CURVE[:2], "--resume", *TWICE, *batch)
    after = _runs(root)
    assert after[: len(before)] == before
    assert len(after) > len(before), again.stderr


@pytest.mark.slow
def test_a_slow_node_is_named(slurm: Slurm, root: Path) -> None:
    """Where the machine has more to do than that, the other node may be slower for a moment."""
    if slurm.core("n1") == slurm.core("n2"):
        pytest.skip("both nodes have the same core here")
    command = _measuring(root, "--nodes", "2", "--launcher", SRUN, *TWICE, kind=CURVE)
    for _ in range(3):
        with slurm.popen("salloc", "--nodes=2", *command) as ran:
            assert ran.stderr
            with slurm.busy("n2"):  # until the nodes have been looked at
                before = itertools.takewhile(lambda line: ": round 1" not in line, ran.stderr)
                is_named = any(re.search(r"^teff: node 2: .*cores \d+\.\d x as slow", line) for line in before)
            if not is_named:
                ran.send_signal(signal.SIGINT)
            out, err = ran.communicate(timeout=LONGEST)
        if is_named:
            break
    assert re.search(r"^ *2 .*cores \d+\.\d x as slow", out, re.MULTILINE), err


def test_a_sitting_ends_in_time_for_its_job(slurm: Slurm) -> None:
    """A minute is the least limit that Slurm has."""
    left = "from tefflab.host.batch_system import seconds_of_allocation as left; print(left())"
    told = slurm.run("salloc", "--time=1", "--nodes=1", sys.executable, "-c", left)
    assert 50 < float(told.stdout) <= 60
    unlimited = slurm.run("salloc", "--nodes=1", sys.executable, "-c", left)
    assert unlimited.stdout == "None\n"


@pytest.mark.slow
def test_a_full_shared_disk_is_one_line_and_nothing_is_lost(slurm: Slurm, root: Path) -> None:
    store = root / "results"
    store.mkdir()
    measured = shlex.join(
        ["salloc", "--quiet", "--nodes=2", *_measuring(root, "--nodes", "2", "--launcher", SRUN, kind=CURVE)]
    )
    resumed = shlex.join(["salloc", "--quiet", "--nodes=2", str(root / "teff"), *CURVE[:2], "--resume", *TWICE])
    on_disk = (
        f"mount -t tmpfs -o size=16k none {store}; {measured}; cp {store}/default/runs.jsonl {root}/before; "
        f"mount -o remount,size=16m {store}; {resumed}; cp {store}/default/runs.jsonl {root}/after"
    )
    ran = slurm.run("unshare", "--mount", "sh", "-c", on_disk)
    (fault,) = (line for line in ran.stderr.splitlines() if "disk full" in line or "No space left" in line)
    assert fault.startswith(f"teff: {store}/default/runs.jsonl can't be written")
    assert fault.endswith("the measured runs are kept; mend that and go on with --resume")
    before, after = ((root / name).read_text().splitlines() for name in ("before", "after"))
    assert len(after) > len(before) > 1
    assert after[: len(before) - 1] == before[:-1]


def test_ranks_start_on_hosts_by_ssh(hosts: Hosts) -> None:
    started = hosts.run("mpirun", "--allow-run-as-root", "--host", "h1,h2", "-n", "2", "hostname")
    assert sorted(started.stdout.split()) == ["h1", "h2"], started.stderr


@pytest.mark.slow
def test_curves_are_measured_over_hosts(hosts: Hosts, root: Path) -> None:
    ran = hosts.run(*_measuring(root, "--nodes", "2", "--hosts", "h1,h2", *TWICE, kind=CURVE))
    assert ran.returncode == 0, ran.stderr
    assert {(run["workers"], run["record"]["ranks"]) for run in _runs(root)} == {(2, 2)}, ran.stderr
