"""Which ways of a system a command measures: the best of each, those that are named, or all."""

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conftest import PROGRAM, printed_rows, teff, write_system
from samples import MACHINE
from tefflab.benchmarks.task_graph import BENCHMARK
from tefflab.cli import measuring, publishing, session
from tefflab.cli.session import Options
from tefflab.errors import TeffError
from tefflab.measure import presence
from tefflab.measure.presence import Selection
from tefflab.records.store import Store
from tefflab.systems import probing
from tefflab.systems.registry import Registry
from tefflab.systems.systems import System

EXPERIMENT = """
title = "One"
description = "One experiment"
kind = "metg"
charts = ["metg"]
rounds = 2
minutes = 1
"""


def ways(root: Path, name: str, *rows: tuple[str, str]) -> None:
    """A system whose programs have these names, and the other keys of each."""
    text = (
        f'[[program]]\nbenchmark = "task_graph"\nname = "{way}"\ntitle = "{way}"\nprogram = "{PROGRAM}"\n'
        f'command = ["{sys.executable}", "{{program}}", "{name}", "1e-6", "fine"]\n{more}\n'
        for way, more in rows
    )
    write_system(root, name, "".join(text))


@pytest.fixture
def root(laboratory: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, unrendered: None) -> Path:  # noqa: ARG001
    """A lake with three ways, the last the best; a pond with two, of which none is marked as the best."""
    monkeypatch.setattr(presence, "ensure", lambda *_, **__: {})
    monkeypatch.setattr(session, "warn_of_others", lambda _: None)
    monkeypatch.setattr("tefflab.measure.measurement.read_machine", lambda: MACHINE)
    folder = laboratory()
    ways(folder, "lake", ("first", ""), ("other", ""), ("last", "best = true"))
    ways(folder, "pond", ("first", ""), ("other", ""))
    return folder


def metg(root: Path, **changes: Any) -> None:
    command = BENCHMARK.commands[0]
    usual = Options(seconds=60, rounds=2, workers=(2,), store="test", as_json=True, own={"threshold": 0.5})
    measuring.run_command(Registry(root), BENCHMARK, command, replace(usual, **changes))


def others_of(root: Path) -> set[str]:
    """The variants of the same systems that its last sitting did not measure."""
    return set(Store.open(root / "results" / "test").sitting().plan["others"])


@pytest.mark.parametrize(
    ("said", "measured", "others"),
    [
        ({}, {"lake/last", "pond"}, {"lake/first", "lake/other", "pond/other"}),
        ({"systems": ("lake",)}, {"lake/last"}, {"lake/first", "lake/other"}),
        ({"systems": ("lake/other",)}, {"lake/other"}, set()),
        ({"systems": ("lake/first", "pond")}, {"lake/first", "pond"}, {"pond/other"}),
        ({"systems": ("lake", "lake/first")}, {"lake/last", "lake/first"}, {"lake/other"}),
        ({"all_variants": True}, {"lake/first", "lake/other", "lake/last", "pond", "pond/other"}, set()),
        ({"all_variants": True, "systems": ("pond",)}, {"pond", "pond/other"}, set()),
    ],
    ids=["nothing", "system", "way", "first", "both", "all", "all of one"],
)
def test_a_name_stands_for_the_best_way_and_a_longer_one_for_that_way(
    root: Path, capsys: pytest.CaptureFixture[str], said: dict[str, Any], measured: set[str], others: set[str]
) -> None:
    metg(root, **said)
    assert {row["system_id"] for row in printed_rows(capsys)} == measured
    assert others_of(root) == others


BEST_FIRST = ["lake/last", "lake/first", "lake/other"]


@pytest.mark.parametrize(
    ("said", "all_variants", "built"),
    [
        ((), False, [BEST_FIRST]),
        (("lake",), False, [BEST_FIRST]),
        (("lake/other",), False, [["lake/other"]]),
        (("lake", "lake/first"), False, [["lake/first"], BEST_FIRST]),
        (("pond",), True, [["lake/first"], ["lake/other"], ["lake/last"]]),
    ],
    ids=["nothing", "system", "way", "both", "all"],
)
def test_only_what_is_measured_is_built_and_another_way_where_the_best_can_not_be(
    root: Path, said: tuple[str, ...], all_variants: bool, built: list[list[str]]
) -> None:
    lake = next(each for each in Registry(root).systems if each.name == "lake")
    groups = Selection(Registry(root), BENCHMARK, said, all_variants).ways(lake)
    assert [[each.id for each in group] for group in groups] == built


def test_where_the_best_was_built_and_does_not_answer_the_others_are_built(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken(root, "exit 3")
    file = root / "bench" / "systems" / "lake" / "system.toml"
    file.write_text(file.read_text().replace(str(PROGRAM), "not_built", 1))
    asked: list[list[str]] = []

    def ensured(_: object, systems: Sequence[System], **__: object) -> dict[str, str]:
        asked.append([each.name for each in systems])
        return {}

    monkeypatch.setattr(presence, "ensure", ensured)
    Selection(Registry(root), BENCHMARK).here()
    assert asked == [["lake"]]


def test_a_row_can_be_measured_alone_by_what_the_table_calls_it(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    metg(root, all_variants=True)
    for row in printed_rows(capsys):
        metg(root, systems=(row["system_id"],))
        (alone,) = printed_rows(capsys)
        assert (alone["system_id"], alone["title"]) == (row["system_id"], row["title"])


def test_where_the_best_is_not_here_the_first_that_is_takes_its_place(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = root / "bench" / "systems" / "lake" / "system.toml"
    *before, last = file.read_text().split("[[program]]")
    file.write_text("[[program]]".join([*before, last.replace('"lake"', '"stranger"')]))
    metg(root, systems=("lake",))
    assert [row["system_id"] for row in printed_rows(capsys)] == ["lake/first"]
    assert others_of(root) == {"lake/other"}


def broken(root: Path, how: str) -> None:
    """The lake's best way does this in the place of everything that it is asked."""
    file = root / "bench" / "systems" / "lake" / "system.toml"
    *before, last = file.read_text().split("[[program]]")
    command = f'command = ["sh", "-c", "{how}", "{{program}}"]'
    last = "\n".join(command if line.startswith("command") else line for line in last.splitlines())
    file.write_text("[[program]]".join([*before, f"{last}\n"]))


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ("exit 3", "--identity ended with exit code 3"),
        ("echo no lake here >&2; exit 3", "--identity ended with exit code 3: no lake here"),
        ("exec sleep 60", "gave no identity within 3 s"),
    ],
)
@pytest.mark.parametrize("systems", [(), ("lake",), ("lake", "lake/last")], ids=["all", "system", "both"])
def test_who_is_measured_in_the_place_of_a_broken_best_way_is_said_once(
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    systems: tuple[str, ...],
    how: str,
    why: str,
) -> None:
    monkeypatch.setattr(probing, "COMPILED_TIMEOUT", 3.0)  # a busy machine starts Python in less
    monkeypatch.setattr(probing, "PYTHON_TIMEOUT", 3.0)
    broken(root, how)
    selection = Selection(Registry(root), BENCHMARK, systems)
    found = selection.measured(selection.here())
    assert "lake/first" in [each.variant.id for each in found]
    told = [line for line in capsys.readouterr().err.splitlines() if "lake" in line]
    assert told == [f"teff: lake/last: {why}; lake/first is measured instead"]


@pytest.mark.parametrize("said", [{"names": ("lake/other",)}, {"all_ways": True}], ids=["way", "all"])
def test_nobody_is_said_to_stand_in_for_a_best_way_that_was_not_to_be_measured_alone(
    root: Path, capsys: pytest.CaptureFixture[str], said: dict[str, Any]
) -> None:
    broken(root, "exit 3")
    Selection(Registry(root), BENCHMARK, **said).here()
    assert "instead" not in capsys.readouterr().err


@pytest.mark.parametrize("systems", [("lake/last",), ("lake/last", "lake/first")], ids=["one", "two"])
def test_what_a_way_that_was_named_said_of_itself_is_told_where_nothing_can_be_measured(
    root: Path, systems: tuple[str, ...]
) -> None:
    file = root / "bench" / "systems" / "lake" / "system.toml"
    file.write_text(file.read_text().replace('"lake"', '"stranger"').replace('name = "stranger"', 'name = "lake"', 1))
    broken(root, "exit 3")
    with pytest.raises(TeffError) as refused:
        Selection(Registry(root), BENCHMARK, systems).here()
    said = str(refused.value)
    assert "lake/last: --identity ended with exit code 3" in said
    assert ("lake/first: the program says it is 'stranger'" in said) is ("lake/first" in systems)
    assert "is here" not in said


def test_the_table_says_how_many_other_ways_there_are_and_how_to_have_them(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    metg(root, as_json=False)
    said = "The best way of each system; 3 others are here, too: --all-variants"
    assert said in capsys.readouterr().out.splitlines()
    publishing.show(Registry(root), "test", as_json=False)
    assert said in capsys.readouterr().out.splitlines()
    metg(root, as_json=False, systems=("lake/other",))
    assert "--all-variants" not in capsys.readouterr().out


def test_a_sitting_goes_on_with_the_ways_it_had(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    metg(root, systems=("lake",))
    with pytest.raises(TeffError, match="leave out --all-variants"):
        metg(root, resume=True, all_variants=True, workers=())
    capsys.readouterr()
    metg(root, resume=True, rounds=3, workers=())
    assert [(row["system_id"], row["rounds"]) for row in printed_rows(capsys)] == [("lake/last", 3)]


def test_an_experiment_measures_the_best_ways_or_all_as_it_or_the_user_says(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / "experiments").mkdir()
    (root / "experiments" / "best.toml").write_text(EXPERIMENT)
    (root / "experiments" / "all.toml").write_text(EXPERIMENT + 'variants = "all"\n')
    usual = Options(seconds=0, rounds=2, workers=(2,), store="test", as_json=True)
    every = {"lake/first", "lake/other", "lake/last", "pond", "pond/other"}
    for name, options, measured in (
        ("best", usual, {"lake/last", "pond"}),
        ("best", replace(usual, all_variants=True), every),
        ("best", replace(usual, systems=("pond/other",)), {"pond/other"}),
        ("all", usual, every),
        ("all", replace(usual, systems=("pond",)), {"pond", "pond/other"}),
    ):
        measuring.experiment(Registry(root), name, options)
        assert {row["system_id"] for row in printed_rows(capsys)} == measured, (name, options)


def test_who_measured_nobody_leaves_with_an_error_in_one_line(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tefflab.project_root", lambda: root)
    monkeypatch.chdir(root)
    file = root / "bench" / "systems" / "pond" / "system.toml"
    file.write_text(file.read_text().replace('"fine"', '"dies"'))
    words = ["--workers", "2", "--rounds", "2", "--minutes", "0.1", "--json"]
    for command in ("metg", "sweep"):
        assert teff(monkeypatch, command, "--systems", "pond", *words) == 1
        told = capsys.readouterr()
        assert isinstance(json.loads(told.out), dict)
        last = told.err.splitlines()[-1]
        assert last.startswith("teff: no system could be measured; results/default/")
        assert last.endswith("/report.html says why")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "fault", "named", "code"),
    [
        ("metg", "dies", "lake,pond", 1),
        ("metg", "dies", "lake", 0),
        ("metg", "dies", "", 0),
        ("metg", "invalid", "pond/first,lake", 1),
        ("metg", "hangs", "lake,pond", 1),
        ("sweep", "is_killed", "lake,pond", 1),
    ],
)
def test_who_was_named_and_failed_is_told_by_the_exit_code_after_the_others_are_shown(
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
    fault: str,
    named: str,
    code: int,
) -> None:
    monkeypatch.setattr("tefflab.project_root", lambda: root)
    monkeypatch.setattr(BENCHMARK, "timeout", 2)
    file = root / "bench" / "systems" / "pond" / "system.toml"
    file.write_text(file.read_text().replace('"fine"', f'"{fault}"'))
    words = [command, "--workers", "2", "--rounds", "2", "--minutes", "0.1", "--json"]
    assert teff(monkeypatch, *words, *(["--systems", named] if named else [])) == code
    told = capsys.readouterr()
    assert "lake/last" in told.out
    last = told.err.splitlines()[-1]
    who = "pond/first" if "pond/first" in named else "pond"
    said = f"teff: asked for by name and not measured, or not to the end: {who}"
    assert (last == said) is (code == 1), last


def test_who_was_named_and_is_not_here_is_told_by_the_exit_code(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tefflab.project_root", lambda: root)
    broken(root, "exit 3")
    words = ["metg", "--workers", "2", "--rounds", "2", "--minutes", "0.1", "--json"]
    for named, code in (("pond,lake/last", 1), ("pond,lake", 0), ("", 0)):
        assert teff(monkeypatch, *words, *(["--systems", named] if named else [])) == code, named
        told = capsys.readouterr()
        assert '"pond"' in told.out
        assert (told.err.splitlines()[-1].endswith(": lake/last")) is (code == 1)


def test_the_flag_is_one_of_the_command_line(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tefflab.project_root", lambda: root)
    words = ["--workers", "2", "--rounds", "2", "--minutes", "0.1", "--json"]
    assert teff(monkeypatch, "metg", "--systems", "pond", "--all-variants", *words) == 0
    assert {row["system_id"] for row in printed_rows(capsys)} == {"pond", "pond/other"}
