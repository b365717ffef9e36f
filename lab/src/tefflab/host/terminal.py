"""The two streams that the lab writes to: results go to stdout, progress goes to stderr; and how things look there."""

import codecs
import contextlib
import errno
import io
import locale
import os
import re
import sys
import unicodedata
from collections.abc import Iterable
from pathlib import Path

from rich.console import Console, ConsoleDimensions
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

_BLANKS_AT_END = re.compile(r" (?: |\x1b\[[\d;]*m)*\n")  # some of them in a style
_LEAST_WIDTH = 16  # columns; a narrower terminal breaks our lines itself
_UNKNOWN = ConsoleDimensions(80, 25)
_SIGNS = "µ u, μ u, ± +-, × x, ≤ <=, ≥ >=, ≈ ~, ∞ inf, – -, — -, · -, → ->, ↓ v, ○ o, ✓ +, ● *"
_IN_ASCII = dict(pair.split() for pair in _SIGNS.split(", "))
_BYTES_OF_NAMES = range(0xDC80, 0xDD00)  # as Python decodes bytes of a file's name that are no text


def prepare_streams() -> None:
    """Makes the standard streams fit to be written to: in the terminal's encoding, with ASCII or `?` for what it lacks.
    A closed stdin or stderr is the null device. OSError if stdout is closed: the next opened file would take its
    place."""
    for number in (0, 2):
        try:
            os.fstat(number)
        except OSError:
            null = os.open(os.devnull, os.O_RDWR)
            if null != number:
                os.dup2(null, number)
                os.close(null)
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - as long as the program runs
    if sys.stdout is None:
        raise OSError(errno.EBADF, "it is closed; give it a terminal, a file, a pipe or /dev/null", "standard output")
    codecs.register_error("teff", in_ascii)
    encoding = None if os.environ.get("PYTHONIOENCODING") else locale.getencoding()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream in (sys.__stdout__, sys.__stderr__):
            stream.reconfigure(encoding=encoding, errors="teff")


def flush_output() -> None:
    """Writes what stdout still holds. If its reader (`head`) has seen enough, the rest is dropped."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        drop_output()


def drop_output() -> None:
    """Lets what is still to be written to stdout go nowhere."""
    if sys.stdout is None:
        return
    with contextlib.suppress(OSError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)


def in_ascii(fault: UnicodeError) -> tuple[str | bytes, int]:
    """What is written instead of characters that a stream's encoding lacks."""
    if not isinstance(fault, UnicodeEncodeError):
        raise fault
    character = fault.object[fault.start]
    after = fault.start + 1
    if ord(character) in _BYTES_OF_NAMES:
        return bytes([ord(character) & 0xFF]), after
    plain = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
    return _IN_ASCII.get(character) or plain or "?", after


class _Sized(Console):
    """Its width is that of the terminal, or 80 columns if that is not known (COLUMNS=0)."""

    def on_broken_pipe(self) -> None:
        """Leaves it to `main`; rich would end the program with exit code 1."""
        raise

    @property
    def size(self) -> ConsoleDimensions:
        width, height = super().size
        return ConsoleDimensions(max(width, _LEAST_WIDTH) if width > 0 else _UNKNOWN.width, height or _UNKNOWN.height)

    @size.setter
    def size(self, new_size: tuple[int, int]) -> None:
        self._width, self._height = new_size


class _Trimmed(_Sized):
    """No line ends in blanks, with which rich fills those of tables and of broken text."""

    def _render_buffer(self, buffer: Iterable[Segment]) -> str:
        return _BLANKS_AT_END.sub(lambda found: found[0].replace(" ", ""), super()._render_buffer(buffer))


def output() -> Console:
    """Where results go."""
    return _Trimmed(highlight=False)


def progress() -> Console:
    """Where progress, warnings and errors go, so that stdout can be piped."""
    return _Sized(stderr=True, highlight=False)


def is_redrawn(console: Console) -> bool:
    """Whether what stands there can be drawn again. FORCE_COLOR says nothing about moving a cursor."""
    is_one = console.is_terminal and ("FORCE_COLOR" not in os.environ or console.file.isatty())
    return is_one and not console.is_dumb_terminal


def say(text: str) -> None:
    """A line on standard error that begins with our name. Only a terminal breaks it between words."""
    console = _Trimmed(stderr=True, highlight=False)
    console.print(Text(f"teff: {text}"), soft_wrap=not is_redrawn(console))


def path_text(path: Path) -> str:
    """A path as it is shown to a user, who can open it: from the current folder if it lies in that, else in full."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def titled_table(title: str, *columns: str) -> Table:
    """Without lines, its title at the left. The first column has words, and the others have numbers."""
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, header_style="dim")
    for number, name in enumerate(columns):
        table.add_column(name, justify="right" if number else "left", no_wrap=number > 0)
    return table
