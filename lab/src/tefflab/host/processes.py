"""A program together with all it started: launchers give their ranks process groups of their own."""

import contextlib
import subprocess

import psutil

_GRACE = 2.0  # seconds between asking a program to end and ending it


def family(pid: int) -> list[psutil.Process]:
    """The process and all its descendants; empty where it has ended."""
    try:
        head = psutil.Process(pid)
        return [head, *head.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def end(process: "subprocess.Popen[str] | subprocess.Popen[bytes]") -> None:
    """Ends the program and all it started, stopped ones too, and lets its pipes go. Does nothing twice."""
    members = family(process.pid) if process.poll() is None else []
    for signal in (psutil.Process.terminate, psutil.Process.kill):
        for member in members:
            with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):  # sudo's ends by itself
                member.resume()  # a stopped process would not see the signal
                signal(member)
        _, members = psutil.wait_procs(members, timeout=_GRACE)
    with contextlib.suppress(ChildProcessError, subprocess.TimeoutExpired):
        process.wait(_GRACE)
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe:
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
