"""Estimates against a parameter: a case's value against workers, efficiency against the length of a task, and time or
share of the cores' rate against a varied parameter."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator, MaxNLocator, NullLocator

from tefflab.analysis.rows import Row
from tefflab.analysis.statistics import Interval
from tefflab.output.plots.intervals import HOLLOW, band, draw_arrow, ends, hollow
from tefflab.output.plots.legend import Entry, Legend
from tefflab.output.plots.looks import Look, looks
from tefflab.output.plots.sheet import EDGE, RULE, SMALL, SOFT, WIDTH, Sheet, log_ticks, mark, stroke, text_width
from tefflab.output.quantities import brief, duration, percent, time_tick
from tefflab.output.scales import log_axis
from tefflab.records.plan import Variant, counted_workers

_HEIGHT, _TICKS, _GAP = 3.7, 0.4, 0.3
Point = tuple[float, Interval]
_LOG_FROM = 50.0  # a parameter that varies by more than this factor is drawn on a log axis
_GOOD = 0.9  # of the best: as much is called good
_PHASES = (("too coarse", "#eef1f7"), ("good", "#e7f4ea"), ("too fine", "#f9eeea"))
_PHASE_ROW = 0.2  # inches above the axes
_FEWEST_STEPS = 3  # so is a parameter with at least so many values that grow by one factor


def workers_chart(rows: Sequence[Row], title: str, meaning: str, footer: str = "") -> Figure:
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
    return lines_chart(Head(title, [meaning], footer, list(failed)), entries, lines, workers, "workers")


def efficiency_lines_chart(
    efficiencies: Mapping[Variant, Mapping[float, Interval]], title: str, meaning: str, footer: str = ""
) -> Figure:
    """Efficiency of every system by the length of its tasks, in seconds; the best system with the shortest tasks is
    first."""
    look_of = looks(efficiencies)
    lengths = sorted({length for each in efficiencies.values() for length in each})
    ranked = sorted(
        efficiencies, key=lambda each: [-efficiencies[each][x].value for x in lengths if x in efficiencies[each]]
    )
    entries = [Entry(look_of[each.id], each.title, _shortest(efficiencies[each])) for each in ranked]
    lines = [Line(look_of[each.id], [efficiencies[each].get(x) for x in lengths]) for each in ranked]
    head = Head(title, [meaning], footer, [])
    height = Height.of_shares(lines)
    return lines_chart(head, entries, lines, lengths, "time of a task without the system", time_tick, height)


def _shortest(by_length: Mapping[float, Interval]) -> str:
    length = min(by_length)
    return f"{percent(by_length[length].value)} at {duration(length)}"


@dataclass(frozen=True, slots=True)
class Varied:
    """The measurements at each value of the varied parameter: rows, and the drawn value of each row's variant."""

    name: str
    values: Sequence[tuple[float, str]]  # rising, and as they are written
    rows: Sequence[Sequence[Row]]
    found: Sequence[Mapping[str, Interval | None]]


@dataclass(frozen=True, slots=True)
class Quantity:
    """A drawn quantity: how it is written, and whether more of it is better. Shares have all as their end."""

    written: Callable[[float], str]
    more_is_better: bool
    is_share: bool = False


TIME = Quantity(duration, more_is_better=False)
SHARE = Quantity(percent, more_is_better=True, is_share=True)


def varied_chart(
    of: Varied, title: str, meaning: str, footer: str = "", *, quantity: Quantity, phases: bool = False
) -> Figure:
    """The quantity of every system against the varied parameter, with bands. A line breaks where there is none.

    `phases`: the parameter is a number of tasks, and three shades tell where tasks are too coarse, good and too fine.
    """
    variants = {row.variant.id: row.variant for rows in of.rows for row in rows}
    look_of = looks(variants.values())
    known = {
        id_: [(x, value.value) for (x, _), each in zip(of.values, of.found, strict=True) if (value := each.get(id_))]
        for id_ in variants
    }
    text_of = dict(of.values)
    # Of shares and rates the best one counts, of times that at the end.
    best = quantity.more_is_better
    telling = {id_: max(own, key=lambda each: each[1 if best else 0]) for id_, own in known.items() if own}
    sign = -1 if best else 1
    ranked = sorted(telling, key=lambda id_: (not best and -telling[id_][0], sign * telling[id_][1]))
    entries = [
        Entry(look_of[id_], variants[id_].title, f"{quantity.written(value)} at {text_of[x]}")
        for id_ in ranked
        for x, value in [telling[id_]]
    ]
    lines = [Line(look_of[id_], [each.get(id_) for each in of.found]) for id_ in ranked]
    xs = [x for x, _ in of.values]
    head = Head(title, [meaning], footer, _absent(of))
    height = (
        Height.of_shares(lines) if quantity.is_share else Height.of_rates(lines, quantity.written) if best else None
    )
    good = _good_part(xs, lines) if phases else None
    return lines_chart(head, entries, lines, xs, of.name, text_of.__getitem__, height, good)


def _good_part(xs: Sequence[float], lines: Sequence["Line"]) -> tuple[float, float]:
    """From where to where the parameter keeps the best line within _GOOD of its best value. The ends lie between two
    values of the parameter; an infinite end has no other value behind it."""
    best = [max((each.value for line in lines if (each := line.estimates[i])), default=0.0) for i in range(len(xs))]
    first = last = best.index(max(best))
    while first > 0 and best[first - 1] >= _GOOD * max(best):
        first -= 1
    while last + 1 < len(xs) and best[last + 1] >= _GOOD * max(best):
        last += 1
    low = math.sqrt(xs[first - 1] * xs[first]) if first > 0 else -math.inf
    high = math.sqrt(xs[last] * xs[last + 1]) if last + 1 < len(xs) else math.inf
    return low, high


def _absent(of: Varied) -> list[str]:
    """The missing systems, with place and reason, a line for each reason and place."""
    places: dict[tuple[str, str], list[str]] = {}
    for (_, text), rows in zip(of.values, of.rows, strict=True):
        for row in rows:
            if row.value is None:
                places.setdefault((row.note, row.variant.title), []).append(text)
    alike: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (note, title), at in places.items():
        alike.setdefault((note, tuple(at)), []).append(title)
    every = len(of.values)
    return [
        f"{', '.join(titles)}: {note}" + ("" if len(at) == every else f" (at {', '.join(at)})")
        for (note, at), titles in alike.items()
    ]


def _seconds(row: Row) -> float:
    return row.value.value if row.value else math.inf


def _last(row: Row) -> str:
    return f"{duration(_seconds(row))} with {counted_workers(row.workers)}"


@dataclass(frozen=True, slots=True)
class Head:
    """The texts of a picture, as a `Sheet` takes them."""

    title: str
    subtitles: Sequence[str]
    footer: str
    notes: Sequence[str]


@dataclass(frozen=True, slots=True)
class Line:
    """A system's estimates, one at each value of the parameter; None where there is none."""

    look: Look
    estimates: Sequence[Interval | None]
    is_bare: bool = False  # a line alone, without marks and bands


@dataclass(frozen=True, slots=True)
class Height:
    """A vertical axis: its labels, and how it is drawn."""

    labels: Sequence[str]
    draw: Callable[[Axes], None]

    @staticmethod
    def in_log(lines: Iterable[Line], written: Callable[[float], str] = time_tick) -> "Height":
        values = log_axis([end for line in lines for each in line.estimates if each for end in ends(each)])
        return Height([written(each) for each in values.majors], lambda axes: log_ticks(axes, "y", values, written))

    @staticmethod
    def _from_none(ticks: Sequence[float], labels: Sequence[str]) -> "Height":
        def draw(axes: Axes) -> None:
            axes.set_ylim(0, 1.03 * ticks[-1])
            axes.yaxis.set_major_locator(FixedLocator(ticks))
            axes.yaxis.set_major_formatter(FixedFormatter(labels))
            axes.grid(True, "major", "y", color=RULE, linewidth=0.6)

        return Height(labels, draw)

    @staticmethod
    def of_shares(lines: Iterable[Line]) -> "Height":
        """From none to all, and on where a value is above. A band that goes on ends there."""
        most = max([1.0, *(each.value for line in lines for each in line.estimates if each)])
        ticks = [fifth / 5 for fifth in range(math.ceil(5 * most) + 1)]
        labels = [percent(each) for each in ticks]
        return Height._from_none(ticks, labels)

    @staticmethod
    def of_rates(lines: Iterable[Line], written: Callable[[float], str]) -> "Height":
        """From none to the highest value. A band that goes on ends there."""
        most = max([each.value for line in lines for each in line.estimates if each], default=1.0)
        ticks = [float(each) for each in MaxNLocator(5, steps=[1, 2, 5, 10]).tick_values(0, most) if each >= 0]
        labels = [brief(written(each)) if each else "0" for each in ticks]
        return Height._from_none(ticks, labels)


def lines_chart(
    head: Head,
    entries: Sequence[Entry],
    lines: Iterable[Line],
    xs: Sequence[float],
    x_label: str,
    x_text: Callable[[float], str] = "{:g}".format,
    height: Height | None = None,  # that of times
    good: tuple[float, float] | None = None,
) -> Figure:
    """The estimates of each line at each of `xs` (rising), with bands; bounds have arrows. `good`: where tasks are
    neither too coarse, left of it, nor too fine."""
    lines = list(lines)
    height = height or Height.in_log(lines)
    legend = Legend(entries)
    is_any = any(each and each.is_unknown for line in lines for each in line.estimates)
    subtitles = [*head.subtitles, *([HOLLOW] if is_any else [])]
    sheet = Sheet(head.title, subtitles, head.footer, max(_HEIGHT, legend.height) + _TICKS, head.notes)
    left = EDGE + max(text_width(each, SMALL) for each in height.labels) + 0.08
    right = WIDTH - EDGE - legend.width - _GAP
    top = sheet.top - (_PHASE_ROW if good else 0)
    axes = sheet.axes(left, right, sheet.bottom + _TICKS, top)
    _parameter_ticks(axes, xs, x_text, right - left)
    if good:
        _shade(sheet, axes, good, (left, right), top)
    height.draw(axes)
    for line in lines:
        _line(axes, line, [(x, each) if each else None for x, each in zip(xs, line.estimates, strict=True)])
    legend.draw(sheet, right + _GAP, sheet.top)
    sheet.text((left + right) / 2, sheet.bottom + 0.05, x_label, SMALL, color=SOFT, align="center")
    return sheet.figure


def _shade(sheet: Sheet, axes: Axes, good: tuple[float, float], sides: tuple[float, float], top: float) -> None:
    """The three phases, each with its name above it where there is room."""
    low, high = axes.get_xlim()
    ends_of_phases = (low, *(min(max(each, low), high) for each in good), high)
    start, end = (axes.transData.transform((each, 1.0))[0] for each in (low, high))
    for (name, colour), (first, last) in zip(_PHASES, pairwise(ends_of_phases), strict=True):
        if first >= last:
            continue
        axes.axvspan(first, last, color=colour, linewidth=0, zorder=0)
        near, far = (
            sides[0] + (axes.transData.transform((each, 1.0))[0] - start) / (end - start) * (sides[1] - sides[0])
            for each in (first, last)
        )
        if text_width(name, SMALL) <= far - near:
            sheet.text((near + far) / 2, top + 0.06, name, SMALL, color=SOFT, align="center")


def _is_geometric(xs: Sequence[float]) -> bool:
    """Whether each of at least three values is about as many times the one before."""
    steps = [high / low for low, high in pairwise(xs) if low > 0]
    return len(xs) >= _FEWEST_STEPS and len(steps) == len(xs) - 1 and max(steps) < 1.1 * min(steps)


def _parameter_ticks(axes: Axes, xs: Sequence[float], text: Callable[[float], str], room: float) -> None:
    """A tick at every value, labelled where its label touches no other."""
    low, high = (min(xs), max(xs)) if xs else (0.0, 1.0)
    if low > 0 and (high / low >= _LOG_FROM or _is_geometric(xs)):
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


def _line(axes: Axes, line: Line, points: Sequence[Point | None]) -> None:
    """Each stretch without a gap: band and line; then the marks, hollow without an interval, and the arrows of
    bounds. Of a bare line nothing else."""
    look = line.look
    for stretch in _stretches(points):
        xs, values = [x for x, _ in stretch], [estimate.value for _, estimate in stretch]
        if line.is_bare:
            axes.plot(xs, values, **stroke(look, 1.0), zorder=2.8)
            continue
        low, high = zip(*(band(estimate, *axes.get_ylim()) for _, estimate in stretch), strict=True)
        axes.fill_between(xs, low, high, color=look.color, alpha=0.16, linewidth=0, zorder=2.5)
        axes.vlines(xs, low, high, color=look.color, linewidth=0.8, zorder=2.6)
        axes.plot(xs, values, **stroke(look), zorder=3)
        for x, estimate in stretch:
            how = mark(look, 5.2) | (hollow(look) if estimate.is_unknown else {})
            axes.plot([x], [estimate.value], **how, linestyle="none", zorder=5)
            if estimate.relation != "=":
                draw_arrow(axes, x, estimate.value, "up" if estimate.relation == ">" else "down", look)


def _stretches(points: Sequence[Point | None]) -> list[list[Point]]:
    stretches: list[list[Point]] = [[]]
    for point in points:
        if point is None:
            stretches.append([])
        else:
            stretches[-1].append(point)
    return [each for each in stretches if each]
