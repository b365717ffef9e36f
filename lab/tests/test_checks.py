"""`teff test` counts what its steps did, and never takes a failure for a success."""

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from tefflab.errors import TeffError
from tefflab.systems.setup import SetupReport
from tools import checks
from tools.checks import Check, Count, SkippedError, Workshop, chosen, count_ctest, count_pytest

CTEST = """
      Start 1: a
1/3 Test #1: a ................   Passed    0.00 sec
2/3 Test #2: b ................***Skipped   0.00 sec
3/3 Test #3: c ................***Failed    0.00 sec

67% tests passed, 1 tests failed out of 3

Total Test time (real) =   0.01 sec

The following tests did not run:
        2 - b (Skipped)

The following tests FAILED:
        3 - c (Failed)
"""


@pytest.mark.parametrize(
    ("output", "code", "count"),
    [
        (CTEST, 8, Count(1, 1, 1)),
        ("100% tests passed, 0 tests failed out of 7\n", 0, Count(7, 0, 0)),
        ("100% tests passed, 0 tests failed out of 7\n", 8, Count(7, 1, 0)),
        ("CMake Error\n", 1, Count(0, 1, 0)),
    ],
)
def test_ctests_closing_lines_are_counted(output: str, code: int, count: Count) -> None:
    assert count_ctest(output, code) == count


@pytest.mark.parametrize(
    ("output", "code", "count"),
    [
        ("65 passed, 2 skipped in 1.20s\n", 0, Count(65, 0, 2)),
        ("1 failed, 3 passed, 1 xfailed, 2 errors in 0.1s\n", 1, Count(4, 3, 0)),
        ("no tests ran in 0.01s\n", 5, Count(0, 1, 0)),
        ("3 passed in 0.1s\nSegmentation fault\n", -11, Count(3, 1, 0)),
    ],
)
def test_pytests_closing_line_is_counted(output: str, code: int, count: Count) -> None:
    assert count_pytest(output, code) == count


def test_quick_leaves_out_the_thorough_steps_unless_they_are_named() -> None:
    assert not any(check.thorough for check in chosen([], quick=True))
    assert any(check.thorough for check in chosen([], quick=False))
    assert [check.name for check in chosen(["tsan"], quick=True)] == ["tsan"]


def test_a_step_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(TeffError, match="'nope'; there are: format lint"):
        chosen(["nope"], quick=False)


def passes(shop: Workshop) -> Count:
    return shop.ask("true") + shop.ask("true")


def fails(shop: Workshop) -> Count:
    return shop.ask("sh", "-c", "echo the reason; exit 3")


def does_not_build(_: Workshop) -> Count:
    raise TeffError("no compiler")


def can_not(_: Workshop) -> Count:
    raise SkippedError("no browser")


@pytest.mark.parametrize(
    ("steps", "code", "closing", "said"),
    [
        ([passes], 0, "2 passed, 0 failed, 0 skipped", "passes"),
        ([passes, fails], 1, "2 passed, 1 failed, 0 skipped", "the reason"),
        ([passes, does_not_build], 1, "2 passed, 1 failed, 0 skipped", "no compiler"),
        ([passes, can_not], 0, "2 passed, 0 failed, 1 skipped", "no browser"),
        ([can_not], 1, "0 passed, 0 failed, 1 skipped", "no browser"),
    ],
)
def test_the_last_line_counts_everything_and_the_exit_code_agrees(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: list[object], code: int, closing: str, said: str
) -> None:
    made = tuple(Check(step.__name__, "", step) for step in steps)  # type: ignore[attr-defined,arg-type]
    monkeypatch.setattr(checks, "CHECKS", made)
    monkeypatch.setattr(checks, "ensure", lambda *_, **__: SetupReport({}))
    out = Console(file=io.StringIO(), width=100)
    assert checks.run_checks(tmp_path, [], quick=False, results=out, progress=Console(file=io.StringIO())) == code
    assert isinstance(out.file, io.StringIO)
    lines = out.file.getvalue().splitlines()
    assert lines[-1] == closing
    assert any(re.search(said, line) for line in lines)
