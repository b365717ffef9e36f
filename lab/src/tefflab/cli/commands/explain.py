"""`teff explain`: where the time of a program goes, and how long its tasks should be."""

from pathlib import Path

import click

from tefflab.cli import options
from tefflab.cli.grammar import FLAGS, Former, Number, Text, command

_PATTERNS, _APPS = "spawn", "apps"  # kinds of benchmark


@command(
    "explain",
    click.Argument(
        ["target"],
        required=False,
        type=Text(),
        metavar="[TRACE|APP|spawn]",
        help="A trace of any program of libteff's; a mini-app, whose flags follow; or spawn[:PATTERN], on systems.",
    ),
    click.Argument(["flags"], nargs=-1, type=FLAGS, metavar="[FLAGS]..."),
    Former("--trace", "target", now="teff explain TRACE"),
    options.SYSTEMS,
    Former("--system", "systems", now="--systems", type=options.SYSTEMS.type),
    click.Option(["--tasks", "-tasks"], type=Number(64, 1), metavar="N", help="Tasks of a loop of APP, at first."),
    click.Option(["--ranks", "-ranks"], hidden=True),
    click.Option(["--metg"], type=Text(), metavar="TIME", help="METG of this machine, as 1.6us. [as measured last]"),
    click.Option(
        ["--runs"],
        type=Number(3, 0, 100),
        default=3,
        metavar="N",
        help="Runs of each setting near the advised one; 0: follow the trace alone. [3]",
    ),
    options.PICTURE,
    options.CASES,
    Former("--patterns", "cases", now="--cases", type=options.CASES.type),
    options.TREES,
    options.WORKERS,
    click.Option(
        ["--seconds"],
        type=Number(3.0, 0.01, 600),
        metavar="S",
        help="Of running, for each system and pattern, from 0.01 to 600. [3]",
    ),
    click.Option(["--functions"], is_flag=True, help="Of patterns: also where in a category time went."),
    options.JSON,
    takes_programs=True,
)
def explain(
    target: str | None,
    flags: tuple[str, ...],
    systems: tuple[str, ...],
    tasks: int | None,
    ranks: str | None,
    metg: str | None,
    runs: int,
    picture: Path | None,
    cases: tuple[str, ...],
    trees: tuple[str, ...],
    workers: tuple[int, ...],
    seconds: float | None,
    functions: bool,
    as_json: bool,
    programs: tuple[str, ...] = (),
) -> None:
    """Say whether tasks are too short or too long, what bounds a run, and where worker time goes.

    Of a trace or an app: how long tasks should be, and into how many to cut a loop of the app. Of spawn patterns and of
    a program of libteff's, also of several ranks: the time of each kind of activity.

    Example:  teff explain lulesh -size 20 -tasks 64

    Example:  teff explain -- mpirun -n 2 .teff/build/bin/example_stencil_ranks
    """
    from tefflab import project_root
    from tefflab.cli import advising, profiling
    from tefflab.errors import InputError
    from tefflab.systems.registry import Registry

    if programs:
        if target or systems or cases or trees or workers:
            raise InputError("--systems, --cases, --trees and --workers are for spawn patterns")
        profiling.profile_program(programs, as_json=as_json)
        return
    if target is None:
        raise InputError("name a trace, a mini-app or spawn, or a program behind --; see --help")
    registry = Registry(project_root())
    kind, _, case = target.partition(":")
    if kind == _PATTERNS:
        named = tuple(each.removeprefix(f"{_PATTERNS}:") for each in cases) + ((case,) if case else ())
        profiling.profile_patterns(
            registry, systems, named, trees, workers, seconds or 3.0, functions=functions, as_json=as_json
        )
        return
    grain = advising.metg_of(registry, metg or "")
    if Path(target).is_file() or Path(target).suffix == ".json":
        if flags:
            raise InputError(f"{' '.join(flags)}: flags are for an app; a trace needs none")
        advising.advise_trace(Path(target), grain, picture, as_json=as_json)
        return
    if ranks is not None:
        raise InputError(
            "--ranks: explain runs one process; trace ranks by teff run --ranks N --trace FILE, then say "
            "teff explain FILE"
        )
    app = ["-app", case if kind == _APPS else target, *flags]
    advising.advise_app(registry, systems or ("teff/t",), app, tasks, runs, grain, picture, as_json=as_json)
