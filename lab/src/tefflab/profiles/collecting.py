"""Runs a program of the user's, plain and with the collectors, and reads what these leave.

The program's streams are the user's. The plain run tells the time, and the other one tells where it goes.
"""

import errno
import json
import os
import re
import resource
import select
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any

import psutil

from tefflab.errors import InputError
from tefflab.host.processes import answer, end
from tefflab.host.terminal import progress, say
from tefflab.output.quantities import duration
from tefflab.profiles.accounts import read_accounts
from tefflab.profiles.pricing import Price
from tefflab.profiles.states import SHARED, Observed
from tefflab.profiles.timeline import SEGMENTS, write_timeline
from tefflab.profiles.trace_accounts import ranks_of
from tefflab.systems.building import Build
from tefflab.systems.registry import Registry
from tefflab.systems.setup import alone

_COLLECTOR, _COLLECTOR_OF_RANKS = "teff_collect", "teff_collect_mpi"
_LAUNCHERS = ("mpirun", "mpiexec", "orterun", "prterun", "srun", "mpiexec.hydra", "mpirun.openmpi", "mpirun.mpich")
_BETWEEN = ":"  # programs of a launcher's command line
_MEMORY = "/dev/shm"
_ROOM = 1 << 25  # bytes: a thread takes 16 KiB at least, and containers may have few
_PERIOD = "1000"  # microseconds from sample to sample
_SHORTEST_SAMPLED = 0.1  # seconds
_GRACE = 2.0  # seconds in which an interrupted program may end by itself
_PIPE = "Its input is a pipe, which only the first run could read: say --runs 1, or give a file"
_NO_LINES = "Without addr2line, which is of binutils, a line is an offset in its module"
_SIGNALLED = 128  # plus the signal: the exit code of a shell


@dataclass(frozen=True)
class Run:
    """One run of a program; its exit code is that of a shell. Other programs took `others` of the cores' seconds
    meanwhile."""

    seconds: float
    cpu_seconds: float
    exit_code: int
    others: float = 0.0
    interrupted: bool = False


@dataclass(frozen=True)
class Collected:
    """The plain runs, if there were any, the collected one, and what it left; `faults` say what could not be read."""

    plain: tuple[Run, ...]
    collected: Run
    observed: Observed
    faults: tuple[str, ...]

    @property
    def seconds(self) -> float:
        """Of the quickest run, undisturbed. If that is the collected run, the cost of collecting is lost in noise."""
        return min(map(self.undisturbed, (*self.plain, self.collected)))

    def undisturbed(self, run: Run) -> float:
        """The run's seconds without the time in which other programs had its cores. The accounts have this time of the
        collected run. A plain run sleeps as long as that, and is quicker by the CPU time that collecting took. If a
        plain run takes longer, other programs had its cores, as far as their own CPU time allows."""
        width = max(1.0, self.observed.width)
        at_a_time = max(1.0, sum(each.elapsed for each in self.observed.processes) / self.collected.seconds)
        lost = self.observed.displaced / width + self.observed.displaced_outside / at_a_time
        own = self.collected.seconds - lost
        if run is self.collected:
            return own
        quickest = own - (self.collected.cpu_seconds - run.cpu_seconds) / width
        return run.seconds - min(max(0.0, run.seconds - quickest), run.others / width)

    @property
    def disturbed(self) -> float:
        """The share of the time in which other programs had the cores, of the collected run or of the quickest one."""
        used = (self.collected, min((*self.plain, self.collected), key=self.undisturbed))
        return max(1 - self.undisturbed(run) / run.seconds for run in used)

    @cached_property
    def price(self) -> Price:
        return Price(self.observed, self.seconds, self.undisturbed(self.collected), self.disturbed)

    @property
    def exit_code(self) -> int:
        return next((run.exit_code for run in (*self.plain, self.collected) if run.exit_code), 0)


def collector(registry: Registry, command: Sequence[str]) -> Path:
    """The library that is loaded into the command's programs; built if that is needed."""
    build = Build(registry, progress())
    target = _COLLECTOR_OF_RANKS if any(map(_may_use_mpi, command)) else _COLLECTOR
    with alone(registry.root, progress()):
        build.make(target=target)
    return build.folder / "lib" / f"lib{target}.so"


def _may_use_mpi(word: str) -> bool:
    """Whether a word of a command is a launcher, a program with MPI, or a script, which may start one. A library that
    asks whether the program has MPI would take the collector's functions for MPI's own."""
    if not (path := shutil.which(word)):
        return False
    told = answer(["ldd", path]) if shutil.which("ldd") else None
    is_without = told is not None and told.returncode == 0 and "libmpi" not in told.stdout
    return Path(word).name in _LAUNCHERS or not is_without


def collect(
    command: Sequence[str], library: Path, runs: int, timeline: Path | None = None, stdout: int | None = None
) -> Collected:
    """`runs`: of them one with the collectors, which comes second. `stdout` takes the place of the user's. A `timeline`
    is written into this file."""
    if shutil.which(command[0]) is None:
        is_there = "/" in command[0] and Path(command[0]).exists()
        why = "it is there, but can't be executed" if is_there else "there is no program of that name"
        raise InputError(f"{command[0]} can't be started: {why}")
    done: list[Run] = []

    def run(how: str, variables: Mapping[str, str]) -> Run:
        """A line says which run begins. The program may write to the same terminal, so nothing is drawn there later."""
        last = f" ({duration(done[-1].seconds)} for the last one)" if done else ""
        say(f"run {len(done) + 1} of {runs} of {command[0]}, {how}{last}")
        done.append(_run(command, variables, stdout))
        return done[-1]

    plain = [run("plain", {})] if runs > 1 else []
    if plain and plain[0].interrupted:
        return Collected((), plain[0], Observed(()), ())
    lacks_input = bool(plain) and stat.S_ISFIFO(os.fstat(0).st_mode)
    asks = " and asks" if sys.stdin.isatty() else ""
    again = f": it prints{asks} again{f'. {_PIPE}' * lacks_input}" if plain else ""
    # Processes that go on in the background may add files while the folder is removed.
    with tempfile.TemporaryDirectory(prefix="teff-explain-", dir=_memory(), ignore_cleanup_errors=True) as name:
        folder = Path(name)
        variables = _loading(library, folder) | ({"TEFF_SEGMENTS": str(SEGMENTS)} if timeline else {})
        collected = run(f"with the collector{again}", variables | {"TEFF_TRACE": str(folder / "trace-%p.json")})
        accounts, traces = read_accounts(folder, time.monotonic()), list(_traces(folder))
        processes = accounts.processes
        if timeline:
            say(write_timeline(traces, accounts, timeline))
        if traced := ranks_of(traces):  # whose messages are MPI's, too
            processes = traced + [each for each in processes if any(site.kind in SHARED for site in each.sites)]
            writing = sum(each.writing for each in traced)  # one after the other
            used = collected.cpu_seconds - writing
            collected = replace(collected, seconds=collected.seconds - writing, cpu_seconds=used)
        is_unseen = not processes and not accounts.faults and not collected.interrupted
        if is_unseen and collected.seconds > _SHORTEST_SAMPLED:
            runs += 1
            how = "with samples, as no runtime that teff knows was seen"
            collected = run(how, variables | {"TEFF_SAMPLE": _PERIOD})
            accounts = read_accounts(folder, time.monotonic())
            processes = accounts.processes
    while len(done) < runs and not collected.interrupted:
        plain.append(run("plain", {}))
    remarks = {_PIPE: lacks_input, _NO_LINES: shutil.which("addr2line") is None}
    faults = (*accounts.faults, *(each for each, holds in remarks.items() if holds and processes))
    return Collected(tuple(plain), collected, Observed(tuple(processes), collected.others), faults)


def _traces(folder: Path) -> Iterator[Mapping[str, Any]]:
    """Of libteff's runtimes. A runtime that has not ended leaves a torn file."""
    for file in sorted(folder.glob("*.json")):
        with suppress(json.JSONDecodeError):
            yield json.loads(file.read_text(encoding="utf-8"))


def _memory() -> str | None:
    """The folder in memory. None if it has no room: threads may wait for the disk of another folder."""
    has_room = os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free >= _ROOM
    return _MEMORY if has_room else None


def _loading(library: Path, folder: Path) -> dict[str, str]:
    """The variables by which a program loads the collector, besides what it loads and says by them anyway."""
    if re.search(r"[\s:]", str(library)):  # to the dynamic linker, a path ends there
        link = folder / library.name
        link.symlink_to(library)
        library = link
    loading = {"LD_PRELOAD": str(library), "ASAN_OPTIONS": "verify_asan_link_order=0"}  # ASan wants to be the first
    users = {name: os.environ.get(name) for name in loading}
    both = {name: f"{word}:{users[name]}" if users[name] else word for name, word in loading.items()}
    for_tbb = {"INTEL_LIBITTNOTIFY64": str(library), "INTEL_ITTNOTIFY_GROUPS": "stitch,sync"}
    return both | for_tbb | {"TEFF_COLLECT": str(folder)}


def launched(command: Sequence[str], variables: Mapping[str, str]) -> list[str]:
    """The command with `env NAME=VALUE ...` before its program. A launcher of ranks begins each of its programs so, and
    does not get the variables itself."""
    setting = ["env", *(f"{name}={value}" for name, value in variables.items())]
    if Path(command[0]).name not in _LAUNCHERS:
        return [*setting, *command]
    found: list[str] = []
    for is_between, part in groupby(command[1:], key=lambda word: word == _BETWEEN):
        words = list(part)
        at = next((place for place, word in enumerate(words) if _is_program(word)), len(words))
        found += words if is_between or at == len(words) else [*words[:at], *setting, *words[at:]]
    return [command[0], *found]


def _is_program(word: str) -> bool:
    """Whether a launcher's word is the program, and no option or an option's value."""
    return not word.startswith("-") and shutil.which(word) is not None


def _run(command: Sequence[str], variables: Mapping[str, str], stdout: int | None) -> Run:
    """InputError if the program can't be started. A file that is its input is read from the same place again."""
    words = launched(command, variables) if variables else list(command)
    is_file = stat.S_ISREG(os.fstat(0).st_mode)
    begin = os.lseek(0, 0, os.SEEK_CUR) if is_file else 0
    used, busy = _cpu_seconds(), _busy_seconds()
    began, interrupted = time.monotonic(), False
    try:
        process = subprocess.Popen(words, stdout=stdout)
    except OSError as failure:
        way_out = "; the first line of a script names its shell, as #!/bin/sh" * (failure.errno == errno.ENOEXEC)
        raise InputError(f"{command[0]} can't be started: {failure.strerror}{way_out}") from None
    try:
        code = _awaited(process)
    except KeyboardInterrupt:  # the terminal has told the program, too
        interrupted = True
        code = _ended(process)
    took, cpu = time.monotonic() - began, _cpu_seconds() - used
    if is_file:
        os.lseek(0, begin, os.SEEK_SET)
    others = max(0.0, _busy_seconds() - busy - cpu)
    return Run(took, cpu, code if code >= 0 else _SIGNALLED - code, others, interrupted)


def _cpu_seconds() -> float:
    """Of this process's children that have ended."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def _busy_seconds() -> float:
    """Of all cores of this machine since it began."""
    try:
        spent = psutil.cpu_times()
    except OSError:  # without /proc
        return 0.0
    return float(sum(getattr(spent, name, 0.0) for name in ("user", "nice", "system", "irq", "softirq", "steal")))


def _awaited(process: "subprocess.Popen[bytes]") -> int:
    """Looks up once a second: a signal that another thread got interrupts no wait of this thread."""
    ends = os.pidfd_open(process.pid)
    try:
        while not select.select([ends], [], [], 1.0)[0]:
            pass
    finally:
        os.close(ends)
    return process.wait()


def _ended(process: "subprocess.Popen[bytes]") -> int:
    try:
        return process.wait(_GRACE)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        end(process)
        return process.returncode or -signal.SIGINT


def why_unseen(command: Sequence[str], run: Run) -> str:
    """Why nothing was seen of a program, as far as its file tells, or that of a program which it starts."""
    if run.interrupted:
        return "it was interrupted before that"
    if (number := run.exit_code - _SIGNALLED) in signal.valid_signals():
        return f"it was ended by signal {number} ({signal.strsignal(number)}), and no parallel region was seen before"
    for word in (command[0], *(word for word in command[1:] if "/" in word and ".so" not in word)):
        path = Path(shutil.which(word) or "")
        if path.is_file() and path.stat().st_mode & (stat.S_ISUID | stat.S_ISGID):
            return f"{word} runs with another user's rights (setuid), and then the system loads nothing into it"
        told = answer(["readelf", "-lW", str(path)]) if path.is_file() and shutil.which("readelf") else None
        if told and told.returncode == 0 and "LOAD" in told.stdout and "INTERP" not in told.stdout:
            return f"{word} is linked statically, so nothing can be loaded into it"
    why = [
        "it began no parallel region of OpenMP (libgomp, libomp) or oneTBB, and no MPI",
        "had no runtime of libteff's that ended before the program did",
        "could write no accounts (after chroot or setuid, without a free file descriptor)",
        "went on in the background",
    ]
    if run.cpu_seconds > _SHORTEST_SAMPLED:
        others = "static or setuid ones, ones without its LD_PRELOAD, or of another user"
        return f"{', or '.join(why)}, or starts programs that the collector can't enter: {others}"
    return f"{', or '.join(why)}; and it took too little CPU time to be sampled"
