"""The one kind of error a user is meant to see: a clear line that quotes the fault, and an exit code."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError

BAD_INPUT = 2
FAILED = 1
INTERRUPTED = 130
_IN_OUR_WORDS = {"missing": "is missing", "extra_forbidden": "is none of the keys that may stand here"}  # of pydantic


class TeffError(Exception):
    """Something expected went wrong; the message names the value, the rule and the way out."""

    def __init__(self, message: str, *, exit_code: int = FAILED) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class InputError(TeffError):
    """The user's input was wrong: the exit code is `BAD_INPUT` (2)."""

    def __init__(self, message: str) -> None:
        super().__init__(message, exit_code=BAD_INPUT)


def first_fault(failure: "ValidationError") -> str:
    """The first fault of a pydantic failure as `place: fault`, and the number of further faults."""
    faults = failure.errors(include_url=False)
    fault = faults[0]
    where = ".".join(str(part) for part in fault["loc"])
    what = _IN_OUR_WORDS.get(fault["type"], fault["msg"].removeprefix("Value error, "))
    if what.startswith("Input "):  # pydantic's word for the value
        what = f"{shortened(repr(fault['input']), 40)} {what.removeprefix('Input ')}"
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    return f"{where}: {what}{more}" if where else f"{what}{more}"


def shortened(text: str, most: int = 120) -> str:
    """Without its middle, if it is longer."""
    half = (most - 1) // 2
    return text if len(text) <= most else f"{text[: most - 1 - half]}…{text[len(text) - half :]}"
