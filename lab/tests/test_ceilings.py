"""Kernels that do not run on the cores are compared with another ceiling, which their system brings."""

from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import PROGRAM, write_program
from simulated_sitting import Silent, begun, graphs, measured, plan, sat, variant
from tefflab.benchmarks.task_graph.plan import GraphPlan
from tefflab.benchmarks.task_graph.record import GraphRecord
from tefflab.benchmarks.task_graph.tables import CEILING
from tefflab.measure.presence import Selection
from tefflab.records.run import Role
from tefflab.records.store import Store
from tefflab.systems.needs import STAMP
from tefflab.systems.probing import Probe
from tefflab.systems.registry import Registry
from tefflab.systems.systems import BUILD_FOLDER, INSTALLED_FOLDER

NEAR, FAR = 1e-6, 1e-4  # overheads of a system on the cores and of one elsewhere
SPEED = "SIMULATED_SECONDS=1.28e-11"  # a hundred times as fast as a core


@pytest.fixture
def two(laboratory: Callable[..., Path]) -> Path:
    """A checkout with a system on the cores, `near`, and a system elsewhere, `far`, with a separate ceiling."""
    root = laboratory(near=(NEAR, "fine"), far=(FAR, "fine"))
    toml = root / "bench" / "systems" / "far" / "system.toml"
    elsewhere = f'ceiling = "far_ceiling"\ncommand = ["env", "{SPEED}", '
    toml.write_text(toml.read_text().replace("command = [", elsewhere))
    write_ceiling(root, "fine")
    return root


def write_ceiling(root: Path, fault: str) -> None:
    write_program(root / BUILD_FOLDER / "bin" / "far_ceiling", f"far_ceiling 0 {fault}", f"env {SPEED} ")


def both(*names: str) -> GraphPlan:
    known = {"near": variant("near"), "far": variant("far", ceiling="far_ceiling")}
    return plan().model_copy(update={"variants": tuple(known[name] for name in names)})


def ceilings(store: Store, role: Role = "ceiling") -> set[str]:
    return {run.system_id for run in store.runs(GraphRecord, "one-of-test") if run.role == role}


def test_each_system_is_held_against_the_ceiling_of_what_its_kernels_run_on(two: Path) -> None:
    (case,) = sat(two, both("near", "far"), Silent(), rounds=8).cases
    rows = {row.id: row for row in case.rows}
    for name, overhead in (("near", NEAR), ("far", FAR)):
        found = rows[name].value
        assert found is not None, rows[name].note
        assert found.value == pytest.approx(2 * overhead, rel=0.1)
    near, far = (case.beside[name, CEILING].value for name in ("near", "far"))
    assert near is not None
    assert far is not None
    assert far.value == pytest.approx(100 * near.value, rel=0.05)
    with Store.open(two / "results" / "test") as store:
        own = [run.record for run in store.runs(GraphRecord, "one-of-test") if run.system_id == "far_ceiling"]
    assert own[-1].granularity > 0.9e-3, "to start a kernel elsewhere takes so long that short ones have no rate"


def test_a_ceiling_that_nobody_is_held_against_is_not_measured(two: Path) -> None:
    store, sitting = begun(two, both("far"))
    with store:
        measured(two, store, sitting, Silent(), rounds=2)
        assert ceilings(store) == {"far_ceiling"}


def test_without_its_own_ceiling_a_system_is_out_and_the_others_lose_nothing_until_it_is_there(two: Path) -> None:
    write_ceiling(two, "dies")
    store, sitting = begun(two, both("near", "far"))
    observer = Silent()
    with store:
        first, _ = measured(two, store, sitting, observer, rounds=3)
        write_ceiling(two, "fine")
        second, _ = measured(two, store, sitting, Silent(), rounds=4)
    rows = {row.id: row for row in first.cases[0].rows}
    assert rows["near"].value is not None
    assert rows["far"].value is None
    assert "has died" in rows["far"].note
    assert observer.failures.keys() == {"far"}
    later = {row.id: row for row in second.cases[0].rows}
    assert later["far"].value is not None, later["far"].note
    assert later["near"].rounds == 4


def test_what_system_toml_says_of_a_ceiling_is_what_a_variant_is_held_against(two: Path) -> None:
    here = Probe(found=True, version="1", reason=None, how_to_install="")
    found = Selection(Registry(two), graphs(), ["near", "far"]).present({"near": here, "far": here})
    assert {each.variant.id: each.variant.ceiling for each in found} == {"near": "", "far": "far_ceiling"}
    assert str(PROGRAM) in found[0].program.command_line(2)


def test_a_system_that_is_installed_where_no_machine_for_it_is_says_so_and_is_not_offered_again(
    two: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    toml = two / "bench" / "systems" / "far" / "system.toml"
    install = 'fetch = [["true"]]\non_request = true\nlicence = "MIT"\nmegabytes = 3\nseconds = 1\n'
    start, _, rest = (
        toml.read_text().replace(f'["env", "{SPEED}", ', '["sh", "-c", "exit 1", ').partition("[[program]]")
    )
    toml.write_text(f"{start}[install]\n{install}[[program]]{rest}")
    for is_installed in (False, True):
        if is_installed:
            (far,) = (each for each in Registry(two).systems if each.name == "far")
            stamp = two / INSTALLED_FOLDER / "far" / STAMP
            stamp.parent.mkdir(parents=True)
            stamp.write_text(far.wanted())
        here = Selection(Registry(two), graphs(), ["near", "far"]).here()
        assert [each.variant.id for each in here] == ["near"]
        said = capsys.readouterr().err
        assert ("./teff systems add far" in said) is not is_installed
        assert ("--identity ended with exit code 1" in said) is is_installed
