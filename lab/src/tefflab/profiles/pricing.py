"""The price of a grain: the time of a run whose tasks, chunks or regions are k times as long.

T' = (W - N f (1 - 1/k) + N o / k) (1 + D / (W + N o)) / P. W is the threads' time in bodies. N o is that of creation,
dispatch and scheduling, and D that of waits for other threads. Threads wait for bodies and for what these cost, so
waits shrink as both do. f is the part of a body's time that does not grow with its work: calls, cold caches, the clock.
The time is that of a run without the collector. Locks and messages stay as they are.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tefflab.analysis.statistics import Interval
from tefflab.profiles.measured_here import Curve
from tefflab.profiles.states import DISPLACED, MANAGED, OUTSIDE, SHARED, STATES, Observed, Site

SCHEDULING = ("creation", "dispatch", "task_not_made", "task_not_begun")  # states of handing out tasks
_COSTS = (*SCHEDULING, "counted", "runtime")
WAITING = ("dependences", "imbalance")  # states of a thread that waits for other threads
_TASKLOOP = 64  # tasks a thread: GOMP_taskloop() of libgomp runs all of a loop with more at once, in its caller
_BARRIER = 50e-6  # seconds that a barrier itself may cost a thread
_ENOUGH = 0.3  # share of the collected run in regions that tells what collecting added to regions
KEPT = 0.95  # share of the time that the advised grain leaves for bodies
SHORTER = (0.5, 0.25)  # lengths of bodies to the present one, of which curves tell
MOST = 64.0  # the greatest factor that was ever tried
MUCH = 0.1  # share of the time of threads that wait: then more bodies may be worth it
LEAST_BODIES = 4  # for each thread: then a thread finds work while others are busy
_HIDDEN = 1e-6  # seconds of the runtime's own in a wait for tasks, before a region, and in it around a static loop
# Seconds of a body that don't grow with its work: as a rule, at least and at most. At least, for a processor may do the
# runtime's work and a body's at the same time.
_FIXED, _LEAST_FIXED, _MOST_FIXED = 75e-9, -50e-9, 300e-9
_MOSTLY = 0.75  # of a body: more of it grows with its work at any rate
_ERROR = 0.12  # by what share a forecast may err besides: nine of ten of public programs were within all this
_KNOWN = 0.2  # the least efficiency at which a forecast has an upper end


@dataclass(frozen=True)
class Forecast:
    """`speedup` of the whole program if bodies are `factor` times as long. Its interval has no upper end where only
    that is known which it reaches at least."""

    factor: float
    seconds: float
    speedup: Interval

    def to_json(self) -> dict[str, Any]:
        return {"factor": self.factor, "seconds": self.seconds, "speedup": self.speedup.to_json()}


@dataclass(frozen=True)
class Price:
    """Where a run's time goes, by the accounts of the collected run and the time of a plain one, in seconds without
    those that other programs took. `disturbed` is the share of these."""

    observed: Observed
    plain: float
    collected: float
    disturbed: float = 0.0

    @property
    def added(self) -> float:
        """The share of time that collecting has added."""
        return self.collected / self.plain - 1

    def time_in(self, site: Site) -> float:
        """The threads' seconds in its bodies."""
        return (site.seconds - self._around(site)) / (1 + self.stretched) ** 2

    def _around(self, site: Site) -> float:
        """The part of its time that is the begin and the end of static loops, of which libomp says nothing."""
        is_around = site.kind == "region" and site not in self._shared
        return min(site.seconds, site.count * _HIDDEN) if is_around else 0.0

    @cached_property
    def _measured(self) -> float:
        """The threads' seconds in bodies of the collected run. Not every sample has a line."""
        if self.observed.is_sampled:
            return self.observed.seconds["body"]
        return min(sum(site.seconds - self._around(site) for site in self.observed.sites), self.observed.in_regions)

    @cached_property
    def stretched(self) -> float:
        """The share by which collecting made bodies longer than the plain run leaves room for."""
        return max(0.0, self._measured / self.in_regions - 1) if self.in_regions else 0.0

    @cached_property
    def work(self) -> float:
        """The threads' seconds in bodies. If collecting has stretched bodies beyond their room, nobody knows what their
        number costs: the cost is taken for as much as they exceed the room."""
        return self._measured / (1 + self.stretched) ** 2

    @cached_property
    def in_regions(self) -> float:
        """The threads' seconds within parallel regions of the plain run: the time outside is the same in both. If most
        of the program is outside, its own noise would drown that, and both parts are taken to have grown alike. So they
        are as far as the bodies have no room else."""
        width, added = self.observed.width, max(0.0, self.collected - self.plain)
        alike = self.observed.in_regions * (1 - added / self.collected)
        if not width or self.observed.in_regions / width < _ENOUGH * self.collected:
            return alike
        return max(self.observed.in_regions - width * added, min(self._measured, alike))

    @property
    def efficiency(self) -> float:
        """The share of the threads' time within regions that is the program's own."""
        return self.work / self.in_regions if self.in_regions else 0.0

    @property
    def serial(self) -> float:
        """The share of the program's time outside of parallel regions."""
        return max(0.0, 1 - self.in_regions / self.observed.width / self.plain) if self.observed.width else 1.0

    @cached_property
    def seconds(self) -> dict[str, float]:
        """The threads' seconds by state within regions of the plain run. A wait is as long as in the collected run.
        The rest of the time is the cost of the number of bodies."""
        seen = {state: self.observed.seconds[state] for state in STATES if state not in (*OUTSIDE, DISPLACED)}
        around = sum(map(self._around, self.observed.sites))
        seen |= {"counted": max(0.0, seen["body"] + seen["counted"] - self.work - around), "body": 0.0}
        for state, of, time in (("imbalance", "runtime", self._barriers), ("dependences", "dispatch", self._taskwaits)):
            seen |= {state: seen[state] - time, of: seen[of] + time}
        seen["runtime"] += around
        left, costs = self.in_regions - self.work, sum(seen[state] for state in _COSTS)
        waiting = sum(seen.values()) - costs
        waited = min(1.0, left / waiting) if waiting else 0.0
        cost = (left - waited * waiting) / costs if costs else 0.0
        scaled = {state: (cost if state in _COSTS else waited) * time for state, time in seen.items()}
        return scaled | {"body": self.work}

    @cached_property
    def overheads(self) -> dict[Site, float]:
        """The threads' seconds in the plain run that each site's number of bodies costs."""
        managed = [site for site in self.observed.sites if site.kind in MANAGED]
        groups = [(managed, (*SCHEDULING, "counted")), (self._shared, ("runtime",))]
        found: dict[Site, float] = {}
        for sites, states in groups:
            cost, count = sum(self.seconds[state] for state in states), sum(site.count for site in sites)
            found |= {site: cost * site.count / count for site in sites}
        return found

    @property
    def _shared(self) -> list[Site]:
        """The bodies that each thread of a region has one of."""
        sites = self.observed.sites
        return [site for site in sites if site.kind == "share"] or [site for site in sites if site.kind in SHARED]

    @cached_property
    def _barriers(self) -> float:
        """The threads' seconds at barriers that unequal lengths of bodies do not explain. Where a thread takes the next
        body, it waits for half of the last one of others."""
        explained = sum(site.count * (site.quantile(0.9) - site.quantile(0.1)) / 2 for site in self._shared)
        parts = sum(site.count for site in self._shared)
        managed = [site for site in self.observed.sites if site.kind in MANAGED]
        explained += sum(min(site.count, parts) * site.quantile(0.9) / 2 for site in managed)
        return min(parts * _BARRIER, max(0.0, self.observed.seconds["imbalance"] - explained))

    @property
    def _taskwaits(self) -> float:
        """The threads' seconds in waits for tasks of others that are too short to be for these."""
        tasks = sum(site.count for site in self.observed.sites if MANAGED.get(site.kind) == "tasks")
        return min(self.observed.seconds["dependences"], tasks * _HIDDEN)

    @property
    def dearest(self) -> Site | None:
        """The site whose number of bodies costs most."""
        return self.serialized or max(self.overheads, key=lambda site: self.overheads[site], default=None)

    @cached_property
    def alike(self) -> list[Site]:
        """The dearest site and the others of its kind: a setting of the grain seldom changes a line alone."""
        dearest = self.dearest
        return [site for site in self.overheads if dearest and site.title == dearest.title]

    @cached_property
    def count(self) -> int:
        """The bodies of the sites that are alike."""
        return sum(site.count for site in self.alike)

    @cached_property
    def length(self) -> float:
        """The mean length of these bodies, in seconds."""
        return sum(map(self.time_in, self.alike)) / max(1, self.count)

    def cost_of(self, site: Site) -> float:
        """Seconds a body, besides the body."""
        return self.overheads.get(site, 0.0) / site.count if site.count else 0.0

    def share_of(self, *sites: Site) -> float:
        """The share of the threads' time within regions that the number of the sites' bodies costs."""
        return sum(self.overheads.get(site, 0.0) for site in sites) / self.in_regions if self.in_regions else 0.0

    @cached_property
    def forecasts(self) -> list[Forecast]:
        """Of the sites that are alike, for each doubling of their bodies' length until the advised one."""
        if self.serialized:
            return [self.forecast(self.advised_factor)]
        return [self.forecast(2.0**power) for power in range(1, int(math.log2(self.advised_factor)) + 1)]

    def forecast(self, factor: float) -> Forecast:
        return self._forecast(factor, self.in_regions * self.share_of(*self.alike) * (1 - 1 / factor))

    def shorter(self, curves: Sequence[Curve]) -> list[Forecast]:
        """Of SHORTER bodies, by what they cost on the curve of the dearest site's runtime, if there is one."""
        runtime = self.dearest.runtime if self.dearest else ""
        curve = next((each for each in curves if each.is_of(runtime)), None)
        if not (curve and self.length):
            return []
        now = curve.cost(self.length)
        saved = {factor: self.count * (now - curve.cost(factor * self.length) / factor) for factor in SHORTER}
        return [self._forecast(factor, time) for factor, time in saved.items()]

    def _forecast(self, factor: float, saved: float) -> Forecast:
        """`saved`: the threads' seconds that the number of bodies then costs less."""
        seconds = self._seconds(factor, saved, _FIXED)
        shortest, longest = sorted(self._seconds(factor, saved, fixed) for fixed in (_LEAST_FIXED, _MOST_FIXED))
        margin = (_ERROR + self.disturbed / 2 + self.stretched) * max(0.0, seconds - self.serial * self.plain)
        is_known = self.efficiency >= _KNOWN and self.length > 2 * _FIXED and shortest > margin
        most = self.plain / (shortest - margin) if is_known else math.inf
        return Forecast(factor, seconds, Interval(self.plain / seconds, self.plain / (longest + margin), most))

    def _seconds(self, factor: float, saved: float, fixed: float) -> float:
        """Of the program, if so much of a body does not grow with its work."""
        fewer = 1 - 1 / factor
        waits, ran = self._waits, sum(self.seconds[state] for state in ("body", *_COSTS))
        if self.serialized:
            saved, waits = saved + waits, 0.0
        fixed_part = self.count * min(fixed, _MOSTLY * self.length) * fewer
        saved += fixed_part
        around = 0.0
        if fixed > 0 and self.dearest in self._shared:
            around = min(self.serial * self.plain, self.observed.regions * _HIDDEN) * fewer
        found = self.plain - saved * (1 + waits / ran) / self.observed.width - around
        return max(found, (self.work - fixed_part) / self.observed.cores)

    @property
    def _waits(self) -> float:
        """The threads' seconds in waits for other threads."""
        return sum(self.seconds[state] for state in WAITING)

    @cached_property
    def serialized(self) -> Site | None:
        """The longest taskloop with more tasks than libgomp lets other threads take: the thread that makes them runs
        all, and the others wait."""
        loops = (site for site in self.observed.sites if (site.kind, site.runtime) == ("taskloop", "libgomp"))
        loop = next(loops, None)
        return loop if loop and self._waits >= MUCH * self.in_regions and self._times_serial(loop) > 1 else None

    def _times_serial(self, loop: Site) -> float:
        """How many times as many tasks it has as libgomp shares, if a region has it once."""
        return loop.count / (_TASKLOOP * self.observed.workers * self.observed.regions)

    @property
    def starved(self) -> bool:
        """Whether threads wait for work of others for longer than the advised grain would save: then more bodies gain
        more than longer ones."""
        saved = self.plain - self.forecasts[-1].seconds if self.forecasts else 0.0
        return self._waits > max(saved * self.observed.width, MUCH * self.in_regions)

    @cached_property
    def advised_factor(self) -> float:
        """How many times as long the bodies should be: a power of two. Then their number costs 1 - KEPT of the time,
        unless no region or too few bodies for all threads would be left. 1 if they may stay as they are."""
        if self.serialized:
            return float(2.0 ** math.ceil(math.log2(self._times_serial(self.serialized))))
        kept = self.work * (1 - KEPT) / KEPT
        wanted = self.in_regions * self.share_of(*self.alike) / kept if kept else 1.0
        if wanted <= 1 or self.dearest is None:
            return 1.0
        factor = 2.0 ** math.ceil(math.log2(wanted))
        most = float(max(1, self.observed.regions))
        if self.dearest.kind in MANAGED:
            most = max(1.0, self.count / most / max(1.0, self.observed.width) / LEAST_BODIES)
        return min(factor, 2.0 ** math.floor(math.log2(most)), MOST)
