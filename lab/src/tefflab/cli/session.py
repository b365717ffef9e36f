"""What the measuring commands share: set up, ask who is here, measure with a live display, show what came of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import typer
from rich.console import Console

from tefflab.benchmarks.configuration import check, parse
from tefflab.errors import BAD_INPUT, TeffError
from tefflab.host.terminal import output, path_text, progress
from tefflab.measure.measurement import (
    RESULTS_FOLDER,
    Competitor,
    Plan,
    Question,
    Results,
    begin,
    contenders,
    measure,
    plan_of,
)
from tefflab.output.live import LiveTable
from tefflab.output.publish import publish
from tefflab.records.store import Sitting, Store
from tefflab.systems.setup import ensure
from tefflab.systems.systems import System, load_systems, probe_all, usable_cores

INTERRUPTED = 130
_LOOK = 0.5  # seconds for which other programs are watched before measuring
_BUSY = 0.2  # cores that they may use


@dataclass(frozen=True)
class Wish:
    """What a command's options say, for all measuring commands."""

    systems: tuple[str, ...]
    threshold: float
    seconds: float
    rounds: int
    workers: int  # 0: the cores that are here
    store: str
    resume: bool
    as_json: bool


def metg(root: Path, flags: Sequence[str], wish: Wish) -> None:
    """Measures METG of one configuration and shows table, picture and report."""
    measure_flags(root, flags, wish, kind="metg")


def measure_flags(root: Path, flags: Sequence[str], wish: Wish, **plan: Any) -> None:
    """Measures the one configuration that `flags` describe, as the further fields of a `plan` say, or goes on with the
    store's last sitting; shows what came of it."""
    prepare(root, wish.systems)
    store = Store.create(root / RESULTS_FOLDER / wish.store)
    if wish.resume:
        sitting = unfinished(store, flags)
    else:
        workers = wish.workers or usable_cores()
        configuration = parse(flags, workers)
        check(root, configuration)
        asked = Plan(
            title=configuration.title,
            questions=(Question.of(configuration),),
            contenders=tuple(present(root, wish.systems)),
            workers=workers,
            threshold=wish.threshold,
            **plan,
        )
        sitting = begin(root, store, asked)
    show(root, store, watched(root, store, sitting, wish), wish)


def asked_for(root: Path, systems: Sequence[str]) -> list[System]:
    """The systems of these names or ids; where none is named, all that run task graphs."""
    named = {name.partition("/")[0] for name in systems}
    return [each for each in load_systems(root) if (each.name in named if named else each.variants)]


def prepare(root: Path, systems: Sequence[str]) -> None:
    """Sets up the systems asked for."""
    ensure(root, asked_for(root, systems), console=progress())


def present(root: Path, systems: Sequence[str]) -> list[Competitor]:
    """The contenders: who was asked for and is here. Nobody else is started to be asked."""
    with progress().status("asking the systems whether they are there"):
        probes = probe_all(asked_for(root, systems), root)
    return contenders(root, systems, probes)


def unfinished(store: Store, flags: Sequence[str]) -> Sitting:
    """The store's last sitting, to go on with. TeffError where flags are given beside it."""
    if flags:
        raise TeffError(f"--resume goes on with the plan it had; leave out {' '.join(flags)}", exit_code=BAD_INPUT)
    return store.sitting()


def watched(root: Path, store: Store, sitting: Sitting, wish: Wish) -> Results:
    """Measures with a live display."""
    plan = plan_of(sitting)
    console = progress()
    warn_of_others(console)
    console.print(
        f"teff: {plan.title}; {plan.workers} workers; {len(plan.contenders)} system{'s' * (len(plan.contenders) > 1)}",
        soft_wrap=True,
    )
    first = "looks for the crossing" if plan.kind == "metg" else "round 1"
    with store, LiveTable(console, plan.people(), wish.seconds, first) as live:
        return measure(root, store, sitting, live, wish.seconds, wish.rounds)


def warn_of_others(console: Console) -> None:
    """Says so before an hour is wasted: other programs take part of the cores."""
    busy = psutil.cpu_percent(_LOOK) / 100 * usable_cores()
    if busy > _BUSY:
        console.print(
            f"teff: [yellow]other programs use {busy:.1f} of {usable_cores()} cores: results will be poor and slow to "
            "come; `./teff doctor` says who[/]",
            soft_wrap=True,
        )


def show(root: Path, store: Store, results: Results, wish: Wish) -> None:
    """The table on stdout, and where the report is; leaves with 130 where it was interrupted."""
    report = publish(store, results, output(), wish.as_json)
    progress().print(f"teff: report and pictures: {path_text(report, root)}", soft_wrap=True)
    if results.interrupted:
        plan = results.plan
        command = f"experiment {plan.experiment}" if plan.experiment else "metg" if plan.kind == "metg" else "sweep"
        resume = f"./teff {command} --resume" + (f" --store {wish.store}" if wish.store != "default" else "")
        progress().print(f"teff: interrupted; everything measured is kept; to go on: {resume}", soft_wrap=True)
        raise typer.Exit(INTERRUPTED)
