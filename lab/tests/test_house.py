"""Each law of the house holds in a small checkout, and fails where it is broken."""

import json
import stat
from pathlib import Path

import pytest

from tools.house import LAWS, breaches

LAB = "lab/src/tefflab"
SCHEDULER = "runtime/src/scheduler"
SOUND = {
    "bench/systems/weaver/system.toml": (
        '[[program]]\nbenchmark = "spawn"\nprogram = "weaver_{benchmark}"\n'
        '[[program]]\nbenchmark = "task_graph"\nprogram = "loom"\n'
    ),
    "bench/systems/serial/system.toml": '[[program]]\nbenchmark = "spawn"\nprogram = "serial_spawn"\n',
    "bench/systems/weaver/tasks.hpp": "#include <weaver.h>\n",
    "bench/driver/include/teff/bench/driver.hpp": "#pragma once\n",
    "bench/spawn/main.cpp": '#include "teff/bench/driver.hpp"\n// serial: one task after the other\n',
    "cmake/TeffSystems.cmake": "# every system, by a glob\n",
    "runtime/include/teff/detail/replay/plan.hpp": "#include <teff/detail/scheduler/source.hpp>\n",
    "runtime/include/teff/detail/scheduler/source.hpp": "#pragma once\n",
    "runtime/src/graph/core.cpp": '#include <teff/detail/scheduler/source.hpp>\n#include "platform/futex.hpp"\n',
    "runtime/src/scheduler/worker.cpp": "// Polls its sources: a paragraph, a replayer's neighbour.\n",
    f"{LAB}/__init__.py": '__version__ = "1"\n',
    f"{LAB}/errors.py": "class TeffError(Exception): ...\n",
    f"{LAB}/durations.py": "from tefflab.errors import TeffError\n",
    f"{LAB}/records/store.py": "from tefflab import __version__\nfrom tefflab.host import spin\n",
    f"{LAB}/host/spin.py": '"""Spins, as `teff measure spawn --pattern tree` does not."""\n_OWN = 1\n',
    f"{LAB}/benchmarks/wake.py": "from tefflab.benchmarks.cases import base\nBENCHMARK = 1\n",
    f"{LAB}/benchmarks/graph/__init__.py": "from tefflab.benchmarks.graph.plan import plan\nBENCHMARK = 1\n",
    f"{LAB}/output/table.py": "# a table\n",
    f"{LAB}/cli/checking.py": "from tools.running import run_checks\n",
    f"{LAB}/cli/main.py": 'NAME = "sweep"\nHELP = "as a family tree"\n',
    "lab/tools/running.py": "from tefflab.cli import main\n",
}
CASES = [
    {"name": "tree-T3", "flags": "-pattern tree -tree T3", "group": "tree"},
    {"name": "fib_both", "flags": "-pattern fibonacci -n 30 -spawn both", "group": "fibonacci"},
    {"name": "sweep", "flags": "-type sweep", "group": ""},
]
NAMES, LAYERS, SHOWN, KINDS, TOOLS, PRIVATE, WAYS_IN, PARTS, BENCH_BELOW, LAB_BELOW, CASE, WORKERS = (
    law.says for law in LAWS
)


@pytest.fixture
def house(tmp_path: Path) -> Path:
    for name, text in SOUND.items():
        write(tmp_path / name, text)
    program = tmp_path / ".teff/build/bin/weaver_spawn"
    write(program, "#!/bin/sh\ncat <<END\n" + "\n".join(map(json.dumps, CASES)) + "\nEND\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return tmp_path


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def broken(root: Path) -> dict[str, list[str]]:
    return {law.says: found for law in LAWS if (found := breaches(law, root))}


def test_a_sound_house_breaks_no_law_and_leaves_none_unseen(house: Path) -> None:
    assert broken(house) == {}
    assert all(breaches(law, house) is not None for law in LAWS)


def test_nothing_is_said_of_what_is_not_there(tmp_path: Path, house: Path) -> None:
    assert [breaches(law, tmp_path / "empty") for law in LAWS] == [None] * len(LAWS)
    (house / ".teff/build/bin/weaver_spawn").unlink()
    assert [law.says for law in LAWS if breaches(law, house) is None] == [CASE]


def test_a_plain_word_that_is_a_case_of_a_kind_is_english_elsewhere(house: Path) -> None:
    for file in ("output/table.py", "benchmarks/weft.py"):
        write(house / LAB / file, 'x = "fibonacci"\n')
    assert not broken(house)


@pytest.mark.parametrize(
    ("law", "file", "text", "said"),
    [
        (NAMES, f"{LAB}/output/table.py", "# of weaver alone\n", "table.py:1: weaver"),
        (NAMES, "lab/tools/site.py", 'x = "loom"\n', "site.py:1: loom"),
        (NAMES, "bench/driver/drive.cpp", "\nint weaver_tasks = 3;\n", "drive.cpp:2: weaver"),
        (NAMES, "bench/spawn/CMakeLists.txt", "add_executable(spawn_Weaver main.cpp)\n", "CMakeLists.txt:1: Weaver"),
        (NAMES, "bench/CMakeLists.txt", "add_subdirectory(systems/weaver)\n", "CMakeLists.txt:1: weaver"),
        (NAMES, "cmake/TeffSystems.cmake", "find_package(weaver)\n", "TeffSystems.cmake:1: weaver"),
        (LAYERS, f"{LAB}/host/spin.py", "from tefflab.systems import load\n", "spin.py:1: tefflab.systems.load"),
        (LAYERS, f"{LAB}/errors.py", "from tefflab import host\n", "errors.py:1: tefflab.host"),
        (LAYERS, f"{LAB}/output/live.py", "def f():\n  import tefflab.measure.round\n", "live.py:2: tefflab.measure"),
        (LAYERS, f"{LAB}/analysis/a.py", "from ..cli import main\n", "a.py:1: ..cli.main"),
        (LAYERS, f"{LAB}/attic/a.py", "x = 1\n", "attic stands in no layer"),
        (SHOWN, f"{LAB}/output/live.py", "def metg_text(): ...\n", "live.py:1: metg_text"),
        (KINDS, f"{LAB}/benchmarks/cases.py", "from tefflab.benchmarks import wake\n", "cases.py:1: tefflab"),
        (KINDS, f"{LAB}/benchmarks/graph/plan.py", "import tefflab.benchmarks.wake\n", "plan.py:1: tefflab"),
        (TOOLS, f"{LAB}/cli/main.py", "from tools import site\n", "main.py:1: tools.site"),
        (PRIVATE, f"{LAB}/cli/main.py", "from tefflab.host.spin import _OWN\n", "main.py:1: tefflab.host.spin._OWN"),
        (PRIVATE, f"{LAB}/records/store.py", "from tefflab.host import spin\nspin._OWN\n", "store.py:2: spin._OWN"),
        (PRIVATE, "lab/tools/site.py", "from tefflab.host import _hidden\n", "site.py:1: tefflab.host._hidden"),
        (WAYS_IN, f"{SCHEDULER}/worker.cpp", "// asks the replay\n", "worker.cpp:1: replay"),
        (WAYS_IN, "runtime/include/teff/detail/scheduler/source.hpp", "class keyed_graph;\n", "source.hpp:1: graph"),
        (PARTS, f"{SCHEDULER}/worker.cpp", "#include <teff/detail/fork_join/scope.hpp>\n", "worker.cpp:1: #include"),
        (PARTS, "runtime/src/platform/futex.hpp", '\n#include "trace/trace.hpp"\n', "futex.hpp:2: #include"),
        (PARTS, "runtime/src/attic/a.cpp", "int a;\n", "a.cpp:1: attic is no part"),
        (BENCH_BELOW, f"{SCHEDULER}/worker.cpp", '#include "teff/bench/driver.hpp"\n', "worker.cpp:1: #include"),
        (BENCH_BELOW, "runtime/CMakeLists.txt", "target_link_libraries(teff teff::bench)\n", "txt:1: teff::bench"),
        (LAB_BELOW, "bench/systems/weaver/graph.py", "import tefflab\n", "graph.py:1: tefflab"),
        (LAB_BELOW, "bench/spawn/main.cpp", '#include "../../lab/x.hpp"\n', "main.cpp:1: #include"),
        (WORKERS, "bench/systems/weaver/tasks.hpp", "return {.workers = workers_};\n", "hpp:1: .workers = workers_"),
        (WORKERS, "bench/systems/weaver/graph.py", 'Identity("weaver", "a", "1", self.workers)\n', "py:1: Identity"),
        (CASE, f"{LAB}/benchmarks/spawn.py", 'x = "fibonacci"\n', "spawn.py:1: 'fibonacci'"),
        (CASE, f"{LAB}/output/table.py", 'x = "the fib_both of two"\n', "table.py:1: 'the fib_both of two'"),
        (CASE, f"{LAB}/benchmarks/spawn.py", 'x = "run --pattern fibonacci"\n', "spawn.py:1: 'run --pattern f"),
    ],
)  # fmt: skip
def test_a_law_that_is_broken_says_where(house: Path, law: str, file: str, text: str, said: str) -> None:
    write(house / file, text)
    assert list(broken(house)) == [law]
    assert said in broken(house)[law][0]
