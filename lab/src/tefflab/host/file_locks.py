"""Locks on files: the system takes them from a process that ends, however it ends."""

import errno
import fcntl
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from tefflab.host.terminal import say

_NO_LOCKS = {errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK}  # Lustre without -o flock, some NFS and FUSE mounts


@contextmanager
def locked(fd: int, file: Path) -> Iterator[None]:
    """With the lock of an open file."""
    _take(fd, file)
    try:
        yield
    finally:
        with suppress(OSError):
            fcntl.flock(fd, fcntl.LOCK_UN)


@contextmanager
def held(file: Path, busy: Callable[[str], None]) -> Iterator[None]:
    """With a lock whose file is there as long. If another process has it, `busy` is told that process's name, and may
    raise; else this process waits. A file that a killed process has left is the next one's."""
    lock = _opened(file)
    try:
        try:
            _take(lock, file, fcntl.LOCK_NB)
        except BlockingIOError:
            busy(os.pread(lock, 1000, 0).decode() or "another process")
            _take(lock, file)
        while not (file.exists() and os.path.samestat(file.stat(), os.fstat(lock))):  # removed by the process before
            os.close(lock)
            lock = _opened(file)
            _take(lock, file)
        os.truncate(lock, 0)
        os.pwrite(lock, f"process {os.getpid()} on {socket.gethostname()}".encode(), 0)
        try:
            yield
        finally:
            file.unlink(missing_ok=True)
    finally:
        os.close(lock)


def _opened(file: Path) -> int:
    return os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)


def _take(fd: int, file: Path, how: int = 0) -> None:
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
