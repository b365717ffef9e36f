"""The steps of `teff test`: the purpose and the command of each."""

import io
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from tefflab.errors import BAD_INPUT, TeffError
from tefflab.systems.building import Build
from tefflab.systems.logged import run_logged
from tefflab.systems.setup import alone
from tefflab.systems.systems import usable_cores
from tools.counting import Count, count_ctest, count_pytest
from tools.house import LAWS, breaches
from tools.workshop import SkippedError, Workshop

BESIDE_TESTS = ("nice", "-n", "10")  # a build that other steps' tests run beside takes what cores they leave


@dataclass(frozen=True)
class Check:
    """A step of `teff test`. `thorough` steps are left out by --quick; one that `builds` needs a compiler.

    It begins when the steps named in `after` have ended, well or badly.
    """

    name: str
    about: str
    run: Callable[[Workshop], Count]
    thorough: bool = False
    builds: bool = True
    after: tuple[str, ...] = ()


def _format(shop: Workshop) -> Count:
    clang_format = Path(sys.executable).with_name("clang-format")  # the lab's: releases differ in their output
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


def _house(shop: Workshop) -> Count:
    """Each law is one test, skipped if its subject is not there."""
    total = Count()
    for law in LAWS:
        found = breaches(law, shop.root)
        for line in found or ():
            shop.note(f"{line}: {law.says}")
        total += Count(skipped=1) if found is None else Count(failed=1) if found else Count(passed=1)
    return total


def _docs(shop: Workshop) -> Count:
    """The site, where a link that leads nowhere is an error."""
    return shop.ask(sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict")


def _build(shop: Workshop) -> Count:
    with alone(shop.root, _unseen()):  # other commands of teff bring the same programs up to date
        return _built(shop, "release")


def _built(shop: Workshop, preset: str, prefix: Sequence[str] = ()) -> Count:
    """One failure for the core, and one for every system whose program should compile and does not."""
    build = Build(shop.root, _unseen(), preset=preset)
    with shop.compiling(shop.log.with_name(f"build-{preset}.log")):
        failed = build.make(prefix=prefix)
    for name, reason in failed.items():
        shop.note(f"{name}: {reason}")
    return Count(passed=1, failed=len(failed))


def _unseen() -> Console:
    """A build's display would disturb the steps' display; its logs have the whole output."""
    return Console(file=io.StringIO())


def _unit(shop: Workshop) -> Count:
    return _ctest(shop, "release")


def _clang(shop: Workshop) -> Count:
    shop.tool("clang++-19", "clang++")
    return _built(shop, "clang", BESIDE_TESTS)


def _asan(shop: Workshop) -> Count:
    return _built(shop, "asan-ubsan", BESIDE_TESTS) + _ctest(shop, "asan-ubsan")


def _tsan(shop: Workshop) -> Count:
    """Without address randomisation where that can be had: newer kernels' layout is too wide for it."""
    fixed = ["setarch", "-R"]
    prefix = fixed if run_logged([*fixed, "true"], shop.log, append=True) == 0 else []
    return _built(shop, "tsan", [*BESIDE_TESTS, *prefix]) + _ctest(shop, "tsan", prefix)


def _ctest(shop: Workshop, preset: str, prefix: Sequence[str] = ()) -> Count:
    jobs = str(usable_cores())
    command = [*prefix, "ctest", "--preset", preset, "--timeout", "300", "-j", jobs]
    code = run_logged(command, shop.log, folder=shop.root, append=True)
    if "No tests were found" in shop.said():
        raise SkippedError("there is no test for it")
    return count_ctest(shop.said(), code)


def _lab(shop: Workshop) -> Count:
    cache = shop.root / ".teff" / "pytest"
    command = [sys.executable, "-u", "-m", "pytest", "-o", f"cache_dir={cache}"]
    if shop.quick:
        command += ["-m", "not browser and not slow"]
    code = run_logged(command, shop.log, folder=shop.root / "lab", append=True)
    return count_pytest(shop.said(), code)


CHECKS = (
    Check("format", "clang-format, ruff format", _format, builds=False),
    Check("lint", "ruff, mypy --strict, shellcheck", _lint, builds=False),
    Check("docs", "the site, strictly", _docs, builds=False),
    Check("build", "every program, no warnings", _build),
    Check("house", "who may name and import whom", _house, builds=False, after=("build",)),
    Check("unit", "ctest of the release build", _unit, after=("build",)),
    Check("lab", "pytest of the lab", _lab, after=("build",)),
    Check("clang", "by clang++ what asan does not", _clang, thorough=True),
    Check("asan", "ctest under address and undefined-behaviour sanitizers", _asan, thorough=True),
    Check("tsan", "ctest under the thread sanitizer", _tsan, thorough=True),
)


def chosen(names: Sequence[str], *, quick: bool) -> list[Check]:
    """The checks of these names, with the builds whose programs they run; or all of them. --quick leaves out the
    thorough ones not named."""
    known = {check.name: check for check in CHECKS}
    for name in names:
        if name not in known:
            steps = " ".join(known)
            raise TeffError(f"no step of the test is named {name!r}; there are: {steps}", exit_code=BAD_INPUT)
    wanted = {*names, *(before for name in names if known[name].builds for before in known[name].after)}
    return [check for check in CHECKS if (check.name in wanted if names else not (quick and check.thorough))]
