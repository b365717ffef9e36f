"""Reads the files of accounts that the collector leaves, one a process (collect/src/accounts.hpp has the layout).

Files are read as they are: a process that crashed, or that still runs, leaves what was seen until then.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np

from tefflab.profiles.states import DELAYED, SAMPLE, WAITS, Process, Site, bin_of, within
from tefflab.profiles.symbols import Place, has_line, names_of

VERSION = 4
FIRST_OCTAVE, BINS_PER_OCTAVE = 4, 4
MAGIC = b"teffacct"
_ADDS_UP = 0.03  # of a thread's time: by so much its accounts may differ
_RUNTIMES = {"libtbb": "oneTBB"}  # whose users have another name than their library
_NO_ROOM = "there was no room for accounts: its disk is full, or ulimit -f is low"
_SUFFIX = re.compile(r"(-[0-9a-f]{8})?\.so.*")  # of a library in a wheel of Python's, with a digest
_AT_WORK = 0.01  # of a thread's time on a core, by samples: a thread below it only sleeps
_RARE = 0.001  # of a process's bodies: others than known sites have fewer, or it is told

MODULE = np.dtype([("begin", "<u8"), ("end", "<u8"), ("path", "S496")])
MOMENT = np.dtype([("ticks", "<u8"), ("nanoseconds", "<u8")])
HEADER = np.dtype(
    [
        ("magic", "S8"),
        *((name, "<u4") for name in ("version", "processors", "process", "parent", "modules_used", "seats")),
        *((name, "<u4") for name in ("lost_threads", "clock_reads_tsc")),
        *((name, "<u8") for name in ("own", "started", "ended", "real_time", "displaced")),
        ("first", MOMENT),
        ("last", MOMENT),
        ("states", "S16", 16),
        ("kinds", "S16", 16),
        ("rank", "<u4"),
        ("reserved", "u1", 3468),
        ("modules", MODULE, 120),
    ]
)
SITE = np.dtype(
    [
        ("address", "<u8"),
        *((name, "<u4") for name in ("module", "runtime", "what", "too_short")),
        *((name, "<u8") for name in ("count", "timed", "segments", "time", "longest", "recent")),
        *((name, "<u4") for name in ("recently", "turn")),
        ("ahead", "<u8"),
        *((name, "<u4") for name in ("partner", "function")),
        ("lengths", "<u8", 156),
    ]
)
BLOCK = np.dtype(
    [
        *((name, "<u4") for name in ("seat", "part", "thread", "threads", "now", "sites_used")),
        ("since", "<u8"),
        ("regions", "<u8"),
        ("times", "<u8", 16),
        ("segments_noted", "<u8"),
        ("open", "<u8"),
        ("delayed", "<u8"),
        ("open_what", "<u4"),
        ("reserved", "<u4", 15),
        ("sites", SITE, 12),
    ]
)


@dataclass(frozen=True)
class File:
    """The header and the used blocks; `rate` is a tick's seconds, `ended` the tick at which the process was last
    seen."""

    path: Path
    header: Any
    blocks: Any
    rate: float
    ended: int

    def names(self, field: str) -> list[str]:
        return [name.decode() for name in self.header[field]]

    def module(self, module: int) -> str:
        return str(self.header["modules"][module]["path"].decode(errors="replace"))

    @property
    def process(self) -> int:
        return int(self.header["process"])

    @property
    def name(self) -> str:
        rank = int(self.header["rank"])
        return f"rank {rank - 1}" if rank else f"process {self.process}"

    @property
    def seats(self) -> Any:
        """The blocks with the states of threads."""
        return self.blocks[self.blocks["part"] == 0]

    @property
    def records(self) -> list[Any]:
        """Of all sites that threads have met."""
        every = (record for block in self.blocks for record in block["sites"][: int(block["sites_used"])])
        return [record for record in every if record["count"]]

    def places(self, record: Any) -> Iterator[Place]:
        """The modules and offsets of a task's function and of its site, in this order. A site without room has no
        place."""
        path, begin = self.module(record["module"]), int(self.header["modules"][int(record["module"])]["begin"])
        if record["function"]:
            yield path, 1 + (int(record["function"]) - begin) % 2**32
        if record["address"]:
            yield path, int(record["address"]) - begin

    def site_name(self, record: Any, names: Mapping[Place, str]) -> str:
        """Compilers merge the calls that make tasks, and the functions of Clang's tasks have no names of their own."""
        named = [names[place] for place in self.places(record)]
        return next(filter(has_line, named), named[-1] if named else "elsewhere")


@dataclass(frozen=True)
class Accounts:
    """The files of a run, in the order in which their processes began; and a sentence for each file that can't be
    read."""

    files: list[File]
    faults: list[str]

    @cached_property
    def names(self) -> Mapping[Place, str]:
        """Of all places together: for each module, a program is asked once."""
        return names_of(place for file in self.files for record in file.records for place in file.places(record))

    @property
    def processes(self) -> list[Process]:
        """A process that replaces itself by `exec` is one before that and one after it."""
        last = {file.process: file for file in self.files}
        return [_process(file, self.names, goes_on=last[file.process] is not file) for file in self.files]


def read_accounts(folder: Path, until: float | None = None) -> Accounts:
    """`until`: when the program had ended, by the machine's monotonic clock in seconds, if that is known."""
    read = {path.name: _read_file(path, until) for path in sorted(folder.glob("*.accounts"))}
    files = sorted(
        (file for file in read.values() if isinstance(file, File)), key=lambda file: file.header["real_time"]
    )
    return Accounts(files, [f"{name}: {fault}" for name, fault in read.items() if isinstance(fault, str)])


def _read_file(path: Path, until: float | None) -> File | str:
    """Or why there is none."""
    content = path.read_bytes()
    if len(content) < HEADER.itemsize or not content.startswith(MAGIC):
        return "torn: it has no header of accounts" if content else _NO_ROOM
    header = np.frombuffer(content, HEADER, 1)[0]
    if int(header["version"]) != VERSION:
        return f"is of version {header['version']}, and this lab reads {VERSION}: build the collector anew"
    first, last = header["first"], header["last"]
    blocks: Any = np.frombuffer(content, BLOCK, (len(content) - HEADER.itemsize) // BLOCK.itemsize, HEADER.itemsize)
    blocks = blocks[blocks["seat"] > 0]
    if not len(blocks):
        return _NO_ROOM if int(header["lost_threads"]) else "no thread was seen in it"
    ticks = int(last["ticks"]) - int(first["ticks"])
    if ticks <= 0 and int(header["clock_reads_tsc"]):
        return "torn: its process ended before its clock was compared twice"
    rate = 1e-9 * (int(last["nanoseconds"]) - int(first["nanoseconds"])) / ticks if ticks > 0 else 1e-9
    ended = int(header["ended"]) or max(int(last["ticks"]), int(blocks["since"].max()))
    if blocks["open"].any():
        if until and not header["ended"]:
            ended = max(ended, int(first["ticks"]) + int((until - 1e-9 * int(first["nanoseconds"])) / rate))
        blocks = _with_open_bodies(blocks, ended, [name.decode() for name in header["states"]].index("body"))
    return File(path, header, blocks, rate, ended)


def _with_open_bodies(blocks: Any, ended: int, body: int) -> Any:
    """Counts the bodies that went on when the process ended: each has the time that its thread spent in bodies besides
    those that had ended."""
    blocks = blocks.copy()
    for first in blocks[blocks["open"] > 0]:
        own = blocks["seat"] == first["seat"]
        goes_on = max(0, ended - int(first["since"])) if first["now"] == body else 0
        left = int(first["times"][body]) + goes_on - int(blocks["sites"][own]["time"].sum())
        is_it = (
            own[:, None]
            & (blocks["sites"]["address"] == first["open"])
            & (blocks["sites"]["what"] == first["open_what"])
        )
        for block, site in zip(*is_it.nonzero(), strict=True) if left > 0 else ():
            record = blocks["sites"][block, site]
            for name in ("count", "timed", "segments"):
                record[name] += 1
            record["time"] += left
            record["lengths"][_bin_of(left)] += 1
    return blocks


def _bin_of(ticks: int) -> int:
    octave = max(FIRST_OCTAVE, ticks.bit_length() - 1)
    return (octave - FIRST_OCTAVE) * BINS_PER_OCTAVE + (ticks >> (octave - 2) & 3)


def _process(file: File, names: Mapping[Place, str], *, goes_on: bool) -> Process:
    header, states = file.header, file.names("states")
    threads: list[Mapping[str, float]] = []
    for block in file.seats:
        times = dict(zip(states, map(int, block["times"]), strict=False))
        times[states[int(block["now"])]] += max(0, file.ended - int(block["since"]))
        times[DELAYED] = int(block["delayed"])
        threads.append({state: file.rate * ticks for state, ticks in times.items() if state and ticks})
    kinds = file.names("kinds")
    if is_sampled := any(kinds[int(record["what"])] == SAMPLE for record in file.records):
        kinds[0] = SAMPLE  # those at further places, too
    every = [_site(file, record, kinds, names) for record in file.records]
    sites = tuple(site for site in every if site.kind not in WAITS)
    waits = tuple(sorted((site for site in every if site.kind in WAITS), key=lambda site: -site.seconds))
    elapsed = file.rate * (file.ended - int(header["started"]))
    remarks = tuple(_remarks(file, threads, sites, elapsed, goes_on=goes_on))
    if is_sampled:  # threads that only sleep have no part in the program: a virtual machine has many
        threads = [each for each in threads if _running(each) > _AT_WORK * within(each)] or threads
    return Process(
        file.name,
        tuple(threads),
        elapsed,
        sites=sites,
        regions=int(file.blocks["regions"].max()),
        remarks=remarks,
        waits=waits,
        began=1e-9 * int(header["real_time"]),
        displaced=1e-9 * int(header["displaced"]),
        cores=int(header["processors"]) or math.inf,
    )


def _running(thread: Mapping[str, float]) -> float:
    """A thread's seconds on a core, by samples."""
    return thread.get("body", 0.0) + thread.get("runtime", 0.0)


def _site(file: File, record: Any, kinds: Sequence[str], names: Mapping[Place, str]) -> Site:
    """Each segment of a body is longer by the collector's own part."""
    count = int(record["count"])
    own = int(file.header["own"]) * int(record["segments"])
    lengths = Counter[int]()
    for place_in, bodies in enumerate(map(int, record["lengths"])):
        if bodies:
            lengths[bin_of(file.rate * max(_middle(place_in) - own / count, 1.0))] += bodies
    library = _SUFFIX.sub("", Path(file.module(record["runtime"])).name)
    seconds = file.rate * max(0, int(record["time"]) - own)
    name, kind = file.site_name(record, names), kinds[int(record["what"])]
    if record["partner"]:
        name += f", most for rank {int(record['partner']) - 1}"
    return Site(name, kind, _RUNTIMES.get(library, library), count, seconds, Counter() if kind == SAMPLE else lengths)


def _middle(place: int) -> float:
    """Of a bin of the file, in ticks."""
    octave, part = divmod(place, BINS_PER_OCTAVE)
    return float(2 ** (FIRST_OCTAVE + octave) * (1 + (part + 0.5) / BINS_PER_OCTAVE))


def _remarks(
    file: File, threads: Sequence[Mapping[str, float]], sites: Sequence[Site], elapsed: float, *, goes_on: bool
) -> list[str]:
    """The faults of the accounts that a reader has to know."""
    found = []
    if not (int(file.header["ended"]) or goes_on):
        found.append("it did not end by itself: what was seen until then")
    if lost := int(file.header["lost_threads"]):
        found.append(f"nothing is known of {lost} more threads: the file of accounts could not grow")
    if elapsed > 0 and abs(sum(threads[0].values()) / elapsed - 1) > _ADDS_UP:
        found.append(f"the accounts of its first thread add up to {sum(threads[0].values()) / elapsed:.0%} of its time")
    every = file.seats
    stays = (every["regions"] == every["regions"].max()) & (every["threads"] <= 1)
    stayed = [within(thread) for thread in compress(threads, stays)]
    whole = max(stayed, default=0.0) * len(stayed)
    sampled = any(site.kind == SAMPLE for site in sites)  # then threads come and go at any time
    if whole > 0 and not sampled and abs(sum(stayed) / whole - 1) > _ADDS_UP:
        found.append(f"the accounts of its threads add up to {sum(stayed) / whole:.0%} of the time of its regions")
    others = sum(site.count for site in sites if site.kind == "others")
    if others > _RARE * sum(site.count for site in sites):
        found.append(f"{others} bodies are of sites for which there was no room")
    return found
