"""Only one process measures a sitting at a time: its rounds are counted from what is there when it begins."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tefflab.errors import TeffError
from tefflab.host.file_locks import take_lock


@contextmanager
def measured_alone(folder: Path, sitting: str) -> Iterator[None]:
    """TeffError, with the name of that process, if another process measures this sitting of the store at `folder`.

    The system takes the lock from a process that is killed; the file that is left then is the next one's.
    """
    file = folder / f".{sitting}.lock"
    lock = _locked(file)
    while lock is None:
        lock = _locked(file)
    try:
        os.truncate(lock, 0)
        os.pwrite(lock, f"process {os.getpid()} on {socket.gethostname()}".encode(), 0)
        yield
    finally:
        file.unlink(missing_ok=True)
        os.close(lock)


def _locked(file: Path) -> int | None:
    """The open file; None where the process that had it removed it meanwhile."""
    lock = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        take_lock(lock, file, waits=False)
        if file.exists() and os.path.samestat(file.stat(), os.fstat(lock)):
            return lock
    except BlockingIOError:
        who = os.pread(lock, 1000, 0).decode() or "another process"
        os.close(lock)
        raise TeffError(
            f"{who} measures the sitting {file.name[1:].removesuffix('.lock')} of {file.parent}: wait for its end, "
            "or leave out --resume to begin another"
        ) from None
    os.close(lock)
    return None
