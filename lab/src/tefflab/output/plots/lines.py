"""Estimates against a parameter: METG against dependencies per task or bytes, the value of a case against workers,
efficiency against the length of a task."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from tefflab.analysis.results import CaseRow, MeasuredCase
from tefflab.analysis.statistics import Interval, MetgEstimate
from tefflab.output.plots.dots import legend_entries
from tefflab.output.plots.intervals import band, draw_arrow, ends
from tefflab.output.plots.legend import Entry, Legend
from tefflab.output.plots.looks import Look, looks
from tefflab.output.plots.sheet import EDGE, RULE, SMALL, SOFT, WIDTH, Sheet, log_ticks, mark, stroke, text_width
from tefflab.output.quantities import duration, percent
from tefflab.output.readings import absences, metg_name, time_tick, variants_of
from tefflab.output.scales import log_axis
from tefflab.records.plan import Variant

_HEIGHT, _TICKS, _GAP = 3.7, 0.4, 0.3
Point = tuple[float, MetgEstimate | Interval]
_LOG_FROM = 50.0  # a parameter that varies by more than this factor is drawn on a log axis


def metg_lines_chart(
    cases: Sequence[MeasuredCase],
    x_label: str,
    xs: Sequence[float],
    footer: str = "",
    title: str = "",
    x_text: Callable[[float], str] = "{:g}".format,
) -> Figure:
    """METG of every system at each of `xs` (rising, one a case), with bands; bounds have arrows.

    A line breaks where a system could not be measured. Raises ValueError where `xs` and `cases` differ in length.
    """
    if len(xs) != len(cases):
        raise ValueError(f"{len(xs)} values of {x_label} for {len(cases)} cases")
    look_of = looks(variants_of(cases).values())
    found = [{row.variant.id: row.metg for row in case.rows if row.metg} for case in cases]
    name = metg_name(cases[0].threshold) if cases else "METG"
    meaning = f"{name} with 95 % intervals; smaller is better. An arrow leads from a bound to where the value lies."
    head = Head(title or f"{name} against {x_label}", [meaning], footer, absences(cases))
    lines = {id_: Line(look, [each.get(id_) for each in found]) for id_, look in look_of.items()}
    return _lines_chart(head, legend_entries(cases, look_of), lines.values(), xs, x_label, x_text)


def workers_chart(rows: Sequence[CaseRow], title: str, meaning: str, footer: str = "") -> Figure:
    """A time against the workers, of every system at one case, with bands."""
    look_of = looks(row.variant for row in rows)
    workers = sorted({row.workers for row in rows})
    times = {(row.variant.id, row.workers): row.value for row in rows}
    ranked = sorted((row for row in rows if row.value), key=lambda row: (-row.workers, _seconds(row)))
    last = {row.variant.id: row for row in reversed(ranked)}
    entries = [
        Entry(look_of[row.variant.id], row.variant.title, _last(row)) for row in ranked if row is last[row.variant.id]
    ]
    lines = [Line(look_of[id_], [times.get((id_, count)) for count in workers]) for id_ in last]
    failed = dict.fromkeys(f"{row.variant.title}: {row.note}" for row in rows if row.value is None)
    return _lines_chart(Head(title, [meaning], footer, list(failed)), entries, lines, workers, "workers")


def efficiency_lines_chart(
    efficiencies: Mapping[Variant, Mapping[float, Interval]], title: str, meaning: str, footer: str = ""
) -> Figure:
    """Efficiency of every system by the length of its tasks, in seconds; who is best with the shortest is first."""
    look_of = looks(efficiencies)
    lengths = sorted({length for each in efficiencies.values() for length in each})
    ranked = sorted(
        efficiencies, key=lambda each: [-efficiencies[each][x].value for x in lengths if x in efficiencies[each]]
    )
    entries = [Entry(look_of[each.id], each.title, _shortest(efficiencies[each])) for each in ranked]
    lines = [Line(look_of[each.id], [efficiencies[each].get(x) for x in lengths]) for each in ranked]
    head = Head(title, [meaning], footer, [])
    return _lines_chart(head, entries, lines, lengths, "time of a task without the system", time_tick, _SHARES)


def _shortest(by_length: Mapping[float, Interval]) -> str:
    length = min(by_length)
    return f"{percent(by_length[length].value)} at {duration(length)}"


def _seconds(row: CaseRow) -> float:
    return row.value.value if row.value else math.inf


def _last(row: CaseRow) -> str:
    return f"{duration(_seconds(row))} with {row.workers} worker{'s' * (row.workers > 1)}"


@dataclass(frozen=True, slots=True)
class Head:
    """What a picture says besides its data, as a `Sheet` takes it."""

    title: str
    subtitles: Sequence[str]
    footer: str
    notes: Sequence[str]


@dataclass(frozen=True, slots=True)
class Line:
    """A system's estimates, one at each value of the parameter; None where there is none."""

    look: Look
    estimates: Sequence[MetgEstimate | Interval | None]


@dataclass(frozen=True, slots=True)
class Height:
    """An axis that leads up: what stands beside it, and how it is drawn."""

    labels: Sequence[str]
    draw: Callable[[Axes], None]

    @staticmethod
    def of_times(lines: Iterable[Line]) -> "Height":
        times = log_axis([end for line in lines for each in line.estimates if each for end in ends(each)])
        return Height([time_tick(each) for each in times.majors], lambda axes: log_ticks(axes, "y", times, time_tick))


def _draw_shares(axes: Axes) -> None:
    axes.set_ylim(0, 1.03)
    axes.yaxis.set_major_locator(FixedLocator(_FIFTHS))
    axes.yaxis.set_major_formatter(FixedFormatter([percent(each) for each in _FIFTHS]))
    axes.grid(True, "major", "y", color=RULE, linewidth=0.6)


_FIFTHS = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
_SHARES = Height([percent(each) for each in _FIFTHS], _draw_shares)


def _lines_chart(
    head: Head,
    entries: Sequence[Entry],
    lines: Iterable[Line],
    xs: Sequence[float],
    x_label: str,
    x_text: Callable[[float], str] = "{:g}".format,
    height: Height | None = None,  # that of times
) -> Figure:
    lines = list(lines)
    height = height or Height.of_times(lines)
    legend = Legend(entries)
    sheet = Sheet(head.title, head.subtitles, head.footer, max(_HEIGHT, legend.height) + _TICKS, head.notes)
    left = EDGE + max(text_width(each, SMALL) for each in height.labels) + 0.08
    right = WIDTH - EDGE - legend.width - _GAP
    axes = sheet.axes(left, right, sheet.bottom + _TICKS, sheet.top)
    _parameter_ticks(axes, xs, x_text, right - left)
    height.draw(axes)
    for line in lines:
        _line(axes, line.look, [(x, each) if each else None for x, each in zip(xs, line.estimates, strict=True)])
    legend.draw(sheet, right + _GAP, sheet.top)
    sheet.text((left + right) / 2, sheet.bottom + 0.05, x_label, SMALL, color=SOFT, align="center")
    return sheet.figure


def _parameter_ticks(axes: Axes, xs: Sequence[float], text: Callable[[float], str], room: float) -> None:
    """A tick at every value, labelled where its label touches no other."""
    low, high = (min(xs), max(xs)) if xs else (0.0, 1.0)
    if low > 0 and high / low >= _LOG_FROM:
        axes.set_xscale("log")
        margin = (high / low) ** 0.05
        axes.set_xlim(low / margin, high * margin)
    else:
        margin = 0.05 * (high - low) or 1.0
        axes.set_xlim(low - margin, high + margin)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_locator(FixedLocator(list(xs)))
    to_inches = axes.transData.transform
    start, end = (to_inches((each, 1.0))[0] for each in axes.get_xlim())
    labels, free = [], -math.inf
    for x in xs:
        middle = (to_inches((x, 1.0))[0] - start) / (end - start) * room
        half = text_width(text(x), SMALL) / 2
        fits = middle - half >= free
        labels.append(text(x) if fits else "")
        free = middle + half + 0.08 if fits else free
    axes.xaxis.set_major_formatter(FixedFormatter(labels))
    axes.grid(True, "major", "x", color=RULE, linewidth=0.6)


def _line(axes: Axes, look: Look, points: Sequence[Point | None]) -> None:
    """Each stretch without a gap: band and line; then the marks and the arrows of bounds."""
    for stretch in _stretches(points):
        xs = [x for x, _ in stretch]
        low, high = zip(*(band(metg, *axes.get_ylim()) for _, metg in stretch), strict=True)
        axes.fill_between(xs, low, high, color=look.color, alpha=0.16, linewidth=0, zorder=2.5)
        axes.vlines(xs, low, high, color=look.color, linewidth=0.8, zorder=2.6)
        axes.plot(xs, [metg.value for _, metg in stretch], **stroke(look), zorder=3)
        axes.plot(xs, [metg.value for _, metg in stretch], **mark(look, 5.2), linestyle="none", zorder=5)
        for x, metg in stretch:
            if isinstance(metg, MetgEstimate) and metg.relation != "=":
                draw_arrow(axes, x, metg.value, "up" if metg.relation == ">" else "down", look)


def _stretches(points: Sequence[Point | None]) -> list[list[Point]]:
    stretches: list[list[Point]] = [[]]
    for point in points:
        if point is None:
            stretches.append([])
        else:
            stretches[-1].append(point)
    return [each for each in stretches if each]
