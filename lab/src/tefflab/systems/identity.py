"""Asks a program for its identity: `PROGRAM --identity` answers with one JSON line."""

import os
import subprocess
from collections.abc import Mapping, Sequence

from pydantic import BaseModel, ConfigDict, ValidationError

from tefflab.host.processes import end, how_it_ended


class Identity(BaseModel):
    """A program's identity. The lab ignores all other keys."""

    model_config = ConfigDict(extra="ignore")

    system: str
    variant: str
    version: str | None = None


class IdentityError(Exception):
    """The program did not give its identity; the message is the reason in one line."""


def ask_identity(command: Sequence[str], *, environment: Mapping[str, str], timeout: float) -> Identity:
    """Runs `command` with `environment` added to the lab's, for at most `timeout` seconds.

    Raises IdentityError where it can't be started, fails, hangs, or answers something else.
    """
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env={**os.environ, **environment},
        )
    except OSError as error:
        raise IdentityError(f"{command[0]} can't be started: {error.strerror}") from None
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        raise IdentityError(f"did not say who it is within {timeout:g} s") from None
    finally:
        end(process)
    if process.returncode != 0:
        raise IdentityError(f"--identity {how_it_ended(process.returncode)}{_last_line(err, before=': ')}")
    return _parsed(out)


def _parsed(out: str) -> Identity:
    """The last line that is a JSON object; launchers like to talk before it."""
    for line in reversed(out.splitlines()):
        if line.lstrip().startswith("{"):
            try:
                return Identity.model_validate_json(line)
            except ValidationError:
                break
    raise IdentityError(f"answers --identity with something else{_last_line(out, before=': ')}")


def _last_line(text: str, *, before: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return f"{before}{lines[-1][:200]}" if lines else ""
