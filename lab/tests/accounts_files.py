"""Files of accounts as the collector writes them, for tests."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tefflab.profiles.accounts import BLOCK, HEADER, MAGIC, VERSION

STATES = [
    *("absent", "serial", "body", "counted", "creation", "dispatch", "imbalance", "task_not_made", "task_not_begun"),
    *("dependences", "message", "lock", "runtime", "start", "displaced", "wait"),
]
KINDS = [
    *("others", "region", "share", "chunk", "section", "single", "task", "taskloop"),
    *("between_waits", "point_to_point", "collective", "sample"),
]
RATE = 2  # ticks of a nanosecond
PROGRAM, RUNTIME = 0, 1  # modules


@dataclass(frozen=True)
class Bodies:
    """Of a site: so many of one length in nanoseconds, without the collector's part. The address is of a byte of the
    code, as is that of a task's function."""

    address: int
    kind: str
    count: int
    length: int
    partner: int | None = None
    function: int | None = None


@dataclass(frozen=True)
class Thread:
    """Its time by state, in nanoseconds; `now` is its state since `since`. The body that goes on has this address and
    kind."""

    times: Mapping[str, int]
    bodies: Sequence[Bodies] = ()
    regions: int = 1
    now: str = "serial"
    since: int | None = None
    goes_on: tuple[int, str] | None = None


@dataclass(frozen=True)
class Accounts:
    """A process that was observed for `elapsed` nanoseconds from 1000 ticks on."""

    threads: Sequence[Thread]
    elapsed: int
    own: int = 10  # nanoseconds of a segment
    module: str = "/nowhere/program"
    runtime: str = "/usr/lib/libgomp.so.1.0.0"
    header: Mapping[str, Any] = field(default_factory=dict)

    def content(self) -> bytes:
        header = np.zeros(1, HEADER)
        head, end = header[0], 1000 + RATE * self.elapsed
        head["magic"], head["version"] = MAGIC, VERSION
        head["clock_reads_tsc"] = 1
        head["process"], head["own"] = 42, RATE * self.own
        head["started"], head["ended"] = 1000, end
        head["first"], head["last"] = (1000, 500), (end, 500 + self.elapsed)
        head["states"][: len(STATES)], head["kinds"][: len(KINDS)] = STATES, KINDS
        head["modules"][PROGRAM]["path"], head["modules"][RUNTIME]["path"] = self.module, self.runtime
        for name, value in self.header.items():
            head[name] = value
        return header.tobytes() + b"".join(self._block(number, each) for number, each in enumerate(self.threads, 1))

    def _block(self, seat: int, thread: Thread) -> bytes:
        block = np.zeros(1, BLOCK)
        own = block[0]
        since = self.elapsed if thread.since is None else thread.since
        own["seat"], own["regions"] = seat, thread.regions
        own["now"], own["since"] = STATES.index(thread.now), 1000 + RATE * since
        own["sites_used"] = 1 + len(thread.bodies)
        if thread.goes_on:
            own["open"], own["open_what"] = thread.goes_on[0] + 1, KINDS.index(thread.goes_on[1])
        for state, time in thread.times.items():
            own["times"][STATES.index(state)] = RATE * time
        for place, each in enumerate(thread.bodies, 1):
            site, ticks = own["sites"][place], RATE * (each.length + self.own)
            site["address"], site["module"], site["runtime"] = each.address and each.address + 1, PROGRAM, RUNTIME
            site["what"], site["count"], site["timed"], site["segments"] = (
                KINDS.index(each.kind),
                each.count,
                each.count,
                each.count,
            )
            site["time"], site["longest"] = each.count * ticks, ticks
            site["partner"] = 0 if each.partner is None else 1 + each.partner
            site["function"] = each.function or 0
            octave = ticks.bit_length() - 1
            site["lengths"][(octave - 4) * 4 + (ticks >> (octave - 2) & 3)] = each.count
        return block.tobytes()
