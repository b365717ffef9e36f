"""A trace as a picture: workers against time, a colour for each type of task."""

from collections import defaultdict
from collections.abc import Iterator

from matplotlib.figure import Figure

from tefflab.output.plots.timeline import Bar, Worker, timeline
from tefflab.output.quantities import duration
from tefflab.profiles.task_trace import Stretch, TaskTrace, Track

MAKING, IDLE, MESSAGES = "making tasks", "idle", "communication"
_PLAIN = {MESSAGES: "#1b1f24", MAKING: "#5a6370", IDLE: "#e6e9ed"}
_MOST_STRETCHES = 160  # of a worker: more are too narrow to be seen
_SHOWN_SHARE = 0.002  # a type with less of the window's time has no line in the legend


def draw(trace: TaskTrace, title: str) -> Figure:
    """A usual part of the run, as long as can be seen."""
    window = _window(trace)
    spent: defaultdict[str, float] = defaultdict(float)
    for track in trace.tracks:
        for each in _within(track, window):
            if kind := _kind(each):
                spent[kind] += min(each.ended, window[1]) - max(each.began, window[0])
    total = (window[1] - window[0]) * len(trace.tracks)
    in_tasks = sorted((each for each in spent if each not in _PLAIN), key=lambda each: -spent[each])
    shares = {each: spent[each] / total for each in (*in_tasks, *_PLAIN) if spent.get(each, 0) >= _SHOWN_SHARE * total}
    workers = [
        Worker(
            track.name,
            [Bar(each.began, each.ended, kind) for each in _within(track, window) if (kind := _kind(each)) in shares],
        )
        for track in trace.tracks
    ]
    whole = trace.ended - trace.began
    part = f"{duration(window[1] - window[0])} of {duration(whole)}"
    meaning = f"{part}. Each bar is a task; the legend has each type's share of worker time."
    return timeline(workers, shares, _PLAIN, window, title, meaning)


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
    if each.category == "run":
        return MAKING
    return MESSAGES if each.category in ("send", "handler") else IDLE
