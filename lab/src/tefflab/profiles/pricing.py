"""The price of a grain: the time of a run whose tasks, chunks or regions are k times as long.

T' = (W + N o / k) (1 + D / (W + N o)) / P. W is the threads' time in bodies. N o is that of creation, dispatch and
scheduling, and D that of waits for other threads. Threads wait for bodies and for what these cost, so waits shrink as
both do. The time is that of a run without the collector. Locks and messages stay as they are.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tefflab.analysis.statistics import Interval
from tefflab.profiles.measured_here import Curve
from tefflab.profiles.states import MANAGED, OUTSIDE, SHARED, STATES, Observed, Site

SCHEDULING = ("creation", "dispatch", "task_not_made", "task_not_begun")  # states of handing out tasks
_COSTS = (*SCHEDULING, "counted", "runtime")
_WAITS = ("dependences", "imbalance")  # states of a thread that waits for other threads
_BARRIER = 50e-6  # seconds that a barrier itself may cost a thread
_ENOUGH = 0.3  # share of the collected run in regions that tells what collecting added to regions
KEPT = 0.95  # share of the time that the advised grain leaves for bodies
SHORTER = (0.5, 0.25)  # lengths of bodies to the present one, of which curves tell
MOST = 64.0  # the greatest factor that was ever tried
_LEAST_BODIES = 4  # for each thread: then a thread finds work while others are busy
# By what the predicted time may err (95 %): above an efficiency, of predictions that were compared with measured times.
_ERRORS: Mapping[bool, Mapping[float, float]] = {
    True: {0.5: 0.10, 0.2: 0.15},  # libomp, whose cost of a task hardly depends on the grain
    False: {0.5: 0.10, 0.2: 0.30},
}
_STEADY = "libomp"


@dataclass(frozen=True)
class Forecast:
    """`speedup` of the whole program if bodies of the site are `factor` times as long; only its direction is known
    where it has no interval."""

    factor: float
    seconds: float
    speedup: Interval

    def to_json(self) -> dict[str, Any]:
        return {"factor": self.factor, "seconds": self.seconds, "speedup": self.speedup.to_json()}


@dataclass(frozen=True)
class Price:
    """Where a run's time goes, by the accounts of the collected run and the time of a plain one, in seconds. `cpu` is
    what the collected one had of the cores."""

    observed: Observed
    plain: float
    collected: float
    cpu: float = math.inf

    @property
    def added(self) -> float:
        """The share of time that collecting has added."""
        return self.collected / self.plain - 1

    @cached_property
    def pauses(self) -> float:
        """The threads' seconds in bodies in which another program had the core, as far as CPU time lacks."""
        serial = sum(max(0.0, each.elapsed - each.in_regions) for each in self.observed.processes)
        lacking = max(0.0, self.observed.in_regions + serial - self.cpu)
        return min(lacking, sum(site.pauses for site in self.observed.sites))

    def time_in(self, site: Site) -> float:
        """The threads' seconds in its bodies, without pauses."""
        every = sum(each.pauses for each in self.observed.sites)
        return site.seconds - (self.pauses * site.pauses / every if every else 0.0)

    @cached_property
    def work(self) -> float:
        """The threads' seconds in bodies."""
        return min(sum(map(self.time_in, self.observed.sites)), self.observed.in_regions)

    @cached_property
    def in_regions(self) -> float:
        """The threads' seconds within parallel regions of the plain run: the time outside is the same in both. If most
        of the program is outside, its own noise would drown that, and both parts are taken to have grown alike."""
        within, added = self.observed.parallel_seconds, max(0.0, self.collected - self.plain)
        share = 1.0 if within >= _ENOUGH * self.collected else within / self.collected
        return max(self.work, self.observed.width * (within - share * added))

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
        seen: dict[str, float] = {state: self.observed.seconds[state] for state in STATES if state not in OUTSIDE}
        between = seen["body"] + seen["counted"] - self.pauses - self.work
        scheduling = {state: seen[state] for state in SCHEDULING} | {"counted": max(0.0, between)}
        scheduling |= {"runtime": seen["runtime"] + self._barriers}
        waits = {state: time for state, time in seen.items() if state not in scheduling}
        waits |= {"imbalance": seen["imbalance"] - self._barriers, "body": 0.0}
        left = self.in_regions - self.work
        costs, waiting = sum(scheduling.values()), sum(waits.values())
        waited = min(1.0, left / waiting) if waiting else 0.0
        cost = (left - waited * waiting) / costs if costs else 0.0
        found = {state: waited * time for state, time in waits.items()}
        found |= {state: cost * time for state, time in scheduling.items()}
        return found | {"body": self.work}

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
        """The threads' seconds at barriers that unequal lengths of bodies do not explain."""
        explained = sum(site.count * (site.quantile(0.9) - site.quantile(0.1)) / 2 for site in self._shared)
        most = sum(site.count for site in self._shared) * _BARRIER
        return min(most, max(0.0, self.observed.seconds["imbalance"] - explained))

    @property
    def dearest(self) -> Site | None:
        """The site whose number of bodies costs most."""
        return max(self.overheads, key=lambda site: self.overheads[site], default=None)

    def cost_of(self, site: Site) -> float:
        """Seconds a body, besides the body."""
        return self.overheads.get(site, 0.0) / site.count if site.count else 0.0

    def share_of(self, site: Site) -> float:
        """The share of the threads' time within regions that the number of the site's bodies costs."""
        return self.overheads.get(site, 0.0) / self.in_regions if self.in_regions else 0.0

    @cached_property
    def forecasts(self) -> list[Forecast]:
        """Of the dearest site, for each doubling of its bodies' length until the advised one."""
        site = self.dearest
        doublings = int(math.log2(self.advised_factor(site))) if site else 0
        return [self.forecast(site, 2.0**power) for power in range(1, doublings + 1)] if site else []

    def forecast(self, site: Site, factor: float) -> Forecast:
        return self._forecast(site, factor, self.overheads.get(site, 0.0) * (1 - 1 / factor))

    def shorter(self, curves: Sequence[Curve]) -> list[Forecast]:
        """Of the dearest site, with SHORTER bodies: by what they cost on the curve of its runtime, if there is one."""
        site = self.dearest
        curve = next((each for each in curves if site and each.is_of(site.runtime)), None)
        if not (site and curve):
            return []
        length = self.time_in(site) / site.count

        def added(factor: float) -> float:
            return site.count * (curve.cost(factor * length) / factor - curve.cost(length)) if curve else 0

        return [self._forecast(site, factor, -added(factor)) for factor in SHORTER]

    def _forecast(self, site: Site, factor: float, saved: float) -> Forecast:
        """`saved`: the threads' seconds that the number of bodies then costs less."""
        waits, ran = (sum(self.seconds[state] for state in states) for states in (_WAITS, ("body", *_COSTS)))
        saved *= (1 + waits / ran) / self.observed.width
        seconds = self.plain - saved
        errors = _ERRORS[_STEADY in site.runtime]
        error = next((error for least, error in errors.items() if self.efficiency >= least), math.inf)
        parallel = max(0.0, self.in_regions / self.observed.width - saved)
        low, high = seconds - error * parallel, seconds + error * parallel
        speedup = Interval(self.plain / seconds, 0.0, math.inf)
        if math.isfinite(error):
            speedup = Interval(self.plain / seconds, self.plain / high, self.plain / low)
        return Forecast(factor, seconds, speedup)

    def advised_factor(self, site: Site) -> float:
        """How many times as long the site's bodies should be: a power of two. Then their number costs 1 - KEPT of the
        time, unless too few bodies would be left for all threads in a region. 1 if they may stay as they are."""
        kept = self.work * (1 - KEPT) / KEPT
        wanted = self.overheads.get(site, 0.0) / kept if kept else 1.0
        if wanted <= 1:
            return 1.0
        factor = 2.0 ** math.ceil(math.log2(wanted))
        if site.kind in MANAGED:
            each = site.count / max(1, self.observed.regions) / max(1.0, self.observed.width)
            most = max(1.0, each / _LEAST_BODIES)
            factor = min(factor, 2.0 ** math.floor(math.log2(most)))
        return min(factor, MOST)
