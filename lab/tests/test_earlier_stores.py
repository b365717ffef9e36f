"""A store that was written before all kinds of benchmark shared one is read, reported, compared and gone on with."""

import json
import shutil
from pathlib import Path

import pytest

from conftest import write_system
from simulated_sitting import Silent, measured, variant
from tefflab.benchmarks.benchmark import find_benchmark
from tefflab.benchmarks.spawn import SpawnRecord
from tefflab.cli import session
from tefflab.cli.comparing import answer
from tefflab.measure.measurement import estimated
from tefflab.records.plan import Case, Plan
from tefflab.records.store import Store
from tefflab.records.stored import open_sitting, open_sittings
from tefflab.systems.registry import Registry

DATA = Path(__file__).parent / "data" / "earlier"  # of simulated programs; a launch of `quick` was interrupted
PROGRAM = '[[program]]\nbenchmark = "spawn"\nname = "one"\ntitle = "one"\nprogram = "none"\n'
GRAPHS, SPAWN = "one-of-earlier", "spawn-of-earlier"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A checkout with that store, and the system that is its floor."""
    shutil.copytree(DATA, tmp_path / "results" / "earlier")
    write_system(tmp_path, "plain", PROGRAM)
    toml = tmp_path / "bench" / "systems" / "plain" / "system.toml"
    toml.write_text(toml.read_text().replace('paradigm = "none"', 'paradigm = "sequential"'))
    return tmp_path


def test_a_report_is_made_of_its_task_graphs(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session.report(Registry(root), f"earlier:{GRAPHS}", as_json=True)
    told = json.loads(capsys.readouterr().out)
    rows = {row["system_id"]: row for row in told["rows"]}
    kept = {row["system_id"]: row for row in map(json.loads, (DATA / "metg.jsonl").read_text().splitlines())}
    for name in ("quick", "slow"):
        now, then = rows[name]["metg"], kept[name]["metg"]
        assert now["value"] == pytest.approx(then["value"], rel=0.01), "it was held against the better of two ceilings"
        assert (now["relation"], now["rounds"], now["observations"]) == tuple(
            then[each] for each in ("relation", "rounds", "observations")
        )
        assert rows[name]["overhead"] == kept[name]["overhead"]
    assert rows["mortal"]["metg"] is None
    assert rows["mortal"]["note"].startswith("ended with exit code 1"), "whose it is stands beside it"
    folder = root / "results" / "earlier" / GRAPHS
    assert {file.name for file in folder.iterdir()} >= {"report.html", "metg.svg", "efficiency.svg"}


def test_a_report_is_made_of_its_spawn_patterns(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session.report(Registry(root), f"earlier:{SPAWN}", as_json=True)
    rows = {
        (row["system_id"], row["pattern"], row["workers"]): row
        for row in map(json.loads, capsys.readouterr().out.splitlines())
    }
    assert rows["quick", "serial", 1]["seconds_per_task"]["value"] == pytest.approx(1.0061382406656266e-08)
    assert rows["slow", "tree T3", 2]["ratio_to_first"]["value"] == pytest.approx(2.9681743390334665)
    assert rows["plain", "serial", 1]["verdict"] == "floor", "which its plan does not say, but its system"
    assert ("plain", "serial", 2) not in rows
    assert "a worker has died" in rows["mortal", "serial", 1]["note"]
    assert rows["quick", "serial", 1]["rounds"] == 2


def test_an_interrupted_launch_that_was_made_again_counts_once(root: Path) -> None:
    store, head = open_sitting(Registry(root), f"earlier:{SPAWN}")
    launch = [
        run
        for run in store.runs(SpawnRecord, head.sitting)
        if (run.system_id, run.round, run.flags, run.workers) == ("quick", 1, "-pattern serial", 1)
    ]
    assert [(run.role, run.attempt) for run in launch] == [("probe", 0), *(("system", each) for each in range(3))]
    assert max(run.record.seconds_per_task for run in launch) < 20e-9


def test_it_is_compared_with_a_store_of_today(root: Path) -> None:
    today = Plan(
        title="today",
        variants=(variant("quick"),),
        cases=(Case(name="serial", flags="-pattern serial", workers=1),),
    )
    _, sittings = open_sittings(Registry(root), "earlier")
    assert set(sittings) == {"task_graph", "spawn"}
    head = sittings["spawn"].model_copy(update={"sitting": "today", "plan": today.model_dump(mode="json")})
    with Store.create(root / "results" / "today") as store:
        store.append("sittings", head)
        for run in Store.open(root / "results" / "earlier").runs(SpawnRecord, SPAWN):
            store.append("runs", run.model_copy(update={"sitting": "today"}))
    found = answer(Registry(root), "earlier", "today", None)
    assert found.left_out == ("earlier has METG, today has none",)
    (each,) = found.answers[0].comparisons
    assert (each.a.system, each.ratio.value, each.agrees) == ("quick", 1, None)
    within = answer(Registry(root), "slow", "quick", "earlier").answers
    assert [each.kind for each in within] == ["metg", "spawn"]
    assert within[0].comparisons[0].ratio.value == pytest.approx(4, rel=0.05)
    assert {each.place for each in within[1].comparisons} == {
        f"{case}, {workers}" for case in ("serial", "tree T3") for workers in ("1 worker", "2 workers")
    }


def test_what_was_measured_is_not_measured_again_and_new_lines_are_of_today(root: Path) -> None:
    store, head = open_sitting(Registry(root), f"earlier:{SPAWN}")
    before = len(list(store.runs(SpawnRecord)))
    for name in ("quick", "slow", "mortal"):
        write_system(root, name, PROGRAM)
    with store:
        estimates, interrupted = measured(root, store, head, Silent(), rounds=2)
    assert not interrupted
    assert len(list(store.runs(SpawnRecord))) == before
    assert len(estimates.rows) == 14
    kept = [json.loads(line) for line in (store.folder / "estimates.jsonl").read_text().splitlines()]
    assert {line["benchmark"] for line in kept} == {"spawn"}


def test_a_torn_line_of_an_earlier_file_is_reported(root: Path) -> None:
    for name in ("records.jsonl", "spawn.jsonl"):
        file = root / "results" / "earlier" / name
        file.write_bytes(file.read_bytes()[:-40])
    damage = Store.open(root / "results" / "earlier").damage()
    assert [each.file.name for each in damage] == ["records.jsonl", "spawn.jsonl"]
    assert all("torn line" in str(each) for each in damage)
    store, head = open_sitting(Registry(root), f"earlier:{GRAPHS}")
    assert estimated(store, find_benchmark("task_graph"), head).lines()
