"""Python's standard library: a pool of threads, or coroutines with such a pool for the kernels.

Kernels release the interpreter's lock, so kernels of several threads run side by side.

`cpython_graph.py VARIANT FLAGS`: one of the variants, then the flags that all adapters take.
"""

import asyncio
import os
import platform
import sys
import threading
from abc import abstractmethod
from asyncio import Future
from collections.abc import Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count
from pathlib import Path
from queue import SimpleQueue

sys.path.insert(0, str(Path(__file__).parents[2] / "task_graph" / "python"))
from teff_bench import Adapter, Identity, Outcome, Task, Workload, count_threads, drive


def bind(numbers: Iterator[int]) -> None:
    """Binds a thread of a pool to its own core, as threads of other systems are."""
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(threading.get_native_id(), {cores[next(numbers) % len(cores)]})


class Pooled(Adapter):
    """The common part of both variants: a pool of as many threads as there are workers."""

    variant: str

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.seen = 0
        self.pool = self.make_pool()

    def make_pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self.workers, initializer=bind, initargs=(count(),))

    def describe(self) -> Identity:
        version = f"{platform.python_implementation()} {platform.python_version()}"
        return Identity("cpython", self.variant, version, self.seen)

    def run(self, work: Workload) -> Sequence[Outcome]:
        self.seen = count_threads(self.pool, self.workers)  # which also wakes them
        try:
            self.run_tasks(work)
        except BaseException:
            self.pool.shutdown(cancel_futures=True)  # no thread goes on when the workload is gone
            self.pool = self.make_pool()
            raise
        return []

    @abstractmethod
    def run_tasks(self, work: Workload) -> None:
        """Executes all tasks; a failure of one is raised."""

    def close(self) -> None:
        self.pool.shutdown()


class Node:
    """A task, the inputs that it has received, and the readers of its output: each a node and the index of its
    input."""

    __slots__ = ("arrivals", "inputs", "readers", "task")

    def __init__(self, task: Task) -> None:
        self.task = task
        self.inputs = [b""] * len(task.inputs)
        self.arrivals = count(1)  # next() is one step, whichever threads call it
        self.readers: list[tuple[Node, int]] = []

    def execute(self, work: Workload) -> bytes:
        output = work.execute(self.task.graph, self.task.timestep, self.task.point, self.inputs)
        self.inputs.clear()  # a node that holds no output needs no memory
        return output

    def receive(self, index: int, output: bytes) -> bool:
        """Whether that was the last input."""
        self.inputs[index] = output
        return next(self.arrivals) == len(self.task.inputs)


class Threads(Pooled):
    """ThreadPoolExecutor: the thread that delivers a task's last input runs the task, and submits the others that have
    become ready."""

    variant = "threads"

    def run_tasks(self, work: Workload) -> None:
        nodes = join(work)
        first = [node for node in nodes if not node.inputs]
        last = sum(not node.readers for node in nodes)
        ends = SimpleQueue[BaseException | None]()
        work.start()
        for node in first:
            self.pool.submit(self.follow, work, node, ends)
        for _ in range(last):
            if failure := ends.get():
                raise failure
        work.stop()

    def follow(self, work: Workload, node: Node, ends: SimpleQueue[BaseException | None]) -> None:
        """Executes a task, and on from there."""
        following: Node | None = node
        try:
            while following:
                node, following = following, None
                output = node.execute(work)
                for reader, index in node.readers:
                    if reader.receive(index, output):
                        if following:
                            self.pool.submit(self.follow, work, reader, ends)
                        else:
                            following = reader
                if not node.readers:
                    ends.put(None)
        except BaseException as failure:  # the main thread raises it
            ends.put(failure)


def join(work: Workload) -> list[Node]:
    """All tasks of all graphs, each with its readers."""
    every: list[Node] = []
    for graph in range(work.graphs):
        before: dict[int, Node] = {}
        here: dict[int, Node] = {}
        for task in work.tasks(graph):
            if here and next(iter(here.values())).task.timestep < task.timestep:
                before, here = here, {}
            node = here[task.point] = Node(task)
            for index, point in enumerate(task.inputs):
                before[point].readers.append((node, index))
            every.append(node)
    return every


class Coroutines(Pooled):
    """asyncio: a coroutine for each point of a graph, a future for each output, and kernels in the pool."""

    variant = "asyncio"

    def run_tasks(self, work: Workload) -> None:
        asyncio.run(self.run_columns(work))

    async def run_columns(self, work: Workload) -> None:
        loop = asyncio.get_running_loop()
        columns: list[Coroutine[None, None, None]] = []
        for graph in range(work.graphs):
            tasks: dict[int, list[Task]] = {}
            outputs: dict[tuple[int, int], Future[bytes]] = {}
            for task in work.tasks(graph):
                tasks.setdefault(task.point, []).append(task)
                outputs[task.timestep, task.point] = loop.create_future()
            columns.extend(self.run_column(work, column, outputs) for column in tasks.values())
        work.start()
        await asyncio.gather(*columns)
        work.stop()

    async def run_column(
        self, work: Workload, tasks: list[Task], outputs: dict[tuple[int, int], Future[bytes]]
    ) -> None:
        loop = asyncio.get_running_loop()
        for task in tasks:
            inputs = [await outputs[task.timestep - 1, point] for point in task.inputs]
            call = partial(work.execute, task.graph, task.timestep, task.point, inputs)
            outputs[task.timestep, task.point].set_result(await loop.run_in_executor(self.pool, call))


def main() -> int:
    variants = {kind.variant: kind for kind in (Threads, Coroutines)}
    if len(sys.argv) < 2 or sys.argv[1] not in variants:
        print(f"error: the first word says which variant: {' '.join(variants)}", file=sys.stderr)
        return 2
    return drive(variants[sys.argv.pop(1)])


if __name__ == "__main__":
    sys.exit(main())
