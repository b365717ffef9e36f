"""The one kind of error a user is meant to see: a clear line, and an exit code."""

BAD_INPUT = 2
FAILED = 1


class TeffError(Exception):
    """Something expected went wrong; the message names the value, the rule and the way out.

    `exit_code` is `BAD_INPUT` (2) where the user's input was wrong and `FAILED` (1) otherwise.
    """

    def __init__(self, message: str, *, exit_code: int = FAILED) -> None:
        super().__init__(message)
        self.exit_code = exit_code
