"""The steps of `teff dev test`: the purpose and the command of each."""

import io
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console

from tefflab.errors import InputError
from tefflab.systems.building import Build
from tefflab.systems.logged import run_logged
from tefflab.systems.probing import why_not_there
from tefflab.systems.registry import Registry, no_such_system
from tefflab.systems.setup import alone
from tefflab.systems.systems import usable_cores
from tools.counting import Count, count_junit, failures
from tools.house import LAWS, breaches
from tools.workshop import SkippedError, Workshop

BESIDE_TESTS = ("nice", "-n", "10")  # a build that other steps' tests run beside takes what cores they leave
_QUICK_TESTS = "runtime/tests"  # the folder of the C++ tests that --quick builds and runs
_CLANG_APT = "clang-19 | clang"
_CLANG_RT_APT = "libclang-rt-19-dev | libclang-rt-14-dev"
# Slurm and ssh for the tests on a cluster, which only root can set up. No other user gets a server for them.
_CLUSTER_APT = ("slurm-wlm", "munge", "openssh-server", "iproute2") if os.geteuid() == 0 else ()


@dataclass(frozen=True)
class Check:
    """A step of `teff dev test`. `thorough` steps are left out by --quick; one that `builds` needs a compiler and the
    systems' packages. A step `of_systems` runs only if it is named, with names of systems behind it.

    It begins when the steps named in `after` have ended, well or badly, and runs them first. It lets the steps named in
    `behind` end first if they run, too. With --quick a step `without_programs` waits for none of them. `apt`: the
    Debian packages of its tools.
    """

    name: str
    about: str
    run: Callable[[Workshop], Count]
    thorough: bool = False
    builds: bool = True
    after: tuple[str, ...] = ()
    behind: tuple[str, ...] = ()
    without_programs: bool = False
    of_systems: bool = False
    apt: tuple[str, ...] = ()


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
        return _built(shop, "release", target=f"{_QUICK_TESTS}/all" if shop.quick else "all")


def _built(shop: Workshop, preset: str, prefix: Sequence[str] = (), target: str = "all") -> Count:
    """One failure for the core, and one for every system whose program should compile and does not."""
    build = Build(shop.registry, _unseen(), preset=preset)
    with shop.compiling(shop.log.with_name(f"build-{preset}.log")):
        failed = build.make(prefix=prefix, target=target)
    for name, reason in failed.items():
        shop.note(f"{name}: {reason}")
    return Count(passed=1, failed=len(failed))


def _unseen() -> Console:
    """A build's display would disturb the steps' display; its logs have the whole output."""
    return Console(file=io.StringIO())


def _unit(shop: Workshop) -> Count:
    return _ctest(shop, f"build/{_QUICK_TESTS}", words=["-LE", "thorough"]) if shop.quick else _ctest(shop, "build")


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


def _ctest(shop: Workshop, folder: str, prefix: Sequence[str] = (), words: Sequence[str] = ()) -> Count:
    """The tests of a folder of `.teff`. Without a preset: its folder would win over this one."""
    where = ["--test-dir", str(shop.root / ".teff" / folder), "--output-on-failure"]
    options = ["--timeout", "300", "-j", str(usable_cores()), "--output-junit", str(shop.junit), *words]
    command = [*prefix, "ctest", *where, *options]
    code = run_logged(command, shop.log, folder=shop.root, append=True)
    if "No tests were found" in shop.said():
        raise SkippedError("there is no test for it")
    for failure in failures(shop.junit):  # ctest ends with a list of all tests that it skipped
        shop.note(failure)
    return count_junit(shop.junit, code)


def _systems(shop: Workshop) -> Count:
    """Builds all programs of some systems, and runs the tests of their adapters."""
    systems = [each for each in shop.registry.systems if each.name in shop.systems]
    with alone(shop.root, _unseen()), shop.compiling(shop.log.with_name("build-release.log")):
        failed = Build(shop.registry, _unseen()).make(systems)
    programs = [each for system in systems for each in system.programs]
    absent = {f"{each.id} ({each.benchmark})": why for each in programs if (why := why_not_there(each))}
    for name, reason in (failed | absent).items():
        shop.note(f"{name}: {reason}")
    is_none_there = len(absent) == len(programs)
    built = Count(failed=1) if failed or is_none_there else Count(passed=1, skipped=len(absent))
    return built if is_none_there else built + _pytest(shop, "tests", "--systems", ",".join(shop.systems))


def _lab(shop: Workshop) -> Count:
    return _pytest(shop, *(["-m", "not browser and not slow", "--without-systems"] if shop.quick else []))


def _pytest(shop: Workshop, *words: str) -> Count:
    cache = shop.root / ".teff" / "pytest"
    junit = f"--junit-xml={shop.junit}"
    command = [sys.executable, "-u", "-m", "pytest", "-o", f"cache_dir={cache}", junit, *words]
    code = run_logged(command, shop.log, folder=shop.root / "lab", append=True)
    return count_junit(shop.junit, code)


CHECKS = (
    Check("format", "clang-format, ruff format", _format, builds=False, apt=("git",)),
    Check("lint", "ruff, mypy --strict, shellcheck", _lint, builds=False, apt=("git", "shellcheck")),
    Check("docs", "the site, strictly", _docs, builds=False),
    Check("build", "every program, no warnings", _build),
    Check("house", "the laws of names and imports", _house, builds=False, after=("build",)),
    Check("unit", "ctest of the release build", _unit, after=("build",), apt=(_CLANG_APT,)),
    Check(
        "lab",
        "pytest of the lab",
        _lab,
        after=("build",),
        without_programs=True,
        apt=("chromium", "fonts-dejavu-core", "git", *_CLUSTER_APT),
    ),
    Check("systems", "the adapters of the systems named behind it", _systems, of_systems=True),
    *(
        Check(name, about, run, thorough=True, behind=("build",), apt=(_CLANG_APT, _CLANG_RT_APT))
        for name, about, run in (
            ("asan", "ctest under address and undefined-behaviour sanitizers", _asan),
            ("tsan", "ctest under the thread sanitizer", _tsan),
            ("clang", "by clang++ what the sanitizers do not", _clang),
        )
    ),
)


def chosen(names: Sequence[str], *, quick: bool) -> list[Check]:
    """The checks of these names, with the builds whose programs they run; or all of them. --quick leaves out the
    thorough ones not named."""
    checks = [replace(check, after=()) if quick and check.without_programs else check for check in CHECKS]
    known = {check.name: check for check in checks}
    if not names:
        return [check for check in checks if not check.of_systems and not (quick and check.thorough)]
    for name in names:
        if name not in known:
            steps = " ".join(known)
            raise InputError(f"no step of the test is named {name!r}; there are: {steps}")
    wanted = {*names, *(before for name in names if known[name].builds for before in known[name].after)}
    return [check for check in checks if check.name in wanted]


def systems_among(names: Sequence[str], registry: Registry) -> list[str]:
    """The words that name systems, if a step of systems is among the words. TeffError if it has no system."""
    steps = {check.name: check for check in CHECKS}
    step = next((name for name in names if name in steps and steps[name].of_systems), None)
    if step is None:
        return []
    there = [each.name for each in registry.systems]
    named = [name for name in names if name not in steps]
    for name in named:
        if name not in there:
            raise no_such_system(name, there)
    if not named:
        raise InputError(f"{step}: name the systems behind it, as `teff dev test {step} {there[0]}`")
    return named
