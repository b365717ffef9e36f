"""Asking a program who it is: `PROGRAM --identity` answers with one JSON line."""

import contextlib
import os
import subprocess
from collections.abc import Mapping, Sequence

import psutil
from pydantic import BaseModel, ConfigDict, ValidationError

_GRACE = 2.0  # seconds between asking a program to end and ending it


class Identity(BaseModel):
    """What a program says of itself. What else it says is not looked at."""

    model_config = ConfigDict(extra="ignore")

    system: str
    variant: str
    version: str | None = None


class IdentityError(Exception):
    """The program did not say who it is; the message is the reason in one line."""


def ask_identity(command: Sequence[str], *, environment: Mapping[str, str], timeout: float) -> Identity:
    """Runs `command` with `environment` added to ours, for at most `timeout` seconds.

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
        _end(process)
    if process.returncode != 0:
        raise IdentityError(f"{_how_it_ended(process.returncode)}{_last_line(err, before=': ')}")
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


def _how_it_ended(code: int) -> str:
    return f"--identity was ended by signal {-code}" if code < 0 else f"--identity failed with {code}"


def _last_line(text: str, *, before: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return f"{before}{lines[-1][:200]}" if lines else ""


def _end(process: "subprocess.Popen[str]") -> None:
    """Ends the program and all it started: launchers give their ranks process groups of their own."""
    if process.poll() is not None:
        return
    family = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
    for end in (psutil.Process.terminate, psutil.Process.kill):
        for member in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                end(member)
        _, family = psutil.wait_procs(family, timeout=_GRACE)
    for pipe in (process.stdout, process.stderr):
        if pipe:
            pipe.close()
