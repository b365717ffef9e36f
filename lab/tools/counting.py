"""How many tests passed, failed and were skipped: read from the JUnit file that ctest or pytest writes."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

_LONGEST = 80  # lines of a failed test's output: the first report is whole, and the others often have the same cause
_TEST_OF_GTEST = re.compile(r"^(?=\[ RUN )", re.MULTILINE)
_ENDED_WELL = re.compile(r"^\[ +(?:OK|SKIPPED) +\] ", re.MULTILINE)
_SUMMARY = re.compile(r"^\[(?:-+|=+)\] ", re.MULTILINE)
_REPORT = re.compile(  # of a sanitizer
    r"^.*(?:\b(?:WARNING|ERROR|FATAL): \w+Sanitizer|: runtime error: )(?:.*\n)+?(?:SUMMARY: .*\n?|(?=\[)|\Z)",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Count:
    """Tests by outcome."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: "Count") -> "Count":
        return Count(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


PASSED = Count(passed=1)
BROKEN = Count(failed=1)


def count_junit(file: Path, code: int) -> Count:
    """Reads the file of a run that ended with this code. A run that failed without a failed test counts as one
    failure."""
    counted = Count()
    for suite in ElementTree.parse(file).iter("testsuite") if file.is_file() else ():
        failed, skipped = (
            sum(int(suite.get(name, 0)) for name in names)
            for names in (("failures", "errors"), ("skipped", "disabled"))
        )
        counted += Count(int(suite.get("tests", 0)) - failed - skipped, failed, skipped)
    return counted if counted.failed or not code else counted + BROKEN


def failures(file: Path) -> Iterator[str]:
    """Of each test that failed in ctest's file, its name and the telling part of its output."""
    for test in ElementTree.parse(file).iter("testcase") if file.is_file() else ():
        if test.find("failure") is not None:
            said = test.findtext("system-out", "")
            first, rest = (lines := (_telling(said) or said).splitlines())[:_LONGEST], lines[_LONGEST:]
            more = [f"… and {len(rest)} more lines"] if rest else []
            yield "\n".join([f"{test.get('name')} failed:", *first, *more])


def _telling(said: str) -> str:
    """The reports of sanitizers, and the tests of GoogleTest that did not end well with all that they printed."""
    head, *tests = _TEST_OF_GTEST.split(said)
    parts = _REPORT.findall(head)
    for test in tests:
        printed, *rest = _SUMMARY.split(test, maxsplit=1)
        if not _ENDED_WELL.search(printed):
            parts.append(printed)
        elif reports := _REPORT.findall(printed):
            parts += [test.partition("\n")[0] + "\n", *reports]
        parts += _REPORT.findall("".join(rest))
    return "".join(parts)
