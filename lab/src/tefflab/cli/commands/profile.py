"""`teff profile`: where worker time goes in a spawn pattern, or in a program of one's own."""

from typing import Annotated

import typer

from tefflab.cli import completion
from tefflab.cli.commands import options


def command(
    program: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[-- PROGRAM...]",
            help="A program that uses libteff, and its arguments, in the place of spawn patterns.",
        ),
    ] = None,
    systems: Annotated[
        str,
        options.text(
            "--systems",
            help_="Names from `teff systems`, by commas. [all that can be profiled]",
            completes=completion.systems,
        ),
    ] = "",
    cases: Annotated[
        str,
        options.text("--cases", "--patterns", help_="Names or groups of patterns; an unknown one lists them. [all]"),
    ] = "",
    trees: Annotated[
        str,
        options.text("--trees", help_="Published trees, by commas; an unknown one lists them. [its default]"),
    ] = "",
    workers: options.Workers = None,
    seconds: Annotated[
        float,
        options.number("--seconds", "Of running, for each system and pattern, from 0.01 to 600.", 3.0, 0.01, 600),
    ] = 3.0,
    functions: Annotated[bool, typer.Option("--functions", help="Also where in a category time went.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print a line of JSON a system and pattern.")] = False,
) -> None:
    """Say where worker time goes in a spawn pattern: task, spawning, scheduler, load balance and so on.

    With a program of libteff's, also of several ranks: tasks, handlers, sending, waiting, and what was sent.

    Example:  teff profile --seconds 5 --functions

    Example:  teff profile -- mpirun -n 2 .teff/build/bin/example_stencil_ranks
    """
    if program:
        _profile_program(program, is_chosen=bool(systems or cases or trees or workers), as_json=as_json)
    else:
        _profile_patterns(systems, cases, trees, workers, seconds, functions=functions, as_json=as_json)


def _profile_program(program: list[str], *, is_chosen: bool, as_json: bool) -> None:
    from tefflab.errors import FAILED, InputError
    from tefflab.host.terminal import output
    from tefflab.json_lines import json_lines
    from tefflab.profiles.job_profile import profile_command
    from tefflab.profiles.job_profile_table import to_table

    if is_chosen:
        raise InputError("--systems, --cases, --trees and --workers are for spawn patterns")
    profile = profile_command(program)
    if as_json:
        typer.echo(json_lines([profile.to_json()]))
    else:
        output().print(to_table(profile))
    if profile.exit_status:
        raise typer.Exit(FAILED)


def _profile_patterns(
    systems: str, cases: str, trees: str, workers: int | None, seconds: float, *, functions: bool, as_json: bool
) -> None:
    from rich.markup import escape

    from tefflab import project_root
    from tefflab.benchmarks.spawn import BENCHMARK
    from tefflab.cli.session import prepare, whoever_is_here
    from tefflab.errors import FAILED, TeffError
    from tefflab.host.terminal import output, progress
    from tefflab.json_lines import json_lines
    from tefflab.profiles.spawn_profile import profiled_cases, take_profile
    from tefflab.profiles.spawn_profile_table import to_table
    from tefflab.systems.registry import Registry
    from tefflab.systems.systems import usable_cores

    failed = False
    registry = Registry(project_root())
    wanted = options.systems(systems)
    able = [each.name for each in registry.systems if any(program.profile for program in BENCHMARK.programs(each))]
    prepare(registry, BENCHMARK, wanted or able, all_variants=True)
    programs = [each.program for each in whoever_is_here(registry, BENCHMARK, wanted or able, all_ways=True)]
    for program, case in profiled_cases(programs, cases, trees, is_chosen=bool(wanted)):
        try:
            with progress().status(f"{program.id}: {case.name}"):
                spent = take_profile(program, case.name, case.flags, workers or usable_cores(), seconds)
        except TeffError as error:  # of one pattern: it may have the others
            progress().print(f"teff: {escape(str(error))}", soft_wrap=True)
            failed = True
            continue
        if as_json:
            typer.echo(json_lines([spent.to_json()]))
        else:
            output().print(to_table(spent, functions=functions), "")
    if failed:
        raise typer.Exit(FAILED)
