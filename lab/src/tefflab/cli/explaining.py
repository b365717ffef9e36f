"""`teff explain`: where the time of a program or of spawn patterns goes; and how long the tasks of a trace or an app
should be. For an app it also finds out by runs which number of tasks is best."""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from click.exceptions import Exit
from rich.markup import escape
from rich.text import Text

from tefflab.benchmarks.benchmark import find_benchmark
from tefflab.benchmarks.cases import listed_here, refuse_unknown
from tefflab.benchmarks.declared import described_kind
from tefflab.benchmarks.spawn import BENCHMARK
from tefflab.cli.explaining_programs import explain_program
from tefflab.cli.publishing import draw
from tefflab.cli.telling import tell
from tefflab.errors import FAILED, InputError, TeffError
from tefflab.host.terminal import output, progress, titled_table
from tefflab.json_lines import json_lines
from tefflab.measure.presence import Selection
from tefflab.measure.single_runs import Launch, SingleRun, refuse_untraced
from tefflab.output.quantities import digits, duration
from tefflab.profiles import granularity, spawn_profile, task_picture
from tefflab.profiles.granularity import Findings, find, search, setting_of
from tefflab.profiles.measured_here import Metg, metg_of
from tefflab.profiles.task_trace import read_task_trace
from tefflab.systems.programs import find_program
from tefflab.systems.registry import Registry
from tefflab.systems.setup import ensure
from tefflab.systems.systems import BENCH_FOLDER, usable_cores

_PATTERNS, _APPS = "spawn", "apps"  # kinds of benchmark
_SECONDS = 3.0  # of each system and pattern


def explain(
    registry: Registry,
    target: str | None,
    flags: Sequence[str],
    programs: Sequence[str],
    systems: Sequence[str],
    tasks: int | None,
    ranks: str | None,
    metg: str | None,
    runs: int | None,
    picture: Path | None,
    applies: bool,
    curve: bool,
    also: str | None,
    fail_below: float | None,
    as_json: bool,
    **patterns: Any,
) -> None:
    """A program behind `--`, spawn patterns, a trace, or a mini-app. InputError without any."""
    kind, _, case = (target or "").partition(":")
    of_programs = {"--apply": applies, "--curve": curve, "--also": also, "--fail-below": fail_below}
    if programs:
        of_others = {"--systems": systems, "--tasks": tasks, "--metg": metg, "--ranks": ranks}
        of_others |= {f"--{name}": said for name, said in patterns.items()}
        for word in filter(None, (target, *flags, *filter(of_others.get, of_others))):
            raise InputError(f"{word}: is not for a program behind --; see --help")
        explain_program(
            registry, programs, runs, picture, fail_below, also, applies=applies, curve=curve, as_json=as_json
        )
    elif beside := next(filter(of_programs.get, of_programs), None):
        raise InputError(f"{beside}: is for a program behind --")
    elif target is None:
        raise InputError("name a trace, a mini-app or spawn, or a program behind --; see --help")
    elif kind == _PATTERNS:
        cases = [each.removeprefix(f"{_PATTERNS}:") for each in patterns.pop("cases")] + ([case] if case else [])
        profile_patterns(registry, systems, cases, **patterns, as_json=as_json)
    elif (file := Path(target)).is_file() or file.suffix == ".json" or len(file.parts) > 1:
        if flags:
            raise InputError(f"{' '.join(flags)}: flags are for an app; a trace needs none")
        grain, trace = metg_of(registry, metg or ""), read_task_trace(file)
        found = find(trace, grain)
        if picture:
            draw(task_picture.draw(trace, file.name), picture)
        tell(as_json, lambda: [found.to_json()], lambda: granularity.to_table(found, file.name))
    elif ranks is not None:
        way_out = "trace ranks by teff run --ranks N --trace FILE, then say teff explain FILE"
        raise InputError(f"--ranks: explain runs one process; {way_out}")
    else:
        name = case if kind == _APPS else target
        if not name:
            raise InputError(f"{target}: name the app, as {_APPS}:NAME")
        listed = [each.group for each in listed_here(registry, find_benchmark(_APPS))]
        sources = registry.root / BENCH_FOLDER / _APPS / "src"
        if known := listed or [each.parent.name for each in sorted(sources.glob("*/CMakeLists.txt"))]:
            refuse_unknown("app", [name], known)
        app = ["-app", name, *flags]
        grain = metg_of(registry, metg or "")
        launch = Launch(registry, app, patterns["workers"], kind=described_kind(_APPS))
        advise_app(launch, systems or ["teff/t"], tasks, 3 if runs is None else runs, grain, picture, as_json=as_json)


def profile_patterns(
    registry: Registry,
    systems: Sequence[str],
    cases: Sequence[str],
    workers: int | None,
    seconds: float | None,
    *,
    functions: bool,
    as_json: bool,
) -> None:
    """Of all systems that can be profiled, where none is named. Leaves with 1 if a pattern failed."""
    able = [each.name for each in registry.systems if any(program.profile for program in BENCHMARK.programs(each))]
    BENCHMARK.check(registry, {"cases": cases})
    count = workers or usable_cores()
    programs = [each.program for each in Selection(registry, BENCHMARK, systems or able, all_ways=True).set_up()]
    failed = False
    for program, case in spawn_profile.profiled_cases(programs, cases, is_chosen=bool(systems)):
        try:
            with progress().status(f"{program.id}: {case.name}"):
                spent = spawn_profile.take_profile(program, case.name, case.flags, count, seconds or _SECONDS)
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


def advise_app(
    app: Launch, systems: Sequence[str], tasks: int | None, runs: int, metg: Metg, picture: Path | None, as_json: bool
) -> None:
    """Of a mini-app, which the system cuts into `tasks` at first; `runs`: of each setting near the advised one.
    TeffError if a run fails or leaves no trace."""
    system, *more = systems
    if more:
        raise InputError(f"--systems {','.join(systems)}: one system runs the app")
    program = find_program(app.registry, app.kind.name, system, app.kind.adapters)
    ensure(app.registry, [app.registry.owner(program)], console=progress(), ways=lambda _: [[program]])

    def run(setting: int | None, to: Path | None = None) -> SingleRun:
        words = [*app.flags, *(() if setting is None else ("-tasks", str(setting)))]
        done = replace(app, flags=words).run(program, to)
        if done.was_refused:
            raise InputError(done.error)
        if not done.ok:
            raise TeffError(f"{program.id} {' '.join(words)}: {done.error}")
        return done

    def quickest(setting: int) -> float:
        done = [run(setting).record for _ in range(runs)]
        return min(each.wall_seconds for each in done if each is not None)

    with tempfile.TemporaryDirectory(prefix="teff-advise-") as folder:
        file = Path(folder) / "trace.json"
        traced = run(tasks, file)
        refuse_untraced(program, file)
        trace = read_task_trace(file)
    found = find(trace, metg)
    now = setting_of(traced.line)
    title = f"{program.id} {' '.join(app.flags)} -tasks {now}"
    if picture:
        draw(task_picture.draw(trace, title), picture)
    advised = now if found.phase == "good" else found.setting(now)
    tried = search({now, advised}, quickest) if runs else {}
    best = min(tried, key=lambda each: tried[each]) if tried else advised
    by_tasks = {str(setting): tried[setting] for setting in tried}
    told = {"tasks_now": now, "tasks_advised": advised, "tasks_best": best, "seconds_by_tasks": by_tasks}
    tell(as_json, lambda: [found.to_json() | told], lambda: granularity.to_table(found, title))
    if not as_json:
        _tell_settings(now, advised, best, tried, found)


def _tell_settings(now: int, advised: int, best: int, tried: Mapping[int, float], found: Findings) -> None:
    if tried:
        table = titled_table("")
        table.add_column("-tasks", justify="right")
        table.add_column("a run", justify="right")
        table.add_column("")
        for setting in sorted(tried):
            marks = {"traced": now, "by the trace": advised, "quickest": best}
            told = ", ".join(text for text, at in marks.items() if at == setting)
            table.add_row(str(setting), duration(tried[setting]), told)
        output().print(table)
    factor = f", since tasks should last {digits(found.factor, 2)} x as long" if best == advised != now else ""
    output().print(Text(f"Choose -tasks {best} (now {now}){factor}.", "bold"))
