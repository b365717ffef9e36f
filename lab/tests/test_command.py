"""`teff measure -- ./a --- ./b`: commands of the user in turns."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from conftest import teff
from tefflab.analysis.statistics import Interval
from tefflab.benchmarks.command import _verdict
from tefflab.errors import BAD_INPUT
from tefflab.measure.presence import Present
from tefflab.systems import run_own_command
from tefflab.systems.own_command import OwnCommand, own_texts

QUICK = "sleep 0.01"
SLOW = "sleep 0.2"


def rows(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.mark.usefixtures("commanded")
def test_commands_are_run_in_turns_and_each_two_of_them_are_compared(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("measure", "--json", "--rounds", "6", "--", *SLOW.split(), "---", *QUICK.split())
    assert teff(monkeypatch, *words) == 0
    found = rows(capsys)
    times = {row["system_id"]: row for row in found if row["quantity"] == "a run"}
    assert set(times) == {SLOW, QUICK}
    assert 0.01 < times[QUICK]["value"] < times[SLOW]["value"]
    assert {row["rounds"] for row in found} == {6}
    assert 0 < times[QUICK]["cpu_seconds"] < times[QUICK]["value"]
    pair, itself = (row for row in found if row["quantity"] == "A / B")
    assert (itself["system_id"], itself["case"]) == (SLOW, f"beside {SLOW} again")
    assert itself["low"] <= itself["value"] <= itself["high"]
    assert (pair["system_id"], pair["case"]) == (SLOW, f"beside {QUICK}")
    assert pair["value"] > 1
    assert pair["low"] <= pair["value"] <= pair["high"]
    assert teff(monkeypatch, "show") == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "significant" in told
    assert (
        f"can't be seen here in 6 turns ({told.split('turns (')[1].split(')')[0]}): so much {SLOW} may differ" in told
    )


def test_the_number_of_workers_is_filled_in_and_a_sitting_goes_on(
    commanded: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = f"echo {{workers}} >>{commanded}/counts"
    assert teff(monkeypatch, "measure", "--workers", "1,2", "--rounds", "2", "--store", "s", "--", command) == 0
    assert set((commanded / "counts").read_text().split()) == {"1", "2"}
    assert "1 worker" in capsys.readouterr().out
    assert teff(monkeypatch, "measure", "--resume", "--rounds", "4", "--store", "s") == 0
    assert "4 of them new" not in capsys.readouterr().err
    assert teff(monkeypatch, "measure", "--resume", "--store", "s", "--", "true") == BAD_INPUT


@pytest.mark.usefixtures("commanded")
@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("echo no input >&2; exit 3", "ended with exit code 3: no input"),
        ("./nowhere", "./nowhere can't be started: No such file or directory"),
        ("kill -9 $$", "ended with signal 9"),
    ],
)
def test_a_command_that_fails_says_its_last_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str, said: str
) -> None:
    assert teff(monkeypatch, "measure", "--rounds", "3", "--", "true", "---", command) == 1
    told = " ".join(capsys.readouterr().out.split())
    assert said in told
    assert "no turn" not in told, "the others go on"


@pytest.mark.usefixtures("commanded")
def test_the_first_command_says_its_last_words_although_it_is_run_under_two_names(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert teff(monkeypatch, "measure", "--rounds", "3", "--", "false", "---", "true") == 1
    told = capsys.readouterr()
    assert "ended with exit code 1" in told.out
    assert told.err.endswith("not measured, or not to the end: false\n")


@pytest.mark.usefixtures("commanded")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--",), "name a command behind --"),
        (("--", "true", "---", ""), "a command before or behind --- is empty"),
        (("--", "true", "---"), "a command before or behind --- is empty"),
        (("--", "true", "---", "---", "false"), "a command before or behind --- is empty"),
        (("--", "--help"), "--help: no command; options stand before --"),
        (("--workers", "2", "--", "true"), "--workers: no command has {workers} in it"),
        (("--", "false", "---", "true", "---", "true"), "true: stands there twice"),
        (("true", "x"), "true: a command of yours stands behind --: teff measure -- true x"),
        (("--load", "spin", "--rounds", "0", "--", "true"), "--rounds 0: give a whole number from 2 on"),
    ],
)
def test_what_is_no_measurement_is_refused_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    assert teff(monkeypatch, "measure", *words) == BAD_INPUT
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "text", "started"),
    [
        (["./a", "--threads", "{workers}"], "./a --threads {workers}", ["./a", "--threads", "2"]),
        (["echo", "a b"], "echo 'a b'", ["echo", "a b"]),
        (["sort x | uniq"], "sort x | uniq", ["/bin/sh", "-c", "sort x | uniq"]),
        (["it's"], "it's", ["/bin/sh", "-c", "it's"]),
    ],
)
def test_a_shell_starts_only_what_is_for_a_shell(words: list[str], text: str, started: list[str]) -> None:
    assert own_texts({"commands": words}) == [text]
    assert OwnCommand.of(text, "command", text).command_line(2)[5:] == started


@pytest.mark.usefixtures("commanded")
def test_a_command_beside_itself_says_with_an_interval_what_can_be_told_apart(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert own_texts({"commands": ["true", "---", "true"]}) == ["true"]
    assert teff(monkeypatch, "measure", "--rounds", "6", "--", *QUICK.split(), "---", *QUICK.split()) == 0
    title, _, pair, least, *_ = capsys.readouterr().out.partition("Beside itself")[2].splitlines()
    assert pair.startswith(f"{QUICK}  {QUICK} again")
    assert " – " in pair, "an interval"
    assert least.startswith("Differences below")
    assert not title


@pytest.mark.parametrize(
    ("ratio", "verdict"), [((0.5, 0.4, 0.6), "first"), ((2.0, 1.9, 2.2), "behind"), ((1.1, 0.9, 1.2), "level")]
)
def test_the_verdict_of_a_ratio_is_that_of_its_first_command(ratio: tuple[float, float, float], verdict: str) -> None:
    assert _verdict(Interval(*ratio)) == verdict


def test_each_of_a_few_commands_has_a_colour_of_its_own() -> None:
    commands = [OwnCommand.of(f"./{name}", "command", name) for name in "abcdef"]
    shown = {Present.of_user(each, number).variant.color for number, each in enumerate(commands)}
    assert len(shown) == len(commands)


def test_a_peak_of_memory_is_known_beyond_that_of_any_process() -> None:
    large = [sys.executable, "-c", "x = bytearray(10**8)"]
    assert run_own_command.run("command", large, 1, 10**7)["peak_rss_bytes"] > 10**8  # type: ignore[operator]
    assert "peak_rss_bytes" not in run_own_command.run("command", ["true"], 1, 10**9)


def test_gaps_are_parts_of_a_spin_on_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter([0, 10_000, 20_000, 520_000, 530_000, 1_030_000])
    monkeypatch.setattr(run_own_command.time, "perf_counter_ns", lambda: next(ticks))
    assert run_own_command.gap_share() == pytest.approx(1_000_000 / 1_030_000)


def test_hyperfine_s_scripts_read_an_export(
    commanded: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert teff(monkeypatch, "measure", "--rounds", "3", "--", "true", "---", *QUICK.split()) == 0
    capsys.readouterr()
    assert teff(monkeypatch, "export", "--as", "hyperfine", "-o", str(commanded / "h.json")) == 0
    results = {each["command"]: each for each in json.loads((commanded / "h.json").read_text())["results"]}
    assert set(results) == {"true", QUICK}
    one = results[QUICK]
    assert len(one["times"]) == len(one["exit_codes"]) == 3
    assert one["min"] <= one["median"] <= one["max"]
    assert one["mean"] == pytest.approx(sum(one["times"]) / 3)
    assert one["user"] + one["system"] < one["mean"]
    assert one["parameters"]["workers"] == str(len(os.sched_getaffinity(0)))
    assert {"stddev", "memory_usage_byte"} <= set(one)
