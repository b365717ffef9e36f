"""A simulation of workers on shared cores: tasks, policies that give tasks to workers, and a system that takes cores.

While a competitor has a core, the worker of that core stands still, with the task that it runs. Nothing else costs
time, and a worker without a task spins. Pure: the same arguments and seed give the same times.
"""

import math
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from heapq import heappop, heappush
from random import Random
from typing import Literal, get_args

Dependences = Literal["stencil", "tree", "none"]
DEPENDENCES: tuple[Dependences, ...] = get_args(Dependences)

_SPREAD = 0.02  # by which a task's time differs from the mean, at most
_LENGTHS = 4093  # tasks after which their times repeat: a prime, so that they meet every column
_NO_TASK = -1
_ANY = 1 << 30  # in the place of a worker: any worker without a task. At one time it comes after all workers


@dataclass(frozen=True, slots=True)
class Work:
    """`steps` times `tasks`, each of about `seconds`. In a stencil, a task waits for itself and its two neighbours in
    the step before. In a tree, all tasks of all steps are one binary tree, and each waits for its parent."""

    tasks: int
    steps: int
    seconds: float
    dependences: Dependences = "stencil"

    @property
    def total(self) -> int:
        return self.tasks * self.steps


@dataclass(frozen=True, slots=True)
class Policy:
    """Each worker has places: the same tasks of each step. Another worker may run a task that has been ready for
    `after` seconds. With a barrier, a step begins when the step before has ended. Without, a task waits for its
    dependences. A worker that `gives_way` makes the competitor wait for the end of its task."""

    name: str
    title: str
    has_barrier: bool
    after: float
    gives_way: bool = False


def policies(takeover: float) -> tuple[Policy, ...]:
    """All of them; `takeover` is the time after which another worker takes a task over from its place."""
    return (
        Policy("static", "static: parts of a step, and a barrier", True, math.inf),
        Policy("dynamic", "dynamic: any task of a step, and a barrier", True, 0.0),
        Policy("yielding", "yielding: dynamic, gives way between tasks", True, 0.0, gives_way=True),
        Policy("placed", "placed: a graph with places", False, math.inf),
        Policy("takeover", f"takeover: placed, until {takeover * 1e6:g} µs have passed", False, takeover),
        Policy("flow", "flow: a graph without places", False, 0.0),
    )


@dataclass(frozen=True, slots=True)
class Cores:
    """`number` cores, a worker on each. A competitor takes `share` (below 1) of each of the last `loaded` ones. It
    works at the beginning of each period. The seed says when the periods of each core begin."""

    number: int
    loaded: int = 0
    share: float = 0.0
    period: float = 0.01


@dataclass(frozen=True, slots=True)
class Outcome:
    seconds: float
    tasks: int  # that have ended
    worked: float  # seconds of all tasks


def simulate(work: Work, policy: Policy, cores: Cores, seed: int = 0) -> Outcome:
    """The run of the work, from the first task to the end of the last one."""
    return _Simulation(work, policy, cores, Random(seed)).run()


class _Core:
    """A core that a competitor takes for the first `burst` seconds of each period; 0: nobody takes it."""

    def __init__(self, burst: float, period: float, begins: float, is_given_way: bool) -> None:
        self._burst, self._period, self._begins, self._is_given_way = burst, period, begins, is_given_way
        self._taken_until = 0.0  # by a competitor that waited for a task

    def free_at(self, now: float) -> float:
        """When the worker has the core next: now, or when the competitor's burst is over."""
        into = (now - self._begins) % self._period
        return max(self._taken_until, now + max(self._burst - into, 0.0))

    def ended(self, now: float, seconds: float) -> float:
        """When a task has ended that the worker begins now, while it has the core."""
        left = self._period - (now - self._begins) % self._period  # until the next burst
        if seconds <= left:
            return now + seconds
        if self._is_given_way:
            end = now + seconds
            burst = end - (end - self._begins) % self._period  # began then, but for the task
            self._taken_until = min(end + self._burst, burst + self._period)
            return end
        bursts = 1 + (seconds - left) // (self._period - self._burst)
        return now + seconds + bursts * self._burst


class _Simulation:
    """Events in the order of time: a worker ends a task, or looks for one. A worker without a task is in `idle`
    until a task of its places becomes ready. If it could take over a task of another place, an event of _ANY comes
    when it may."""

    def __init__(self, work: Work, policy: Policy, cores: Cores, random: Random) -> None:
        self._after = policy.after
        self._tasks = work.tasks
        self._seconds = [work.seconds * random.uniform(1 - _SPREAD, 1 + _SPREAD) for _ in range(_LENGTHS)]
        bursts = [0.0] * (cores.number - cores.loaded) + [cores.share * cores.period] * cores.loaded
        self._cores = [
            _Core(burst, cores.period, -random.random() * cores.period if burst else 0.0, policy.gives_way)
            for burst in bursts
        ]
        self._places = [column * cores.number // work.tasks for column in range(work.tasks)]
        self._ready: list[deque[int]] = [deque() for _ in range(cores.number)]  # by place
        self._oldest: deque[tuple[float, int]] = deque()  # (since when, task), also those that have begun
        self._has_begun = bytearray(work.total)
        self._events = [(0.0, worker, _NO_TASK) for worker in range(cores.number)]
        self._idle: dict[int, None] = {}  # in the order in which they found nothing
        self._called_for = _NO_TASK  # the oldest ready task when the last event of _ANY was made
        first, self._released = (_barriers if policy.has_barrier else _graph)(work)
        self._release(first, 0.0)

    def run(self) -> Outcome:
        events, idle, oldest = self._events, self._idle, self._oldest
        end, tasks, worked = 0.0, 0, 0.0
        while events:
            now, worker, done = heappop(events)
            if done != _NO_TASK:
                end = now
                self._release(self._released(done), now)
            elif worker == _ANY:
                if (called := self._idle_worker(now)) is None:
                    continue
                worker = called
            core = self._cores[worker]
            free_at = core.free_at(now)
            if free_at > now:
                heappush(events, (free_at, worker, _NO_TASK))
            elif (task := self._next_task(worker, now)) != _NO_TASK:
                seconds = self._seconds[task % _LENGTHS]
                heappush(events, (core.ended(now, seconds), worker, task))
                tasks += 1
                worked += seconds
            else:
                idle[worker] = None
            if idle and oldest and (first := self._oldest_ready()) and first[1] != self._called_for:
                self._called_for = first[1]
                heappush(events, (max(now, first[0] + self._after), _ANY, _NO_TASK))
        return Outcome(end, tasks, worked)

    def _release(self, tasks: Iterable[int], now: float) -> None:
        """They are ready. The worker of a task's place begins the task if it has nothing else to do."""
        may_move = self._after < math.inf
        for task in tasks:
            place = self._places[task % self._tasks]
            self._ready[place].append(task)
            if may_move:
                self._oldest.append((now, task))
            if place in self._idle:
                del self._idle[place]
                heappush(self._events, (now, place, _NO_TASK))

    def _next_task(self, worker: int, now: float) -> int:
        """The worker begins it: the first ready task of its places, else the oldest one that it may take over."""
        own = self._ready[worker]
        while own:
            task = own.popleft()
            if not self._has_begun[task]:
                self._has_begun[task] = True
                return task
        oldest = self._oldest_ready()
        if oldest is None or oldest[0] + self._after > now:
            return _NO_TASK
        self._has_begun[oldest[1]] = True
        return oldest[1]

    def _oldest_ready(self) -> tuple[float, int] | None:
        while self._oldest and self._has_begun[self._oldest[0][1]]:
            self._oldest.popleft()
        return self._oldest[0] if self._oldest else None

    def _idle_worker(self, now: float) -> int | None:
        """A worker that takes the oldest ready task over: one that has its core, else the one that has it first."""
        oldest = self._oldest_ready()
        if oldest is None or oldest[0] + self._after > now or not self._idle:
            return None
        soonest, at = _ANY, math.inf
        for worker in self._idle:
            free_at = self._cores[worker].free_at(now)
            if free_at < at:
                soonest, at = worker, free_at
            if free_at <= now:
                break
        del self._idle[soonest]
        return soonest


_Released = Callable[[int], Iterable[int]]  # the tasks that are ready because this one has ended


def _barriers(work: Work) -> tuple[Iterable[int], _Released]:
    """The tasks that are ready at first, and those that each releases: the last one of a step, all of the next."""
    left = work.tasks

    def released(task: int) -> Iterable[int]:
        nonlocal left
        left -= 1
        if left:
            return ()
        left = work.tasks
        begin = (task // work.tasks + 1) * work.tasks
        return range(begin, min(begin + work.tasks, work.total))

    return range(work.tasks), released


def _graph(work: Work) -> tuple[Iterable[int], _Released]:
    """The same for tasks that wait for their dependences only."""
    if work.dependences == "none":
        return range(work.total), lambda _: ()
    if work.dependences == "tree":
        return (0,), lambda task: range(2 * task + 1, min(2 * task + 3, work.total))
    columns = range(work.tasks)
    waits_for = [min(each + 1, columns[-1]) - max(each - 1, 0) + 1 for each in columns] * work.steps

    def released(task: int) -> Iterable[int]:
        below = task + work.tasks
        if below >= work.total:
            return ()
        column = task % work.tasks
        ready = []
        for each in range(below - (column > 0), below + (column < columns[-1]) + 1):
            waits_for[each] -= 1
            if not waits_for[each]:
                ready.append(each)
        return ready

    return range(work.tasks), released
