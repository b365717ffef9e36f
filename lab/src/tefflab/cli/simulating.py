"""`teff simulate`: predicts the curves of policies on shared cores, and holds them against measured ones."""

import statistics
from collections.abc import Sequence
from pathlib import Path

from tefflab.analysis.simulation import DEPENDENCES, Cores, Policy, Work, policies
from tefflab.benchmarks.benchmark import find_benchmark
from tefflab.benchmarks.contention.estimates import ContentionEstimates, chart, columns_of, got, too_short
from tefflab.benchmarks.contention.prediction import Measured, columns_beside, compared, predict
from tefflab.cli.publishing import draw
from tefflab.durations import seconds
from tefflab.errors import InputError
from tefflab.host.terminal import output, progress
from tefflab.json_lines import json_lines
from tefflab.measure.measurement import estimated
from tefflab.output.quantities import brief, duration
from tefflab.output.table import Table
from tefflab.records.store import full_name, open_sittings
from tefflab.systems.logged import Waiting
from tefflab.systems.registry import Registry

_Share = tuple[float, float]  # asked, got


_OF_SITTING = "--cores, --loaded, --shares and --period are those of its sitting; leave them out"


def simulate(
    registry: Registry,
    store: str | None,
    case: str | None,
    cores: int | None,
    loaded: int | None,
    shares: str | None,
    period: str | None,
    tasks: int | None,
    steps: int,
    task: str,
    dependences: str,
    takeover: str,
    picture: Path | None,
    as_json: bool,
) -> None:
    """On the cores of a sitting, or on those that are described. InputError for both."""
    measured = None
    if store:
        if any(each is not None for each in (cores, loaded, shares, period)):
            raise InputError(f"{store}: {_OF_SITTING}")
        measured = measured_in(registry, store, case or "")
        on, at = measured.cores, measured.shares
    else:
        on = Cores(cores or 2, loaded or 1, period=seconds(period or "10ms"))
        at = shares_of(shares or "10,25,50,75,90")
    work = work_of(tasks or 8 * on.number, steps, seconds(task), dependences)
    show(work, policies(seconds(takeover)), on, at, measured, picture, as_json=as_json)


def measured_in(registry: Registry, name: str, case: str) -> Measured:
    """The case, else the first one, of the store's last sitting of `teff contention`. InputError if there is none."""
    store, sittings = open_sittings(registry, name)
    head = sittings.get("contention")
    estimates = head and estimated(store, find_benchmark("contention"), head)
    if head is None or not isinstance(estimates, ContentionEstimates) or not estimates.curves:
        raise InputError(f"{name}: it has no curve of a shared core; measure one: teff contention")
    there = list(dict.fromkeys(each.case for each in estimates.curves))
    chosen = case or there[0]
    if chosen not in there:
        raise InputError(f"--case {case}: there are {' '.join(there)}")
    curves = [each for each in estimates.curves if each.case == chosen]
    found: dict[float, list[float]] = {}
    for point in (each for curve in curves for each in curve.points[1:]):
        found.setdefault(point.x or 0.0, []).append(got(point))
    shares = [(asked, statistics.median(found[asked])) for asked in sorted(found)]
    plan = estimates.plan
    cores = Cores(max(plan.workers), len(plan.loaded), period=plan.period)
    return Measured(f"{full_name(registry, store, head)}, {chosen}", curves, shares, cores)


def shares_of(text: str) -> list[_Share]:
    """Rising, above 0 and below 1. InputError for anything else."""
    try:
        found = sorted({float(word) / 100 for word in text.split(",")})
    except ValueError:
        found = []
    if not found or not 0 < found[0] <= found[-1] < 1:
        raise InputError(f"--shares {text}: give percentages above 0 and below 100, as 25,50")
    return [(share, share) for share in found]


def work_of(tasks: int, steps: int, seconds: float, dependences: str) -> Work:
    """InputError for dependences that there are not."""
    kind = next((each for each in DEPENDENCES if each == dependences), None)
    if kind is None:
        raise InputError(f"--dependences {dependences}: there are {', '.join(DEPENDENCES)}")
    return Work(tasks, steps, seconds, kind)


def show(
    work: Work,
    policies: Sequence[Policy],
    cores: Cores,
    shares: Sequence[_Share],
    measured: Measured | None,
    picture: Path | None,
    *,
    as_json: bool,
) -> None:
    """Prints and draws each policy's curve, beside the measured ones. InputError if more cores are loaded than there
    are."""
    if cores.loaded > cores.number:
        raise InputError(f"--loaded {cores.loaded}: at most --cores, {cores.number}")
    with Waiting(progress(), "simulating") as waiting:
        found = [predict(work, each, cores, shares, waiting.look, at) for at, each in enumerate(policies)]
    title = (
        f"Simulation: {cores.number} cores, {cores.loaded} shared in periods of {brief(duration(cores.period))}; "
        f"{work.steps} steps of {work.tasks} tasks of {brief(duration(work.seconds))}"
    )
    curves = [*(measured.curves if measured else ()), *found]
    if picture:
        draw(chart(title, measured.name if measured else "nothing was measured", curves), picture)
    if as_json:
        print(json_lines([*(row.to_json() for each in found for row in each.rows), *compared(measured, found)]))
        return
    output().print(Table(columns_of(curves, cores.number - cores.loaded), title))
    for note in too_short(found, cores.period, "more --steps"):
        output().print(note)
    if measured:
        output().print(Table(columns_beside(list(compared(measured, found))), f"\nPredicted beside {measured.name}"))
