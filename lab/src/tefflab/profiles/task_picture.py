"""A trace as a picture: workers against time, a colour for each type of task."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

import altair as alt

from tefflab.output.charts.axes import linear_axis
from tefflab.output.charts.marks import COLOR, SAID, Entry, Y, layer, legend, word, words
from tefflab.output.charts.sheet import HAIR, SMALL, SOFT, WIDTH, Head, Picture, sheet, text_width
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
_ROW, _BAR, _LEGEND = 38.0, 27.0, 150.0  # pixels
_LONGEST = 19  # letters of a name

_Window = tuple[float, float]


def draw(trace: TaskTrace, title: str) -> Picture:
    """A usual part of the run, as long as can be seen. Below a process's workers stand its messages under way."""
    window = _window(trace)
    shares = _shares(trace.tracks, window)
    in_tasks = sorted((each for each in shares if each and each not in _PLAIN), key=lambda each: -shares[each])
    shares |= _shares(trace.communication, window)
    shown = {each: shares[each] for each in (*in_tasks, *_PLAIN) if shares.get(each, 0) >= _SHOWN_SHARE}
    types = [each for each in shown if each not in _PLAIN]
    colour = dict(zip(types, (*_COLOURS, *[_REST] * len(types)), strict=False)) | _PLAIN
    length = window[1] - window[0]
    meaning = (
        f"{duration(length)} of {duration(trace.ended - trace.began)}. Each bar is a task; the legend has each type's "
        "share of worker time."
    )
    if trace.communication:
        meaning += f" In {percent(trace.waiting_share)} of worker time a worker was idle while a message was under way."
    looks = {each: {"color": colour[each], "shape": "square"} for each in shown}
    entries = [Entry(looks[each], _shortened(each), percent(share)) for each, share in shown.items()]
    tracks = sorted((*trace.tracks, *trace.communication), key=lambda each: each.process)
    bars, names = [], []
    for row, track in enumerate(tracks):
        place = {"y": row * _ROW + (_ROW - _BAR) / 2, "below": row * _ROW + (_ROW + _BAR) / 2}
        names.append(word(-10, (row + 0.5) * _ROW, track.name, SMALL, SOFT, "right"))
        bars.append(place | {"began": 0.0, "ended": length, "color": HAIR, "said": ""})
        for each in _within(track, window):
            if (kind := _kind(each)) in shown:
                low, high = (min(max(end, window[0]), window[1]) - window[0] for end in (each.began, each.ended))
                said = f"{_shortened(kind)}: {duration(each.ended - each.began)}"
                bars.append(place | {"began": low, "ended": high, "color": colour[kind], "said": said})
    since = f"time since {duration(window[0] - trace.began)} of the run"
    across = replace(linear_axis(length, duration, since), high=length)
    left = 10 + max(text_width(each.name, SMALL) for each in tracks)
    drawn = layer(bars).mark_rect().encode(across.of(alt.X, "began"), Y, COLOR, SAID, x2="ended:Q", y2="below:Q")
    width, height = WIDTH - left - _LEGEND - 24, _ROW * len(tracks)
    plot = alt.LayerChart(layer=[drawn, words(names)], width=width, height=height)
    return sheet(Head(title, [meaning]), plot, legend(entries, _LEGEND, lines=False))


def _shortened(name: str) -> str:
    """The end of a long name, which is the spelling of a closure."""
    return name if len(name) <= _LONGEST else "…" + name[-_LONGEST:]


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
    places = range(0, last + 1, max(1, last // 10))
    parts = [(busiest[at].began, busiest[at + _MOST_STRETCHES - 1].ended) for at in places]
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
