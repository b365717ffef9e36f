"""`teff explain`: where the time of a program or of spawn patterns goes; and how long tasks should be (`advising`)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from click.exceptions import Exit
from rich.markup import escape

from tefflab.benchmarks.spawn import BENCHMARK
from tefflab.cli import advising
from tefflab.errors import FAILED, InputError, TeffError
from tefflab.host.terminal import output, progress
from tefflab.json_lines import json_lines
from tefflab.measure.presence import prepare, whoever_is_here
from tefflab.measure.single_runs import one_number
from tefflab.profiles import job_profile, spawn_profile
from tefflab.profiles.advice import metg_of
from tefflab.systems.registry import Registry
from tefflab.systems.systems import usable_cores

_PATTERNS, _APPS = "spawn", "apps"  # kinds of benchmark


def explain(
    registry: Registry,
    target: str | None,
    flags: Sequence[str],
    programs: Sequence[str],
    systems: Sequence[str],
    tasks: int | None,
    ranks: str | None,
    metg: str | None,
    runs: int,
    picture: Path | None,
    as_json: bool,
    **patterns: Any,
) -> None:
    """A program behind `--`, spawn patterns, a trace, or a mini-app. InputError without any."""
    kind, _, case = (target or "").partition(":")
    if programs:
        if target or systems or any(patterns[name] for name in ("cases", "trees", "workers")):
            raise InputError("--systems, --cases, --trees and --workers are for spawn patterns")
        profile_program(programs, as_json=as_json)
    elif target is None:
        raise InputError("name a trace, a mini-app or spawn, or a program behind --; see --help")
    elif kind == _PATTERNS:
        cases = [each.removeprefix(f"{_PATTERNS}:") for each in patterns.pop("cases")] + ([case] if case else [])
        profile_patterns(registry, systems, cases, **patterns, as_json=as_json)
    elif Path(target).is_file() or Path(target).suffix == ".json":
        if flags:
            raise InputError(f"{' '.join(flags)}: flags are for an app; a trace needs none")
        advising.advise_trace(Path(target), metg_of(registry, metg or ""), picture, as_json=as_json)
    elif ranks is not None:
        way_out = "trace ranks by teff run --ranks N --trace FILE, then say teff explain FILE"
        raise InputError(f"--ranks: explain runs one process; {way_out}")
    else:
        app = ["-app", case if kind == _APPS else target, *flags]
        grain = metg_of(registry, metg or "")
        count = one_number(patterns["workers"])
        advising.advise_app(registry, systems or ["teff/t"], app, tasks, runs, grain, picture, count, as_json=as_json)


def profile_program(words: Sequence[str], *, as_json: bool) -> None:
    """Leaves with 1 if the program failed."""
    profile = job_profile.profile_command(list(words))
    if as_json:
        print(json_lines([profile]))
    else:
        output().print(job_profile.to_table(profile))
    if profile["exit_status"]:
        raise Exit(FAILED)


def profile_patterns(
    registry: Registry,
    systems: Sequence[str],
    cases: Sequence[str],
    trees: Sequence[str],
    workers: Sequence[int],
    seconds: float,
    *,
    functions: bool,
    as_json: bool,
) -> None:
    """Of all systems that can be profiled, where none is named. Leaves with 1 if a pattern failed."""
    able = [each.name for each in registry.systems if any(program.profile for program in BENCHMARK.programs(each))]
    count = one_number(workers) or usable_cores()
    prepare(registry, BENCHMARK, systems or able, all_variants=True)
    programs = [each.program for each in whoever_is_here(registry, BENCHMARK, systems or able, all_ways=True)]
    failed = False
    for program, case in spawn_profile.profiled_cases(
        programs, ",".join(cases), ",".join(trees), is_chosen=bool(systems)
    ):
        try:
            with progress().status(f"{program.id}: {case.name}"):
                spent = spawn_profile.take_profile(program, case.name, case.flags, count, seconds)
        except TeffError as error:  # of one pattern: it may have the others
            progress().print(f"teff: {escape(str(error))}", soft_wrap=True)
            failed = True
            continue
        if as_json:
            print(json_lines([spent]))
        else:
            output().print(spawn_profile.to_table(spent, functions=functions), "")
    if failed:
        raise Exit(FAILED)
