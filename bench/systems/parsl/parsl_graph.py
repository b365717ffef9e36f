# mypy: allow-untyped-calls, allow-untyped-decorators, allow-any-unimported
"""Parsl: each task is a call of an app, which waits for the futures that are its inputs; a pool of threads runs them.

The program calls the app timestep by timestep; Parsl starts each task once its inputs are there. Kernels release the
interpreter's lock, so kernels of several threads run side by side.
"""

import logging
import os
import shutil
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from itertools import groupby, zip_longest
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "task_graph" / "python"))
import parsl
from parsl.config import Config
from parsl.executors import ThreadPoolExecutor
from teff_bench import Adapter, Identity, Outcome, Task, Workload, drive

AHEAD = 100  # timesteps that are submitted before the first of them is waited for


@parsl.python_app
def execute(work: Workload, graph: int, timestep: int, point: int, inputs: Sequence[bytes] = ()) -> bytes:
    return work.execute(graph, timestep, point, inputs)


@parsl.python_app
def bind(together: threading.Barrier) -> int:
    """Binds a thread of the pool to a core of its own, as threads of other systems are; the barrier waits for all.

    Returns the thread's number.
    """
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(threading.get_native_id(), {cores[together.wait() % len(cores)]})
    return threading.get_native_id()


class Apps(Adapter):
    """Parsl is started by the first run, and ends with the program."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.seen = 0
        self.kernel: parsl.DataFlowKernel | None = None

    def describe(self) -> Identity:
        return Identity("parsl", "apps", version("parsl"), self.seen)

    def run(self, work: Workload) -> Sequence[Outcome]:
        if self.kernel is None:
            self.start()
        work.start()
        self.submit_all(work)
        work.stop()
        return []

    def start(self) -> None:
        self.folder = tempfile.mkdtemp(prefix="parsl-")
        logging.getLogger("parsl").setLevel(logging.ERROR)  # each task would write several lines
        self.kernel = parsl.load(
            Config(
                executors=[ThreadPoolExecutor(max_threads=self.workers)],
                initialize_logging=False,
                run_dir=self.folder,
                strategy="none",  # the pool does not grow
            )
        )
        together = threading.Barrier(self.workers)
        self.seen = len({each.result() for each in [bind(together) for _ in range(self.workers)]})

    def submit_all(self, work: Workload) -> None:
        """Submits all tasks, the timesteps of all graphs in turn, and waits for them."""
        outputs: list[dict[int, Any]] = [{} for _ in range(work.graphs)]  # of the last timesteps, by point
        waiting: deque[list[Any]] = deque()
        for rows in zip_longest(*(timesteps(work, graph) for graph in range(work.graphs)), fillvalue=()):
            for graph, row in enumerate(rows):
                before = outputs[graph]
                outputs[graph] = {
                    task.point: execute(
                        work, graph, task.timestep, task.point, inputs=[before[point] for point in task.inputs]
                    )
                    for task in row
                } or before
            waiting.append([future for row in outputs for future in row.values()])
            if len(waiting) > AHEAD:
                wait(waiting.popleft())
        for row in waiting:
            wait(row)

    def close(self) -> None:
        if self.kernel:
            self.kernel.cleanup()
            shutil.rmtree(self.folder, ignore_errors=True)


def wait(futures: list[Any]) -> None:
    for each in futures:
        each.result()


def timesteps(work: Workload, graph: int) -> Iterator[list[Task]]:
    for _, row in groupby(work.tasks(graph), key=lambda task: task.timestep):
        yield list(row)


if __name__ == "__main__":
    sys.exit(drive(Apps))
