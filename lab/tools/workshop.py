"""The place where a step of `teff dev test` works: the checkout, and a separate log."""

import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

from tefflab.systems.logged import run_logged
from tefflab.systems.registry import Registry
from tools.counting import BROKEN, PASSED, Count

_COMPILING = Lock()  # a compiler takes all cores: of the steps that run side by side, one builds at a time
_LAST = 4096  # bytes of a log's end that hold its last line


class SkippedError(Exception):
    """A step that can't be done here; the message says why."""


class Workshop:
    """The tools and the log of the step `name`. `quick` asks it to leave out slow parts; `systems` are those that the
    user names."""

    def __init__(self, registry: Registry, name: str, *, quick: bool, systems: Sequence[str] = ()) -> None:
        self.registry = registry
        self.root = root = registry.root
        self.systems = systems
        self.quick = quick
        self.log = root / ".teff" / "log" / f"test-{name}.log"
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self.log.write_bytes(b"")
        self.junit = self.log.with_suffix(".xml")  # what ctest or pytest writes of its tests
        self.junit.unlink(missing_ok=True)
        self._followed = self.log
        self._started = time.monotonic()

    @property
    def seconds(self) -> float:
        """Seconds since the step began."""
        return time.monotonic() - self._started

    def ask(self, *command: str | Path, folder: Path | None = None) -> Count:
        """Runs a command that passes or fails as a whole."""
        code = run_logged([str(word) for word in command], self.log, folder=folder or self.root, append=True)
        return BROKEN if code else PASSED

    def note(self, line: str) -> None:
        """Adds a line to the log of the step."""
        with self.log.open("a", encoding="utf-8") as log:
            log.write(line + "\n")

    def said(self) -> str:
        """All that the step has said."""
        return self.log.read_text(encoding="utf-8", errors="replace")

    def last_line(self) -> str:
        """The newest line of the step's output, for the live display."""
        try:
            with self._followed.open("rb") as log:
                log.seek(max(0, self._followed.stat().st_size - _LAST))
                lines = log.read().decode(errors="replace").splitlines()
        except FileNotFoundError:
            return ""
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    @contextmanager
    def compiling(self, followed: Path) -> Iterator[None]:
        """Waits until no other step builds; `followed` is the log that the build writes meanwhile."""
        with _COMPILING:
            self._followed = followed
            try:
                yield
            finally:
                self._followed = self.log

    def sources(self, *patterns: str) -> list[str]:
        """Files of the checkout that git tracks or would, so that nothing built is looked at."""
        listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns]
        answer = subprocess.run(listing, cwd=self.root, capture_output=True, text=True, check=False)
        if answer.returncode != 0:
            raise SkippedError(f"git does not list the files: {answer.stderr.strip()}")
        return [name for name in answer.stdout.splitlines() if (self.root / name).is_file()]

    def tool(self, *names: str) -> str:
        """The first of the tools that is here."""
        found = next((path for name in names if (path := shutil.which(name))), None)
        if found is None:
            raise SkippedError(f"{names[0]} is not here")
        return found
