"""A kind of benchmark that the lab has never heard of is measured, stored and resumed, and shown, reported and
compared."""

import errno
import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import toy_benchmark
from conftest import teff, write_system
from tefflab.benchmarks import benchmark
from tefflab.cli import publishing
from tefflab.cli.tree import measuring
from tefflab.measure.batch import BatchProgram
from tefflab.records.store import Store

PROGRAM = Path(__file__).parent / "simulated_toy_program.py"


@pytest.fixture
def root(commanded: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A checkout with two systems of spawn adapters, whose programs run the toy benchmark."""
    for name, seconds in (("quick", 1e-6), ("slow", 3e-6)):
        toml = (
            f'[[program]]\nbenchmark = "spawn"\nname = "one"\ntitle = "{name}"\n'
            f'program = "{str(PROGRAM).replace("toy", "{benchmark}")}"\n'
            f'command = ["{sys.executable}", "{{program}}", "{name}", "{seconds}"]\n'
        )
        write_system(commanded, name, toml)
    known = (*benchmark.benchmarks(), toy_benchmark.BENCHMARK)
    for module in ("tefflab.benchmarks.benchmark", "tefflab.measure.comparing"):
        monkeypatch.setattr(f"{module}.benchmarks", lambda: known)
    monkeypatch.setattr("tefflab.benchmarks.declared._file", lambda: None)
    measuring.cache_clear()
    yield commanded
    measuring.cache_clear()


@pytest.mark.parametrize("named", [("--systems", "pool,quick"), ()])
def test_a_system_whose_program_nothing_builds_is_named_beside_those_that_are_measured(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], named: tuple[str, ...]
) -> None:
    toml = '[[program]]\nbenchmark = "spawn"\nname = "one"\ntitle = "pool"\nprogram = "pool_{benchmark}"\n'
    write_system(root, "pool", toml)
    assert teff(monkeypatch, "measure", "toy", *named, "--workers", "1", "--rounds", "2") == (1 if named else 0)
    told = [line for line in capsys.readouterr().err.splitlines() if "pool" in line]
    last = ["teff: asked for by name and not measured, or not to the end: pool"]
    assert told == ["teff: pool: pool_toy has not been built", *(last if named else [])]


@pytest.mark.usefixtures("root")
def test_the_last_words_say_who_is_first_what_that_means_and_what_to_try_next(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert teff(monkeypatch, "measure", "toy", "--workers", "1", "--rounds", "4", "--store", "small") == 0
    said = " ".join(capsys.readouterr().out.split())
    assert re.search(
        r"quick is first or level in (\d+) of \1 places?; a toy costs what it costs\. Try next: \./teff", said
    )
    assert "./teff compare quick slow small" in said


@pytest.mark.usefixtures("root")
@pytest.mark.parametrize(
    ("workers", "said"), [("1,1", "1 worker;"), ("1,01", "1 worker;"), ("1,2", "1 and 2 workers;")]
)
def test_one_worker_is_counted_as_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], workers: str, said: str
) -> None:
    assert teff(monkeypatch, "measure", "toy", "--workers", workers, "--rounds", "2") == 0
    assert f"; {said}" in capsys.readouterr().err


@pytest.mark.usefixtures("root")
def test_pictures_on_a_full_disk_are_said_to_be_missing_and_how_to_get_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))  # as a file says it that was open already

    monkeypatch.setattr(publishing, "save", full)
    assert teff(monkeypatch, "measure", "toy", "--workers", "1", "--rounds", "2", "--store", "small") == 1
    told = capsys.readouterr().err.splitlines()[-1]
    assert "results/small/" in told
    assert told.endswith("(No space left on device); the measured runs are kept; mend that, then ./teff report small")


@pytest.mark.slow
def test_a_new_kind_of_benchmark_needs_one_file(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []
    real = BatchProgram.ask

    def interrupted(program: BatchProgram, line: str, timeout: float) -> str:
        asked.append(line)
        if len(asked) == 30:
            raise KeyboardInterrupt
        return real(program, line, timeout)

    measure = ["measure", "toy", "--workers", "1,2", "--rounds", "4"]
    with monkeypatch.context() as patched:
        patched.setattr(BatchProgram, "ask", interrupted)
        assert teff(monkeypatch, *measure, "--store", "before") == 130
    assert "to go on: ./teff measure toy --resume --store before" in capsys.readouterr().err
    assert teff(monkeypatch, "measure", "toy", "--resume", "--store", "before", "--rounds", "4") == 0
    told = capsys.readouterr()
    for words in (
        "short, 1 worker: after a short night",
        "short, 2 workers",
        "long, 1 worker",
        "a nap",
        "slept",
        "90 %",
        "x 3",
    ):
        assert words in told.out
    assert "long, 2 workers" not in told.out, "it makes sense for one worker only"
    assert "quick: round 4" in told.err or "quick: round 3" in told.err
    (folder,) = (each for each in (root / "results" / "before").iterdir() if each.is_dir())
    names = {f"toy-{case}.{end}" for case in ("short", "long") for end in ("png", "svg")}
    assert {file.name for file in folder.iterdir()} == names | {"report.html"}

    assert teff(monkeypatch, "show", "before", "--json") == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["case"], row["workers"], row["system_id"]) for row in rows[:2]] == [
        ("short", 1, "quick"),
        ("short", 1, "slow"),
    ]
    assert rows[0]["value"] == pytest.approx(1e-6, rel=0.05)
    report = (folder / "report.html").read_text()
    assert "short, 2 workers" in report
    assert report.count("<svg") == 2, "a picture a case"
    kept = [json.loads(line) for line in (root / "results" / "before" / "estimates.jsonl").read_text().splitlines()]
    assert {line["benchmark"] for line in kept} == {"toy"}
    assert {line["configuration"] for line in kept} == {"-nap short", "-nap long"}
    assert not Store.open(root / "results" / "before").damage()

    assert teff(monkeypatch, *measure, "--store", "after", "--cases", "short") == 0
    capsys.readouterr()
    assert teff(monkeypatch, "compare", "before", "after") == 0
    assert "4 of 4 agree" in capsys.readouterr().out
    assert teff(monkeypatch, "compare", "slow", "quick", "--store", "after", "--json") == 0
    compared = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {each["kind"] for each in compared} == {"toy"}
    assert [each["ratio"]["value"] for each in compared] == pytest.approx([3, 3], rel=0.1)
    assert teff(monkeypatch, "measure", "toy", "--help") == 0
    assert capsys.readouterr().out.startswith("Example:  teff measure toy --cases short\n")
