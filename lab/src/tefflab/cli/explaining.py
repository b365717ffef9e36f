"""`teff explain`: where the time of a program, a trace, an app or of spawn patterns goes. For an app it also finds out
by runs which number of tasks is best."""

import json
import math
import shutil
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from click.exceptions import Exit
from rich.markup import escape
from rich.text import Text

from tefflab.analysis.statistics import Interval
from tefflab.benchmarks.benchmark import find_benchmark
from tefflab.benchmarks.cases import listed_here, refuse_unknown
from tefflab.benchmarks.declared import described_kind
from tefflab.benchmarks.spawn import BENCHMARK
from tefflab.carried import TYPED
from tefflab.cli.explaining_programs import Asked, explain_program, told_try, tries_table
from tefflab.cli.telling import tell
from tefflab.errors import FAILED, InputError, TeffError
from tefflab.host.terminal import output, progress
from tefflab.json_lines import json_lines
from tefflab.measure.presence import Selection
from tefflab.measure.single_runs import Launch, refuse_untraced
from tefflab.profiles import spawn_profile
from tefflab.profiles.collecting import Collected, Run
from tefflab.profiles.pricing import LEAST_BODIES, Price
from tefflab.profiles.states import Observed
from tefflab.profiles.trace_accounts import read_whole_trace
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
    asked = Asked(registry, picture, curve, as_json)
    kind, _, case = (target or "").partition(":")
    of_programs = {"--apply": applies, "--also": also, "--fail-below": fail_below}
    of_programs |= {"--curve": curve} if kind == _PATTERNS else {}
    if programs:
        of_others = {"--systems": systems, "--tasks": tasks, "--ranks": ranks}
        of_others |= {f"--{name}": said for name, said in patterns.items()}
        for word in filter(None, (target, *flags, *filter(of_others.get, of_others))):
            raise InputError(f"{word}: is not for a program behind --; see --help")
        explain_program(asked, programs, runs, also, fail_below, applies=applies)
    elif beside := next(filter(of_programs.get, of_programs), None):
        raise InputError(f"{beside}: is for a program behind --")
    elif target is None:
        raise InputError("name a trace, a mini-app or spawn, or a program behind --; see --help")
    elif kind == _PATTERNS:
        cases = [*patterns.pop("cases"), *([case] if case else [])]
        profile_patterns(registry, systems, cases, **patterns, as_json=as_json)
    elif (file := Path(target)).is_file() or file.suffix == ".json" or len(file.parts) > 1:
        if file.suffix != ".json":
            _refuse_program(target)
        if said := [*flags, *(() if runs is None else ("--runs",)), *(() if tasks is None else ("--tasks",))]:
            raise InputError(f"{' '.join(said)}: is for an app; a trace is of a run that has ended")
        here = asked.systems_of_curves()
        if code := asked.tell([file.name], run_of(file), here):
            raise Exit(code)
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
            if name not in known:
                _refuse_program(target)
            refuse_unknown("app", [name], known)
        app = ["-app", name, *flags]
        launch = Launch(registry, app, patterns["workers"], kind=described_kind(_APPS))
        runs = 3 if runs is None else runs
        advise_app(asked, launch, systems or ["teff/t"], tasks, runs)


def _refuse_program(word: str) -> None:
    """InputError for a program that stands where -- is missing before it."""
    if shutil.which(word) or shutil.which(Path(word).absolute()):
        raise InputError(f"{word}: is a program; put -- before it: {TYPED} explain -- {word}")


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


def run_of(file: Path, seconds: float | None = None) -> Collected:
    """The run that left a trace. Unless its time is known, it is as long as the trace."""
    observed = Observed(tuple(read_whole_trace(file)))
    took = max(each.elapsed for each in observed.processes) if seconds is None else seconds
    return Collected((), Run(took, 0.0, 0), observed, ())


def advise_app(asked: Asked, app: Launch, systems: Sequence[str], tasks: int | None, runs: int) -> None:
    """Of a mini-app, which the system cuts into `tasks` at first; `runs`: of each setting near the advised one.
    TeffError if a run fails or leaves no trace."""
    system, *more = systems
    if more:
        raise InputError(f"--systems {','.join(systems)}: one system runs the app")
    program = find_program(app.registry, app.kind.name, system, app.kind.adapters)
    here = asked.systems_of_curves()
    ensure(app.registry, [app.registry.owner(program)], console=progress(), ways=lambda _: [[program]])

    def words(setting: int | None) -> list[str]:
        return [*app.flags, *(() if setting is None else ("-tasks", str(setting)))]

    def run(setting: int | None, to: Path | None = None) -> tuple[float, str]:
        done = replace(app, flags=words(setting)).run(program, to)
        if done.was_refused:
            raise InputError(done.error)
        if done.record is None or not done.ok:
            raise TeffError(f"{program.id} {' '.join(words(setting))}: {done.error}")
        return done.record.wall_seconds, done.line

    with tempfile.TemporaryDirectory(prefix="teff-explain-") as folder:
        file = Path(folder) / "trace.json"
        seconds, line = run(tasks, file)
        now = setting_of(json.loads(line))
        refuse_untraced(program, file)
        traced = run_of(file, seconds)
    if code := asked.tell([program.id, *words(now)], traced, here):
        raise Exit(code)
    price, advised = traced.price, advised_setting(traced.price, now)
    tried = search({now, advised}, runs, lambda setting: run(setting)[0])
    told = []
    for each, took in sorted(tried.items()):
        quickest_of = Interval(took, 0.0, math.inf)  # the quickest of a few runs has no interval
        speedup = replace(quickest_of, value=tried[now] / took) if each != now else None
        predicted = price.forecast(now / each).speedup if price.observed.workers <= each < now else None
        command = f"{program.id} {' '.join(words(each))}"
        told.append(told_try(command, f"-tasks {each}", quickest_of, speedup, predicted))
    if told:
        tell(asked.as_json, lambda: told, lambda: tries_table("tried", told))
    if not asked.as_json:
        best = min(tried, key=lambda each: tried[each], default=advised)
        output().print(Text(f"Choose -tasks {best} (now {now}).", "bold"))


def advised_setting(price: Price, now: int) -> int:
    """Into how many tasks to cut a loop that is cut into `now`, by one run: the same number for each worker. If more
    tasks gain more, twice as many, and enough for each."""
    workers = price.observed.workers
    if price.starved:
        return workers * max(LEAST_BODIES, math.ceil(2 * now / workers))
    fewer = workers * max(1, round(now / price.advised_factor / workers))
    return min(now, fewer) if price.forecasts else now


def search(starts: Collection[int], runs: int, seconds_of: Callable[[int], float]) -> dict[int, float]:
    """The least times of `starts`, of so many runs in turns; then of half and twice the quickest (one task is the
    least), until it lies between two."""
    tried: dict[int, float] = {}
    missing = starts if runs else ()
    while missing:
        for tasks in [*missing] * runs:
            tried[tasks] = min(seconds_of(tasks), tried.get(tasks, math.inf))
        best = min(tried, key=lambda each: tried[each])
        missing = {max(1, best // 2), 2 * best} - tried.keys()
    return tried


def setting_of(record: Mapping[str, Any]) -> int:
    """Into how many tasks its run has cut a loop. TeffError if its app has no such setting."""
    parameters = record.get("parameters", {})
    app, way = parameters.get("app"), record.get("way")
    by_trace = "trace it by teff run --trace, and explain the trace"
    if (app, way) == ("sssp", "tasks"):  # its tasks have as many vertices as a round is worth
        way_out = f"say --systems teff/graph, or {by_trace}"
        raise InputError(f"{app}: its tasks with priorities do not read -tasks; {way_out}")
    if "tasks" not in parameters or way == "loops":
        raise InputError(f"{app}: -tasks does not cut its loops; {by_trace}")
    return int(parameters["tasks"])
