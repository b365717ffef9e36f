"""`teff simulate`: predicts the curves of policies on shared cores, and holds them against measured ones."""

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tefflab.analysis import simulation
from tefflab.analysis.rows import Row
from tefflab.analysis.sharing import exactly, ideal_slowdown
from tefflab.analysis.simulation import DEPENDENCES, Cores, Policy, Work, policies
from tefflab.benchmarks.benchmark import find_benchmark
from tefflab.benchmarks.contention.estimates import ContentionEstimates, Curve, chart, columns_of, got, too_short
from tefflab.durations import seconds
from tefflab.errors import InputError
from tefflab.host.terminal import output, progress
from tefflab.host.waiting import Waiting
from tefflab.json_lines import json_lines
from tefflab.measure.measurement import estimated
from tefflab.output.plots.sheet import save
from tefflab.output.quantities import brief, duration, percent
from tefflab.output.table import Column, Table
from tefflab.records.plan import Variant
from tefflab.records.stored import full_name, open_sittings
from tefflab.systems.registry import Registry

_COLOURS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b")  # of the policies
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


@dataclass(frozen=True, slots=True)
class Measured:
    """The curves of one case of a sitting, and the cores of the sitting. `shares`: of the load, rising."""

    name: str
    curves: Sequence[Curve]
    shares: Sequence[_Share]
    cores: Cores


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
    plan = estimates.of_plan
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


def predict(
    work: Work, policy: Policy, cores: Cores, shares: Sequence[_Share], look: Callable[[], None], colour: int = 0
) -> Curve:
    """The policy's curve: exact values, at the shares that the load got. It calls `look` before each simulation."""

    def seconds(of: Cores) -> float:
        look()
        return simulation.simulate(work, policy, of).seconds

    alone = seconds(Cores(cores.number))
    variant = Variant(policy.name, policy.title, "", _COLOURS[colour], colour)

    def row(taken: float, asked: float | None, share: float) -> Row:
        ideal = ideal_slowdown(cores.number, cores.loaded, share)
        return Row(
            kind="simulation",
            variant=variant,
            case="simulation",
            configuration="",
            quantity="slowdown",
            value=exactly(taken / alone),
            unit="1",
            workers=cores.number,
            x=asked,
            facts={"share_got": share, "ideal_slowdown": ideal, "seconds": taken},
        )

    points = [row(alone, 0.0, 0.0)]
    points += [row(seconds(replace(cores, share=share)), asked, share) for asked, share in shares]
    left = cores.number - cores.loaded
    return Curve(variant, "simulation", points, row(seconds(Cores(left)), None, 0.0) if left else None)


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
        try:
            files = save(chart(title, measured.name if measured else "nothing was measured", curves), picture)
        except OSError as failure:
            raise InputError(f"--picture {picture}: {failure.strerror}; name a file that can be written") from None
        progress().print(f"teff: drew {files[0]} and {files[1]}", soft_wrap=True)
    if as_json:
        print(json_lines([*(row.to_json() for each in found for row in each.rows), *compared(measured, found)]))
        return
    output().print(Table(columns_of(curves, cores.number - cores.loaded), title))
    for note in too_short(found, cores.period, "more --steps"):
        output().print(note)
    if measured:
        output().print(Table(_columns_beside(list(compared(measured, found))), f"\nPredicted beside {measured.name}"))


def compared(measured: Measured | None, found: Sequence[Curve]) -> Iterator[dict[str, Any]]:
    """For each measured curve and each predicted one: the ratios of predicted to measured slowdowns."""
    for curve in measured.curves if measured else ():
        for each in found:
            predicted = {point.x: point.value.value for point in each.points if point.value}
            yield {
                "policy": each.variant.id,
                "system_id": curve.variant.id,
                "case": curve.case,
                "points": [
                    {"share_asked": point.x, "predicted_to_measured": predicted[point.x] / point.value.value}
                    for point in curve.points[1:]
                    if point.value
                ],
            }


def _columns_beside(rows: Sequence[dict[str, Any]]) -> list[Column]:
    at = [{point["share_asked"]: point["predicted_to_measured"] for point in row["points"]} for row in rows]
    return [
        Column("system", [row["system_id"] for row in rows], "left"),
        Column("policy", [row["policy"] for row in rows], "left"),
        *(
            Column(
                f"{percent(share)} lost",
                [f"{100 * (own[share] - 1):+.0f} %" if share in own else "-" for own in at],
            )
            for share in sorted({share for own in at for share in own})
        ),
    ]
