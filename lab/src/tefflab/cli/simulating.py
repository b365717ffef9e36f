"""`teff simulate`: predicts the curves of policies on shared cores, and holds them against measured ones."""

from pathlib import Path

from tefflab.analysis.simulation import DEPENDENCES, Cores, Work, policies
from tefflab.benchmarks.benchmark import find_benchmark
from tefflab.benchmarks.contention.estimates import (
    ContentionEstimates,
    Measured,
    chart,
    columns_beside,
    columns_of,
    compared,
    predict,
    shares_got,
    too_short,
)
from tefflab.cli.publishing import draw
from tefflab.cli.telling import tell
from tefflab.durations import seconds
from tefflab.errors import InputError
from tefflab.host.terminal import output, progress
from tefflab.measure.measurement import estimated
from tefflab.output.quantities import brief, duration, percent
from tefflab.output.table import Table
from tefflab.records.store import full_name, open_sittings
from tefflab.systems.logged import Waiting
from tefflab.systems.registry import Registry

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
    """Prints and draws each policy's curve, on the cores of a sitting or on those described. InputError for both."""
    measured = None
    if store:
        if any(each is not None for each in (cores, loaded, shares, period)):
            raise InputError(f"{store}: {_OF_SITTING}")
        measured = measured_in(registry, store, case or "")
    on = measured.cores if measured else Cores(cores or 2, loaded or 1, period=seconds(period or "10ms"))
    at = measured.shares if measured else _described(shares or "10,25,50,75,90")
    kind = next((each for each in DEPENDENCES if each == dependences), None)
    if kind is None:
        raise InputError(f"--dependences {dependences}: there are {', '.join(DEPENDENCES)}")
    work = Work(tasks or 8 * on.number, steps, seconds(task), kind)
    of_takeover = policies(seconds(takeover))
    if on.loaded > on.number:
        raise InputError(f"--loaded {on.loaded}: at most --cores, {on.number}")
    with Waiting(progress(), "simulating") as waiting:
        found = [predict(work, each, on, at, waiting.look, number) for number, each in enumerate(of_takeover)]
    title = (
        f"Simulation: {on.number} cores, {on.loaded} shared in periods of {brief(duration(on.period))}; "
        f"{work.steps} steps of {work.tasks} tasks of {brief(duration(work.seconds))}"
    )
    curves = [*(measured.curves if measured else ()), *found]
    beside = list(compared(measured, found))
    if picture:
        draw(chart(title, measured.name if measured else "nothing was measured", curves), picture)
    lines = [*(row.to_json() for each in found for row in each.rows), *beside]
    tell(as_json, lambda: lines, lambda: Table(columns_of(curves, on.number - on.loaded), title))
    if as_json:
        return
    if measured:
        told = ", ".join(f"{percent(got)} of {percent(asked)}" for asked, got in measured.shares)
        output().print(f"the policies lose what the measured load got of the share it was asked for: {told}")
    for note in too_short(found, on.period, "say more --steps" + ("" if measured else ", or a shorter --period")):
        output().print(note)
    if measured:
        output().print(Table(columns_beside(measured, beside), f"\nPredicted beside {measured.name}"))


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
    shares = list(shares_got(curves).items())[1:]
    plan = estimates.plan
    cores = Cores(max(plan.workers), len(plan.loaded), period=plan.period)
    return Measured(f"{full_name(registry, store, head)}, {chosen}", curves, shares, cores)


def _described(shares: str) -> list[tuple[float, float]]:
    """As asked and got, rising, above 0 and below 1. InputError for anything else."""
    try:
        found = sorted({float(word) / 100 for word in shares.split(",")})
    except ValueError:
        found = []
    if not found or not 0 < found[0] <= found[-1] < 1:
        raise InputError(f"--shares {shares}: give percentages above 0 and below 100, as 25,50")
    return [(share, share) for share in found]
