"""`teff explain` of a program, and of spawn patterns: where worker time goes."""

from collections.abc import Sequence

from click.exceptions import Exit
from rich.markup import escape

from tefflab.benchmarks.spawn import BENCHMARK
from tefflab.cli.session import prepare, whoever_is_here
from tefflab.cli.single_runs import one_number
from tefflab.errors import FAILED, TeffError
from tefflab.host.terminal import output, progress
from tefflab.json_lines import json_lines
from tefflab.profiles import job_profile_table, spawn_profile_table
from tefflab.profiles.job_profile import profile_command
from tefflab.profiles.spawn_profile import profiled_cases, take_profile
from tefflab.systems.registry import Registry
from tefflab.systems.systems import usable_cores


def profile_program(words: Sequence[str], *, as_json: bool) -> None:
    """Leaves with 1 if the program failed."""
    profile = profile_command(list(words))
    if as_json:
        print(json_lines([profile.to_json()]))
    else:
        output().print(job_profile_table.to_table(profile))
    if profile.exit_status:
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
    for program, case in profiled_cases(programs, ",".join(cases), ",".join(trees), is_chosen=bool(systems)):
        try:
            with progress().status(f"{program.id}: {case.name}"):
                spent = take_profile(program, case.name, case.flags, count, seconds)
        except TeffError as error:  # of one pattern: it may have the others
            progress().print(f"teff: {escape(str(error))}", soft_wrap=True)
            failed = True
            continue
        if as_json:
            print(json_lines([spent.to_json()]))
        else:
            output().print(spawn_profile_table.to_table(spent, functions=functions), "")
    if failed:
        raise Exit(FAILED)
