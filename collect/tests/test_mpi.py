"""Collects a small program of MPI, in C and in both bindings of Fortran, over two ranks."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from accounts import Accounts  # noqa: E402

LIBRARY = HERE.parents[1] / ".teff" / "build" / "lib" / "libteff_collect_mpi.so"
WITHOUT_MPI = LIBRARY.with_name("libteff_collect.so")
BINDINGS = {
    "c": ("mpicc", "-fopenmp", str(HERE / "messages.c")),
    "mpi": ("mpif90", "-cpp", "-DBINDING=mpi", str(HERE / "messages.f90")),
    "mpi_f08": (
        "mpif90",
        "-cpp",
        "-DBINDING=mpi_f08",
        "-DF08",
        str(HERE / "messages.f90"),
    ),
}


def compiled(binding: str, folder: Path) -> Path:
    compiler, *words = BINDINGS[binding]
    if not LIBRARY.exists() or shutil.which(compiler) is None or shutil.which("mpirun") is None:
        pytest.skip("the collector is not built here, or MPI is not installed")
    done = subprocess.run(
        [compiler, "-O2", "-g", *words, "-o", str(folder / binding)],
        cwd=folder,
        capture_output=True,
    )
    if done.returncode != 0 and b"gfortran" in done.stderr:
        pytest.skip("no compiler of Fortran is here")
    assert done.returncode == 0, done.stderr
    return folder / binding


def over_two_ranks(folder: Path, *command: str | Path) -> list[tuple[dict[str, float], Accounts]]:
    """Starts two ranks. Gives what each said, and its accounts, in the order of ranks."""
    folder.mkdir()
    setting = [
        "env",
        f"LD_PRELOAD={LIBRARY}",
        f"TEFF_COLLECT={folder}",
        "OMP_NUM_THREADS=2",
    ]
    rights = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    words = ["mpirun", "--oversubscribe", "-n", "2", *setting, *map(str, command)]
    done = subprocess.run(words, env=os.environ | rights, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    said = sorted(map(json.loads, done.stdout.splitlines()), key=lambda one: one["rank"])
    accounts = sorted(map(Accounts, folder.glob("*.accounts")), key=lambda one: one.header["rank"])
    assert [one.header["rank"] for one in accounts] == [1, 2]
    return list(zip(said, accounts, strict=True))


@pytest.mark.parametrize("case", ["imbalance", "ring"])
def test_a_body_runs_from_one_waiting_call_to_the_next(tmp_path: Path, case: str) -> None:
    program = compiled("c", tmp_path)
    for said, accounts in over_two_ranks(tmp_path / "out", program, case, "500", "100"):
        count, time = accounts.bodies("between_waits")
        assert count == 101
        assert time <= 1.05 * said["work"]  # with what interrupts the rank between two clocks
        assert said["work"] <= 1.05 * (time + accounts.states["displaced"])


def last_wait(accounts: Accounts) -> float:
    """Of MPI_Finalize, in nanoseconds: the program says no more how long it takes."""
    kind = list(accounts.header["kinds"]).index(b"collective")
    return (
        float(sum(site["time"] for site in accounts.sites if site["what"] == kind and site["count"] == 1)) * accounts.ns
    )


def test_the_idle_share_is_what_the_ranks_see(tmp_path: Path) -> None:
    program = compiled("c", tmp_path)
    ranks = over_two_ranks(tmp_path / "out", program, "imbalance", "500", "100")
    idle = sum(said["wall"] - said["work"] for said, _ in ranks)
    waits = sum(accounts.bodies("collective")[1] - last_wait(accounts) for _, accounts in ranks)
    assert waits == pytest.approx(idle, rel=0.03)
    for _, accounts in ranks:
        waited, message = accounts.bodies("collective")[1], accounts.states["message"]
        assert message <= 1.01 * waited <= 1.02 * (message + accounts.states["displaced"])


def test_a_wait_belongs_to_its_call_its_cause_and_its_partner(tmp_path: Path) -> None:
    program = compiled("c", tmp_path)
    kinds, partners = [], []
    for _, accounts in over_two_ranks(tmp_path / "out", program, "late_sender", "500", "100"):
        names = [name.decode() for name in accounts.header["kinds"]]
        [site] = [one for one in accounts.sites if names[one["what"]] == "point_to_point"]
        kinds.append(site["count"])
        partners.append(int(site["partner"]) - 1)
    assert partners == [1, 0]
    assert kinds[1] == 100


@pytest.mark.parametrize("binding", ["mpi", "mpi_f08"])
def test_a_call_of_fortran_is_the_program_s_own(tmp_path: Path, binding: str) -> None:
    program = compiled(binding, tmp_path)
    _, (said, accounts) = over_two_ranks(tmp_path / "out", program)
    assert accounts.bodies("between_waits")[0] == 101
    assert accounts.states["body"] <= 1.03 * said["work"] <= 1.06 * accounts.in_bodies()
    for site in accounts.sites[accounts.sites["count"] > 0]:
        assert accounts.header["modules"][site["module"]]["path"].decode() == str(program)


def test_a_rank_with_threads_has_one_account_of_each(tmp_path: Path) -> None:
    program = compiled("c", tmp_path)
    for said, accounts in over_two_ranks(tmp_path / "out", program, "many_threads", "300", "50"):
        assert len(accounts.seats) == 2
        assert accounts.bodies("region")[0] == 100
        assert accounts.bodies("region")[1] <= 1.03 * said["work"] <= 1.06 * accounts.in_bodies()
        assert accounts.bodies("collective")[0] == 51


def test_a_library_that_asks_whether_there_is_mpi_finds_none(tmp_path: Path) -> None:
    if not WITHOUT_MPI.exists() or shutil.which("gcc") is None:
        pytest.skip("the collector is not built here, or there is no compiler")
    source = tmp_path / "asks.c"
    source.write_text("int MPI_Init(int*, char***) __attribute__((weak));\nint main(void) { return MPI_Init != 0; }\n")
    subprocess.run(["gcc", str(source), "-o", str(tmp_path / "asks")], check=True)
    subprocess.run([str(tmp_path / "asks")], env=os.environ | {"LD_PRELOAD": str(WITHOUT_MPI)}, check=True)
