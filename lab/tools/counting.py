"""How many tests passed, failed and were skipped: read from the JUnit file that ctest or pytest writes."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree


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
    """Of each test that failed in ctest's file, its name and what it printed."""
    for test in ElementTree.parse(file).iter("testcase") if file.is_file() else ():
        if test.find("failure") is not None:
            yield f"{test.get('name')} failed:\n{test.findtext('system-out', '')}"
