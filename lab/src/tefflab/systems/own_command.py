"""Users' own commands in the place of systems' programs."""

import contextlib
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import PrivateAttr

from tefflab.errors import InputError
from tefflab.systems.systems import Program

WORKERS = "{workers}"  # in a command stands for their number
_BETWEEN = "---"  # commands on a command line


class OwnCommand(Program):
    """Nothing is installed or built for it."""

    _text: str = PrivateAttr("")

    @classmethod
    def of(cls, text: str, benchmark: str, id_: str) -> "OwnCommand":
        one = cls(benchmark=benchmark, name="command", title=text, program="run_own_command.py", slow_start=True)
        one.id, one._text = id_, text
        return one

    @property
    def simulated(self) -> str:
        """The machine that it simulates, if it does so."""
        return ""

    def command_line(self, workers: int, ranks: int | None = None, nodes: int | None = None) -> list[str]:
        del ranks, nodes
        script = Path(__file__).with_name(self.program)
        command = self._text.replace(WORKERS, str(workers))
        words = ["/bin/sh", "-c", command]
        with contextlib.suppress(ValueError):  # a quote that does not end
            split = shlex.split(command)
            words = split if split and shlex.join(split) == command else words  # nothing in it is for a shell
        return [sys.executable, "-I", "-S", str(script), self.benchmark, *words]


def own_texts(own: Mapping[str, Any]) -> list[str]:
    """The commands that follow `--`, with --- between them. A command of one word may be a line for the shell. So is
    the option `command` of earlier versions. The first may stand there again, for it is measured against itself anyway.
    InputError for an empty command, for an option in the place of one, and for another that stands there twice."""
    if line := own.get("command"):
        return [str(line)]
    parts: list[list[str]] = [[]]
    for word in own.get("commands", ()):
        if word == _BETWEEN:
            parts.append([])
        else:
            parts[-1].append(word)
    if parts == [[]]:
        return []
    if not all(any(word.strip() for word in words) for words in parts):
        raise InputError("a command before or behind --- is empty: name it, or leave --- out")
    first, *others = map(_text, parts)
    others = [text for text in others if text != first]
    if option := next((text for text in (first, *others) if text.startswith("-")), ""):
        raise InputError(f"{option}: no command; options stand before --, as in teff measure --help")
    if twice := [text for text in others if others.count(text) > 1]:
        raise InputError(f"{twice[0]}: stands there twice; the first command is measured against itself anyway")
    return [first, *others]


def _text(words: Sequence[str]) -> str:
    plain = [word.replace(WORKERS, "1") for word in words]
    quoted = [word if shlex.quote(one) == one else shlex.quote(word) for word, one in zip(words, plain, strict=True)]
    return words[0] if len(words) == 1 else " ".join(quoted)
