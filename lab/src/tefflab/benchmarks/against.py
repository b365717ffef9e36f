"""The common part of the kinds of benchmark that compare all systems with one of them, the measure."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tefflab.analysis.results import CaseRow
from tefflab.analysis.statistics import Interval
from tefflab.benchmarks.benchmark import Request
from tefflab.errors import BAD_INPUT, TeffError
from tefflab.output.quantities import digits, percent
from tefflab.records.plan import Plan, Variant
from tefflab.systems.naming import canonical, parsed
from tefflab.systems.systems import load_systems

if TYPE_CHECKING:
    from tefflab.benchmarks.programs import Group

_NAMED = 3  # of the cases that a note is about


def against_of(request: Request, paradigm: str = "") -> str:
    """The id of the system that is the measure: the requested one, else the first of a paradigm. It is empty for the
    quickest. TeffError for a system that is not measured, and for the floor."""
    asked = canonical(str(request.own.get("against", "")))
    known = [each.id for each in request.variants if not each.is_floor]
    if asked and asked not in known:
        is_floor = any(each.id == asked for each in request.variants)
        why = "is the floor, of one worker and without tasks: no measure of others" if is_floor else "is not measured"
        raise TeffError(f"{asked!r} {why}; there are: {' '.join(known)}", exit_code=BAD_INPUT)
    of_paradigm = {each.name for each in load_systems(request.root) if each.paradigm == paradigm}
    return asked or next((id_ for id_ in known if parsed(id_).system in of_paradigm), "")


def others_of(plan: Plan, group: "Group", to: Variant) -> list[Variant]:
    """The variants that have a ratio, in the order of the plan."""
    seen = {id_ for case in group.rows for id_ in group.ratios(case, to.id)}
    return [each for each in plan.variants if each.id in seen]


def ratio_text(ratio: Interval | None) -> str:
    """`1.71 ± 2 %`; with a question mark where nothing is known of the interval."""
    if ratio is None:
        return "-"
    half = ratio.relative_half_width
    return f"{digits(ratio.value)} ?" if half > 1 else f"{digits(ratio.value)} ± {percent(half)}"


def notes_of(rows: Sequence[CaseRow]) -> list[str]:
    """The variants that could not be measured, with the reason and, if not everywhere, the places. Variants with the
    same reason and places share a line. Then the precision."""
    places: dict[tuple[str, str], list[CaseRow]] = {}
    for row in rows:
        if row.note:
            places.setdefault((row.variant.id, row.note), []).append(row)
    together: dict[tuple[str, str], list[str]] = {}
    for (id_, note), own in places.items():
        together.setdefault((note, _place(own, rows)), []).append(id_)
    lines = [f"{', '.join(ids)}: {note}{place}" for (note, place), ids in together.items()]
    if measured := [row for row in rows if row.value]:
        rounds = min(row.rounds for row in measured)
        lines.append(f"{rounds} round{'s' * (rounds != 1)}; {noise_of(rows)}")
    return lines


def _place(some: Sequence[CaseRow], rows: Sequence[CaseRow]) -> str:
    """` (CASES)`, ` (with 2 workers)`, or both; nothing where these are all there are."""
    cases, workers = dict.fromkeys(row.case for row in some), {row.workers for row in some}
    told = [some_of(list(cases))] if len(cases) < len({row.case for row in rows}) else []
    if workers != {row.workers for row in rows}:
        told.append(f"with {' and '.join(map(str, sorted(workers)))} worker{'s' * (workers != {1})}")
    return f" ({'; '.join(told)})" if told else ""


def some_of(cases: Sequence[str]) -> str:
    """Their names, or of many the first ones: the tables show which there are."""
    named = cases if len(cases) <= _NAMED + 1 else cases[:_NAMED]
    others = len(cases) - len(named)
    return "; ".join(named) + (f"; {others} others" if others else "")


def noise_of(rows: Sequence[CaseRow]) -> str:
    worst = max((row.noisy_share for row in rows), default=0.0)
    return f"at most {percent(worst)} of a system's runs noisy"
