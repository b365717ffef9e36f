"""How far apart the cores were, by the round trip of a cache line that the ceiling beside each run measures
(docs/explanation/sitting.md, *Where the cores are*). Runs at one distance are compared with each other alone."""

import statistics
from collections.abc import Iterable
from dataclasses import dataclass

_APART = 1.5  # the factor between two round trips of different distances
_SHOWN = 0.05  # share of the runs from which a distance of the cores is shown
OFTEN = 0.25  # share of the runs from which a distance is measured until all is known, and may have the table
_MORE = 2  # the table changes to a distance with so many times the runs of the table's distance

Trips = tuple[float, float] | None  # seconds, just before and just after a run


@dataclass(frozen=True, slots=True)
class Distance:
    """Runs between whose ceilings a cache line took about as long."""

    round_trip: float  # seconds, the median
    share: float  # of the runs


def alike(a: float | None, b: float | None) -> bool:
    """Whether two round trips are of one distance; one that is not known may be any."""
    return a is None or b is None or max(a, b) < _APART * min(a, b)


def round_trip_of(trips: Trips) -> float | None:
    """Of a run before and after which it was the same; None where it was not, or was not measured."""
    return sum(trips) / 2 if trips is not None and alike(*trips) else None


def is_at(trips: Trips, round_trip: float | None) -> bool:
    """Whether a run was made at a distance; any was where that is not known."""
    here = round_trip_of(trips)
    return round_trip is None or (here is not None and alike(here, round_trip))


def distances(runs: Iterable[Trips]) -> list[Distance]:
    """The distances of the runs, the nearest first; none where no run knows."""
    known = sorted(trip for trips in runs if (trip := round_trip_of(trips)) is not None)
    groups: list[list[float]] = []
    for trip in known:
        if groups and alike(trip, groups[-1][0]):
            groups[-1].append(trip)
        else:
            groups.append([trip])
    return [Distance(statistics.median(group), len(group) / len(known)) for group in groups]


def places(runs: Iterable[Trips]) -> list[Distance | None]:
    """The distances of the cores that a sitting of these runs, in the order of time, is estimated at. First the one
    that its table is about: the first that was frequent, until another has twice as many runs. Then the others, the
    nearest first. [None] where none is known."""
    in_time = list(runs)
    known = [distance for distance in distances(in_time) if distance.share > _SHOWN]
    if not known:
        return [None]
    frequent = [each for each in known if each.share >= OFTEN] or known
    main, counts = frequent[0], dict.fromkeys(frequent, 0)
    for trips in in_time if len(frequent) > 1 else ():
        here = next((each for each in frequent if round_trip_of(trips) and is_at(trips, each.round_trip)), None)
        if here is not None:
            counts[here] += 1
            if counts[here] >= _MORE * counts[main] or not counts[main]:
                main = here
    return [main, *(distance for distance in known if distance is not main)]
