"""The task bench for adapters in Python: libteff_bench.so, as bench/task_graph/include/teff_bench.h describes it.

An adapter is a program that calls `drive` with a class derived from `Adapter`. Kernels run without the
interpreter's lock, so threads of one process execute tasks side by side.
"""

import ctypes
import itertools
import os
import signal
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from ctypes import POINTER, c_char, c_char_p, c_double, c_int32, c_int64, c_size_t, c_uint64, c_void_p
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

ABI_VERSION = 1
_LIBRARY = Path(__file__).parents[3] / ".teff" / "build" / "lib" / "libteff_bench.so.1"


class BenchError(Exception):
    """The library's message for a call that failed: one line with the value, the rule and the way out."""


class Outcome(ctypes.Structure):
    """The results of one process in a run. `bytes(outcome)` and `Outcome.from_buffer_copy` carry it to another
    process."""

    _fields_: ClassVar = [
        ("tasks", c_int64),
        ("dependencies", c_int64),
        ("flops", c_int64),
        ("bytes", c_int64),
        ("checksum", c_uint64),
        ("elapsed_seconds", c_double),
        ("cpu_seconds", c_double),
        ("voluntary_switches", c_int64),
        ("involuntary_switches", c_int64),
        ("gap_share_before", c_double),
        ("gap_share_after", c_double),
        ("error", c_char * 512),
    ]


class _Identity(ctypes.Structure):
    _fields_: ClassVar = [
        ("system", c_char_p),
        ("variant", c_char_p),
        ("version", c_char_p),
        ("workers", c_int32),
        ("ranks", c_int32),
    ]


# Result and arguments of each function that is used here.
_SIGNATURES: dict[str, tuple[type | None, list[type]]] = {
    "abi_version": (c_int32, []),
    "error": (c_char_p, []),
    "workload_new": (c_void_p, [c_char_p, c_int32]),
    "workload_free": (None, [c_void_p]),
    "flags": (c_char_p, [c_void_p]),
    "graphs": (c_int32, [c_void_p]),
    "steps": (c_int64, [c_void_p, c_int32]),
    "width": (c_int64, [c_void_p, c_int32]),
    "output_bytes": (c_int64, [c_void_p, c_int32]),
    "max_inputs": (c_int64, [c_void_p, c_int32]),
    "points": (c_int64, [c_void_p, c_int32, c_int64, POINTER(c_int64)]),
    "inputs": (c_int64, [c_void_p, c_int32, c_int64, c_int64, POINTER(c_int64), c_int64]),
    "consumers": (c_int64, [c_void_p, c_int32, c_int64, c_int64, POINTER(c_int64), c_int64]),
    "inputs_of_timestep": (c_int64, [c_void_p, c_int32, c_int64, POINTER(c_int64), POINTER(c_int64), c_int64]),
    "start": (None, [c_void_p]),
    "stop": (None, [c_void_p]),
    "execute": (
        c_int32,
        [
            c_void_p,
            c_int32,
            c_int64,
            c_int64,
            c_int32,
            c_void_p,
            c_size_t,
            POINTER(c_char_p),
            POINTER(c_size_t),
            c_int64,
        ],
    ),
    "fail": (None, [c_void_p, c_char_p]),
    "take_outcome": (None, [c_void_p, POINTER(Outcome)]),
    "session_open": (c_void_p, [c_int32, POINTER(c_char_p)]),
    "session_workers": (c_int32, [c_void_p]),
    "session_identify": (None, [c_void_p, POINTER(_Identity)]),
    "session_next": (c_void_p, [c_void_p, c_int32]),
    "session_answer": (None, [c_void_p, c_void_p, POINTER(Outcome), c_int32]),
    "session_close": (c_int32, [c_void_p]),
}


def _load() -> ctypes.CDLL:
    try:
        library = ctypes.CDLL(os.environ.get("TEFF_BENCH_LIBRARY", str(_LIBRARY)))
    except OSError as error:
        raise BenchError(
            f"the library of the task bench is not there: {error}; any command that measures builds it"
        ) from None
    for name, (result, arguments) in _SIGNATURES.items():
        function = getattr(library, f"teff_{name}")
        function.restype, function.argtypes = result, arguments
    if library.teff_abi_version() != ABI_VERSION:
        raise BenchError(f"{library._name} has ABI {library.teff_abi_version()}, and this is made for {ABI_VERSION}")
    return library


_lib = _load()


def _failure() -> BenchError:
    return BenchError(_lib.teff_error().decode())


@dataclass(frozen=True, slots=True)
class Task:
    """A task, and the points of the timestep before whose outputs it reads, in that order."""

    graph: int
    timestep: int
    point: int
    inputs: list[int]


class Workload:
    """One configuration made ready in this process, for `workers` workers (threads) that execute its tasks."""

    def __init__(self, flags: str, workers: int) -> None:
        """Raises BenchError where the flags are wrong."""
        handle = _lib.teff_workload_new(flags.encode(), workers)
        if not handle:
            raise _failure()
        self._take(handle, owned=True)

    @classmethod
    def _of_session(cls, handle: int) -> "Workload":
        work = cls.__new__(cls)
        work._take(handle, owned=False)
        return work

    def _take(self, handle: int, *, owned: bool) -> None:
        self._handle = handle
        self._owned = owned
        self._output_bytes = [_lib.teff_output_bytes(handle, graph) for graph in range(self.graphs)]
        self._numbers = itertools.count()
        self._thread = threading.local()

    def __del__(self) -> None:
        if getattr(self, "_owned", False):
            _lib.teff_workload_free(self._handle)

    @property
    def handle(self) -> int:
        """For extension modules that call the library themselves: the teff_workload*."""
        return self._handle

    @property
    def flags(self) -> str:
        """The flags that make the same configuration in another process."""
        return str(_lib.teff_flags(self._handle).decode())

    @property
    def graphs(self) -> int:
        return int(_lib.teff_graphs(self._handle))

    def steps(self, graph: int) -> int:
        return int(_lib.teff_steps(self._handle, graph))

    def width(self, graph: int) -> int:
        """The greatest number of points of a timestep."""
        return int(_lib.teff_width(self._handle, graph))

    def output_bytes(self, graph: int) -> int:
        return self._output_bytes[graph]

    def tasks(self, graph: int) -> Iterator[Task]:
        """All tasks of a graph, timestep by timestep."""
        width = self.width(graph)
        capacity = width * _lib.teff_max_inputs(self._handle, graph)
        first, starts, inputs = c_int64(), (c_int64 * (width + 1))(), (c_int64 * capacity)()
        for timestep in range(self.steps(graph)):
            count = _lib.teff_points(self._handle, graph, timestep, first)
            _lib.teff_inputs_of_timestep(self._handle, graph, timestep, starts, inputs, capacity)
            for k in range(count):
                yield Task(graph, timestep, first.value + k, inputs[starts[k] : starts[k + 1]])

    def exists(self, graph: int, timestep: int, point: int) -> bool:
        first = c_int64()
        count = _lib.teff_points(self._handle, graph, timestep, first)
        return bool(first.value <= point < first.value + count)

    def inputs(self, graph: int, timestep: int, point: int) -> list[int]:
        """The points at timestep - 1 whose outputs a task reads, in the order in which execute() wants them."""
        return self._points(_lib.teff_inputs, graph, timestep, point)

    def consumers(self, graph: int, timestep: int, point: int) -> list[int]:
        """The points at timestep + 1 that read a task's output."""
        return self._points(_lib.teff_consumers, graph, timestep, point)

    def _points(self, ask: Callable[..., int], graph: int, timestep: int, point: int) -> list[int]:
        room = self.width(graph)
        found = (c_int64 * room)()
        count = ask(self._handle, graph, timestep, point, found, room)
        return found[:count]

    def execute(self, graph: int, timestep: int, point: int, inputs: Sequence[bytes]) -> bytes:
        """Executes a task and returns its output. Threads are workers, in the order of their first task.

        Raises BenchError where it can't be executed at all (more threads than workers, say); a wrong input is
        remembered and makes the run a failed one.
        """
        worker = getattr(self._thread, "worker", None)
        if worker is None:
            worker = self._thread.worker = next(self._numbers)
        size, count = self._output_bytes[graph], len(inputs)
        output = ctypes.create_string_buffer(size)
        given, sizes = (c_char_p * count)(*inputs), (c_size_t * count)(*map(len, inputs))
        if _lib.teff_execute(self._handle, graph, timestep, point, worker, output, size, given, sizes, count):
            raise _failure()
        return output.raw

    def start(self) -> None:
        """Begins the timed region: all workers are ready, and no task has started."""
        _lib.teff_start(self._handle)

    def stop(self) -> None:
        """Ends it: all tasks, of all processes, are done."""
        _lib.teff_stop(self._handle)

    def fail(self, reason: str) -> None:
        """Makes the run a failed one; the first reason stands."""
        _lib.teff_fail(self._handle, reason.encode())

    def outcome(self) -> Outcome:
        """What this process's workers did. Not while a task is executing."""
        outcome = Outcome()
        _lib.teff_take_outcome(self._handle, outcome)
        return outcome


@dataclass(frozen=True)
class Identity:
    """Which system a record is about; `version` is the runtime's own.

    `workers` are those of all processes, counted, or asked of the runtime; 0 before it has started.
    """

    system: str
    variant: str
    version: str
    workers: int
    ranks: int = 1


class Adapter(ABC):
    """Our code for a system under test: it brings each task's inputs to it and calls Workload.execute."""

    local_workers: int | None = None  # in this process, if not all; 0 where all tasks are executed in others

    @abstractmethod
    def describe(self) -> Identity:
        """Asked before anything has to be run, and after each run: start nothing that takes long."""

    @abstractmethod
    def run(self, work: Workload) -> Sequence[Outcome]:
        """Executes every task of every graph between work.start() and work.stop().

        Returns the outcomes of all processes, or nothing where all was done in this one.
        """

    def close(self) -> None:  # noqa: B027  # most have nothing to close
        """Ends what run() started."""


def count_threads(pool: Executor, workers: int) -> int:
    """How many threads of a pool run as many tasks as `workers` at the same time; a task waits 10 seconds at most."""
    together = threading.Barrier(workers, timeout=10)

    def attend() -> int:
        with suppress(threading.BrokenBarrierError):
            together.wait()
        return threading.get_ident()

    return len({each.result() for each in [pool.submit(attend) for _ in range(workers)]})


def drive(make: Callable[[int], Adapter]) -> int:
    """The main program of an adapter: flags, batch mode, records. Returns the exit code.

    `make` receives the number of workers asked for.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Python's own handler waits until the library returns
    words = [word.encode() for word in sys.argv[1:]]
    session = _lib.teff_session_open(len(words), (c_char_p * len(words))(*words))
    if not session:
        print(f"error: {_failure()}", file=sys.stderr)
        return 2
    asked = _lib.teff_session_workers(session)
    adapter = make(asked)
    here = asked if adapter.local_workers is None else adapter.local_workers
    _identify(session, adapter.describe())
    try:
        while handle := _lib.teff_session_next(session, here):
            outcomes = _run(adapter, Workload._of_session(handle))
            _identify(session, adapter.describe())
            _lib.teff_session_answer(session, handle, (Outcome * len(outcomes))(*outcomes), len(outcomes))
    finally:
        adapter.close()
    return int(_lib.teff_session_close(session))


def _identify(session: int, who: Identity) -> None:
    names = (who.system.encode(), who.variant.encode(), who.version.encode())
    _lib.teff_session_identify(session, _Identity(*names, who.workers, who.ranks))


def _run(adapter: Adapter, work: Workload) -> Sequence[Outcome]:
    try:
        return adapter.run(work)
    except Exception as failure:
        work.fail(f"{type(failure).__name__}: {failure}")
        return []
