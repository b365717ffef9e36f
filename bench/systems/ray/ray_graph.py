# mypy: allow-untyped-calls, allow-untyped-decorators, allow-any-unimported
"""Ray: an actor a worker, each bound to a core, which owns a block of columns of every graph.

The program submits the tasks timestep by timestep, each with the references of its inputs; Ray brings them, and then
runs it.
"""

import os
import shutil
import sys
import tempfile
from collections import deque
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from itertools import groupby, zip_longest
from pathlib import Path
from signal import SIGKILL
from typing import Any, NoReturn

sys.path.insert(0, str(Path(__file__).parents[2] / "task_graph" / "python"))
import ray
from ray.exceptions import RayActorError
from teff_bench import Adapter, Identity, Outcome, Task, Workload, drive

AHEAD = 100  # timesteps that are submitted before the first of them is waited for


@ray.remote(num_cpus=1)
class Executor:
    """Executes tasks, in a separate process."""

    def __init__(self, number: int) -> None:
        cores = sorted(os.sched_getaffinity(0))
        for thread in Path("/proc/self/task").iterdir():
            os.sched_setaffinity(int(thread.name), {cores[number % len(cores)]})

    def prepare(self, flags: str) -> None:
        self.work = Workload(flags, workers=1)
        self.work.start()  # of the CPU time; the wall time is taken where tasks are submitted

    def execute(self, graph: int, timestep: int, point: int, *inputs: bytes) -> bytes:
        return self.work.execute(graph, timestep, point, inputs)

    def collect(self) -> bytes:
        self.work.stop()
        outcome = self.work.outcome()
        outcome.elapsed_seconds = 0
        outcome.gap_share_before = outcome.gap_share_after = 0  # workers that all spin at once are noise to each other
        return bytes(outcome)


class Actors(Adapter):
    """Ray's own processes are started by the first run, and end with the program."""

    local_workers = 0

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.seen = 0
        self.executors: list[Any] = []

    def describe(self) -> Identity:
        return Identity("ray", "actors", version("ray"), self.seen, ranks=max(1, self.seen))

    def run(self, work: Workload) -> Sequence[Outcome]:
        if not self.executors:
            self.start()
        try:
            self.seen = len(ray.get([each.prepare.remote(work.flags) for each in self.executors]))
            work.start()
            self.submit_all(work)
            work.stop()
            collected = ray.get([each.collect.remote() for each in self.executors])
        except RayActorError as failure:
            end_program(failure)
        return [work.outcome(), *map(Outcome.from_buffer_copy, collected)]

    def start(self) -> None:
        os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)  # where the actors' processes find their imports
        self.folder = tempfile.mkdtemp(prefix="ray-")
        ray.init(
            address="local",
            num_cpus=self.workers,
            include_dashboard=False,
            log_to_driver=False,
            _temp_dir=self.folder,
        )
        actor: Any = Executor
        self.executors = [actor.remote(number) for number in range(self.workers)]

    def submit_all(self, work: Workload) -> None:
        """Submits all tasks, the timesteps of all graphs in turn, and waits for them."""
        widths = [work.width(graph) for graph in range(work.graphs)]
        outputs: list[dict[int, Any]] = [{} for _ in widths]  # of each graph's last timestep, by their points
        waiting: deque[list[Any]] = deque()
        for rows in zip_longest(*(timesteps(work, graph) for graph in range(work.graphs)), fillvalue=()):
            for graph, row in enumerate(rows):
                outputs[graph] = {
                    task.point: self.submit(task, widths[graph], [outputs[graph][point] for point in task.inputs])
                    for task in row
                } or outputs[graph]
            waiting.append([reference for row in outputs for reference in row.values()])
            if len(waiting) > AHEAD:
                ray.get(waiting.popleft())
        for row in waiting:
            ray.get(row)

    def submit(self, task: Task, width: int, inputs: list[Any]) -> Any:
        owner = self.executors[task.point * self.workers // width]
        return owner.execute.remote(task.graph, task.timestep, task.point, *inputs)

    def close(self) -> None:
        if self.executors:
            ray.shutdown()
            shutil.rmtree(self.folder, ignore_errors=True)


def timesteps(work: Workload, graph: int) -> Iterator[list[Task]]:
    for _, row in groupby(work.tasks(graph), key=lambda task: task.timestep):
        yield list(row)


def end_program(failure: RayActorError) -> NoReturn:
    """For a worker's process that has ended amid a run. Ray does not say how; a kill is the usual cause."""
    print(f"error: the process of a worker has ended: {failure}".splitlines()[0], file=sys.stderr, flush=True)
    ray.shutdown()
    os._exit(128 + SIGKILL)


if __name__ == "__main__":
    sys.exit(drive(Actors))
