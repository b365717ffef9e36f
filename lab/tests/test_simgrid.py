"""The simulator held against SimGrid, which executes the MPI adapter itself in simulated time."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tefflab import project_root
from tefflab.systems.simulated import SIMULATOR
from tefflab.systems.systems import BUILD_FOLDER

ROOT = project_root()
GRAPHS = ROOT / "bench" / "task_graph"
NODES, CORES = 8, 16
RANKS = NODES * CORES
NEAR, BETWEEN, MESSAGE = 0.605e-6, 1.3e-6, 0.75e-6
PATTERNS = ("-type stencil_1d", "-type nearest -radix 5", "-type spread -radix 5")
SEAMS = (
    "_ZNSt6chrono3_V212steady_clock3nowEv",
    "_ZN4teff5bench17measure_gap_shareEv",
    "_ZN4teff6graphs6worker7executeERKNS1_14prepared_graphEllPSt4bytemPKSt4spanIKS5_Lm18446744073709551615EEm",
)
PLATFORM = f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="node-" suffix="" radical="0-{NODES - 1}" speed="1Gf" core="{CORES}" sharing_policy="FATPIPE"
           bw="100GBps" lat="{BETWEEN / 2}s" loopback_bw="100GBps" loopback_lat="{NEAR}s"/>
</platform>
"""
HALF = MESSAGE / 2
SETTINGS = (
    "smpi/lat-factor:0:1",
    "smpi/bw-factor:0:1",
    "smpi/simulate-computation:no",
    "smpi/privatization:no",
    "smpi/coll-selector:mpich",
    f"smpi/os:0:{HALF}:0",
    f"smpi/ois:0:{HALF}:0",
    f"smpi/or:0:{HALF}:0",
)


@pytest.fixture(scope="module")
def adapter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The MPI adapter, unchanged but for its seams, as SimGrid runs it."""
    libraries = [ROOT / BUILD_FOLDER / "lib" / f"libbench_{name}.a" for name in ("simulated", "task_graph", "driver")]
    if shutil.which("smpicxx") is None:
        pytest.skip("SimGrid is not here (apt-get install libsimgrid-dev)")
    if not all(each.is_file() for each in libraries):
        pytest.skip("the simulator is not built here")
    program = tmp_path_factory.mktemp("simgrid") / "nonblocking"
    sources = (
        ROOT / "bench" / "systems" / "mpi" / "nonblocking.cpp",
        *(GRAPHS / "mpi" / "src" / name for name in ("mpi_adapter.cpp", "rank_columns.cpp")),
        GRAPHS / "simulated" / "tests" / "simgrid_seams.cpp",
    )
    headers = (GRAPHS / "include", GRAPHS / "mpi" / "include", GRAPHS / "simulated", ROOT / "bench/driver/include")
    words = ["smpicxx", "-std=c++20", "-O1", "-DFMT_SHARED", *(f"-I{each}" for each in headers), *sources]
    wraps = [f"-Wl,--wrap={each}" for each in SEAMS]
    subprocess.run([*words, "-o", program, *libraries, "-lfmt", "-ldl", *wraps], check=True)
    return program


def simgrid(program: Path, machine: dict[str, object], flags: str) -> float:
    (program.parent / "platform.xml").write_text(PLATFORM)
    (program.parent / "hosts").write_text("".join(f"node-{node}:{CORES}\n" for node in range(NODES)))
    start = ["smpirun", "-np", str(RANKS), "-platform", "platform.xml", "-hostfile", "hosts", "--log=root.thresh:error"]
    words = [*start, *(f"--cfg={each}" for each in SETTINGS), str(program), "--workers", str(RANKS), *flags.split()]
    environment = os.environ | {"SIMULATED_MACHINE": json.dumps(machine)}
    told = subprocess.run(
        words, cwd=program.parent, env=environment, stdout=subprocess.PIPE, text=True, check=True, timeout=60
    ).stdout
    record = json.loads(told)
    assert record["validation"]["passed"], record
    return float(record["elapsed_seconds"])


def ours(machine: dict[str, object], flags: str) -> float:
    levels = [{"nodes": 1, "latency": NEAR}, {"latency": BETWEEN}]
    whole = machine | {"message": MESSAGE, "levels": levels}
    words = [ROOT / BUILD_FOLDER / "bin" / SIMULATOR, json.dumps(whole), "--workers", str(RANKS), *flags.split()]
    told = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True, timeout=60).stdout
    return float(json.loads(told)["elapsed_seconds"])


@pytest.mark.parametrize("detours", [[], [{"rate": 250 * CORES, "length": 20e-6}]], ids=["quiet", "detours"])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_simulator_agrees_with_simgrid_that_runs_the_adapter(
    adapter: Path, pattern: str, detours: list[dict[str, float]]
) -> None:
    flags = f"{pattern} -width {RANKS} -steps 60 -kernel empty"
    machine: dict[str, object] = {"name": "test", "cores": CORES, "task": 3e-6, "detours": detours}
    seeds = range(3 if detours else 1)
    theirs = sum(simgrid(adapter, machine | {"seed": seed}, flags) for seed in seeds)
    mine = sum(ours(machine | {"seed": seed}, flags) for seed in seeds)
    assert 1 / 1.1 < theirs / mine < 1.1, (theirs / len(seeds), mine / len(seeds))
