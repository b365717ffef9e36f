"""Writes files as a whole or not at all, also where a signal ends the command or the disk is full."""

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tefflab.errors import InputError


def write_whole(file: Path, content: str | bytes) -> None:
    """Writes a file, and its folder if there is none. OSError, which names the file: then it is as it was. A link stays
    one, and what is no file (`/dev/stdout`, a pipe) is written to and not replaced."""
    content = content if isinstance(content, bytes) else content.encode()
    file = file.resolve()
    if file.exists() and not (file.is_file() or file.is_dir()):
        file.write_bytes(content)
        return
    part = file.with_name(f".{file.name}.part")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(content)
        part.replace(file)
    except OSError as error:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        error.filename = str(file)
        raise


@contextmanager
def writing(option: str, file: Path | None) -> Iterator[None]:
    """Within it the file that an option names is written. InputError where that can't be done. No folder is made for a
    name that was mistyped."""
    try:
        if file is not None:
            file.parent.stat()
        yield
    except OSError as error:
        raise InputError(f"{option} {file}: {error.strerror}; name a file that can be written") from None


def kept_json(file: Path) -> Any:
    """The state in a file; None if there is none that can be read: then it is made again."""
    try:
        return json.loads(file.read_bytes())
    except (OSError, ValueError):
        return None
