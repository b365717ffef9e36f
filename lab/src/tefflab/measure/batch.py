"""A bench program in batch mode: started once, it answers a line of flags with a record, as often as it is asked. While
another program is measured, it is suspended with everything it started."""

import contextlib
import errno
import os
import selectors
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path

import psutil

from tefflab.errors import TeffError
from tefflab.host.batch_system import why_allocation_is_over
from tefflab.host.processes import end, family, how_it_ended
from tefflab.host.ranks import last_words, lost_node

_LEAVE = 3.0  # seconds to end by itself once its input is closed
_CHUNK = 1 << 16


class ProgramError(TeffError):
    """A program that died, hung or answered nonsense; the message says which, and its last words."""


class LackingError(ProgramError):
    """A program whose system lacks the requested part, and says so."""


class LostNodeError(ProgramError):
    """A node does not answer its launcher. No system is to blame."""


class LostAllocationError(TeffError):
    """The job in which the lab runs has lost its nodes. No system is to blame."""


class LateError(ProgramError):
    """A program that did not answer in time: it hangs, or the machine was too busy for it."""


@contextlib.contextmanager
def _bound_to(cores: Collection[int]) -> Iterator[None]:
    """What this thread starts within it is bound to these cores, where some are given."""
    usual = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores or usual)
    try:
        yield
    finally:
        os.sched_setaffinity(0, usual)


class BatchProgram(contextlib.AbstractContextManager["BatchProgram"]):
    """One program in batch mode. Use it in a `with`: it is ended, with all it started, when that is left."""

    def __init__(
        self, name: str, command: Sequence[str], environment: Mapping[str, str], cores: Collection[int] = ()
    ) -> None:
        """Starts it, bound to these cores where some are given. Raises ProgramError where that can't be done."""
        self.name = name
        self.command = " ".join(command)
        self._words = tempfile.TemporaryFile()  # noqa: SIM115 - its last words, kept as long as it runs
        self._pending = b""
        self._members: list[psutil.Process] = []  # known once it has answered: by then it has started all it needs
        variables = {**os.environ, **environment}
        try:
            if shutil.which(command[0], path=variables.get("PATH")) is None:  # its launcher would only say how it ended
                why = errno.EACCES if Path(command[0]).exists() else errno.ENOENT
                raise OSError(why, os.strerror(why))
            # The system ends the program where the lab is killed. A suspended one would stay.
            starter = shutil.which("setpriv")
            with _bound_to(cores):
                self._process = subprocess.Popen(
                    [*((starter, "--pdeathsig", "KILL") if starter else ()), *command, "--batch"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=self._words,
                    env=variables,
                    start_new_session=True,  # the lab handles Ctrl-C, and first keeps the measured runs
                )
        except OSError as error:
            self._words.close()
            raise ProgramError(f"{name}: {command[0]} can't be started: {error.strerror}") from None

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.close(patiently=kind is None)

    @property
    def pid(self) -> int:
        return self._process.pid

    def ask(self, line: str, timeout: float) -> str:
        """The line of JSON with which the program answers `line`; it runs until it is suspended. LateError where it
        does not answer in `timeout` seconds, ProgramError where it has ended."""
        assert self._process.stdin is not None
        self.resume()
        try:
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.flush()
        except (BrokenPipeError, ValueError):
            raise self._ended() from None
        while not (answer := self._read_line(time.monotonic() + timeout, timeout)).lstrip().startswith("{"):
            pass  # launchers like to talk before the program does
        if not self._members:
            self._members = family(self._process.pid)
        return answer

    def suspend(self) -> None:
        """Stops it and all it started until `resume` or the next question; takes no CPU meanwhile."""
        self._signal(psutil.Process.suspend)

    def resume(self) -> None:
        self._signal(psutil.Process.resume)

    def close(self, patiently: bool = True) -> None:
        """Ends it: by the end of its input where `patiently`, else at once."""
        self.resume()
        if patiently:
            with contextlib.suppress(BrokenPipeError, subprocess.TimeoutExpired):
                if self._process.stdin is not None:
                    self._process.stdin.close()
                self._process.wait(_LEAVE)
        end(self._process)
        self._words.close()

    def _signal(self, send: Callable[[psutil.Process], None]) -> None:
        for member in self._members:
            with contextlib.suppress(psutil.NoSuchProcess):
                send(member)

    def _read_line(self, deadline: float, timeout: float) -> str:
        assert self._process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._pending:
                # An answer that is there is read however late it is: it may have been the lab that was stopped.
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    late = LateError(f"{self.name}: did not answer within {timeout:.0f} s{last_words(self._said())}")
                    raise self._lost() or late
                chunk = os.read(self._process.stdout.fileno(), _CHUNK)
                if not chunk:
                    raise self._ended()
                self._pending += chunk
        line, self._pending = self._pending.split(b"\n", maxsplit=1)
        return line.decode(errors="replace")

    def _ended(self) -> TeffError:
        how = "closed its output and did not end"
        with contextlib.suppress(subprocess.TimeoutExpired):
            how = f"{how_it_ended(self._process.wait(_LEAVE))} without answering"
        return self._lost() or ProgramError(f"{self.name}: {how}{last_words(self._said())}")

    def _lost(self) -> TeffError | None:
        """The error that is no program's."""
        if node := lost_node(self._said()):
            return LostNodeError(f"node {node} does not answer")
        state = why_allocation_is_over()
        return LostAllocationError(f"the allocation has ended ({state}), and another one can go on") if state else None

    def _said(self) -> str:
        self._words.seek(0)
        return self._words.read().decode(errors="replace")
