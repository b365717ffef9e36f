"""Collects small programs of oneTBB."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from accounts import Accounts  # noqa: E402

LIBRARY = HERE.parents[1] / ".teff" / "build" / "lib" / "libteff_collect.so"
FIRST_TASKS = 2  # with which a program begins its threads
ATTEMPTS = 5  # a busy machine may hold a thread back before it waits, or before it looks at its clock
EVERY = ("loop", "grains", "reduce", "recursion", "nested", "graph", "pipeline", "producer", "phases", "thrown")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not LIBRARY.exists() or not shutil.which("g++"):
        pytest.skip("the collector is not built here, or there is no compiler")
    made = tmp_path_factory.mktemp("tasks") / "tasks"
    words = ["g++", "-std=c++17", "-O2", "-g", str(HERE / "tasks.cpp"), "-o", str(made), "-ltbb"]
    done = subprocess.run(words, capture_output=True, text=True)
    if "tbb" in done.stderr:
        pytest.skip("oneTBB is not installed here")
    assert done.returncode == 0, done.stderr
    return made


def collected(folder: Path, *command: str | Path) -> tuple[dict[str, float], Accounts]:
    """Runs the program. Gives its words and its accounts."""
    folder.mkdir()
    setting = {"LD_PRELOAD": str(LIBRARY), "TEFF_COLLECT": str(folder)}
    setting |= {"INTEL_LIBITTNOTIFY64": str(LIBRARY), "INTEL_ITTNOTIFY_GROUPS": "stitch,sync"}
    words = [str(word) for word in command]
    done = subprocess.run(words, env=os.environ | setting, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    [file] = folder.glob("*.accounts")
    return json.loads(done.stdout), Accounts(file)


@pytest.mark.parametrize("case", EVERY)
def test_accounts_add_up_to_threads_times_time(program: Path, tmp_path: Path, case: str) -> None:
    shares = []
    for attempt in range(ATTEMPTS):
        said, accounts = collected(tmp_path / str(attempt), program, case, "200", "200")
        assert len(accounts.seats) == 2
        assert accounts.in_bodies() >= 0.99 * said["work"]
        shares.append(accounts.in_regions() / (2 * said["wall"]))
        if shares[-1] == pytest.approx(1, abs=0.03):
            return
    pytest.fail(f"the accounts add up to {shares} of threads x time")


@pytest.mark.parametrize("case", ["loop", "grains", "reduce", "recursion", "graph", "producer", "enqueued"])
def test_every_task_is_counted_and_timed(program: Path, tmp_path: Path, case: str) -> None:
    said, accounts = collected(tmp_path / "out", program, case, "20", "400")
    count, time = accounts.bodies("task")
    assert count in (said["bodies"] + FIRST_TASKS, said["bodies"] + FIRST_TASKS - 1)  # a thread may be in the last one
    assert time >= 0.99 * said["work"] / (8 if case == "producer" else 1)


def test_a_task_of_the_median_length_is_as_long_as_the_program_says(program: Path, tmp_path: Path) -> None:
    _, accounts = collected(tmp_path / "out", program, "grains", "50", "400")
    lengths = max(accounts.sites, key=lambda site: site["count"])["lengths"]
    place = int(np.searchsorted(lengths.cumsum(), lengths.sum() / 2))
    begin = 2 ** (4 + place // 4) * (1 + place % 4 / 4) * accounts.ns
    assert begin <= 1.1 * 50e3
    assert 1.25 * begin >= 50e3


@pytest.mark.parametrize(
    ("case", "state", "lengths"), [("imbalance", "imbalance", 2), ("producer", "task_not_made", 6)]
)
def test_a_known_idle_time_has_its_cause(program: Path, tmp_path: Path, case: str, state: str, lengths: int) -> None:
    """A body spins by the clock. On a busy machine, a part of the idle time counts as time without a core."""
    _, accounts = collected(tmp_path / "out", program, case, "20000", "8")
    others = ("serial", "body", "start", "displaced")
    idle = {name: time for name, time in accounts.states.items() if name not in others}
    assert idle.pop(state) + accounts.states["displaced"] > max(0.75 * lengths * 20e6, *idle.values()), accounts.states


def test_time_between_regions_is_outside_of_them_on_workers_too(program: Path, tmp_path: Path) -> None:
    _, accounts = collected(tmp_path / "out", program, "phases", "200", "200")
    serial = accounts.seats[:, list(accounts.header["states"]).index(b"serial")]
    assert min(serial) >= 0.97 * 10 * 10 * 200e3
    assert accounts.bodies("region")[0] == 200 // 20 + 1


def test_a_time_after_which_nobody_waits_for_the_tasks_is_outside(program: Path, tmp_path: Path) -> None:
    _, accounts = collected(tmp_path / "out", program, "parted", "200", "200")
    assert accounts.states["serial"] >= 0.97 * 200 * 200e3 - 200e3
    assert accounts.bodies("region")[1] < 200 * 200e3 / 10


def test_tasks_too_short_for_the_clock_are_counted(program: Path, tmp_path: Path) -> None:
    _, accounts = collected(tmp_path / "out", program, "loop", "1", "50000", "1")
    assert accounts.bodies("task")[0] in (50000 + FIRST_TASKS, 50000 + FIRST_TASKS - 1)
    assert accounts.states["counted"] > 0
