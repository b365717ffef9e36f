# mypy: allow-untyped-calls, allow-untyped-decorators, allow-any-unimported
"""TensorFlow: a task is an op, a tf.function the graph of many timesteps. TensorFlow's executor runs each op once its
inputs are there, on its inter-op threads.

Functions are traced before the timed region, one for all timesteps that look alike. A call passes the first timestep
and the outputs of the timestep before, and returns the outputs of the function's last timestep.
"""

import ctypes
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from importlib.metadata import version
from itertools import groupby, islice, zip_longest
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "task_graph" / "python"))
from teff_bench import Adapter, Identity, Outcome, Workload, drive

OPS = Path(__file__).parents[3] / ".teff" / "build" / "lib" / "libtensorflow_task.so"
TASKS = 1024  # of a function, about: calling one takes as long as some tens of tasks

Row = tuple[tuple[int, tuple[int, ...]], ...]  # the tasks of a timestep: their points, and those that they read
Timestep = tuple[Row, ...]  # by graph
Outputs = list[dict[int, Any]]  # by graph and point
Function = Callable[[Any, list[Any]], list[Any]]


class Functions(Adapter):
    """TensorFlow is imported by the first run."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.flags = ""
        self.traced: dict[Any, Function] = {}  # for these flags
        self.tensorflow: Any = None

    def describe(self) -> Identity:
        config = self.tensorflow and self.tensorflow.config.threading
        threads = config.get_inter_op_parallelism_threads() if config else 0
        return Identity("tensorflow", "function", version("tensorflow-cpu"), threads)

    def run(self, work: Workload) -> Sequence[Outcome]:
        if self.tensorflow is None:
            self.start()
        if work.flags != self.flags:
            # A function learns how long its ops take, and runs short ones in a row. With other flags its ops may be
            # long.
            self.flags, self.traced = work.flags, {}
        sizes = tuple(work.output_bytes(graph) for graph in range(work.graphs))
        calls: list[tuple[Any, Function]] = []
        points: list[list[int]] = [[] for _ in sizes]  # the inputs of the next function
        first = 0
        for steps in functions(work):
            calls.append((self.tensorflow.constant(first, "int64"), self.function(sizes, points, steps)))
            first += len(steps)
            for graph, row in enumerate(steps[-1]):
                points[graph] = [point for point, _ in row]
        self.library.teff_tensorflow_run(work.handle, self.workers)
        outputs: list[Any] = []
        work.start()
        for timestep, function in calls:
            outputs = function(timestep, outputs)
        work.stop()
        return []

    def start(self) -> None:
        tensorflow = self.tensorflow = import_module("tensorflow")
        tensorflow.config.threading.set_inter_op_parallelism_threads(self.workers)
        tensorflow.config.threading.set_intra_op_parallelism_threads(1)
        # Its optimiser knows nothing of these ops; it would look at each of them before a function's first call.
        tensorflow.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
        self.ops = tensorflow.load_op_library(str(OPS))
        self.library = ctypes.CDLL(str(OPS))
        self.library.teff_tensorflow_run.argtypes = [ctypes.c_void_p, ctypes.c_int32]

    def function(self, sizes: tuple[int, ...], points: list[list[int]], steps: Sequence[Timestep]) -> Function:
        """The function of these timesteps, which is given the outputs of these points: graph by graph."""
        key = (sizes, tuple(map(tuple, points)), tuple(steps))
        if key not in self.traced:
            self.traced[key] = self.trace(sizes, points, steps)
        return self.traced[key]

    def trace(self, sizes: tuple[int, ...], points: list[list[int]], steps: Sequence[Timestep]) -> Function:
        tensorflow = self.tensorflow
        first = tensorflow.TensorSpec([], "int64")
        given = [tensorflow.TensorSpec([size], "uint8") for size, each in zip(sizes, points, strict=True) for _ in each]

        @tensorflow.function(input_signature=[first, given], autograph=False)
        def run(first: Any, tensors: list[Any]) -> list[Any]:
            before = iter(tensors)
            outputs = [dict(zip(each, islice(before, len(each)), strict=True)) for each in points]
            every: list[Any] = []
            for timestep, rows in enumerate(steps):
                outputs = [
                    self.row(first, graph, timestep, row, outputs[graph], sizes[graph])
                    for graph, row in enumerate(rows)
                ]
                every += (output for row in outputs for output in row.values())
            with tensorflow.control_dependencies(every):  # an op whose output has no reader would be left out
                return [tensorflow.identity(output) for row in outputs for output in row.values()]

        function = run.get_concrete_function()
        self.library.teff_tensorflow_run(None, self.workers)
        zeros = (tensorflow.zeros(each.shape, each.dtype) for each in [first, *given])
        function(*zeros)  # its first call has the function optimised, and an executor made
        return lambda first, tensors: function(first, *tensors)

    def row(self, first: Any, graph: int, timestep: int, row: Row, before: dict[int, Any], size: int) -> dict[int, Any]:
        return {
            point: self.ops.teff_task(
                first, [before[each] for each in inputs], graph=graph, timestep=timestep, point=point, bytes=size
            )
            for point, inputs in row
        }


def functions(work: Workload) -> Iterator[list[Timestep]]:
    """All timesteps, in parts for a function each. The first timestep has a separate function: its tasks read
    nothing."""
    all_steps: Iterator[Timestep] = zip_longest(*(rows(work, graph) for graph in range(work.graphs)), fillvalue=())
    yield list(islice(all_steps, 1))
    width = sum(work.width(graph) for graph in range(work.graphs))
    while part := list(islice(all_steps, max(1, TASKS // width))):
        yield part


def rows(work: Workload, graph: int) -> Iterator[Row]:
    for _, row in groupby(work.tasks(graph), key=lambda task: task.timestep):
        yield tuple((task.point, tuple(task.inputs)) for task in row)


if __name__ == "__main__":
    sys.exit(drive(Functions))
