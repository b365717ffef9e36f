"""`teff test`: every check of the project, a line each, and one closing line that counts them all."""

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tefflab.errors import BAD_INPUT, FAILED, TeffError
from tefflab.systems.building import Build
from tefflab.systems.logged import run_logged, tail
from tefflab.systems.setup import CORE_APT, alone, ensure
from tefflab.systems.systems import load_systems, usable_cores

TOOLS_APT = (
    "clang-19 | clang",
    "chromium",
    "fonts-dejavu-core",
    "git",
    "shellcheck",
)
SHOWN_LINES = 60  # of a failed step's output
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


class SkippedError(Exception):
    """A step that can't be done here; the message says why."""


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


@dataclass(frozen=True)
class Check:
    """A step of `teff test`. `thorough` steps are left out by --quick; one that `builds` needs a compiler."""

    name: str
    about: str
    run: Callable[["Workshop"], Count]
    thorough: bool = False
    builds: bool = True


class Workshop:
    """Where the steps work: the checkout, the log of the step at hand, and how thorough to be."""

    def __init__(self, root: Path, progress: Console, *, quick: bool) -> None:
        self.root = root
        self.progress = progress
        self.quick = quick
        self.log = root / ".teff" / "log" / "test.log"

    def begin(self, name: str) -> None:
        self.log = self.root / ".teff" / "log" / f"test-{name}.log"
        self.log.unlink(missing_ok=True)

    def ask(self, *command: str | Path, folder: Path | None = None) -> Count:
        """Runs a command that passes or fails as a whole."""
        code = run_logged([str(word) for word in command], self.log, folder=folder or self.root, append=True)
        return BROKEN if code else PASSED

    def note(self, line: str) -> None:
        """Adds a line to the log of the step."""
        with self.log.open("a", encoding="utf-8") as log:
            log.write(line + "\n")

    def said(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    def sources(self, *patterns: str) -> list[str]:
        """Files of the checkout that git tracks or would, so that nothing built is looked at."""
        listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns]
        answer = subprocess.run(listing, cwd=self.root, capture_output=True, text=True, check=False)
        if answer.returncode != 0:
            raise SkippedError(f"git does not list the files: {answer.stderr.strip()}")
        return [name for name in answer.stdout.splitlines() if (self.root / name).is_file()]

    def tool(self, *names: str) -> str:
        """The first of the tools that is here."""
        found = next((path for name in names if (path := shutil.which(name))), None)
        if found is None:
            raise SkippedError(f"{names[0]} is not here")
        return found


def _format(shop: Workshop) -> Count:
    clang_format = Path(sys.executable).with_name("clang-format")  # the lab's own: releases differ in what they write
    sources = shop.sources("*.cpp", "*.hpp", "*.c", "*.h")
    return shop.ask(clang_format, "--dry-run", "--Werror", *sources) + _ruff(shop, "format", "--check")


def _lint(shop: Workshop) -> Count:
    cache = shop.root / ".teff" / "mypy"
    mypy = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(cache)]
    types = shop.ask(*mypy, folder=shop.root / "lab")
    return _ruff(shop, "check") + types + shop.ask(shop.tool("shellcheck"), "teff", ".ci/run")


def _ruff(shop: Workshop, *words: str) -> Count:
    """Ruff on the lab and on the adapters, by the lab's rules (which count from the lab's folder)."""
    options = ["--config", "pyproject.toml", "--cache-dir", str(shop.root / ".teff" / "ruff")]
    files = [str(shop.root / name) for name in shop.sources("*.py")]
    return shop.ask(sys.executable, "-m", "ruff", *words, *options, *files, folder=shop.root / "lab")


def _docs(shop: Workshop) -> Count:
    """The site, where a link that leads nowhere is an error."""
    return shop.ask(sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict")


def _build(shop: Workshop) -> Count:
    return _built(shop, "release")


def _built(shop: Workshop, preset: str, prefix: Sequence[str] = ()) -> Count:
    """One for the core, and one for every system whose program should compile and does not."""
    with alone(shop.root, shop.progress):
        failed = Build(shop.root, shop.progress, preset=preset).make(prefix=prefix)
    for name, reason in failed.items():
        shop.note(f"{name}: {reason}")
    return Count(passed=1, failed=len(failed))


def _unit(shop: Workshop) -> Count:
    return _ctest(shop, "release")


def _clang(shop: Workshop) -> Count:
    shop.tool("clang++-19", "clang++")
    return _built(shop, "clang")


def _asan(shop: Workshop) -> Count:
    return _built(shop, "asan-ubsan") + _ctest(shop, "asan-ubsan")


def _tsan(shop: Workshop) -> Count:
    """Without address randomisation where that can be had: newer kernels' layout is too wide for it."""
    fixed = ["setarch", "-R"]
    prefix = fixed if run_logged([*fixed, "true"], shop.log, append=True) == 0 else []
    return _built(shop, "tsan", prefix) + _ctest(shop, "tsan", prefix)


def _ctest(shop: Workshop, preset: str, prefix: Sequence[str] = ()) -> Count:
    jobs = str(usable_cores())
    command = [*prefix, "ctest", "--preset", preset, "--timeout", "300", "-j", jobs]
    code = run_logged(command, shop.log, folder=shop.root, append=True)
    if "No tests were found" in shop.said():
        raise SkippedError("there is no test for it")
    return count_ctest(shop.said(), code)


def _lab(shop: Workshop) -> Count:
    cache = shop.root / ".teff" / "pytest"
    command = [sys.executable, "-m", "pytest", "-o", f"cache_dir={cache}"]
    if shop.quick:
        command += ["-m", "not browser and not slow"]
    code = run_logged(command, shop.log, folder=shop.root / "lab", append=True)
    return count_pytest(shop.said(), code)


CHECKS = (
    Check("format", "clang-format, ruff format", _format, builds=False),
    Check("lint", "ruff, mypy --strict, shellcheck", _lint, builds=False),
    Check("docs", "the site, strictly", _docs, builds=False),
    Check("build", "every program, no warnings", _build),
    Check("unit", "ctest of the release build", _unit),
    Check("lab", "pytest of the lab", _lab),
    Check("clang", "every program by clang++", _clang, thorough=True),
    Check("asan", "ctest under address and undefined-behaviour sanitizers", _asan, thorough=True),
    Check("tsan", "ctest under the thread sanitizer", _tsan, thorough=True),
)


def chosen(names: Sequence[str], *, quick: bool) -> list[Check]:
    """The checks of these names, or all of them; --quick leaves out the thorough ones not named."""
    known = {check.name: check for check in CHECKS}
    for name in names:
        if name not in known:
            steps = " ".join(known)
            raise TeffError(f"no step of the test is named {name!r}; there are: {steps}", exit_code=BAD_INPUT)
    return [check for check in CHECKS if (check.name in names if names else not (quick and check.thorough))]


@dataclass(frozen=True)
class Outcome:
    """What became of a step, and how long it took [s]; `remark` says why it was skipped."""

    check: Check
    count: Count
    seconds: float
    remark: str = ""


def run_checks(root: Path, names: Sequence[str], *, quick: bool, results: Console, progress: Console) -> int:
    """Sets up what the checks need and runs them; returns the exit code, 0 only where nothing failed."""
    checks = chosen(names, quick=quick)
    tools = [*CORE_APT, *TOOLS_APT]
    ensure(root, load_systems(root), console=progress, need_programs=False, extra_apt=tools)
    if any(check.builds for check in checks):
        Build(root, progress)  # raises where there are no tools, before every step fails for the lack of them
    shop = Workshop(root, progress, quick=quick)
    outcomes = []
    for check in checks:
        with progress.status(f"{check.name}: {check.about}"):
            outcomes.append(_outcome(check, shop))
        _report(outcomes[-1], shop, results)
    total = sum((outcome.count for outcome in outcomes), start=Count())
    results.print(_summary(outcomes))
    results.print(str(total))
    return FAILED if total.failed or not total.passed else 0


def _outcome(check: Check, shop: Workshop) -> Outcome:
    started = time.monotonic()
    shop.begin(check.name)
    remark = ""
    try:
        count = check.run(shop)
    except SkippedError as reason:
        count, remark = Count(skipped=1), str(reason)
    except TeffError as error:  # the core does not build, say
        count = BROKEN
        shop.note(str(error))
    return Outcome(check, count, time.monotonic() - started, remark)


def _report(outcome: Outcome, shop: Workshop, results: Console) -> None:
    """One line; below it, where the step failed, the end of what it said."""
    name, count = outcome.check.name, outcome.count
    sign = "[red]✗[/]" if count.failed else "[yellow]-[/]" if outcome.remark else "[green]✓[/]"
    remark = f" ({escape(outcome.remark)})" if outcome.remark else ""
    results.print(f"{sign} {name:<8} {count}{remark} [dim]{outcome.seconds:.1f} s[/]", soft_wrap=True)
    if count.failed:
        results.print(escape(tail(shop.log, SHOWN_LINES)), soft_wrap=True)
        results.print(f"[dim]all of it is in {escape(str(shop.log))}[/]", soft_wrap=True)


def _summary(outcomes: Sequence[Outcome]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("step", "what"):
        table.add_column(title)
    for title in ("passed", "failed", "skipped", "seconds"):
        table.add_column(title, justify="right")
    for one in outcomes:
        numbers = (one.count.passed, one.count.failed, one.count.skipped)
        table.add_row(one.check.name, one.check.about, *map(str, numbers), f"{one.seconds:.1f}")
    return table
