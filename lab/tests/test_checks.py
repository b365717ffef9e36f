"""`teff dev test` counts what its steps did, and never takes a failure for a success."""

import io
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Barrier, Event

import psutil
import pytest
from rich.console import Console

from conftest import write_system
from tefflab import project_root
from tefflab.errors import TeffError
from tefflab.host.processes import family
from tefflab.systems.registry import Registry
from tefflab.systems.setup import CORE_APT
from tefflab.systems.systems import System
from tools import running, steps
from tools.counting import BROKEN, PASSED, Count, count_junit, failures
from tools.running import run_checks
from tools.steps import Check, chosen, systems_among
from tools.workshop import SkippedError, Workshop


@pytest.mark.parametrize(
    ("said", "code", "count"),
    [
        ('<testsuite tests="4" failures="1" disabled="1" skipped="1"/>', 8, Count(1, 1, 2)),  # of ctest
        ('<testsuites><testsuite tests="4" errors="1" failures="1" skipped="1"/></testsuites>', 1, Count(1, 2, 1)),
        ('<testsuite tests="3" failures="0" disabled="0" skipped="0"/>', 0, Count(3, 0, 0)),
        ('<testsuite tests="0" failures="0" disabled="0" skipped="0"/>', 5, BROKEN),
        ("", 0, Count()),
        ("", -11, BROKEN),
    ],
)
def test_the_tests_of_a_junit_file_are_counted(tmp_path: Path, said: str, code: int, count: Count) -> None:
    if said:
        (tmp_path / "tests.xml").write_text(said)
    assert count_junit(tmp_path / "tests.xml", code) == count


OF_GTEST = """\
[==========] Running 4 tests from 1 test suite.
[----------] 4 tests from tree
[ RUN      ] tree.grows
[       OK ] tree.grows (0 ms)
[ RUN      ] tree.races
==================
WARNING: ThreadSanitizer: data race (pid=7)
  Write of size 4 by main thread:
    #0 leaf tree.cpp:3

SUMMARY: ThreadSanitizer: data race tree.cpp:3 in leaf
==================
[       OK ] tree.races (1 ms)
[ RUN      ] tree.falls
tree.cpp:9: Failure
[  FAILED  ] tree.falls (0 ms)
[ RUN      ] tree.stands
[       OK ] tree.stands (0 ms)
[----------] 4 tests from tree (1 ms total)

[  FAILED  ] 1 test, listed below:
[  FAILED  ] tree.falls

==7==ERROR: LeakSanitizer: detected memory leaks
    #0 root tree.cpp:1
SUMMARY: AddressSanitizer: 4 byte(s) leaked in 1 allocation(s).
"""
TELLING = """\
[ RUN      ] tree.races
WARNING: ThreadSanitizer: data race (pid=7)
  Write of size 4 by main thread:
    #0 leaf tree.cpp:3

SUMMARY: ThreadSanitizer: data race tree.cpp:3 in leaf
[ RUN      ] tree.falls
tree.cpp:9: Failure
[  FAILED  ] tree.falls (0 ms)
==7==ERROR: LeakSanitizer: detected memory leaks
    #0 root tree.cpp:1
SUMMARY: AddressSanitizer: 4 byte(s) leaked in 1 allocation(s)."""
KILLED = "[ RUN      ] tree.falls\ntree.cpp:9:3: runtime error: null pointer\n    #0 leaf tree.cpp:3\n"


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("1 is not 2", "1 is not 2"),
        (OF_GTEST, TELLING),
        (f"[ RUN      ] tree.grows\n[       OK ] tree.grows (0 ms)\n{KILLED}", KILLED.strip()),
        ("x\n" * 1000, "\n".join(["x"] * 80 + ["… and 920 more lines"])),
    ],
)
def test_the_telling_part_of_what_a_failed_test_printed_is_found(tmp_path: Path, said: str, shown: str) -> None:
    good = '<testcase name="good"><system-out>fine</system-out></testcase>'
    bad = f'<testcase name="bad"><failure message=""/><system-out>{said}</system-out></testcase>'
    (tmp_path / "tests.xml").write_text(f"<testsuite>{good}{bad}</testsuite>", encoding="utf-8")
    assert list(failures(tmp_path / "tests.xml")) == [f"bad failed:\n{shown}"]
    assert not list(failures(tmp_path / "none.xml"))


def test_quick_leaves_out_the_thorough_steps_unless_they_are_named() -> None:
    assert not any(check.thorough for check in chosen([], quick=True))
    assert any(check.thorough for check in chosen([], quick=False))
    assert [check.name for check in chosen(["tsan"], quick=True)] == ["tsan"]
    assert [check.name for check in chosen(["unit"], quick=True)] == ["build", "unit"], "it runs what was built"
    assert [check.name for check in chosen(["lab"], quick=True)] == ["lab"], "it starts no program"
    assert [check.name for check in chosen(["lab"], quick=False)] == ["build", "lab"]


def test_a_step_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(TeffError, match="'nope'; there are: format lint"):
        chosen(["nope"], quick=False)


def test_the_step_of_systems_runs_only_if_it_is_named_with_systems() -> None:
    registry = Registry(project_root())
    assert "systems" not in [check.name for check in chosen([], quick=False)]
    first, *_ = sorted(folder.name for folder in (registry.root / "bench" / "systems").iterdir())
    assert systems_among(["systems", first, "docs"], registry) == [first]
    assert systems_among(["docs"], registry) == []
    with pytest.raises(TeffError, match="name the systems behind it"):
        systems_among(["systems"], registry)
    with pytest.raises(TeffError, match="no system is called 'nope'"):
        systems_among(["systems", "nope"], registry)


Body = Callable[[Workshop], Count]


def passes(shop: Workshop) -> Count:
    return shop.ask("true") + shop.ask("true")


def fails(shop: Workshop) -> Count:
    return shop.ask("sh", "-c", "echo the reason; exit 3")


def does_not_build(_: Workshop) -> Count:
    raise TeffError("no compiler")


def can_not(_: Workshop) -> Count:
    raise SkippedError("no browser")


def breaks(_: Workshop) -> Count:
    raise ValueError("a fault of the step's own")


@pytest.fixture
def checks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Sequence[Check]], tuple[int, list[str]]]:
    """Runs these in the place of the project's own, on two cores; gives the exit code and the lines of the results."""

    def run(made: Sequence[Check]) -> tuple[int, list[str]]:
        monkeypatch.setattr(steps, "CHECKS", tuple(made))
        monkeypatch.setattr(running, "ensure", lambda *_, **__: {})
        monkeypatch.setattr(running, "usable_cores", lambda: 2)
        said = io.StringIO()
        out, unseen = Console(file=said, width=100), Console(file=io.StringIO())
        code = run_checks(Registry(tmp_path), [], quick=False, results=out, progress=unseen)
        return code, said.getvalue().splitlines()

    return run


@pytest.mark.parametrize(
    ("bodies", "code", "closing", "said"),
    [
        ([passes], 0, "2 passed, 0 failed, 0 skipped", "passes"),
        ([passes, fails], 1, "2 passed, 1 failed, 0 skipped", "the reason"),
        ([passes, does_not_build], 1, "2 passed, 1 failed, 0 skipped", "no compiler"),
        ([passes, breaks], 1, "2 passed, 1 failed, 0 skipped", "a fault of the step's own"),
        ([passes, can_not], 0, "2 passed, 0 failed, 1 skipped", "no browser"),
        ([can_not], 1, "0 passed, 0 failed, 1 skipped", "no browser"),
    ],
)
def test_the_last_line_counts_everything_and_the_exit_code_agrees(
    checks: Callable[..., tuple[int, list[str]]], bodies: list[Body], code: int, closing: str, said: str
) -> None:
    ended, lines = checks([Check(body.__name__, "", body) for body in bodies])
    assert ended == code
    assert lines[-1] == closing
    assert any(re.search(said, line) for line in lines)


@pytest.mark.parametrize(("builds", "systems"), [(False, []), (True, ["lake"])])
def test_a_step_that_builds_nothing_sets_up_its_tools_and_no_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, builds: bool, systems: list[str]
) -> None:
    write_system(tmp_path, "lake", '[[program]]\nbenchmark = "spawn"\nname = "one"\ntitle = "one"\nprogram = "lake"\n')
    asked: list[tuple[list[str], bool]] = []

    def ensured(_: Registry, those: Sequence[System], *, extra_apt: Sequence[str], **__: object) -> dict[str, str]:
        assert "tool" in extra_apt
        asked.append(([each.name for each in those], set(CORE_APT) <= set(extra_apt)))
        return {}

    monkeypatch.setattr(running, "ensure", ensured)
    monkeypatch.setattr(running, "Build", lambda *_: None)
    monkeypatch.setattr(steps, "CHECKS", (Check("one", "", passes, builds=builds, apt=("tool",)),))
    unseen = Console(file=io.StringIO())
    assert run_checks(Registry(tmp_path), [], quick=False, results=unseen, progress=unseen) == 0
    assert asked == [(systems, builds)]


def test_two_steps_run_at_once_and_one_that_needs_another_waits_for_it(
    checks: Callable[..., tuple[int, list[str]]],
) -> None:
    began: list[str] = []
    both = Barrier(2, timeout=30)

    def meets(name: str) -> Body:
        def body(_: Workshop) -> Count:
            began.append(name)
            both.wait()
            return PASSED

        return body

    made = [
        Check("first", "", meets("first")),
        Check("late", "", meets("late"), after=("needed",)),
        Check("needed", "", meets("needed")),
        Check("last", "", meets("last"), after=("absent",)),
    ]
    code, lines = checks(made)
    assert code == 0
    assert began[0] == "needed"  # others wait for it
    assert began.index("late") > began.index("needed")
    assert lines[-1] == "4 passed, 0 failed, 0 skipped"
    table = lines[-6:-2]
    assert [line.split()[0] for line in table] == ["first", "late", "needed", "last"]


def test_what_steps_say_at_once_comes_out_apart(checks: Callable[..., tuple[int, list[str]]]) -> None:
    both = Barrier(2, timeout=30)

    def speaks(name: str) -> Body:
        def body(shop: Workshop) -> Count:
            for number in range(5):
                both.wait()
                shop.note(f"{name} {number}")
            return BROKEN

        return body

    code, lines = checks([Check(name, "", speaks(name)) for name in ("ape", "bee")])
    assert code == 1
    spoken = [line for line in lines if re.fullmatch(r"(ape|bee) \d", line)]
    assert sorted(spoken) in (spoken, spoken[5:] + spoken[:5])


def test_one_step_builds_at_a_time(checks: Callable[..., tuple[int, list[str]]]) -> None:
    building: list[int] = []
    most: list[int] = []

    def builds(shop: Workshop) -> Count:
        with shop.compiling(shop.log):
            building.append(1)
            most.append(len(building))
            Event().wait(0.05)  # another would come in meanwhile
            building.pop()
        return PASSED

    assert checks([Check(name, "", builds) for name in "abcd"])[0] == 0
    assert most == [1, 1, 1, 1]


INTERRUPTED = """
import io, sys
from pathlib import Path
from rich.console import Console
from tefflab.systems.registry import Registry
from tools import running, steps
from tools.steps import Check

def twice(shop):
    endless = "echo it runs; sleep 1000 & wait"
    return shop.ask("sh", "-c", endless) + shop.ask("sh", "-c", endless)

steps.CHECKS = tuple(Check(name, "", twice, builds=False) for name in ("one", "two", "three"))
running.ensure = lambda *_, **__: {}
running.usable_cores = lambda: 2
unseen = Console(file=io.StringIO())
running.run_checks(Registry(Path(sys.argv[1])), [], quick=False, results=unseen, progress=unseen)
"""


def test_a_step_lets_others_end_first_and_asks_for_none_of_them(checks: Callable[..., tuple[int, list[str]]]) -> None:
    ended: list[str] = []

    def builds(shop: Workshop) -> Count:
        ended.append(shop.log.stem)
        return PASSED

    made = [Check("late", "", builds, behind=("early",)), Check("early", "", builds)]
    assert checks(made)[0] == 0
    assert ended == ["test-early", "test-late"]
    assert [check.name for check in chosen(["late"], quick=False)] == ["late"]


def test_an_interrupt_ends_all_steps_and_what_they_started(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", INTERRUPTED, tmp_path], stderr=subprocess.PIPE, text=True) as process:
        logs = [tmp_path / ".teff" / "log" / f"test-{name}.log" for name in ("one", "two")]
        while not all(log.is_file() and "\nit runs\n" in log.read_text() for log in logs):
            Event().wait(0.05)
        members = family(process.pid)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in said
    assert not psutil.wait_procs(members, timeout=10)[1]
    assert not (tmp_path / ".teff" / "log" / "test-three.log").exists()
