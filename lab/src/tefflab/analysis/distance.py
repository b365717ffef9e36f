"""How far apart the cores were: the host of a virtual machine may move one, and every dependence between two workers
then costs several times as much. Runs at one distance are compared with each other, never with those at another.

The ceiling beside each run measures the distance: the time of a cache line from one core to its neighbour and back.
It takes few values - within a cache, across caches, across sockets - each within some per cent, for seconds to minutes.
"""

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tefflab.records.store import Envelope

_APART = 1.5  # the factor between two round trips of different distances


@dataclass(frozen=True, slots=True)
class Distance:
    """Runs between whose ceilings a cache line took about as long."""

    round_trip: float  # seconds, the median
    share: float  # of the runs


def alike(a: float | None, b: float | None) -> bool:
    """Whether two round trips are of one distance; one that is not known may be any."""
    return a is None or b is None or max(a, b) < _APART * min(a, b)


def round_trip_of(run: Envelope) -> float | None:
    """Of a run before and after which it was the same; None where it was not, or was not measured."""
    if run.round_trips is None or not alike(*run.round_trips):
        return None
    return sum(run.round_trips) / 2


def distances(runs: Iterable[Envelope]) -> list[Distance]:
    """The distances of the runs, the nearest first; none where no run knows."""
    trips = sorted(trip for run in runs if (trip := round_trip_of(run)) is not None)
    groups: list[list[float]] = []
    for trip in trips:
        if groups and alike(trip, groups[-1][0]):
            groups[-1].append(trip)
        else:
            groups.append([trip])
    return [Distance(statistics.median(group), len(group) / len(trips)) for group in groups]


def at_distance(runs: Sequence[Envelope], round_trip: float | None) -> list[Envelope]:
    """The runs at a distance; all where it is not known. Long tasks feel it, too: handing one over may take thousands
    of cache lines."""
    if round_trip is None:
        return list(runs)
    return [run for run in runs if (trip := round_trip_of(run)) is not None and alike(trip, round_trip)]
