"""Only one process measures a sitting at a time: its rounds are counted from what is there when it begins."""

from contextlib import AbstractContextManager
from pathlib import Path

from tefflab.errors import TeffError
from tefflab.host.file_locks import held


def measured_alone(folder: Path, sitting: str) -> AbstractContextManager[None]:
    """TeffError, with the name of that process, if another process measures this sitting of the store at `folder`."""

    def refuse(process: str) -> None:
        raise TeffError(
            f"{process} measures the sitting {sitting} of {folder}: wait for its end, or leave out --resume to begin "
            "another"
        )

    return held(folder / f".{sitting}.lock", refuse)
