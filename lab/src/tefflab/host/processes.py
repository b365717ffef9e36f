"""A program together with all it started: launchers give their ranks process groups of their own."""

import contextlib
import math
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence

import psutil

_LOOK = 1.0  # seconds between two looks at a command that runs
_GRACE = 2.0  # seconds between asking a program to end and ending it


def family(pid: int) -> list[psutil.Process]:
    """The process and all its descendants; empty where it has ended."""
    try:
        head = psutil.Process(pid)
        return [head, *head.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def end_all(members: Sequence[psutil.Process]) -> None:
    """Asks the processes to end, stopped ones too, and ends those that do not."""
    left = list(members)
    for ask in (psutil.Process.terminate, psutil.Process.kill):
        for member in left:
            with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):  # sudo's ends by itself
                member.resume()  # a stopped process would not see the signal
                ask(member)
        _, left = psutil.wait_procs(left, timeout=_GRACE)


def end(process: "subprocess.Popen[str] | subprocess.Popen[bytes]") -> None:
    """Ends the program and all it started, and lets its pipes go. Does nothing twice."""
    if process.poll() is None:
        end_all(family(process.pid))
    with contextlib.suppress(ChildProcessError, subprocess.TimeoutExpired):
        process.wait(_GRACE)
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe:
            with contextlib.suppress(BrokenPipeError):
                pipe.close()


def answer(
    command: Sequence[str],
    *,
    environment: Mapping[str, str] | None = None,
    timeout: float = math.inf,
    stdin: str = "",
    look: Callable[[], object] = lambda: None,
) -> "subprocess.CompletedProcess[str]":
    """The output of a command, with `environment` added to the lab's. OSError if it can't be started. TimeoutExpired
    after so many seconds: then the command is ended with all it started. `look` is called each second."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        errors="replace",
        env={**os.environ, **(environment or {})},
    )
    deadline, rest = time.monotonic() + timeout, iter([stdin])
    try:
        while True:
            try:
                said = process.communicate(next(rest, None), min(_LOOK, max(deadline - time.monotonic(), 0.0)))
                return subprocess.CompletedProcess(command, process.returncode, *said)
            except subprocess.TimeoutExpired:
                look()
                if time.monotonic() >= deadline:
                    raise
    finally:
        end(process)


def how_it_ended(code: int) -> str:
    """How a program with this code ended. A launcher ends with 128 + the signal that ended one of its processes."""
    if code < 0:
        return f"was ended by signal {-code} ({signal.Signals(-code).name})"
    of_one = ""
    with contextlib.suppress(ValueError):
        of_one = f" (as where one of its processes is ended by {signal.Signals(code - 128).name})"
    return f"ended with exit code {code}{of_one}"
