"""A logged command is ended with all it started, or finished first, when Ctrl-C comes."""

import io
import os
from pathlib import Path

import psutil
import pytest
from rich.console import Console

from tefflab.systems.logged import Step, run_logged


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


def test_what_must_not_be_broken_off_goes_on_after_ctrl_c(tmp_path: Path) -> None:
    log = tmp_path / "log"
    os.mkfifo(tmp_path / "gate")
    script = f"cut -d ' ' -f 5 /proc/$$/stat; cat {tmp_path}/gate; echo done; echo over >{tmp_path}/gate"
    with pytest.raises(KeyboardInterrupt):
        run_logged(["sh", "-c", script], log, on_line=interrupt, apart=True)
    assert int(log.read_text().splitlines()[1]) != os.getpgrp(), "a terminal would have interrupted it, too"
    (tmp_path / "gate").write_text("go on\n")
    assert (tmp_path / "gate").read_text() == "over\n"
    assert log.read_text().splitlines()[2:] == ["go on", "done"]


def test_what_runs_apart_is_heard_to_its_last_line(tmp_path: Path) -> None:
    heard: list[str] = []
    command = ["sh", "-c", "echo one; echo two; exit 3"]
    assert run_logged(command, tmp_path / "log", on_line=heard.append, apart=True) == 3
    assert heard == ["one", "two"]


def test_where_no_terminal_shows_it_a_long_step_says_now_and_then_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    console = quiet()
    with Step(console, "building") as step:
        step.show("1 of 9 steps")
        step.show("2 of 9 steps")
        monkeypatch.setattr("tefflab.systems.logged.SAY_EVERY", 0.0)
        step.show("3 of 9 steps")
    lines = told(console).splitlines()
    assert lines[0] == "teff: building …"
    assert lines[1].startswith("teff: building 3 of 9 steps … (")
    assert lines[2].startswith("teff: building (")
