"""A trace as a picture: workers against time, a colour for each type of task."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from tefflab.output.plots.sheet import BODY, EDGE, HAIR, INK, SMALL, SOFT, WIDTH, Sheet, line_height, text_width
from tefflab.output.quantities import duration, percent
from tefflab.profiles.task_trace import REQUEST, Stretch, TaskTrace, Track

MAKING, IDLE, MESSAGES, UNDER_WAY = "making tasks", "idle", "communication", "messages under way"
_PLAIN = {MESSAGES: "#1b1f24", MAKING: "#5a6370", IDLE: "#e6e9ed", UNDER_WAY: "#a78bba"}
# Of types of task. They differ in lightness, too: readers with weak colour vision tell neighbours apart (Paul Tol).
_COLOURS = (
    "#4477aa",
    "#ee6677",
    "#228833",
    "#ccbb44",
    "#66ccee",
    "#aa3377",
    "#994f00",
    "#44bb99",
    "#ffaabb",
    "#222255",
    "#99ddff",
)
_REST = "#8d949d"  # of all further types
_MOST_STRETCHES = 160  # of a worker: more are too narrow to be seen
_SHOWN_SHARE = 0.002  # a type with less of the window's time has no line in the legend
_ROW, _BAR, _AXIS, _GAP = 0.42, 0.3, 0.36, 0.25  # inches
_WIDEST = 1.7  # inches of a name
_SWATCH = 0.16
_UNITS = (("s", 1.0), ("ms", 1e3), ("µs", 1e6))

_Window = tuple[float, float]


def draw(trace: TaskTrace, title: str) -> Figure:
    """A usual part of the run, as long as can be seen. Below a process's workers stand its messages under way."""
    window = _window(trace)
    shares = _shares(trace.tracks, window)
    in_tasks = sorted((each for each in shares if each and each not in _PLAIN), key=lambda each: -shares[each])
    shares |= _shares(trace.communication, window)
    shown = {each: shares[each] for each in (*in_tasks, *_PLAIN) if shares.get(each, 0) >= _SHOWN_SHARE}
    tracks = sorted((*trace.tracks, *trace.communication), key=lambda each: each.process)
    length = window[1] - window[0]
    meaning = (
        f"{duration(length)} of {duration(trace.ended - trace.began)}. Each bar is a task; the legend has each type's "
        "share of worker time."
    )
    if trace.communication:
        meaning += f" In {percent(trace.waiting_share)} of worker time a worker was idle while a message was under way."
    types = [each for each in shown if each not in _PLAIN]
    colour = dict(zip(types, (*_COLOURS, *[_REST] * len(types)), strict=False)) | _PLAIN
    texts = {each: _shortened(each) for each in shown}
    legend = _SWATCH + 0.08 + max(text_width(f"{texts[each]}  {percent(1)}", BODY) for each in shown)
    sheet = Sheet(title, [meaning], "", max(_ROW * len(tracks), 1.15 * line_height(BODY) * len(shown)) + _AXIS)
    left = EDGE + max(text_width(each.name, SMALL) for each in tracks) + 0.1
    right = WIDTH - EDGE - legend - _GAP
    axes = sheet.axes(left, right, sheet.top - _ROW * len(tracks), sheet.top)
    unit, scale = next((unit, scale) for unit, scale in _UNITS if length >= 2 / scale or unit == "µs")
    axes.set_xlim(0, length * scale)
    axes.set_ylim(len(tracks) - 0.5, -0.5)
    axes.set_yticks(range(len(tracks)), [each.name for each in tracks])
    axes.tick_params(axis="x", length=3, color=SOFT)
    for row, track in enumerate(tracks):
        _bar(axes, row, (0, length * scale), HAIR)
        for each in _within(track, window):
            if (kind := _kind(each)) in shown:
                low, high = max(each.began, window[0]), min(each.ended, window[1])
                _bar(axes, row, ((low - window[0]) * scale, (high - low) * scale), colour[kind], rasterized=True)
    below = sheet.top - _ROW * len(tracks) - 0.3
    since = f"{unit} since {duration(window[0] - trace.began)}"
    sheet.text((left + right) / 2, below, since, SMALL, color=SOFT, align="center")
    _draw_legend(sheet, right + _GAP, shown, texts, colour)
    return sheet.figure


def _bar(axes: Axes, row: int, span: tuple[float, float], colour: str, *, rasterized: bool = False) -> None:
    """`span`: where it begins, and how long it is."""
    half = 0.5 * _BAR / _ROW
    place = (span[0], row - half)
    axes.add_patch(Rectangle(place, span[1], 2 * half, facecolor=colour, linewidth=0, rasterized=rasterized))


def _draw_legend(
    sheet: Sheet, x: float, shares: Mapping[str, float], texts: Mapping[str, str], colour: Mapping[str, str]
) -> None:
    top = sheet.top
    for kind, share in shares.items():
        top -= 1.15 * line_height(BODY)
        transform = sheet.figure.dpi_scale_trans
        swatch = Rectangle((x, top + 0.02), _SWATCH, 0.1, transform=transform, facecolor=colour[kind], linewidth=0)
        sheet.figure.add_artist(swatch)
        sheet.text(x + _SWATCH + 0.08, top + 0.02, texts[kind], BODY, color=INK)
        sheet.text(WIDTH - EDGE, top + 0.02, percent(share), BODY, color=SOFT, align="right")


def _shortened(name: str) -> str:
    """A long name is the spelling of a closure, whose end tells it."""
    if text_width(name, BODY) <= _WIDEST:
        return name
    while text_width("…" + name, BODY) > _WIDEST:
        name = name[1:]
    return "…" + name


def _shares(tracks: Sequence[Track], window: _Window) -> dict[str, float]:
    """Of the time of all tracks, by kind of stretch."""
    spent: defaultdict[str, float] = defaultdict(float)
    for track in tracks:
        for each in _within(track, window):
            spent[_kind(each)] += min(each.ended, window[1]) - max(each.began, window[0])
    return {kind: time / (len(tracks) * (window[1] - window[0])) for kind, time in spent.items()}


def _window(trace: TaskTrace) -> _Window:
    """Of parts of the run in which the busiest worker has so many stretches, the one of median length."""
    busiest = max((track.stretches for track in trace.tracks), key=len)
    if len(busiest) <= _MOST_STRETCHES:
        return trace.began, trace.ended
    last = len(busiest) - _MOST_STRETCHES
    parts = [
        (busiest[at].began, busiest[at + _MOST_STRETCHES - 1].ended) for at in range(0, last + 1, max(1, last // 10))
    ]
    return sorted(parts, key=lambda each: each[1] - each[0])[len(parts) // 2]


def _within(track: Track, window: _Window) -> Iterator[Stretch]:
    return (each for each in track.stretches if each.ended > window[0] and each.began < window[1])


def _kind(each: Stretch) -> str:
    if each.is_task:
        return each.name
    if each.category == REQUEST:
        return UNDER_WAY
    if each.category == "run":
        return MAKING
    return MESSAGES if each.category in ("send", "handler") else IDLE
