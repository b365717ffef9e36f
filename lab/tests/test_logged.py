"""A logged command is ended with all it started, or finished first, when Ctrl-C comes."""

import io
import os
import signal
from pathlib import Path

import psutil
import pytest
from rich.console import Console

from tefflab.logged import Step, finished_first, run_logged


def quiet() -> Console:
    return Console(file=io.StringIO(), width=500)


def told(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def interrupt(_: str) -> None:
    raise KeyboardInterrupt


def runs(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def test_ctrl_c_ends_a_command_with_all_it_started(tmp_path: Path) -> None:
    log, console = tmp_path / "log", quiet()
    command = ["sh", "-c", "sleep 1000 & echo $!; wait"]
    step = Step(console, "sleeping")
    step.show()
    with pytest.raises(KeyboardInterrupt), step:
        run_logged(command, log, on_line=interrupt)
    assert not runs(int(log.read_text().splitlines()[1]))
    assert "the same command goes on from there" in told(console)


def test_what_is_finished_first_hears_nothing_of_ctrl_c(tmp_path: Path) -> None:
    log, console = tmp_path / "log", quiet()

    def press(_: str) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    command = ["sh", "-c", "cut -d ' ' -f 5 /proc/$$/stat; echo done"]
    with pytest.raises(KeyboardInterrupt), finished_first(console, "it ends first"):
        run_logged(command, log, on_line=press, in_foreground=False)
    _, group, last = log.read_text().splitlines()
    assert last == "done"
    assert int(group) != os.getpgrp(), "a terminal would have told the command, too"
    assert told(console) == "teff: it ends first\n"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
