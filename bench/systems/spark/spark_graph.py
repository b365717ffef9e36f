# mypy: allow-untyped-calls, allow-any-unimported
"""Spark: a stage a timestep, in which each column sends its output to the columns that read it; a shuffle brings them.

The records of a stage are columns of all graphs, in as many partitions as there are workers. Each worker is a process
of Python's, which Spark starts.
"""

import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from signal import SIGKILL
from typing import Any, NoReturn

sys.path.insert(0, str(Path(__file__).parents[2] / "task_graph" / "python"))
from py4j.protocol import Py4JJavaError
from pyspark import BarrierTaskContext, SparkConf, SparkContext
from teff_bench import Adapter, Identity, Outcome, Workload, drive

UNPREPARED = "a process has not been prepared"  # one that Spark started in the place of one that had ended
LOST = ("Python worker exited unexpectedly", UNPREPARED)
AHEAD = 50  # timesteps of a job: Spark's knowledge of the data's origin has an end

Column = tuple[int, int]  # a graph and a point of it
Message = tuple[Column, tuple[int, bytes]]  # the receiver, the sending point (-1: none), the output


class Here:
    """The workload of a worker's process. Each process makes its workload, as it can't travel."""

    work: Workload | None = None

    @classmethod
    def prepare(cls, flags: str, number: int) -> bytes:
        """Binds the process to its own core, as threads of other systems are."""
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[number % len(cores)]})
        cls.work = Workload(flags, workers=1)
        cls.work.start()  # of the CPU time; the wall time is taken where jobs are submitted
        return b""

    @classmethod
    def execute(cls, timestep: int, column: Column, received: Iterable[tuple[int, bytes]]) -> Iterator[Message]:
        """Executes the task of a column, if it has one, and sends its output to its readers."""
        assert cls.work, UNPREPARED
        graph, point = column
        yield column, (-1, b"")
        if cls.work.exists(graph, timestep, point):
            outputs = dict(received)
            inputs = [outputs[each] for each in cls.work.inputs(graph, timestep, point)]
            output = cls.work.execute(graph, timestep, point, inputs)
            for reader in cls.work.consumers(graph, timestep, point):
                yield (graph, reader), (point, output)

    @classmethod
    def collect(cls) -> bytes:
        assert cls.work, UNPREPARED
        cls.work.stop()
        outcome = cls.work.outcome()
        cls.work = None
        outcome.elapsed_seconds = 0
        outcome.gap_share_before = outcome.gap_share_after = 0  # workers that all spin at once are noise to each other
        return bytes(outcome)


class Stages(Adapter):
    """Spark's machine is started by the first run, and ends with the program."""

    local_workers = 0
    context: SparkContext | None = None

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.seen = 0

    def describe(self) -> Identity:
        return Identity("spark", "stages", version("pyspark"), self.seen, ranks=max(1, self.seen))

    def run(self, work: Workload) -> Sequence[Outcome]:
        context = self.context = self.context or self.start()
        flags = work.flags
        try:
            self.seen = len(self.on_each_worker(context, lambda number: Here.prepare(flags, number)))
            work.start()
            self.run_stages(context, work)
            work.stop()
            collected = self.on_each_worker(context, lambda _: Here.collect())
        except Py4JJavaError as failure:
            if any(sign in str(failure) for sign in LOST):
                end_program()
            raise
        return [work.outcome(), *map(Outcome.from_buffer_copy, collected)]

    def start(self) -> SparkContext:
        for name in ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"):
            os.environ[name] = sys.executable
        os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
        os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), *sys.path])
        conf = SparkConf().setMaster(f"local[{self.workers}]").setAppName("teff")
        conf.set("spark.ui.enabled", "false").set("spark.ui.showConsoleProgress", "false")
        conf.set("spark.log.level", "ERROR")
        conf.set("spark.driver.host", "127.0.0.1").set("spark.driver.bindAddress", "127.0.0.1")
        return SparkContext(conf=conf)

    def on_each_worker(self, context: SparkContext, function: Callable[[int], bytes]) -> list[bytes]:
        """Calls a function in each worker's process: all tasks of a barrier stage run at the same time.

        None ends before all have begun, lest a process gets two of them; barrier() would take a second for that.
        """
        workers = self.workers

        def call(_: Iterator[int]) -> Iterator[bytes]:
            number = BarrierTaskContext.get().partitionId()
            (Path(folder) / str(number)).touch()
            while sum(1 for _ in Path(folder).iterdir()) < workers:
                os.sched_yield()
            yield function(number)

        with tempfile.TemporaryDirectory(prefix="spark-") as folder:
            return list(context.parallelize(range(workers), workers).barrier().mapPartitions(call).collect())

    def run_stages(self, context: SparkContext, work: Workload) -> None:
        workers = self.workers
        columns = [(graph, point) for graph in range(work.graphs) for point in range(work.width(graph))]
        place = {column: index * workers // len(columns) for index, column in enumerate(columns)}
        sent: Any = context.parallelize([(column, (-1, b"")) for column in columns], workers)
        steps = max(work.steps(graph) for graph in range(work.graphs))
        for timestep in range(steps):

            def stage(partition: Iterator[Any], timestep: int = timestep) -> Iterator[Message]:
                for column, received in partition:
                    yield from Here.execute(timestep, column, received)

            sent = sent.groupByKey(workers, place.__getitem__).mapPartitions(stage)
            if timestep % AHEAD == AHEAD - 1:
                sent.cache().localCheckpoint()  # of one that isn't cached, Python's part would be done again
                sent.count()
        sent.count()

    def close(self) -> None:
        if self.context:
            self.context.stop()


def end_program() -> NoReturn:
    """For a worker's process that has ended amid a run. Spark does not say how; a kill is the usual cause."""
    print("error: the process of a worker has ended", file=sys.stderr, flush=True)
    os._exit(128 + SIGKILL)  # Spark's machine ends when this process has


if __name__ == "__main__":
    # Imported once more by its name, so that workers' processes find this module instead of receiving it with each
    # stage.
    import spark_graph

    sys.exit(drive(spark_graph.Stages))
