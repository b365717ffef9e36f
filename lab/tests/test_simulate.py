"""Clusters that are not here: their files, METG on them, and that nobody takes it for a measured one."""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import printed_rows, teff
from tefflab import project_root
from tefflab.analysis.rows import Row
from tefflab.cli import session
from tefflab.errors import InputError
from tefflab.records.plan import Variant
from tefflab.records.store import Store
from tefflab.systems import simulated
from tefflab.systems.simulated import CLUSTERS, SIMULATOR, SimulatedProgram, load_cluster, machines
from tefflab.systems.systems import BUILD_FOLDER

BINARY = project_root() / BUILD_FOLDER / "bin" / SIMULATOR
CORI = project_root() / CLUSTERS / "cori.toml"
built = pytest.mark.skipif(not BINARY.is_file(), reason="the simulator is not built here")


def test_a_machine_of_a_file_has_the_costs_of_a_core_in_seconds() -> None:
    usual, quiet = machines("cori,detours,quiet", ())
    assert (usual["id"], quiet["id"], usual["cores"]) == ("simulated:mpi", "simulated:mpi/quiet", 32)
    told = usual["told"]
    assert told["flop"] == pytest.approx(32 / 1.263719e12)
    assert (told["task"], told["message"], told["levels"][0]["latency"]) == (195e-9, 750e-9, 605e-9)
    assert told["detours"]
    assert not quiet["told"]["detours"]
    assert "quiet" in quiet["told"]["name"]


def test_the_noise_of_this_machine_is_a_model_of_each_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulated, "detours_here", lambda: [(10.0, 2e-6), (0.5, 3e-3)])
    (machine,) = machines("cori,here", ("mpi",))
    rates = [each["rate"] for each in machine["told"]["detours"]]
    assert rates == [320, 16]  # of a core, on the 32 of a node


@pytest.mark.parametrize(
    ("asked", "systems", "why"),
    [
        ("coral", (), "--simulate coral: no such cluster; there are: cori; a file of yours ends with .toml"),
        ("cori,loud", (), "--simulate cori has no model 'loud'; there are: detours quiet"),
        ("cori", ("openmp",), "--simulate cori has no system 'openmp'; there are: mpi"),
        ("../cori", (), "no such cluster"),
        ("none.toml", (), "no such cluster"),
    ],
)
def test_an_unknown_name_is_refused_with_those_there_are(asked: str, systems: tuple[str, ...], why: str) -> None:
    with pytest.raises(InputError) as refused:
        machines(asked, systems)
    assert why in str(refused.value)


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ("cores = 32", "cores = 0", "node.cores: 0 should be greater than or equal to 1"),
        ('latency = "1.3us"', 'latency = "soon"', "level.1.latency: 'soon' is no duration: say it like 3ms"),
        ("[model.quiet]", "[model.here]", "model.here: this name is for the noise that is measured on this machine"),
        ('title = "Cori"', 'titel = "Cori"', "is missing"),
    ],
)
def test_a_fault_in_a_file_is_named_with_file_and_key(tmp_path: Path, before: str, after: str, why: str) -> None:
    file = tmp_path / "mine.toml"
    text = CORI.read_text(encoding="utf-8")
    assert before in text
    file.write_text(text.replace(before, after), encoding="utf-8")
    with pytest.raises(InputError) as refused:
        machines(str(file), ())
    assert str(refused.value).startswith(f"{file}: ")
    assert why in str(refused.value)


@pytest.fixture
def simulating(
    commanded: Path, laboratory: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., None]:
    """`teff metg --simulate` with further words, in a checkout that has no system."""
    root = laboratory()
    assert root == commanded
    (root / BUILD_FOLDER / "bin" / SIMULATOR).symlink_to(BINARY)
    monkeypatch.setattr(session, "ensure", lambda *_, **__: {})

    def run(*words: str) -> None:
        assert teff(monkeypatch, "metg", "--store", "here", "--rounds", "3", "--minutes", "5", *words) == 0

    return run


def closed_form(latency: float) -> float:
    """METG of a stencil of 1000 timesteps with MPI on a quiet Cori: the first of them waits for nothing."""
    return 2 * (195e-9 + 0.999 * (2 * 750e-9 + latency))


@built
def test_quiet_metg_is_its_closed_form_and_says_simulated(
    simulating: Callable[..., None], capsys: pytest.CaptureFixture[str], commanded: Path
) -> None:
    simulating("--simulate", "cori,quiet", "--nodes", "1,4", "--json")
    one, four = printed_rows(capsys)
    assert one["timesteps"] == four["timesteps"] == 1000
    assert one["value"] == pytest.approx(closed_form(605e-9), rel=1e-3)
    assert four["value"] == pytest.approx(closed_form(1.3e-6), rel=1e-3)
    for row, nodes in ((one, 1), (four, 4)):
        assert (row["system_id"], row["simulated"]) == ("simulated:mpi/quiet", "cori, quiet")
        assert (row["nodes"], row["workers"], row["noisy_share"]) == (nodes, 32 * nodes, 0)
    assert teff_export(capsys, commanded)[0].split(",")[:3] == ["benchmark", "variant", "simulated"]
    records = [json.loads(line)["record"] for line in (commanded / "results/here/runs.jsonl").open()]
    assert all(each["simulated"]["machine"].startswith("cori") for each in records)


def teff_export(capsys: pytest.CaptureFixture[str], root: Path) -> list[str]:
    from tefflab.cli.publishing import export
    from tefflab.systems.registry import Registry

    export(Registry(root), "here", "csv", None)
    return capsys.readouterr().out.splitlines()


@built
def test_a_model_without_noise_needs_few_rounds_and_its_mean_run_is_its_usual_run(
    simulating: Callable[..., None], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = CORI.read_text(encoding="utf-8")
    assert "rate = 0.8," in text
    seldom = tmp_path / "seldom.toml"
    seldom.write_text(text.replace("rate = 0.8,", "rate = 1e-9,"), encoding="utf-8")
    models = f"{seldom},quiet,jitter,detours"
    simulating("--simulate", models, "--nodes", "2", "--json", "--rounds", "8", "-steps", "100")
    rows = {(row["system_id"], row["quantity"]): row for row in map(json.loads, capsys.readouterr().out.splitlines())}
    usual, mean = "METG(50 %)", "METG(50 %) of the mean run"
    quiet = rows["simulated:mpi/quiet", usual]
    assert quiet["value"] == pytest.approx(rows["simulated:mpi/quiet", mean]["value"], rel=1e-4)
    rounds = {system: row["rounds"] for (system, _), row in rows.items()}
    assert rounds == {"simulated:mpi/quiet": 4, "simulated:mpi/jitter": 8, "simulated:mpi": 8}
    assert rows["simulated:mpi", mean]["high"] is None  # no run has met a detour


_TWO_CORES = """title = "Two cores"
[node]
cores = 2
flops = 8e10
[[level]]
latency = 0.0
[[level]]
latency = "2us"
[system.mpi]
title = "MPI"
task = "195ns"
message = "750ns"
latency = "605ns"
[model.quiet]
"""


@built
def test_what_a_system_costs_is_told_by_metg_of_three_graphs(
    simulating: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    commanded: Path,
) -> None:
    assert simulating
    shutil.copytree(project_root() / "experiments", commanded / "experiments")
    (commanded / "two.toml").write_text(_TWO_CORES, encoding="utf-8")
    words = ("experiment", "costs", "--simulate", str(commanded / "two.toml"), "--store", "here")
    assert teff(monkeypatch, *words) == 0
    assert teff(monkeypatch, "export", "here", "-o", str(commanded / "told.toml")) == 0
    told = load_cluster(str(commanded / "told.toml"))
    (costs,) = told.system.values()
    assert (told.node.cores, told.node.flops) == (2, pytest.approx(8e10, rel=1e-3))
    found = (costs.task, costs.message, costs.latency)
    assert found == (pytest.approx(195e-9, rel=0.01), pytest.approx(750e-9, rel=0.01), pytest.approx(605e-9, rel=0.01))
    assert teff(monkeypatch, "experiment", "fig13", "--simulate", "cori", "--store", "other") == 2
    assert (
        "experiment fig13 is of message passing and accelerators, which --simulate does not" in capsys.readouterr().err
    )


@built
def test_costs_are_refused_of_a_store_that_does_not_tell_them(
    simulating: Callable[..., None], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    simulating("--simulate", "cori,quiet")
    assert teff(monkeypatch, "export", "here", "--as", "toml") == 2
    assert "here knows METG of the three graphs of " in capsys.readouterr().err


@built
def test_exports_of_a_simulated_sitting_name_the_cluster(
    simulating: Callable[..., None], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    simulating("--simulate", "cori,quiet", "-steps", "100")
    capsys.readouterr()
    for form in ("md", "github", "gbench", "bencher"):
        assert teff(monkeypatch, "export", "here", "--as", form) == 0
        told = capsys.readouterr().out
        assert "simulated:mpi/quiet on cori, quiet" in told
        assert form == "bencher" or "simulated cori" in told
    assert teff(monkeypatch, "export", "here", "--as", "hyperfine") == 2
    assert "METG comes from runs of many sizes" in capsys.readouterr().err


@built
def test_tables_and_pictures_say_simulated_and_a_resumed_sitting_keeps_its_machine(
    simulating: Callable[..., None], capsys: pytest.CaptureFixture[str], commanded: Path
) -> None:
    file = commanded / "mine.toml"
    shutil.copy(CORI, file)
    simulating("--simulate", f"{file},quiet,jitter", "--nodes", "2", "-steps", "100")
    shown = capsys.readouterr()
    assert "on simulated mine" in shown.out
    assert "simulated:mpi/jitter" in shown.out
    assert "this machine" not in shown.out
    assert "drift" not in shown.out
    report = next((commanded / "results/here").rglob("report.html")).read_text(encoding="utf-8")
    assert "MPI on simulated Cori" in report
    file.unlink()
    simulating("--resume")
    assert "none of them new" in capsys.readouterr().err
    store = Store(commanded / "results" / "here")
    assert len(store.sittings("task_graph")) == 1


@built
@pytest.mark.usefixtures("simulating")
@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--load", "spin:50@0"), "--load spin:50@0: simulated systems use nothing of a machine; leave it out"),
        (("--hosts", "a,b"), "--hosts a,b: simulated systems use nothing of a machine; leave it out"),
        (("--launcher", "srun"), "--launcher srun: simulated systems use nothing of a machine; leave it out"),
        (("-width", "16"), "-width 16 on 32 workers: at most 50 % of the cores have a task"),
        (("--workers", "64"), "--workers 64: a node of the simulated cluster has 32 cores"),
    ],
)
def test_what_a_simulated_cluster_does_not_have_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], why: str
) -> None:
    assert teff(monkeypatch, "metg", "--simulate", "cori", *words, "--store", "here") == 2
    assert why in capsys.readouterr().err


def test_two_simulated_clusters_are_not_compared_whatever_disturbs_them() -> None:
    def row(simulated: str) -> Row:
        variant = Variant("simulated:mpi", "MPI", "", "#000000", 0, simulated=simulated)
        return Row(kind="task_graph", variant=variant, case="", configuration="", quantity="METG(50 %)")

    assert row("cori, quiet").question == row("cori, detours").question
    assert row("cori, quiet").question != row("mine, quiet").question != row("").question


class Mean:
    """Cori with the usual noise, asked by hand: the mean efficiency of some runs."""

    def __init__(self, nodes: int) -> None:
        (machine,) = machines("cori", ())
        machine["told"]["seed"] = 1
        self.machine, self.ranks = machine, 32 * nodes
        words = SimulatedProgram.on(machine, "task_graph").command_line(self.ranks, nodes=nodes)
        self.words = [*words, "--workers", str(self.ranks), "--batch"]

    def efficiency(self, granularity: float, runs: int) -> float:
        """Of tasks whose work takes half of this [s]."""
        iterations = round((granularity / 2 / self.machine["told"]["flop"] - 64) / 128)
        line = f"-type stencil_1d -width {self.ranks} -steps 1000 -kernel compute_bound -iter {iterations}\n"
        told = subprocess.run(self.words, input=line * runs, stdout=subprocess.PIPE, text=True, check=True).stdout
        seconds = [json.loads(each)["elapsed_seconds"] for each in told.splitlines()]
        return granularity / 2 * 1000 / (sum(seconds) / runs)


@built
@pytest.mark.parametrize(("nodes", "paper", "runs"), [(1, 4.6e-6, 5), (128, 28e-6, 40), (256, 61e-6, 25)])
def test_metg_of_mpi_lies_within_half_as_much_again_of_the_paper(nodes: int, paper: float, runs: int) -> None:
    mean = Mean(nodes)
    assert mean.efficiency(paper / 1.5, runs) < 0.5 < mean.efficiency(paper * 1.5, runs)
