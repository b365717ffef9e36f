"""`teff explain` of a trace or an app: how long tasks should be. For an app it also finds out by runs which number of
tasks is best."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rich.text import Text

from tefflab.benchmarks.declared import described_kind
from tefflab.cli.publishing import draw
from tefflab.errors import InputError, TeffError
from tefflab.host.terminal import output, progress, titled_table
from tefflab.json_lines import json_lines
from tefflab.measure.single_runs import SingleRun, refuse_untraced, run_once
from tefflab.output.quantities import digits, duration
from tefflab.profiles.advice import search, setting_of
from tefflab.profiles.granularity import Findings, Metg, find, to_table
from tefflab.profiles.task_picture import draw as picture_of
from tefflab.profiles.task_trace import read_task_trace
from tefflab.systems.programs import find_program
from tefflab.systems.registry import Registry
from tefflab.systems.setup import ensure


def advise_trace(file: Path, metg: Metg, picture: Path | None, *, as_json: bool) -> None:
    trace = read_task_trace(file)
    found = find(trace, metg)
    if picture:
        draw(picture_of(trace, file.name), picture)
    if as_json:
        print(json_lines([found.to_json()]))
    else:
        output().print(to_table(found, file.name))


def advise_app(
    registry: Registry,
    systems: Sequence[str],
    flags: Sequence[str],
    tasks: int | None,
    runs: int,
    metg: Metg,
    picture: Path | None,
    workers: int | None = None,
    *,
    as_json: bool,
) -> None:
    """Of a mini-app with these flags, which the system cuts into `tasks` at first; `runs`: of each setting near the
    advised one. TeffError if a run fails or leaves no trace."""
    system, *more = systems
    if more:
        raise InputError(f"--systems {','.join(systems)}: one system runs the app")
    kind = described_kind("apps")
    program = find_program(registry, kind.name, system, kind.adapters)
    owner = registry.owner(program)
    ensure(registry, [owner], console=progress(), ways=lambda _: [[program]])

    def run(words: Sequence[str], to: Path | None = None) -> SingleRun:
        done = run_once(registry, program, owner, words, workers, kind=kind, trace=to)
        if not done.ok:
            fault = InputError if done.was_refused else TeffError
            raise fault(f"{program.id} {' '.join(words)}: {done.error}")
        return done

    with tempfile.TemporaryDirectory(prefix="teff-advise-") as folder:
        file = Path(folder) / "trace.json"
        traced = run(flags if tasks is None else with_tasks(flags, tasks), file)
        refuse_untraced(program, file)
        trace = read_task_trace(file)
    found = find(trace, metg)
    now = setting_of(traced.line)
    title = f"{program.id} {' '.join(with_tasks(flags, now))}"
    if picture:
        draw(picture_of(trace, title), picture)
    advised = now if found.phase == "good" else found.setting(now)

    def seconds_with(setting: int) -> float:
        return _quickest(run, with_tasks(flags, setting), runs)

    tried = search({now, advised}, seconds_with) if runs else {}
    best = min(tried, key=lambda each: tried[each]) if tried else advised
    if as_json:
        by_tasks = {str(setting): tried[setting] for setting in tried}
        told = {"tasks_now": now, "tasks_advised": advised, "tasks_best": best, "seconds_by_tasks": by_tasks}
        print(json_lines([found.to_json() | told]))
        return
    output().print(to_table(found, title))
    _tell(now, advised, best, tried, found)


def _tell(now: int, advised: int, best: int, tried: Mapping[int, float], found: Findings) -> None:
    if tried:
        table = titled_table("")
        table.add_column("-tasks", justify="right")
        table.add_column("a run", justify="right")
        table.add_column("")
        for setting in sorted(tried):
            marks = [
                text for text, at in (("traced", now), ("by the trace", advised), ("quickest", best)) if at == setting
            ]
            table.add_row(str(setting), duration(tried[setting]), ", ".join(marks))
        output().print(table)
    factor = f", since tasks should last {digits(found.factor, 2)} x as long" if best == advised != now else ""
    output().print(Text(f"Choose -tasks {best} (now {now}){factor}.", "bold"))


def _quickest(run: Callable[[Sequence[str]], SingleRun], flags: Sequence[str], runs: int) -> float:
    done = [run(flags).record for _ in range(runs)]
    return min(each.wall_seconds for each in done if each is not None)


def with_tasks(flags: Sequence[str], tasks: int) -> list[str]:
    return [*flags, "-tasks", str(tasks)]
