"""Samples a pool of threads that no runtime manages."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from accounts import Accounts  # noqa: E402

LIBRARY = HERE.parents[1] / ".teff" / "build" / "lib" / "libteff_collect.so"


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not LIBRARY.exists() or shutil.which("gcc") is None:
        pytest.skip("the collector is not built here, or there is no compiler")
    made = tmp_path_factory.mktemp("pool") / "pool"
    subprocess.run(["gcc", "-O2", "-g", "-pthread", str(HERE / "pool.c"), "-o", str(made)], check=True)
    return made


def sampled(folder: Path, *command: str | Path) -> tuple[float, list[Accounts], str]:
    """The nanoseconds that the program took by its own clock, its accounts, and what it said."""
    folder.mkdir()
    setting = {"LD_PRELOAD": str(LIBRARY), "TEFF_COLLECT": str(folder), "TEFF_SAMPLE": "1000"}
    words = [str(word) for word in command]
    done = subprocess.run(words, env=os.environ | setting, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    seconds = max(float(line.split()[0]) for line in done.stderr.splitlines())
    return 1e9 * seconds, [Accounts(file) for file in sorted(folder.glob("*.accounts"))], done.stdout


@pytest.mark.parametrize(("case", "state"), [("compute", "body"), ("condition", "wait"), ("lock", "lock")])
def test_the_time_of_a_thread_is_of_what_it_does(pool: Path, tmp_path: Path, case: str, state: str) -> None:
    wall, [accounts], _ = sampled(tmp_path / "out", pool, case)
    main, other = accounts.seats  # in the order in which the threads were seen
    names = [name.decode() for name in accounts.header["states"]]
    assert main.sum() == pytest.approx(wall, rel=0.05)
    assert other.sum() == pytest.approx(wall, rel=0.1)
    assert main[names.index("body")] >= 0.9 * wall
    assert other[names.index(state)] >= 0.9 * other.sum()


def test_a_sample_names_the_code_that_ran(pool: Path, tmp_path: Path) -> None:
    _, [accounts], _ = sampled(tmp_path / "out", pool, "compute")
    found = max(accounts.sites, key=lambda site: site["time"])
    module = accounts.header["modules"][found["module"]]
    words = ["addr2line", "-f", "-e", str(pool), hex(int(found["address"]) - 1 - int(module["begin"]))]
    function = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()[0]
    assert module["path"].decode() == str(pool)
    assert function in ("compute", "computes", "main")  # it may be inlined
    assert accounts.bodies("sample")[1] >= 0.9 * accounts.states["body"]


def test_many_threads_are_all_seen(pool: Path, tmp_path: Path) -> None:
    _, [accounts], _ = sampled(tmp_path / "out", pool, "condition", "400")
    assert len(accounts.seats) == 401
    assert accounts.header["lost_threads"] == 0


def test_a_thread_without_space_is_lost_once(pool: Path, tmp_path: Path) -> None:
    _, [accounts], _ = sampled(tmp_path / "out", "prlimit", f"--fsize={1 << 17}", pool, "condition", "9")
    assert (len(accounts.seats), accounts.header["lost_threads"]) == (4, 6)


def test_a_program_s_own_signals_stay_its_own(pool: Path, tmp_path: Path) -> None:
    _, [accounts], said = sampled(tmp_path / "signals", pool, "signals")
    assert said == ""
    assert accounts.bodies("sample")[1] >= 0.9 * accounts.states["body"]


def test_a_container_may_forbid_a_table_of_files(pool: Path, tmp_path: Path) -> None:
    _, [accounts], _ = sampled(tmp_path / "out", pool, "contained")
    assert accounts.bodies("sample")[1] >= 0.9 * accounts.states["body"]


def test_a_thread_that_blocks_the_signal_computes(pool: Path, tmp_path: Path) -> None:
    wall, [accounts], _ = sampled(tmp_path / "out", pool, "deaf")
    assert accounts.states["body"] >= 1.8 * wall


def test_a_process_ends_with_its_last_thread(pool: Path, tmp_path: Path) -> None:
    wall, [accounts], _ = sampled(tmp_path / "out", pool, "leaves")
    assert accounts.states["body"] == pytest.approx(wall, rel=0.1)
    assert accounts.states["wait"] < 0.1 * wall


@pytest.mark.parametrize("case", ["exec", "fork"])
def test_a_program_that_becomes_another_is_sampled_on(pool: Path, tmp_path: Path, case: str) -> None:
    wall, accounts, _ = sampled(tmp_path / "out", pool, case)
    assert len(accounts) == 2 or case == "fork"  # a parent that only waits may leave nothing
    assert sum(one.states["body"] for one in accounts) >= 1.8 * wall
