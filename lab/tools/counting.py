"""How many tests passed, failed and were skipped: read from the closing lines of ctest and pytest."""

import re
from dataclasses import dataclass

_CTEST = re.compile(r"tests passed, (\d+) tests? failed out of (\d+)")
_CTEST_SKIPPED = re.compile(r"^\s*\d+ - .* \((?:Skipped|Disabled|Not Run)\)$", re.MULTILINE)
_PYTEST = re.compile(r"(\d+) (passed|failed|skipped|errors?|xfailed|xpassed)\b")


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


def count_ctest(output: str, code: int) -> Count:
    """Reads ctest's closing lines; a ctest that failed without saying so counts as one failure."""
    found = _CTEST.search(output)
    if not found:
        return BROKEN if code else Count()
    failed, total = int(found[1]), int(found[2])
    skipped = len(_CTEST_SKIPPED.findall(output))
    counted = Count(total - failed - skipped, failed, skipped)
    return counted if failed or not code else counted + BROKEN


def count_pytest(output: str, code: int) -> Count:
    """Reads pytest's closing line; a pytest that failed without saying so counts as one failure."""
    closing = next((line for line in reversed(output.splitlines()) if _PYTEST.search(line)), "")
    counts = {what.rstrip("s"): int(number) for number, what in _PYTEST.findall(closing)}
    counted = Count(
        counts.get("passed", 0) + counts.get("xfailed", 0),
        counts.get("failed", 0) + counts.get("error", 0) + counts.get("xpassed", 0),
        counts.get("skipped", 0),
    )
    return counted if counted.failed or not code else counted + BROKEN
