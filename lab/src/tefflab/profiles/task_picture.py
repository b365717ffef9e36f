"""A trace as a picture: workers against time, a colour for each type of task."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from matplotlib.figure import Figure

from tefflab.output.plots.timeline import Bar, Worker, timeline
from tefflab.output.quantities import duration, percent
from tefflab.profiles.task_trace import REQUEST, Stretch, TaskTrace, Track

MAKING, IDLE, MESSAGES, UNDER_WAY = "making tasks", "idle", "communication", "messages under way"
_PLAIN = {MESSAGES: "#1b1f24", MAKING: "#5a6370", IDLE: "#e6e9ed", UNDER_WAY: "#a78bba"}
_MOST_STRETCHES = 160  # of a worker: more are too narrow to be seen
_SHOWN_SHARE = 0.002  # a type with less of the window's time has no line in the legend


def draw(trace: TaskTrace, title: str) -> Figure:
    """A usual part of the run, as long as can be seen. Below a process's workers stand its messages under way."""
    window = _window(trace)
    shares = _shares(trace.tracks, window)
    in_tasks = sorted((each for each in shares if each and each not in _PLAIN), key=lambda each: -shares[each])
    shares |= _shares(trace.communication, window)
    shown = {each: shares[each] for each in (*in_tasks, *_PLAIN) if shares.get(each, 0) >= _SHOWN_SHARE}
    rows = [
        Worker(
            track.name,
            [Bar(each.began, each.ended, kind) for each in _within(track, window) if (kind := _kind(each)) in shown],
        )
        for track in sorted((*trace.tracks, *trace.communication), key=lambda each: each.process)
    ]
    part = f"{duration(window[1] - window[0])} of {duration(trace.ended - trace.began)}"
    meaning = f"{part}. Each bar is a task; the legend has each type's share of worker time."
    if trace.communication:
        meaning += f" In {percent(trace.waiting_share)} of worker time a worker was idle while a message was under way."
    return timeline(rows, shown, _PLAIN, window, trace.began, title, meaning)


def _shares(tracks: Sequence[Track], window: tuple[float, float]) -> dict[str, float]:
    """Of the time of all tracks, by kind of stretch."""
    spent: defaultdict[str, float] = defaultdict(float)
    for track in tracks:
        for each in _within(track, window):
            spent[_kind(each)] += min(each.ended, window[1]) - max(each.began, window[0])
    return {kind: time / (len(tracks) * (window[1] - window[0])) for kind, time in spent.items()}


def _window(trace: TaskTrace) -> tuple[float, float]:
    """Of parts of the run in which the busiest worker has so many stretches, the one of median length."""
    busiest = max((track.stretches for track in trace.tracks), key=len)
    if len(busiest) <= _MOST_STRETCHES:
        return trace.began, trace.ended
    last = len(busiest) - _MOST_STRETCHES
    parts = [
        (busiest[at].began, busiest[at + _MOST_STRETCHES - 1].ended) for at in range(0, last + 1, max(1, last // 10))
    ]
    return sorted(parts, key=lambda each: each[1] - each[0])[len(parts) // 2]


def _within(track: Track, window: tuple[float, float]) -> Iterator[Stretch]:
    return (each for each in track.stretches if each.ended > window[0] and each.began < window[1])


def _kind(each: Stretch) -> str:
    if each.is_task:
        return each.name
    if each.category == REQUEST:
        return UNDER_WAY
    if each.category == "run":
        return MAKING
    return MESSAGES if each.category in ("send", "handler") else IDLE
