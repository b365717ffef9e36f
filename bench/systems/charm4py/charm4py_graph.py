# mypy: allow-untyped-calls, allow-any-unimported, allow-subclassing-any
"""charm4py: a chare array for each graph, a chare for each column of it, its elements dealt out in blocks.

charmrun starts a process a worker, each with this script; the first one's main program reads what to run. A task runs
when the last of its inputs has come, as the argument of an entry method, and its output leaves likewise.
"""

import os
import sys
from collections import defaultdict
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from charm4py import Array, Chare, Future, Group, charm

sys.path.insert(0, str(Path(__file__).parents[2] / "task_graph" / "python"))
from teff_bench import Adapter, Identity, Outcome, Workload, drive


class Here:
    """The workload of this process; the chares outlive it, as nothing removes them."""

    work: Workload


class Place(Chare):
    """One in each process."""

    def __init__(self) -> None:
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[charm.myPe() % len(cores)]})

    def prepare(self, flags: str) -> None:
        if charm.myPe() > 0:
            Here.work = Workload(flags, workers=1)
            Here.work.start()  # of the CPU time; the first process takes the wall time

    def collect(self) -> bytes:
        if charm.myPe() > 0:
            Here.work.stop()
        outcome = Here.work.outcome()
        if charm.myPe() > 0:
            outcome.elapsed_seconds = 0
        outcome.gap_share_before = outcome.gap_share_after = 0  # workers that all spin at once are noise to each other
        return bytes(outcome)


class Column(Chare):
    """A point of a graph, at all timesteps."""

    def __init__(self, graph: int, finished: Future) -> None:
        self.graph = graph
        self.finished = finished
        (self.point,) = self.thisIndex
        work = Here.work
        self.steps = work.steps(graph)
        self.exists = [work.exists(graph, timestep, self.point) for timestep in range(self.steps)]
        self.inputs = [work.inputs(graph, timestep, self.point) for timestep in range(self.steps)]
        self.readers = [work.consumers(graph, timestep, self.point) for timestep in range(self.steps)]
        self.arrived: defaultdict[int, dict[int, bytes]] = defaultdict(dict)
        self.timestep = 0
        self.has_begun = False

    def begin(self) -> None:
        self.has_begun = True
        self.advance()

    def take(self, timestep: int, point: int, output: bytes) -> None:
        """The output of that point, which the task at `timestep` reads."""
        self.arrived[timestep][point] = output
        if self.has_begun:
            self.advance()

    def advance(self) -> None:
        """Executes the tasks whose inputs are all here."""
        while self.timestep < self.steps:
            if self.exists[self.timestep]:
                if len(self.arrived[self.timestep]) < len(self.inputs[self.timestep]):
                    return
                self.execute(self.arrived.pop(self.timestep))
            self.timestep += 1
        self.reduce(self.finished)

    def execute(self, arrived: dict[int, bytes]) -> None:
        inputs = [arrived[point] for point in self.inputs[self.timestep]]
        output = Here.work.execute(self.graph, self.timestep, self.point, inputs)
        for reader in self.readers[self.timestep]:
            if reader == self.point:
                self.arrived[self.timestep + 1][reader] = output
            else:
                self.thisProxy[reader].take(self.timestep + 1, self.point, output)


class Chares(Adapter):
    """In the first process; a process has one worker."""

    local_workers = 1

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.places = Group(Place)

    def describe(self) -> Identity:
        return Identity("charm4py", "chares", version("charm4py"), charm.numPes(), ranks=charm.numPes())

    def run(self, work: Workload) -> Sequence[Outcome]:
        if self.workers != charm.numPes():
            raise ValueError(f"--workers {self.workers}, but charmrun started {charm.numPes()}: say +p{self.workers}")
        Here.work = work
        self.places.prepare(work.flags, awaitable=True).get()
        finished = Future(work.graphs)
        graphs = [Array(Column, work.width(graph), args=[graph, finished]) for graph in range(work.graphs)]
        charm.awaitCreation(*graphs)
        work.start()
        for columns in graphs:
            columns.begin()
        finished.get()
        work.stop()
        return [Outcome.from_buffer_copy(each) for each in self.places.collect(ret=True).get()]


def main(words: list[str]) -> None:
    for number, given in enumerate(STREAMS):
        os.dup2(given, number)
    sys.argv = words  # without Charm++'s flags
    charm.exit(drive(Chares))


if __name__ == "__main__":
    # Charm++ takes the standard streams away, and forwards their output only while it takes messages.
    STREAMS = [os.dup(number) for number in range(3)]
    charm.options.local_msg_optim = True  # within a process it passes an output itself, no copy
    charm.start(main)
