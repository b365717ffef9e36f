"""Locks on files: the system takes them from a process that ends, however it ends."""

import errno
import fcntl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from tefflab.host.terminal import say

_NO_LOCKS = {errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK}  # Lustre without -o flock, some NFS and FUSE mounts


def take_lock(fd: int, file: Path, *, waits: bool = True) -> None:
    """Takes the lock of an open file, which ends with the descriptor. Where the file system has no locks, says so once
    and goes on. BlockingIOError if another process has it and this one does not wait."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        _warn(file.parent)


@contextmanager
def locked(fd: int, file: Path) -> Iterator[None]:
    """With the lock of an open file."""
    take_lock(fd, file)
    try:
        yield
    finally:
        with suppress(OSError):
            fcntl.flock(fd, fcntl.LOCK_UN)


@cache
def _warn(folder: Path) -> None:
    say(f"the file system of {folder} has no locks: let no two teffs use this folder at once")
