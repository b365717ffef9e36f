"""`teff explain -- PROGRAM`: where the time of any parallel program goes, and what another grain would give.
With --apply and --also it tries that, in turns, and with --curve it measures how short bodies may be."""

import ctypes.util
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from click.exceptions import Exit
from rich.console import Group
from rich.text import Text

from tefflab.analysis.statistics import Interval
from tefflab.benchmarks.benchmark import Estimates
from tefflab.benchmarks.cases import CaseBenchmark
from tefflab.benchmarks.command import BENCHMARK as COMMANDS
from tefflab.benchmarks.micro import BENCHMARK as SPINNING
from tefflab.cli.publishing import draw
from tefflab.cli.session import Options, measured_live, request_of, warn_of_others
from tefflab.cli.telling import tell
from tefflab.errors import FAILED, INTERRUPTED, InputError, TeffError, shortened
from tefflab.host.terminal import progress, say, titled_table
from tefflab.measure.measurement import begin
from tefflab.measure.presence import Present, Selection
from tefflab.output.quantities import digits, duration
from tefflab.profiles import grain_picture, program_report
from tefflab.profiles.collecting import Collected, collect, collector, launched, why_unseen
from tefflab.profiles.measured_here import Curve, curves_of
from tefflab.profiles.pricing import Price
from tefflab.profiles.timeline import TIMELINE
from tefflab.records.store import Store
from tefflab.systems.programs import ask_cases
from tefflab.systems.registry import Registry
from tefflab.systems.systems import usable_cores

_STORE = "explain"
_SETTING = re.compile(r"\{/?\d+\}")  # `{8}`: longer bodies by a larger number; `{/8}`: by a smaller one
_RUNS = 2
_NO_GRAIN = "nothing tells how many tasks there are, and how long"
_REPLACED = "libgomp"  # by the runtime of --also: it has the functions that GCC calls
_TURNS, _MINUTES = 8, 2.0  # of --apply, --also and --curve


@dataclass(frozen=True)
class Setting:
    """The word of a command with a number by which the grain is set: `mark`, as {8}."""

    command: Sequence[str]
    mark: str = ""

    @classmethod
    def in_command(cls, command: Sequence[str]) -> Self:
        """InputError unless there is one."""
        found = [each[0] for word in command for each in _SETTING.finditer(word)]
        if not found:
            example = "env OMP_SCHEDULE=dynamic,{1} ./program, or ./program --tasks {/64}"
            raise InputError(f"--apply: mark the present value in the command that sets the grain, as {example}")
        if found[1:]:
            raise InputError(f"{found[1]}: one setting is tried at a time, and {found[0]} stands there, too")
        if int(found[0].strip("{/}")) < (least := 2 if "/" in found[0] else 1):
            raise InputError(f"--apply: {found[0]}: leaves no other grain to try; mark a number from {least} on")
        return cls(command, found[0])

    def at(self, factor: float) -> tuple[list[str], str]:
        """The command with bodies `factor` times as long, at 1 as it is now; and its word with the setting."""
        if not self.mark:
            return list(self.command), "as it is"
        now = int(self.mark.strip("{/}"))
        value = str(max(1, round(now / factor if "/" in self.mark else now * factor)))
        word = next(each for each in self.command if self.mark in each)
        return [each.replace(self.mark, value) for each in self.command], word.replace(self.mark, value)


@dataclass(frozen=True)
class Asked:
    """The wishes of a user about the report, of any run."""

    registry: Registry
    picture: Path | None
    curve: bool
    as_json: bool

    def systems_of_curves(self) -> list[Present]:
        """Set up before any run, as that may fail; none if no curve is to be measured."""
        return Selection(self.registry, SPINNING, all_ways=True).set_up() if self.curve else []

    def tell(self, command: Sequence[str], run: Collected, here: Sequence[Present]) -> int:
        """Tells and draws a run, with the curves that the systems `here` have anew. The exit code of these."""
        text = shortened(shlex.join(command))
        curves, code = self._curves(run.price, here)
        lines = program_report.rows(command, run, curves)
        tell(self.as_json, lambda: lines, lambda: program_report.report(text, run, curves))
        if self.picture:
            draw(grain_picture.draw(run.price, text, curves), self.picture)
        return code

    def _curves(self, price: Price, here: Sequence[Present]) -> tuple[list[Curve], int]:
        """Of the shape of the program's dearest bodies, measured anew on the systems `here`; and that's exit code."""
        curves, ended, why = list[Curve](), "", _NO_GRAIN
        if site := price.dearest:
            shape, workers = price.observed.shape(site), min(usable_cores(), price.observed.workers)
            bodies = f"{site.title} as those of {site.place}"
            if here and not any(each.get("bodies") == shape for each in ask_cases(here[0].program)):
                why = f"no benchmark has {bodies}"
            else:
                if here:
                    _, ended = self.measured(SPINNING, here, {"cases": [shape]}, f"Like {bodies}", workers)
                curves, why = curves_of(self.registry, shape, workers)
        if here and why:
            say(f"--curve: there is no curve: {why}")
        return curves, INTERRUPTED if ended else FAILED if here and why else 0

    def measured(
        self, kind: CaseBenchmark[Any], here: Sequence[Present], own: Mapping[str, Any], title: str, *workers: int
    ) -> tuple[Estimates, str]:
        """In the store that keeps what this command measures."""
        options = Options(store=_STORE, seconds=60 * _MINUTES, rounds=_TURNS, workers=workers, own=own)
        store = Store.create(self.registry.results / _STORE)
        head = begin(self.registry, store, kind, kind.plan(request_of(self.registry, options, here), title))
        return measured_live(self.registry, store, kind, head, options)

    def try_in_turns(self, tries: Sequence[tuple[str, str, Interval | None]]) -> None:
        """Measures commands, the one as it is first, and tells predictions and measured times side by side. A try has
        the setting and the predicted speedup besides."""
        words = [word for command, *_ in tries for word in ("---", command)][1:]
        kind = COMMANDS.narrowed({"commands": words})
        here = [Present.of_user(each, number) for number, each in enumerate(kind.own_commands)]
        estimates, ended = self.measured(kind, here, {"commands": words}, "The advice, tried in turns")
        rows = (row for row in estimates.rows if row.quantity == kind.quantity)
        known = {row.id: (row.value, row.samples) for row in rows if row.value and row.samples}
        as_it_is = tries[0][0]
        told = []
        for command, setting, predicted in tries if as_it_is in known else ():
            if command in known:
                value, samples = known[command]
                speedup = known[as_it_is][1].over(samples) if command != as_it_is else None
                told.append(told_try(command, setting, value, speedup, predicted))
        if told:
            tell(self.as_json, lambda: told, lambda: tries_table("tried in turns", told))
        if ended or not told:
            raise Exit(INTERRUPTED if ended else FAILED)


def explain_program(
    asked: Asked, command: Sequence[str], runs: int | None, also: str | None, fail_below: float | None, *, applies: bool
) -> None:
    """Leaves with the program's exit code; with FAILED if its efficiency is below `fail_below`."""
    setting = Setting.in_command(command) if applies else Setting(command)
    runs = _RUNS if runs is None else runs
    if not runs:
        raise InputError("--runs 0: a program is run once at least")
    if (picture := asked.picture) and not picture.absolute().parent.is_dir():
        raise InputError(f"--picture {picture}: there is no folder {picture.parent}")
    now, as_set = setting.at(1)
    preload = _in_its_place(also) if also else None
    library = collector(asked.registry, now)
    here = asked.systems_of_curves()
    warn_of_others(progress())
    timeline = picture if picture and picture.suffix == TIMELINE else None
    if timeline:
        asked = replace(asked, picture=None)
    run = collect(now, library, runs, timeline, stdout=2 if asked.as_json else None)
    if not run.observed.sites:
        faults = "; ".join(run.faults) or why_unseen(now, run.collected)
        code = INTERRUPTED if run.collected.interrupted else run.exit_code or FAILED
        raise TeffError(f"nothing of {now[0]} was seen: {faults}", exit_code=code)
    price, code = run.price, asked.tell(now, run, [] if run.collected.interrupted else here)
    if run.collected.interrupted or code == INTERRUPTED:
        raise Exit(INTERRUPTED)
    tries: list[tuple[str, str, Interval | None]] = [(shlex.join(now), as_set, None)]
    for each in price.forecasts if applies else ():
        words, word = setting.at(each.factor)
        if shlex.join(words) != tries[-1][0]:  # no number of bodies is below 1
            tries.append((shlex.join(words), word, each.speedup))
    if preload and not any(site.runtime == _REPLACED for site in run.observed.sites):
        say(f"--also {also}: it takes the place of {_REPLACED}, which is not this program's runtime")
        code = FAILED
    elif preload:
        tries.append((shlex.join(launched(now, {"LD_PRELOAD": preload})), f"on {also}", None))
    if len(tries) > 1:
        asked.try_in_turns(tries)
    elif applies and price.dearest:
        say("--apply: the advice is to leave the grain as it is")
    elif applies:
        say(f"--apply: there is no advice: {_NO_GRAIN}")
        code = FAILED
    if not run.exit_code and fail_below is not None and price.efficiency < fail_below:
        say(f"the efficiency is {price.efficiency:.1%}, and --fail-below asks for {fail_below:.0%}")
        code = FAILED
    if code := run.exit_code or code:
        raise Exit(code)


def _in_its_place(runtime: str) -> str:
    """The library of a runtime by its name, as libomp."""
    found = ctypes.util.find_library(runtime.removeprefix("lib"))
    if not found:
        raise InputError(f"--also {runtime}: there is no library of that name; libomp comes with Clang")
    return found


def told_try(
    command: str, setting: str, seconds: Interval, speedup: Interval | None, predicted: Interval | None
) -> dict[str, Any]:
    """A command that was tried, as --json prints it."""
    spans = {"seconds": seconds, "speedup": speedup, "predicted": predicted}
    told = {name: each and each.to_json() for name, each in spans.items()}
    return {"of": "try", "command": command, "setting": setting, **told}


def tries_table(how: str, told: Sequence[Mapping[str, Any]]) -> Group:
    table = titled_table("", how, "a run", "times as fast", "predicted")
    for each in told:
        spans = (_span(each[name]) if each[name] else "" for name in ("speedup", "predicted"))
        table.add_row(Text(each["setting"]), duration(each["seconds"]["value"]), *spans)
    return Group(Text(), table)


def _span(of: Mapping[str, Any]) -> str:
    value, low, high = (digits(each) if each else "" for each in (of["value"], of["low"], of["high"]))
    return f"{value} ({low} – {high})" if low and high else f"at least {low}" if low else f"{value} ?"
