"""What the measuring commands share: set up, ask who is here, measure with a live display, show what came of it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from tefflab.configuration import check, parse
from tefflab.errors import BAD_INPUT, TeffError
from tefflab.live import LiveTable
from tefflab.measurement import RESULTS_FOLDER, Competitor, Plan, Question, Results, begin, contenders, measure, plan_of
from tefflab.setup import ensure
from tefflab.store import Sitting, Store
from tefflab.systems import load_systems, probe_all, usable_cores
from tefflab.terminal import output, progress

INTERRUPTED = 130


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
    prepare(root, wish.systems)
    store = Store.create(root / RESULTS_FOLDER / wish.store)
    if wish.resume:
        sitting = unfinished(store, flags)
    else:
        workers = wish.workers or usable_cores()
        configuration = parse(flags, workers)
        check(root, configuration)
        plan = Plan(
            kind="metg",
            title=configuration.title,
            questions=(Question.of(configuration),),
            contenders=tuple(present(root, wish.systems)),
            workers=workers,
            threshold=wish.threshold,
        )
        sitting = begin(root, store, plan)
    show(watched(root, store, sitting, wish), wish)


def prepare(root: Path, systems: Sequence[str]) -> None:
    """Sets up the systems asked for, all where none is named."""
    named = {name.partition("/")[0] for name in systems}
    ensure(root, [system for system in load_systems(root) if not named or system.name in named], console=progress())


def present(root: Path, systems: Sequence[str]) -> list[Competitor]:
    """The contenders: who was asked for and is here."""
    with progress().status("asking the systems whether they are there"):
        probes = probe_all(load_systems(root), root)
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
    console.print(f"teff: {plan.title}; {plan.workers} workers; {len(plan.contenders)} systems", soft_wrap=True)
    with store, LiveTable(console, plan.people(), wish.seconds) as live:
        return measure(root, store, sitting, live, wish.seconds, wish.rounds)


def show(results: Results, wish: Wish) -> None:
    """The table on stdout; leaves with 130 where it was interrupted."""
    rows = [row for judgement in results.judgements for row in judgement.rows]
    for row in rows:
        output().print(json.dumps(row.to_json()), soft_wrap=True) if wish.as_json else output().print(str(row.metg))
    if results.interrupted:
        progress().print("teff: interrupted; go on with --resume")
        raise typer.Exit(INTERRUPTED)
