"""The command sets up a missing part once. It reports a part that can't be had, and goes on with the rest."""

import io
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib.metadata import distributions, metadata
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet
from rich.console import Console

from tefflab import project_root
from tefflab.errors import TeffError
from tefflab.systems import logged, packages, setup
from tefflab.systems.building import Build, culprit, failures, owner_of
from tefflab.systems.packages import (
    Installing,
    PackageState,
    Provision,
    available,
    choose,
    install_command,
)
from tefflab.systems.registry import Registry
from tefflab.systems.systems import Program, usable_cores

POLICY = """liblake-dev:
  Installed: (none)
  Candidate: 2.1-1
  Version table:
libpond-dev:
  Installed: (none)
  Candidate: (none)
"""


@pytest.fixture(autouse=True)
def _with_sudo(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user without the right to install gets the same text here whether this machine has sudo or not."""
    for place in (packages, setup):
        monkeypatch.setattr(place, "sudo", lambda: "sudo ")


def quiet() -> Console:
    return Console(file=io.StringIO(), width=500)


def told(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


# ---- packages


def answers(monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    """Each command about packages says this."""
    monkeypatch.setattr(packages, "answer", lambda *_, **__: subprocess.CompletedProcess("", 0, said, ""))
    monkeypatch.setattr(shutil, "which", lambda name: name)


def test_only_packages_that_are_installed_count(monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch, "cmake installed\ng++ config-files\nninja-build half-installed\n")
    assert PackageState.of(["cmake"]) == PackageState(frozenset({"cmake"}), known=True)
    assert PackageState.of([]).installed == frozenset()


def test_any_alternative_satisfies_a_requirement() -> None:
    state = PackageState(frozenset({"b"}), known=True)
    assert state.missing(["a | b", "b", "c", "c"]) == ["c"]


def test_nothing_is_missing_where_there_is_no_dpkg_to_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert PackageState.of(["cmake"]).missing(["cmake"]) == []


def test_the_first_alternative_that_can_be_had_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch, POLICY)
    obtainable = available(["libpond-dev | liblake-dev"])
    assert obtainable == {"liblake-dev"}
    assert choose("libpond-dev | liblake-dev", obtainable) == "liblake-dev"
    assert choose("libpond-dev", obtainable) is None


def test_the_command_to_type_has_only_what_can_be_had() -> None:
    wanted = ["libpond-dev", "liblake-dev"]
    assert (
        install_command(wanted, frozenset({"liblake-dev"}))
        == "sudo apt-get install --no-install-recommends liblake-dev"
    )


def test_the_command_to_type_is_for_root_where_there_is_no_sudo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "sudo", lambda: "")
    command = install_command(["liblake-dev"], frozenset({"liblake-dev"}))
    assert command == "apt-get install --no-install-recommends liblake-dev"


def test_the_command_to_type_asks_for_lists_where_there_are_none() -> None:
    command = install_command(["liblake-2-dev | liblake-dev"], frozenset())
    assert command == "sudo apt-get update && sudo apt-get install --no-install-recommends liblake-2-dev"


# ---- provision


def test_everything_is_installed_in_one_go(tmp_path: Path) -> None:
    calls: list[list[str]] = []

    def install(requirements: Sequence[str]) -> bool:
        calls.append([*requirements])
        return True

    outcome = Provision(tmp_path, "apt")
    outcome.install({"a": ["x", "y"], "b": ["y"]}, install)
    assert outcome.problems == {}
    assert calls == [["x", "y"]]


def test_one_owners_bad_package_does_not_keep_the_others_from_theirs(tmp_path: Path) -> None:
    done: list[str] = []

    def install(requirements: Sequence[str]) -> bool:
        if "bad" in requirements:
            return False
        done.extend(requirements)
        return True

    outcome = Provision(tmp_path, "pip")
    outcome.install({"a": ["x"], "b": ["bad"], "c": ["z"]}, install)
    assert outcome.problems == {"b": f"pip could not install bad; see {tmp_path}/.teff/log/pip.log"}
    assert done == ["x", "z"]


def test_who_is_not_root_is_told_one_command_for_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages.PackageState, "of", lambda _: PackageState(frozenset(), known=True))
    monkeypatch.setattr(packages, "as_root", lambda: None)
    monkeypatch.setattr(packages, "available", lambda _: frozenset({"x", "y"}))
    outcome = packages.provide_apt(tmp_path, {"a": ["x"], "b": ["x", "y | z"]}, quiet())
    command = "sudo apt-get install --no-install-recommends x y"
    assert outcome.for_root == f"only root may install packages; type: {command}"
    assert outcome.problems == {"a": "needs x", "b": "needs x, y"}


class FakeApt:
    """Stands in for apt: the packages that it has or fails to install, and the commands it was given."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, has: set[str], broken: set[str] | None = None) -> None:
        self.installs: list[list[str]] = []
        self.updates = 0
        self._broken = broken or set()
        monkeypatch.setattr(packages.PackageState, "of", lambda _: PackageState(frozenset(), known=True))
        monkeypatch.setattr(packages, "as_root", lambda: ())
        monkeypatch.setattr(packages, "available", lambda _: frozenset(has))
        monkeypatch.setattr(logged, "run_logged", self._run)

    def _run(self, command: Sequence[str], *_: object, **__: object) -> int:
        self.updates += "update" in command
        if "install" not in command or "--download-only" in command:
            return 0
        names = [word for word in command[command.index("install") + 1 :] if not word.startswith("-")]
        self.installs.append(names)
        return 100 if self._broken & set(names) else 0


def test_a_package_apt_has_not_got_is_not_asked_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    apt = FakeApt(monkeypatch, has={"x", "z"})
    outcome = packages.provide_apt(tmp_path, {"a": ["x"], "b": ["gone"], "c": ["y | z"]}, quiet())
    assert apt.installs == [["x", "z"]]
    assert outcome.problems.keys() == {"b"}
    assert outcome.problems["b"] == "gone can't be had here"


@pytest.mark.parametrize(("days", "asks"), [(None, True), (0.9, False), (1.1, True)])
def test_apt_is_asked_for_its_lists_only_where_those_here_are_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, days: float | None, asks: bool
) -> None:
    apt = FakeApt(monkeypatch, has=set())
    monkeypatch.setattr(packages, "_APT_LISTS", tmp_path / "partial")
    if days is not None:
        (tmp_path / "partial").mkdir()
        os.utime(tmp_path / "partial", (0, time.time() - days * 24 * 3600))
    packages.provide_apt(tmp_path, {"a": ["x"]}, quiet())
    assert apt.updates == asks


def test_a_package_that_fails_to_install_is_told_with_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    apt = FakeApt(monkeypatch, has={"x", "bad"}, broken={"bad"})
    outcome = packages.provide_apt(tmp_path, {"a": ["x"], "b": ["bad"]}, quiet())
    assert apt.installs == [["x", "bad"], ["x"], ["bad"]]
    assert outcome.problems.keys() == {"b"}
    assert "apt.log" in outcome.problems["b"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("typed", "installs"), [("y\n", [["x"]]), ("\n", [["x"]]), ("n\n", []), ("", [])])
def test_on_a_terminal_apt_installs_only_once_the_user_agreed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: str, installs: list[list[str]]
) -> None:
    apt = FakeApt(monkeypatch, has={"x"})
    monkeypatch.setattr(sys, "stdin", Terminal(typed))
    console = Console(file=Terminal(), width=500, force_terminal=True, highlight=False)
    outcome = packages.provide_apt(tmp_path, {"a": ["x"]}, console, "ask")
    assert apt.installs == installs
    assert "apt would install x\n" in told(console)
    assert outcome.problems == ({} if installs else {"a": "needs x"})
    assert outcome.for_root == ""


@pytest.mark.parametrize("installing", ["ask", "yes", "no"])
def test_without_a_terminal_apt_asks_nothing_and_it_does_nothing_where_it_may_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, installing: Installing
) -> None:
    apt = FakeApt(monkeypatch, has={"x"})
    outcome = packages.provide_apt(tmp_path, {"a": ["x"]}, quiet(), installing)
    assert apt.installs == ([] if installing == "no" else [["x"]])
    assert outcome.problems == ({"a": "needs x"} if installing == "no" else {})
    assert packages.provide_pip(tmp_path, {"b": ["one==1"]}, quiet(), "no").problems == {"b": "needs one==1 from PyPI"}


def test_python_packages_are_installed_once_and_kept_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[list[str]] = []
    monkeypatch.setattr(packages, "PIP_LEDGER", tmp_path / "systems.json")

    def pip(command: Sequence[str], *_: object, **__: object) -> int:
        commands.append([*command])
        return 0

    monkeypatch.setattr(logged, "run_logged", pip)
    packages.provide_pip(tmp_path, {"a": ["one==1"]}, quiet())
    packages.provide_pip(tmp_path, {"a": ["one==1"]}, quiet())
    assert len(commands) == 1
    packages.provide_pip(tmp_path, {"a": ["one==1"], "b": ["two"]}, quiet())
    assert commands[1][-2:] == ["one==1", "two"]
    assert str(tmp_path / "lab/constraints.txt") in commands[1]


def test_every_pinned_package_takes_the_oldest_python_that_the_lab_takes() -> None:
    oldest = metadata("tefflab")["Requires-Python"].removeprefix(">=") + ".0"  # Debian 12 has 3.11.2
    asked = {one.name: one.metadata["Requires-Python"] for one in distributions()}
    assert {name: what for name, what in asked.items() if what and oldest not in SpecifierSet(what)} == {}


# ---- building

NINJA = """[1/4] Building CXX object bench/systems/lake/CMakeFiles/lake_tasks.dir/main.cpp.o
FAILED: bench/systems/lake/CMakeFiles/lake_tasks.dir/main.cpp.o
/usr/bin/c++ -c main.cpp
main.cpp:1:2: error: no water
[2/4] Building CXX object bench/task_graph/CMakeFiles/bench_core.dir/core.cpp.o
[3/4] Linking CXX executable bin/pond_tasks
FAILED: [code=1] bin/pond_tasks
: && /usr/bin/c++ -o bin/pond_tasks
/usr/bin/ld: undefined reference to `fish'
collect2: error: ld returned 1 exit status
ninja: build stopped: cannot make progress due to previous errors.
"""


def test_failures_are_read_from_what_ninja_says() -> None:
    (_, compiling), (outputs, linking) = failures(NINJA)
    assert compiling == ["main.cpp:1:2: error: no water"]
    assert outputs == "bin/pond_tasks"
    assert len(linking) == 2


def test_a_failure_belongs_to_the_system_of_its_folder_or_program() -> None:
    programs = programs_of("pond", "pond_tasks")
    assert [owner_of(outputs, programs) for outputs, _ in failures(NINJA)] == ["lake", "pond"]
    for core in ("task_graph", "swim"):
        assert owner_of(f"bench/{core}/CMakeFiles/lake_tasks.dir/main.cpp.o", programs) is None
    two = [*programs_of("pond", "pond_{benchmark}"), *programs_of("lake", "pond_{benchmark}_deep")]
    assert owner_of("bin/pond_swim", two) == "pond"
    assert owner_of("bin/pond_swim_deep", two) == "lake"


def programs_of(system: str, program: str) -> list[Program]:
    one = Program(benchmark="task_graph", name="one", title="one", program=program)
    one.id = system
    return [one]


def test_an_error_of_cmake_is_of_the_folder_where_it_arose_or_from_which_it_was_called() -> None:
    log = """-- Found Threads: TRUE
CMake Error at cmake/TeffSystems.cmake:9 (message):
  LIBRARIES Boat::boat: what find_package finds here is not known

Call Stack (most recent call first):
  bench/systems/lake/CMakeLists.txt:2 (teff_add_tasks_benchmark)
  cmake/TeffSystems.cmake:24 (add_subdirectory)
  bench/CMakeLists.txt:3 (teff_add_kinds)


-- Configuring incomplete, errors occurred!
"""
    assert culprit(log) == "lake"
    for ours in ("bench/swim/", "bench/task_graph/", "bench/driver/"):
        assert culprit(log.replace("bench/systems/lake/", ours)) is None
    assert culprit(log.replace("CMake Error", "CMake Warning")) is None
    assert culprit(log + log.replace("cmake/TeffSystems.cmake:9", "/a b/bench/systems/pond/CMakeLists.txt:1")) == "pond"


TOML = """name = "{0}"
title = "{0}"
paradigm = "task-based"
parallelism = "implicit"
distributed = false
language = "C++"
homepage = "https://example.org"
color = "#000000"
[[program]]
benchmark = "task_graph"
name = "tasks"
title = "tasks"
program = "{0}_tasks"
"""


def checkout(folder: Path, **systems: str) -> Path:
    """A small project with our own CMake files: a core, and these systems with their source text."""
    ours = project_root()
    shutil.copytree(ours / "cmake", folder / "cmake")
    for room in ("runtime", "bench/driver", "bench/task_graph", "collect"):
        (folder / room).mkdir(parents=True)
        (folder / room / "CMakeLists.txt").touch()
    for name in ("CMakeLists.txt", "CMakePresets.json", "bench/CMakeLists.txt"):
        shutil.copy(ours / name, folder / name)
    core = folder / "bench/task_graph"
    (core / "core.cpp").write_text("int answer() { return 42; }\n")
    (core / "CMakeLists.txt").write_text(
        "add_library(bench_core STATIC core.cpp)\nadd_library(teff::task_graph ALIAS bench_core)\n"
    )
    for name, source in systems.items():
        add_system(folder, name, source)
    return folder


def add_system(folder: Path, name: str, source: str, *, first: str = "") -> None:
    place = folder / "bench/systems" / name
    place.mkdir(parents=True, exist_ok=True)
    (place / "system.toml").write_text(TOML.format(name))
    (place / "main.cpp").write_text(source)
    (place / "CMakeLists.txt").write_text(f"{first}\nteff_add_system_program({name}_tasks main.cpp)\n")


GOOD = "int answer(); int main() { return answer() - 42; }\n"
BAD = "int main() { return no_such_name; }\n"


def test_a_system_that_does_not_compile_spoils_no_other_and_leaves_no_old_program(tmp_path: Path) -> None:
    root = checkout(tmp_path / "with space", lake=GOOD, pond=GOOD)
    bin_folder = root / ".teff/build/bin"
    assert Build(Registry(root), quiet()).make() == {}
    assert subprocess.run([bin_folder / "lake_tasks"], check=False).returncode == 0

    again = quiet()
    assert Build(Registry(root), again).make() == {}
    assert told(again) == "", "nothing was to be done, so nothing is said"

    (root / "bench/systems/pond/main.cpp").write_text(BAD)
    problems = Build(Registry(root), quiet()).make()
    assert problems.keys() == {"pond"}
    assert "no_such_name" in problems["pond"]
    assert (root / ".teff/build/broken/pond").is_file()
    assert (bin_folder / "lake_tasks").is_file()
    assert not (bin_folder / "pond_tasks").exists()

    (root / "bench/systems/pond/main.cpp").write_text(GOOD)
    assert Build(Registry(root), quiet()).make() == {}
    assert (bin_folder / "pond_tasks").is_file()
    assert not (root / ".teff/build/broken").exists()


def test_every_system_that_does_not_compile_is_named(tmp_path: Path) -> None:
    bad = {f"bad{number}": BAD for number in range(2 * usable_cores() + 4)}
    root = checkout(tmp_path, lake=GOOD, **bad)
    assert Build(Registry(root), quiet()).make().keys() == bad.keys()
    assert (root / ".teff/build/bin/lake_tasks").is_file()


def test_only_the_programs_of_the_systems_asked_for_are_built_and_no_tests(tmp_path: Path) -> None:
    root = checkout(tmp_path, lake=GOOD, pond=GOOD)
    (root / "runtime/test.cpp").write_text("int main() {}\n")
    (root / "runtime/CMakeLists.txt").write_text("add_executable(some_test test.cpp)\n")
    made = [root / ".teff/build/bin" / name for name in ("lake_tasks", "pond_tasks", "some_test")]
    lake, _ = Registry(root).systems
    assert Build(Registry(root), quiet()).make([lake]) == {}
    assert [each.is_file() for each in made] == [True, False, False]
    assert Build(Registry(root), quiet()).make() == {}
    assert all(each.is_file() for each in made)


TWO_WAYS = (
    TOML
    + """[[program]]
benchmark = "task_graph"
name = "loops"
title = "loops"
program = "{0}_loops"
[[program]]
benchmark = "spawn"
name = "tasks"
title = "tasks"
program = "{0}_spawn"
"""
)


def test_of_a_group_of_programs_the_first_that_cmake_has_is_built_and_no_program_of_another_kind(
    tmp_path: Path,
) -> None:
    root = checkout(tmp_path, lake=GOOD, pond=GOOD)
    core = root / "bench/task_graph/CMakeLists.txt"
    core.write_text(core.read_text() + "add_executable(ceiling core.cpp)\nteff_lab_needs(ceiling)\n")
    (root / "bench/task_graph/core.cpp").write_text("int answer() { return 42; }\nint main() {}\n")
    for name, programs in {"lake": ("tasks", "loops", "spawn"), "pond": ("loops", "spawn")}.items():
        folder = root / "bench/systems" / name
        (folder / "system.toml").write_text(TWO_WAYS.format(name))
        lines = [f"teff_add_program({name}_{each} SOURCES main.cpp)" for each in programs]
        (folder / "main.cpp").write_text("int main() {}\n")
        (folder / "CMakeLists.txt").write_text("\n".join(lines))
    assert (
        Build(Registry(root), quiet()).make(Registry(root).systems, lambda system: [system.programs_for("task_graph")])
        == {}
    )
    made = {file.name for file in (root / ".teff/build/bin").iterdir()}
    assert made == {"ceiling", "lake_tasks", "pond_loops"}


def test_where_nothing_is_to_be_compiled_nothing_is(tmp_path: Path) -> None:
    root = checkout(tmp_path, lake=GOOD)
    assert Build(Registry(root), quiet()).make(Registry(root).systems, lambda _: []) == {}
    assert not list((root / ".teff/build").glob("bin/*"))


def test_a_system_that_can_not_be_configured_is_left_out_until_it_is_mended(tmp_path: Path) -> None:
    root = checkout(tmp_path, lake=GOOD)
    add_system(root, "rogue", GOOD, first='message(FATAL_ERROR "boom")')
    add_system(root, "absent", GOOD, first='teff_skip_system("libabsent is not here")')
    assert Build(Registry(root), quiet()).make().keys() == {"rogue"}
    assert (root / ".teff/build/bin/lake_tasks").is_file()
    assert (root / ".teff/build/skipped/absent").read_text() == "libabsent is not here\n"
    add_system(root, "rogue", GOOD)
    assert Build(Registry(root), quiet()).make() == {}
    assert (root / ".teff/build/bin/rogue_tasks").is_file()


def test_a_core_that_does_not_build_is_an_error_with_its_end_and_its_log(tmp_path: Path) -> None:
    root = checkout(tmp_path, lake=GOOD)
    (root / "bench/task_graph/core.cpp").write_text(BAD)
    with pytest.raises(TeffError, match=r"(?s)build-release\.log.*no_such_name"):
        Build(Registry(root), quiet()).make()


def test_without_a_compiler_one_line_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ninja").write_text("#!/bin/sh\n")
    (tmp_path / "ninja").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(TeffError, match=r"^nothing can be built without a C\+\+ compiler.*install one[^\n]*$"):
        Build(Registry(tmp_path), quiet())
    monkeypatch.setenv("CXX", "/opt/other/c++")
    Build(Registry(tmp_path), quiet())


def test_a_checkout_that_was_moved_is_built_anew(tmp_path: Path) -> None:
    root = checkout(tmp_path / "here", lake=GOOD)
    Build(Registry(root), quiet()).make()
    root.rename(tmp_path / "there")
    assert Build(Registry(tmp_path / "there"), quiet()).make() == {}


# ---- all of it


def test_only_one_sets_up_at_a_time(tmp_path: Path) -> None:
    second = (
        "import sys; from pathlib import Path; from rich.console import Console\n"
        "from tefflab.systems.setup import alone\n"
        "with alone(Path(sys.argv[1]), Console(stderr=True)): print('in')"
    )
    with setup.alone(tmp_path, quiet()):
        waiting = subprocess.Popen(
            [sys.executable, "-c", second, str(tmp_path)], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert waiting.stderr is not None
        assert "waiting for another teff" in waiting.stderr.readline()
        with pytest.raises(subprocess.TimeoutExpired):
            waiting.wait(timeout=0.5)
    assert waiting.communicate()[0] == "in\n"


def test_the_report_names_every_system_that_is_not_going_to_be_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = checkout(tmp_path, lake=GOOD, pond=BAD, swamp=GOOD)
    toml = root / "bench/systems/swamp/system.toml"
    toml.write_text(TOML.format("swamp").replace("[[program]]", '[install]\napt = ["mud"]\n[[program]]'))
    core = frozenset(packages.alternatives(one)[0] for one in setup.CORE_APT)
    monkeypatch.setattr(packages.PackageState, "of", lambda _: PackageState(core, known=True))
    monkeypatch.setattr(packages, "as_root", lambda: None)
    monkeypatch.setattr(packages, "available", lambda _: frozenset({"mud"}))
    console = quiet()
    setup.ensure(Registry(root), Registry(root).systems, console=console)
    assert [name for name in ("lake", "pond", "swamp") if f"teff: {name}: " in told(console)] == ["pond", "swamp"]
    assert "type: sudo apt-get install --no-install-recommends mud\n" in told(console)
    assert "pond: does not compile" in told(console)


# ---- the entry script, with stand-ins for Python and pip

PYTHON = r"""#!/bin/sh
# Stands in for a Python: makes an environment whose own python notes what pip is asked, and "installs" teff.
case "$*" in
    "-m venv -- "*)
        mkdir -p "$4/bin" && cp "$0" "$4/bin/python" && echo venv >>"$NOTES" ;;
    "-m pip "*)
        echo pip >>"$NOTES"
        [ ! -e "$NOTES.fail" ] || exit 1
        bin=$(dirname "$0")
        printf '#!/bin/sh
echo ran "$@"
' >"$bin/teff" && chmod +x "$bin/teff" ;;
    --version) echo Python 3.13.99 ;;
esac
"""


class Script:
    """A checkout with only the files that the entry script reads, and a PATH on which the stand-ins come first."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "a checkout"
        (self.root / "lab").mkdir(parents=True)
        shutil.copy(project_root() / "teff", self.root / "teff")
        for name in ("pyproject.toml", "constraints.txt"):
            (self.root / "lab" / name).write_text(name)
        self.notes = folder / "notes"
        self._bin = folder / "bin"
        self._bin.mkdir()
        self.command("python3.13", PYTHON)

    def command(self, name: str, text: str) -> None:
        (self._bin / name).write_text(text)
        (self._bin / name).chmod(0o755)

    def start(self, *words: str, script: str = "teff", path: str = "/usr/bin:/bin") -> "subprocess.Popen[str]":
        environment = {"PATH": f"{self._bin}:{path}", "NOTES": str(self.notes)}
        return subprocess.Popen(
            [self.root / script, *words],
            cwd="/",
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def run(self, *words: str) -> tuple[int, str, str]:
        process = self.start(*words)
        out, err = process.communicate()
        return process.returncode, out, err

    def done(self) -> list[str]:
        """The calls of the stand-ins since the last call of this method."""
        text = self.notes.read_text() if self.notes.exists() else ""
        self.notes.unlink(missing_ok=True)
        return text.split()


@pytest.fixture
def script(tmp_path: Path) -> Script:
    return Script(tmp_path)


def test_the_script_sets_up_once_and_hands_its_words_on(script: Script) -> None:
    code, out, err = script.run("metg", "two words")
    assert (code, out) == (0, "ran metg two words\n")
    assert "making the Python environment" in err
    assert script.done() == ["venv", "pip"]
    assert script.run("metg") == (0, "ran metg\n", "")
    assert script.done() == []


def test_a_tool_that_the_script_needs_is_named_where_it_is_missing(script: Script) -> None:
    for tool in ("readlink", "dirname"):
        script.command(tool, f'#!/bin/sh\nexec /usr/bin/{tool} "$@"\n')
    process = script.start("metg", path="/nowhere")
    out, err = process.communicate()
    assert (process.returncode, out) == (1, "")
    assert err.startswith("teff: needs sha256sum, which is not in PATH: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize(("flag", "limit", "needed"), [("-n", 20, 64), ("-v", 300_000, 1_000_000)])
def test_a_limit_below_which_python_fails_is_named(script: Script, flag: str, limit: int, needed: int) -> None:
    words = ["sh", "-c", f'ulimit -S {flag} {limit} && exec "$0"', script.root / "teff"]
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    told = f"teff: ulimit {flag} is {limit}, and the lab needs {needed}: type ulimit -S {flag} {needed} first\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", told)


def test_who_may_not_write_in_the_checkout_is_told_to_use_another(script: Script) -> None:
    """A folder in the place of the lock stands in for missing rights: root can't write to it, either."""
    (script.root / ".teff" / "python.lock").mkdir(parents=True)
    way_out = "where teff keeps what it builds: use a clone of your own"
    assert script.run("metg") == (1, "", f"teff: this user can't write in {script.root}/.teff, {way_out}\n")


def test_a_python_that_only_fails_is_passed_over(script: Script) -> None:
    script.command("python3.12", PYTHON)
    script.command("python3.13", "#!/bin/sh\necho no such version >&2; exit 127\n")
    assert script.run()[:2] == (0, "ran\n")


def test_a_set_up_that_failed_half_way_is_begun_anew(script: Script) -> None:
    failing = Path(f"{script.notes}.fail")
    failing.touch()
    code, out, err = script.run()
    assert (code, out) == (1, "")
    assert "python.log" in err
    failing.unlink()
    assert script.done() == ["venv", "pip"]
    assert script.run()[0] == 0
    assert script.done() == ["venv", "pip"]


def test_new_pins_are_installed_into_the_environment_that_is_there(script: Script) -> None:
    script.run()
    script.done()
    (script.root / "lab/constraints.txt").write_text("newer")
    assert script.run()[0] == 0
    assert script.done() == ["pip"]


def test_an_environment_that_was_moved_is_made_anew(script: Script) -> None:
    script.run()
    script.done()
    was = script.root
    script.root = was.rename(was.with_name("elsewhere"))
    code, _, said = script.run()
    assert code == 0
    assert f"the Python environment here was made in {was}; it can't be moved, so a new one is made" in said
    assert script.done() == ["venv", "pip"]


def test_the_script_started_twice_sets_up_once(script: Script) -> None:
    both = [script.start("a"), script.start("b")]
    assert [one.communicate()[0] for one in both] == ["ran a\n", "ran b\n"]
    assert script.done() == ["venv", "pip"]


def test_the_script_works_through_a_link(script: Script, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(script.root / "teff")
    assert script.start("x", script="../link").communicate()[0] == "ran x\n"
