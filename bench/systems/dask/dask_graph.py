# mypy: allow-untyped-calls
"""Dask: a graph of Task and TaskRef, built before the timed region, submitted whole in it.

`dask_graph.py SCHEDULER FLAGS`: one of Dask's schedulers, then the flags that all adapters take.
"""

import multiprocessing
import os
import signal
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, NoReturn

import dask.threaded
from dask.task_spec import Task, TaskRef
from dask.typing import Key
from distributed import Client, LocalCluster, Nanny, Status, Worker, wait

sys.path.insert(0, str(Path(__file__).parents[2] / "task_graph" / "python"))
from teff_bench import Adapter, Identity, Outcome, Workload, count_threads, drive

LOOPBACK = "127.0.0.1"
CLUSTER: dict[str, Any] = {
    "memory_limit": 0,
    # No dashboard; but an HTTP server is always there, and takes a public port unless told otherwise.
    "scheduler_kwargs": {"dashboard": False},
    "dashboard_address": f"{LOOPBACK}:0",
    "worker_dashboard_address": f"{LOOPBACK}:0",
}


class Here:
    """What this process executes tasks of. A task finds it here, as a Workload can't travel with it."""

    work: Workload


def execute(graph: int, timestep: int, point: int, *inputs: bytes) -> bytes:
    return Here.work.execute(graph, timestep, point, inputs)


def prepare(flags: str, dask_worker: Worker) -> None:
    """Runs in a worker's process, and binds it to its own core, as threads of other systems are bound."""
    cores = sorted(os.sched_getaffinity(0))
    for thread in Path("/proc/self/task").iterdir():
        os.sched_setaffinity(int(thread.name), {cores[int(dask_worker.name) % len(cores)]})
    Here.work = Workload(flags, workers=1)
    Here.work.start()  # of the CPU time; the wall time is taken where the graph is submitted


def collect() -> bytes:
    Here.work.stop()
    outcome = Here.work.outcome()
    outcome.elapsed_seconds = 0
    outcome.gap_share_before = outcome.gap_share_after = 0  # workers that all spin at once are noise to each other
    return bytes(outcome)


def build(work: Workload, run: int) -> tuple[dict[Key, Task], list[Key]]:
    """The task graph in Dask's words, and the keys of the tasks whose outputs no other task reads."""
    graph: dict[Key, Task] = {}
    unread: dict[Key, None] = {}
    name = f"task-{run}"  # Dask keeps results by key: no two runs may share one
    for index in range(work.graphs):
        for task in work.tasks(index):
            key = (name, index, task.timestep, task.point)
            inputs = [(name, index, task.timestep - 1, point) for point in task.inputs]
            graph[key] = Task(key, execute, index, task.timestep, task.point, *map(TaskRef, inputs))
            unread[key] = None
            for each in inputs:
                unread.pop(each, None)
    return graph, list(unread)


class Threads(Adapter):
    """Dask's threaded scheduler: no cluster, no client."""

    variant = "threads"

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.seen = 0
        self.pool = ThreadPoolExecutor(workers)

    def describe(self) -> Identity:
        return Identity("dask", self.variant, version("dask"), self.seen)

    def run(self, work: Workload) -> Sequence[Outcome]:
        Here.work = work
        self.seen = self.seen or count_threads(self.pool, self.workers)
        graph, unread = build(work, 0)
        work.start()
        dask.threaded.get(graph, unread, pool=self.pool)
        work.stop()
        return []

    def close(self) -> None:
        self.pool.shutdown()


class Distributed(Adapter):
    """Dask's distributed scheduler: itself, its client and one worker of several threads in this process.

    Nothing is serialised, and the kernels don't hold the interpreter's lock.
    """

    variant = "distributed"
    cluster: LocalCluster | None = None

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.runs = 0

    def describe(self) -> Identity:
        seen = sum(self.client.nthreads().values()) if self.cluster else 0
        return Identity("dask", self.variant, version("distributed"), seen)

    def run(self, work: Workload) -> Sequence[Outcome]:
        if self.cluster is None:
            self.cluster = self.start_cluster()
            self.client = Client(self.cluster)
        self.prepare(work)
        self.runs += 1
        graph, unread = build(work, self.runs)
        work.start()
        futures = self.client.get(graph, unread, sync=False)
        wait(futures)
        work.stop()
        failed = [future for future in futures if future.status != "finished"]
        if failed:
            work.fail(f"{len(failed)} tasks failed: {failed[0].exception()}")
        return self.collect(work)

    def start_cluster(self) -> LocalCluster:
        cluster = LocalCluster(n_workers=1, threads_per_worker=self.workers, processes=False, **CLUSTER)
        # Scheduler and worker hold messages back for 5 and 2 ms to send several at once. At each timestep, a chain of
        # tasks would only wait for that. No configuration key says how long.
        assert cluster.scheduler is not None
        for stream in cluster.scheduler.stream_comms.values():
            stream.interval = 0
        for worker in cluster.workers.values():
            worker.batched_stream.interval = 0
        return cluster

    def prepare(self, work: Workload) -> None:
        """Makes the workload known where tasks are executed."""
        Here.work = work

    def collect(self, _work: Workload) -> Sequence[Outcome]:
        """The outcomes of all processes; none where there is only this one."""
        return []

    def close(self) -> None:
        if self.cluster is not None:
            self.client.close()
            self.cluster.close()


class Guard(Nanny):
    """Starts a worker's process and, where that ends amid a run, ends the program.

    A Nanny would start it anew instead. The new process knows no workload, and the measurement would not show the kill.
    """

    def _on_worker_exit_sync(self, exitcode: int) -> None:
        if self.status in (Status.starting, Status.running):
            self.end_program(exitcode)
        super()._on_worker_exit_sync(exitcode)

    def end_program(self, exitcode: int) -> NoReturn:
        """From any thread, in any state of the others, with the exit code of a launcher, 128 + the signal."""
        for each in multiprocessing.active_children():
            each.kill()  # their complaints would be the last words
        how = f"exit code {exitcode}" if exitcode >= 0 else signal.Signals(-exitcode).name
        print(f"error: the process of worker {self.name} was ended by {how}", file=sys.stderr, flush=True)
        os._exit(exitcode if exitcode > 0 else 128 - exitcode)


class Processes(Distributed):
    """A process a worker, by TCP on the loopback, messages held back as Dask does: as between machines."""

    variant = "processes"
    local_workers = 0

    def describe(self) -> Identity:
        who = super().describe()
        return replace(who, ranks=max(1, who.workers))

    def start_cluster(self) -> LocalCluster:
        # If Guard ends the program, Python's resource tracker would complain.
        os.environ.setdefault("PYTHONWARNINGS", "ignore:resource_tracker")
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # which the workers inherit: they end when this process has
        try:
            return LocalCluster(
                n_workers=self.workers, threads_per_worker=1, host=LOOPBACK, worker_class=Guard, **CLUSTER
            )
        finally:
            signal.signal(signal.SIGINT, signal.SIG_DFL)

    def prepare(self, work: Workload) -> None:
        self.client.wait_for_workers(self.workers)
        self.client.run(prepare, work.flags)

    def collect(self, work: Workload) -> Sequence[Outcome]:
        return [work.outcome(), *map(Outcome.from_buffer_copy, self.client.run(collect).values())]


def main() -> int:
    schedulers = {kind.variant: kind for kind in (Distributed, Processes, Threads)}
    if len(sys.argv) < 2 or sys.argv[1] not in schedulers:
        print(f"error: the first word says which scheduler: {' '.join(schedulers)}", file=sys.stderr)
        return 2
    return drive(schedulers[sys.argv.pop(1)])


if __name__ == "__main__":
    # Once more by its name, so that worker processes find the functions instead of being sent them with each task.
    import dask_graph

    sys.exit(dask_graph.main())
