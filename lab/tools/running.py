"""Runs the steps of `teff dev test`, two at a time, and closes with one line that counts them all.

Nothing that the steps check is a time, so they may slow each other down. Each writes to a separate log; the user sees
its output in one piece, when it has ended.
"""

import contextlib
import time
import traceback
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from queue import Queue
from threading import Thread

import psutil
from rich.console import Console, Group
from rich.live import Live
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from tefflab.errors import FAILED, TeffError, shortened
from tefflab.host.processes import end_all
from tefflab.systems.building import Build
from tefflab.systems.logged import tail
from tefflab.systems.packages import Installing
from tefflab.systems.registry import Registry
from tefflab.systems.setup import CORE_APT, alone, ensure
from tefflab.systems.systems import usable_cores
from tools.counting import BROKEN, Count
from tools.steps import Check, chosen, systems_among
from tools.workshop import SkippedError, Workshop

STEPS_AT_A_TIME = 2  # one step builds on all cores, another step tests
SHOWN_LINES = 100  # the last lines of a failed step's output, in which a failed test's words fit
_LONGEST_LINE = 400  # letters of a shown line: a command may name every file
_PATIENCE = 10.0  # the seconds that steps have to end after Ctrl-C


@dataclass(frozen=True)
class Outcome:
    """The result of a step, and how long it took [s]; `remark` says why it was skipped."""

    check: Check
    count: Count
    seconds: float
    log: Path
    remark: str = ""


def run_checks(
    registry: Registry,
    names: Sequence[str],
    *,
    quick: bool,
    results: Console,
    progress: Console,
    installing: Installing = "ask",
) -> int:
    """Sets up the requirements of the checks and runs them; returns the exit code, 0 only if nothing failed."""
    started = time.monotonic()
    named = systems_among(names, registry)
    checks = chosen([name for name in names if name not in named], quick=quick)
    with alone(registry.root, progress, task="test"):
        builds = any(check.builds for check in checks)
        only_systems = all(check.of_systems for check in checks)
        systems = [each for each in registry.systems if builds and (not only_systems or each.name in named)]
        tools = [*(CORE_APT if builds else ()), *(package for check in checks for package in check.apt)]
        ensure(registry, systems, console=progress, need_programs=False, extra_apt=tools, installing=installing)
        if builds:
            Build(registry, progress)  # raises where there are no tools, before every step fails for the lack of them
        outcomes = []
        with contextlib.closing(_side_by_side(checks, registry, quick, named, progress)) as ended:
            for outcome in ended:
                outcomes.append(outcome)
                _report(outcome, results)
    total = sum((outcome.count for outcome in outcomes), start=Count())
    results.print(_summary(sorted(outcomes, key=lambda one: checks.index(one.check)), time.monotonic() - started))
    results.print(str(total))
    return FAILED if total.failed or not total.passed else 0


class Display:
    """A line for each step that runs, on a terminal; elsewhere one that says when it begins."""

    def __init__(self, console: Console) -> None:
        self.running: dict[Check, Workshop] = {}
        self._console = console
        self._live = Live(console=console, get_renderable=self._lines, refresh_per_second=5, transient=True)

    def begin(self, check: Check, shop: Workshop) -> None:
        self.running[check] = shop
        if not self._console.is_terminal:
            self._console.print(f"teff: {check.name}: {check.about} …", soft_wrap=True)

    def end(self, check: Check) -> None:
        del self.running[check]

    @contextlib.contextmanager
    def shown(self) -> Iterator[None]:
        """Shows the running steps while waiting, and takes the display away before anything else is printed."""
        if not self._console.is_terminal:
            yield
            return
        self._live.start()
        try:
            yield
        finally:
            self._live.stop()

    def _lines(self) -> Group:
        return Group(*(self._line(check, shop) for check, shop in list(self.running.items())))

    def _line(self, check: Check, shop: Workshop) -> Text:
        about = f"… {check.name:<8} {check.about} ({shop.seconds:.0f} s) "
        return Text.assemble(about, (shop.last_line(), "dim"), no_wrap=True, overflow="ellipsis")


def _side_by_side(
    checks: Sequence[Check], registry: Registry, quick: bool, systems: Sequence[str], console: Console
) -> Generator[Outcome, None, None]:
    """Runs the steps and gives the outcome of each as it ends. Ctrl-C ends all of them."""
    waiting = list(checks)
    ended: Queue[Outcome] = Queue()
    threads: list[Thread] = []
    display = Display(console)
    at_a_time = min(STEPS_AT_A_TIME, usable_cores())
    try:
        while waiting or display.running:
            while len(display.running) < at_a_time and (check := _next(waiting, display.running)):
                waiting.remove(check)
                shop = Workshop(registry, check.name, quick=quick, systems=systems)
                display.begin(check, shop)
                threads.append(Thread(target=_run, args=(check, shop, ended), name=check.name, daemon=True))
                threads[-1].start()
            with display.shown():
                outcome = ended.get()
            display.end(outcome.check)
            yield outcome
    except (KeyboardInterrupt, GeneratorExit):
        _end_steps(threads)
        raise


def _next(waiting: Sequence[Check], running: Iterable[Check]) -> Check | None:
    """Of the steps that may begin, the one that most others wait for; None where all must wait."""
    unfinished = {check.name for check in [*waiting, *running]}
    ready = [check for check in waiting if unfinished.isdisjoint((*check.after, *check.behind))]
    return max(ready, key=lambda check: sum(check.name in other.after for other in waiting), default=None)


def _run(check: Check, shop: Workshop, ended: "Queue[Outcome]") -> None:
    remark = ""
    try:
        count = check.run(shop)
    except SkippedError as reason:
        count, remark = Count(skipped=1), str(reason)
    except TeffError as error:  # the core does not build, say
        count = BROKEN
        shop.note(str(error))
    except Exception:
        count = BROKEN
        shop.note(traceback.format_exc())
    ended.put(Outcome(check, count, shop.seconds, shop.log, remark))


def _end_steps(threads: Sequence[Thread]) -> None:
    """Ends the commands of the steps, again where a step goes on to its next command, until no step is left."""
    latest = time.monotonic() + _PATIENCE
    while any(thread.is_alive() for thread in threads) and time.monotonic() < latest:
        end_all(psutil.Process().children(recursive=True))
        for thread in threads:
            thread.join(0.05)


def _report(outcome: Outcome, results: Console) -> None:
    """One line; below it, if the step failed, the end of its output."""
    name, count = outcome.check.name, outcome.count
    sign = "[red]✗[/]" if count.failed else "[yellow]-[/]" if outcome.remark else "[green]✓[/]"
    remark = f" ({escape(outcome.remark)})" if outcome.remark else ""
    results.print(f"{sign} {name:<8} {count}{remark} [dim]{outcome.seconds:.1f} s[/]", soft_wrap=True)
    if count.failed:
        said = [shortened(line, _LONGEST_LINE) for line in tail(outcome.log, SHOWN_LINES).splitlines()]
        results.print(escape("\n".join(said)), soft_wrap=True)
        results.print(f"[dim]all of it is in {escape(str(outcome.log))}[/]", soft_wrap=True)


def _summary(outcomes: Sequence[Outcome], seconds: float) -> Table:
    """A line for each step; the last says how long all took, which is less than the sum: steps ran side by side."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("step", "what"):
        table.add_column(title)
    for title in ("passed", "failed", "skipped", "seconds"):
        table.add_column(title, justify="right")
    for one in outcomes:
        numbers = (one.count.passed, one.count.failed, one.count.skipped)
        table.add_row(one.check.name, one.check.about, *map(str, numbers), f"{one.seconds:.1f}")
    table.add_row("", "side by side, with what was set up", "", "", "", f"{seconds:.1f}")
    return table
