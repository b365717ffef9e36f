"""Users' own commands in the place of systems' programs."""

import contextlib
import shlex
import sys
from collections.abc import Mapping, Sequence
from itertools import groupby
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
    the option `command` of earlier versions. InputError for an empty command, and for one that stands there twice."""
    if line := own.get("command"):
        return [str(line)]
    parts = groupby(own.get("commands", ()), key=lambda word: word == _BETWEEN)
    texts = [_text(list(words)) for is_between, words in parts if not is_between]
    if not all(text.strip() for text in texts):
        raise InputError("a command between --- and --- is empty: leave it out, or name it")
    if twice := [text for text in texts if texts.count(text) > 1]:
        raise InputError(f"{twice[0]}: stands there twice; the first command is measured against itself anyway")
    return texts


def _text(words: Sequence[str]) -> str:
    plain = [word.replace(WORKERS, "1") for word in words]
    quoted = [word if shlex.quote(one) == one else shlex.quote(word) for word, one in zip(words, plain, strict=True)]
    return words[0] if len(words) == 1 else " ".join(quoted)
