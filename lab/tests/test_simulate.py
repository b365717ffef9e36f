"""Clusters that are not here: their files, METG on them, and that nobody takes it for a measured one."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import printed_rows, teff
from tefflab import project_root
from tefflab.cli import session
from tefflab.errors import InputError
from tefflab.systems import simulated
from tefflab.systems.simulated import CLUSTERS, SIMULATOR, machines
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
