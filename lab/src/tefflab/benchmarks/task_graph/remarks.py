"""The most important remarks for a reader of a METG table, with a remedy: at most four lines, none of them wrapped.

The report has all of it, at length (`caveats.py`).
"""

from collections.abc import Mapping, Sequence

from rich.cells import cell_len
from rich.text import Text

from tefflab.analysis.results import NO_TURN, MeasuredCase, MetgRow
from tefflab.analysis.statistics import rounds_to_tell
from tefflab.benchmarks.task_graph.caveats import ceiling_spread, is_uncertain
from tefflab.benchmarks.task_graph.readings import absent, heading_of, noisy_runs, why_unknown
from tefflab.benchmarks.task_graph.shape import STEPS
from tefflab.output.caveats import MUCH_NOISE
from tefflab.output.last_words import LINES
from tefflab.output.quantities import counted_minutes, digits, duration, percent

_TELLING = 25  # columns of a reason that say something of it


def remarks(case: MeasuredCase, width: int) -> list[Text]:
    """No line is wider than `width`, down to 60 columns. Where there are too many, the report has the last."""
    found = [*_missing(case, width), *_uncertain(case.rows, width), *_unknown(case.rows, width)]
    found += [*_noisy(case), *_elsewhere(case)]
    return [Text.assemble((heading, "bold"), f": {text}") for heading, text in found[:LINES]]


def elsewhere(case: MeasuredCase) -> tuple[str, str] | None:
    """The other distances of the cores at which it was measured: those runs do not count among the rounds."""
    others = [duration(each.round_trip) for each in case.others if each.round_trip is not None]
    return ("left out", f"runs with cores {' and '.join(others)} apart: see the report") if others else None


def own_steps(case: MeasuredCase, what: str) -> tuple[str, str] | None:
    """The effect of a chosen number of timesteps on the measured `what`."""
    if not case.steps:
        return None
    short = f"start and end weigh more than in runs of {STEPS}"
    return f"-steps {case.steps}", short if case.steps < STEPS else f"{what} of runs of this length only"


def _missing(case: MeasuredCase, width: int) -> list[tuple[str, str]]:
    """The missing systems, as far as they fit in the line, and the reason if it is one and fits."""
    found: dict[str, dict[str, list[str]]] = {}
    for reason, those in absent(case).items():
        found.setdefault(heading_of(reason), {})[reason] = [each.id for each in those]
    return [_line(heading, reasons, case.minutes, width) for heading, reasons in found.items()]


def _line(heading: str, reasons: Mapping[str, Sequence[str]], minutes: int | None, width: int) -> tuple[str, str]:
    ids = [id_ for those in reasons.values() for id_ in those]
    (reason, _), *others = reasons.items()
    heading = f"{len(ids)} {heading}"
    if reason == NO_TURN:
        end = f"; about {counted_minutes(minutes)} more: --resume" if minutes else "; go on with --resume"
    elif not others and (room := width - cell_len(f"{heading}: {', '.join(ids)}: ")) >= min(_TELLING, cell_len(reason)):
        why = Text(reason)
        why.truncate(room, overflow="ellipsis")
        return heading, f"{', '.join(ids)}: {why.plain}"
    else:
        end = "; the report says why"
    shown = list(ids)
    while shown and cell_len(f"{heading}: {_listed(shown, ids)}{end}") > width:
        shown.pop()
    return heading, f"{_listed(shown, ids)}{end}" if shown else end.removeprefix("; ")


def _listed(shown: Sequence[str], ids: Sequence[str]) -> str:
    return ", ".join(shown) + (" and others" if len(shown) < len(ids) else "")


def _uncertain(rows: Sequence[MetgRow], width: int) -> list[tuple[str, str]]:
    """How many, and where it fits how many rounds an interval lacks that is unknown."""
    measured = [row for row in rows if row.metg]
    wide = [row for row in measured if is_uncertain(row) and not why_unknown(row)]
    if not wide:
        return []
    untold = [rounds_to_tell(row.metg.rounds) for row in wide if row.metg and not row.metg.is_told]
    of_them = f", {len(untold)} of them unknown" if 0 < len(untold) < len(wide) else ""
    what = "unknown" if len(untold) == len(wide) else "wider than ± 5 %"
    verb = "is" if len(wide) == 1 else "are"
    text = f"{len(wide)} of {len(measured)} intervals {verb} {what}{of_them}"
    more = f"; {max(untold)} rounds more may tell" if untold else ""
    fits = cell_len(f"more minutes: {text}{more}") <= width
    return [("more minutes", f"{text}{more}" if fits else text)]


def _unknown(rows: Sequence[MetgRow], width: int) -> list[tuple[str, str]]:
    """The systems with an interval that more rounds will hardly narrow, with the reason, as far as they fit."""
    found = [f"{row.variant.id}: {why}" for row in rows if (why := why_unknown(row))]
    if not found:
        return []
    shown = list(found)
    while shown and cell_len(f"unknown: {_listed(shown, found)}") > width:
        shown.pop()
    return [("unknown", _listed(shown, found) if shown else f"{len(found)} intervals; the report says why")]


def _noisy(case: MeasuredCase) -> list[tuple[str, str]]:
    noisy, runs = noisy_runs(case)
    parts = [f"{percent(noisy / runs)} of the runs were noisy"] if runs and noisy / runs > MUCH_NOISE else []
    if spread := ceiling_spread(case.rows):
        parts.append(f"ceilings differ by x {digits(spread, 2)}")
    return [("a quieter machine", ", ".join(parts))] if parts else []


def _elsewhere(case: MeasuredCase) -> list[tuple[str, str]]:
    """One more remark in one line: a warning for comparisons, or a hint to the report."""
    if own := own_steps(case, "METG"):
        return [own]
    if others := elsewhere(case):
        return [others]
    if any(row.metg and row.metg.relation != "=" for row in case.rows):
        return [("< and >", "the value lies beyond the smallest or the largest task measured")]
    noted = [row.variant.id for row in case.rows if row.metg and row.note]
    return [("in the report", f"a note on {noted[0]}{' and others' if noted[1:] else ''}")] if noted else []
