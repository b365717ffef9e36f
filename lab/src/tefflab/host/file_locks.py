"""Locks on files: the system takes them from a process that ends, however it ends."""

import errno
import fcntl
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from tefflab.host.terminal import say

_NO_LOCKS = {errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK}  # Lustre without -o flock, some NFS and FUSE mounts


@contextmanager
def held(file: Path, busy: Callable[[str], None]) -> Iterator[None]:
    """With a lock whose file is there as long; a killed process's file counts for nothing. If another process has it,
    `busy` is told that process's name, and may raise; else this process waits."""
    while True:
        with file.open("a+", encoding="utf-8") as opened:
            try:
                lock(opened.fileno(), file, fcntl.LOCK_NB)
            except BlockingIOError:
                opened.seek(0)
                busy(opened.read() or "another process")
                lock(opened.fileno(), file)
            if not (file.exists() and os.path.samestat(file.stat(), os.fstat(opened.fileno()))):
                continue  # the process before has removed it
            opened.truncate(0)
            opened.write(f"process {os.getpid()} on {socket.gethostname()}")
            opened.flush()
            try:
                yield
            finally:
                file.unlink(missing_ok=True)
            return


def lock(fd: int, file: Path, how: int = 0) -> None:
    """Takes the lock of an open file, which ends with the descriptor. If the file system has no locks, says so once."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | how)
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        _warn(file.parent)


@cache
def _warn(folder: Path) -> None:
    say(f"the file system of {folder} has no locks: let no two teffs use this folder at once")
