"""Simulated curves of policies on shared cores, and measured ones beside them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tefflab.analysis.rows import Row
from tefflab.analysis.sharing import exactly, ideal_slowdown
from tefflab.analysis.simulation import Cores, Policy, Work, simulate
from tefflab.benchmarks.case_rows import row_of
from tefflab.benchmarks.contention.estimates import Curve
from tefflab.output.quantities import percent
from tefflab.output.table import Column
from tefflab.records.plan import Case, Variant

_COLOURS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b")  # of the policies
_WHO = {"system": "system_id", "policy": "policy"}  # by the title of the column
_Share = tuple[float, float]  # asked, got


@dataclass(frozen=True, slots=True)
class Measured:
    """The curves of one case of a sitting, and the cores of the sitting. `shares`: of the load, rising."""

    name: str
    curves: Sequence[Curve]
    shares: Sequence[_Share]
    cores: Cores


def predict(
    work: Work, policy: Policy, cores: Cores, shares: Sequence[_Share], look: Callable[[], None], colour: int = 0
) -> Curve:
    """The policy's curve: exact values, at the shares that the load got. It calls `look` before each simulation."""

    def seconds(of: Cores) -> float:
        look()
        return simulate(work, policy, of).seconds

    alone = seconds(Cores(cores.number))
    variant = Variant(policy.name, policy.title, "", _COLOURS[colour], colour)
    case = Case(name="simulation", flags="", workers=cores.number)
    bare = row_of("simulation", variant, case, "slowdown")

    def row(taken: float, asked: float | None, share: float) -> Row:
        ideal = ideal_slowdown(cores.number, cores.loaded, share)
        facts = {"share_got": share, "ideal_slowdown": ideal, "seconds": taken}
        return replace(bare, value=exactly(taken / alone), unit="1", x=asked, facts=facts)

    points = [row(alone, 0.0, 0.0)]
    points += [row(seconds(replace(cores, share=share)), asked, share) for asked, share in shares]
    left = cores.number - cores.loaded
    return Curve(variant, "simulation", points, row(seconds(Cores(left)), None, 0.0) if left else None)


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


def columns_beside(measured: Measured, rows: Sequence[dict[str, Any]]) -> list[Column]:
    """A row for each measured curve and each predicted one."""
    at = [{point["share_asked"]: point["predicted_to_measured"] for point in row["points"]} for row in rows]
    columns = [Column(title, [row[key] for row in rows], "left") for title, key in _WHO.items()]
    for asked, share in measured.shares:
        off = [f"{100 * (own[asked] - 1):+.0f} %" if asked in own else "-" for own in at]
        columns.append(Column(f"{percent(share)} lost", off))
    return columns
