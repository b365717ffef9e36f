"""A user's own command in the place of a system's program."""

import sys
from pathlib import Path

from pydantic import PrivateAttr

from tefflab.systems.systems import Program

ID = "command"  # among variants


class OwnCommand(Program):
    """Nothing is installed or built for it. `{workers}` in the command stands for their number."""

    _text: str = PrivateAttr("")

    @classmethod
    def of(cls, text: str, benchmark: str) -> "OwnCommand":
        one = cls(benchmark=benchmark, name=ID, title=text, program="run_own_command.py")
        one._id, one._text = ID, text
        return one

    def command_line(self, workers: int, ranks: int | None = None) -> list[str]:
        del ranks
        script = Path(__file__).with_name(self.program)
        return [sys.executable, str(script), self._text.replace("{workers}", str(workers))]
