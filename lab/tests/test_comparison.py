"""Ratios of METG: known ones are found, none is invented, and bounds stay bounds."""

import io
import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from conftest import teff
from simulated import QUIET, SECONDS_PER_ITERATION, Noise, SimulatedSystem
from simulated_sitting import Silent, plan, sat
from tefflab.analysis.comparison import Answer, beside_others, compare, compare_sittings
from tefflab.analysis.rows import ByRound, Row
from tefflab.analysis.statistics import Interval, Observation, empty_tasks, metg
from tefflab.benchmarks.benchmark import benchmarks
from tefflab.benchmarks.case_rows import median_of_rounds
from tefflab.benchmarks.task_graph.estimates import MetgSamples
from tefflab.benchmarks.task_graph.record import GraphRecord
from tefflab.benchmarks.task_graph.tables import OVERHEAD
from tefflab.cli.comparing import SLOWER
from tefflab.errors import TeffError
from tefflab.host.terminal import output
from tefflab.measure.comparing import answer
from tefflab.output.comparison_table import UNKNOWN, agreement, missing, to_tables
from tefflab.records.plan import Variant
from tefflab.records.store import Store, full_name
from tefflab.systems.registry import Registry

NOISE = Noise(run=0.02, run_spikes=0.0, ceiling_spikes=0.0, drift=0.02)


def rows(
    name: str,
    taken: float,
    seed: int,
    noise: Noise = NOISE,
    factors: Sequence[float] = (0.5, 1, 2),
    rounds: int = 6,
) -> tuple[Row, Row]:
    """METG and overhead of a simulated system of this overhead, in so many rounds around its crossing."""
    system = SimulatedSystem(taken, (seed,), noise)
    grid = [max(1, round(system.crossing() * factor)) for factor in factors]
    seen = system.sweep(rounds, grid)
    seen += [Observation(launch, 0, replace(system.run(launch, 1)).granularity, 0.0) for launch in range(rounds)]
    found = metg([each for each in seen if each.iterations])
    of = Row(
        kind="task_graph",
        variant=Variant(name, name, "1", "#000000", 0),
        case="stencil",
        configuration="-type stencil_1d",
        quantity="METG(50 %)",
        value=found,
        rounds=rounds,
        runs=len(seen),
        facts={"drift": found.drift},
        samples=MetgSamples(seen, 0.5),
    )
    empty = ByRound(empty_tasks(seen))
    return of, replace(of, quantity=OVERHEAD, is_beside=True, value=median_of_rounds(empty.values), samples=empty)


def row(*how: Any, **further: Any) -> Row:
    """METG alone."""
    return rows(*how, **further)[0]


@pytest.mark.parametrize("one_sitting", [True, False])
def test_a_known_ratio_is_found_and_significant(one_sitting: bool) -> None:
    found, overheads = (
        compare(a, b, one_sitting=one_sitting)
        for a, b in zip(rows("slow", 30e-6, 1), rows("quick", 10e-6, 2), strict=True)
    )
    assert found.ratio.low < 3 < found.ratio.high
    assert found.ratio.significant
    assert found.relation == "="
    assert overheads.ratio.value == pytest.approx(3, rel=0.1)
    assert not found.agrees


@pytest.mark.parametrize("one_sitting", [True, False])
def test_two_measurements_of_one_system_agree(one_sitting: bool) -> None:
    wrong = 0
    for seed in range(20):
        found = compare(row("same", 20e-6, 2 * seed), row("same", 20e-6, 2 * seed + 1), one_sitting=one_sitting)
        wrong += found.ratio.significant
        assert found.agrees, f"seed {seed}"
    assert wrong <= 2


def test_of_two_sittings_the_machine_is_told_from_the_program(capsys: pytest.CaptureFixture[str]) -> None:
    """Everything takes a tenth longer in A; one system takes 30 % longer beside that."""
    names = [f"system_{each}" for each in range(9)]
    before = [each for seed, name in enumerate(names) for each in rows(name, 10e-6, seed, rounds=8)]
    after = [
        each
        for seed, name in enumerate(names)
        for each in rows(name, 11e-6 * (1.3 if name == names[0] else 1.0), 100 + seed, rounds=8)
    ]
    found, machine = beside_others(compare_sittings(after, before, one_sitting=False))
    assert machine is not None
    assert machine.ratio.value == pytest.approx(1.1, rel=0.03)
    assert machine.rows <= 9, "overheads say nothing further of it"
    assert [each.significant for each in found if not each.a.is_beside] == [True] + [False] * 8
    for each in found[:2]:
        assert each.own is not None
        assert each.own.value == pytest.approx(1.3, rel=0.06)
    told = Answer("metg", "configuration", "a", "b", tuple(found), True, False, machine=machine)
    assert {each["machine"]["rows"] for each in told.to_json()} == {machine.rows}
    output().print(to_tables([told]))
    out = capsys.readouterr().out
    assert re.search(r"^The machine itself: x 1\.\d+ \[1\.\d+, 1\.\d+\], by \d+ rows", out, re.MULTILINE)
    assert "Own: A / B without what the machine did" in out


def test_a_side_against_itself_is_exactly_one_and_not_significant() -> None:
    one = row("same", 20e-6, 7)
    found = compare(one, one, one_sitting=True)
    assert found.ratio.value == 1
    assert not found.ratio.significant
    assert found.agrees


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("one_sitting", [True, False])
def test_of_a_round_or_two_it_is_unknown_whether_sides_differ(count: int, one_sitting: bool) -> None:
    sides = zip(rows("slow", 300e-6, 1, rounds=count), rows("quick", 10e-6, 2, rounds=count), strict=True)
    found = tuple(compare(a, b, one_sitting=one_sitting) for a, b in sides)
    assert found[0].ratio.value == pytest.approx(30, rel=0.2)
    assert [(each.significant, each.agrees) for each in found] == [(None, None)] * 2
    answered = Answer("metg", "configuration", "a", "b", found, True, one_sitting)
    told = json.loads(json.dumps(answered.to_json(), allow_nan=False))
    assert [(each["quantity"], each["significant"], each["agrees"]) for each in told] == [
        ("METG(50 %)", None, None),
        ("overhead", None, None),
    ]
    text = shown(answered)
    assert re.search(r"slow .* unknown +unknown$", text, re.MULTILINE)
    assert "yes" not in text
    assert UNKNOWN.split(".")[0] in text
    assert "Whether they agree is not known yet." in text
    more = f"about {4 - count} rounds more of"
    assert f"What may be enough: A {more} slow; B {more} quick." in " ".join(text.split())


def test_an_interval_that_says_nothing_after_many_rounds_needs_as_many_again() -> None:
    known, vague = row("same", 20e-6, 1, rounds=12), row("same", 20e-6, 2, rounds=12)
    found = compare(known, replace(vague, value=Interval(20e-6, 0.0, math.inf)), one_sitting=False)
    assert missing([found]) == "What may be enough: B about 12 rounds more of same."
    assert missing([compare(known, known, one_sitting=True)]) == ""
    both = [compare(known, known, one_sitting=True), found]
    assert agreement(both) == ("1 of 2 agree: their intervals overlap. Of 1 it is not known yet whether they do.")


def test_sittings_of_different_timesteps_are_not_compared() -> None:
    one, other = row("same", 20e-6, 1), row("same", 20e-6, 2)
    few = replace(other, configuration=f"{other.configuration} -steps 5")
    assert len(compare_sittings([one], [other], one_sitting=False)) == 1
    assert compare_sittings([one], [few], one_sitting=False) == []


def test_drift_between_sittings_widens_the_ratio() -> None:
    a, b = row("same", 20e-6, 1, QUIET), row("same", 20e-6, 2, QUIET)
    drifting, calm = (replace(a, facts={"drift": drift}) for drift in (0.3, None))
    wide, narrow = (compare(each, b, one_sitting=False).ratio for each in (drifting, calm))
    assert wide.high / wide.low > 1.5 * narrow.high / narrow.low


def test_a_ratio_with_a_bound_is_a_bound() -> None:
    known = row("known", 20e-6, 1)
    below = row("below", 2 * SECONDS_PER_ITERATION, 2, factors=(20, 40, 80))
    assert below.relation == "<"
    assert compare(below, known, one_sitting=False).relation == "<"
    assert compare(known, below, one_sitting=False).relation == ">"
    both = compare(below, below, one_sitting=False)
    assert both.relation == "?"
    assert not both.ratio.significant


def shown(*answers: Answer) -> str:
    console = Console(file=io.StringIO(), width=80, highlight=False)
    console.print(to_tables(answers))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def _rewrite(root: Path, name: str, old: str, new: str) -> None:
    file = root / "bench" / "systems" / name / "system.toml"
    file.write_text(file.read_text().replace(f'"{old}"', f'"{new}"'))


def test_stores_and_systems_are_found_by_their_names(
    laboratory: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = laboratory(quick=(1e-6, "fine"), slow=(4e-6, "fine"))
    sat(root, plan("quick", "slow"), Silent(), rounds=4, name="before")
    _rewrite(root, "slow", "4e-06", "8e-06")
    sat(root, plan("quick", "slow"), Silent(), rounds=4, name="after")

    (systems,) = answer(Registry(root), "slow", "quick", "before")[0]
    assert systems.comparisons[0].ratio.value == pytest.approx(4, rel=0.05)
    assert systems.comparisons[0].ratio.significant

    (itself,) = answer(Registry(root), "before", "before:one-of-before", None)[0]
    assert [each.ratio.value for each in itself.comparisons] == [1, 1, 1, 1]
    assert itself.one_sitting
    assert agreement(itself.comparisons) == "2 of 2 agree: their intervals overlap."

    (stores,) = answer(Registry(root), "after", "before", None)[0]
    output().print(to_tables([stores]))
    out = capsys.readouterr().out
    (slow,) = (line.split() for line in out.splitlines() if line.startswith("slow") and line.endswith(" no"))
    assert slow[-2:] == ["yes", "no"]  # significant; they do not agree
    assert "1 of 2 agree: their intervals overlap. Not so: slow." in out
    assert "can't be known of so few: measure at least 4 other systems in both" in " ".join(out.split())
    told = json.loads(json.dumps(stores.to_json(), allow_nan=False))
    assert {each["one_sitting"] for each in told} == {False}
    by_system = {each["a"]["system_id"]: each for each in told if each["quantity"] == "METG(50 %)"}
    assert [each["agrees"] for each in by_system.values()] == [True, False]
    assert by_system["slow"]["ratio"]["value"] == pytest.approx(2, rel=0.05)
    assert by_system["slow"]["significant"]
    assert not by_system["quick"]["significant"]

    monkeypatch.setattr("tefflab.project_root", lambda: root)
    for words, code, said in (
        (("after", "before"), SLOWER, "after is slower than before: slow at stencil, cores"),
        (("before", "after"), 0, "before is not slower than after."),
    ):
        assert teff(monkeypatch, "compare", *words, "--fail-if-slower", "5%") == code
        assert said in " ".join(capsys.readouterr().out.split())
    assert teff(monkeypatch, "compare", "after", "before", "--fail-if-slower", "5%", "--json") == SLOWER
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    verdicts = {each["a"]["system_id"]: each["verdict"] for each in found if each["quantity"] == "METG(50 %)"}
    assert verdicts == {"quick": "not slower", "slow": "slower"}
    for words, code, said in (
        (("slow", "quick", "after"), SLOWER, "slow is slower than quick"),
        (("quick", "slow", "after"), 0, "quick is not slower than slow"),
    ):
        assert teff(monkeypatch, "compare", *words, "--fail-if-slower", "5%") == code
        assert said in " ".join(capsys.readouterr().out.split())

    with pytest.raises(TeffError, match=r"'nobody': no system \(there are: quick slow\); looked in before:one-\S*$"):
        answer(Registry(root), "nobody", "quick", "before")
    with pytest.raises(
        TeffError, match=r"^'nobody': no store \(there are: after before\); what is measured with --store nobody is"
    ):
        answer(Registry(root), "nobody", "before", None)
    sat(root, plan("quick"), Silent(), rounds=2, name="default")
    with pytest.raises(
        TeffError,
        match=r"^'nobody': no system \(there are: quick\) and no store \(.*\); what .*; looked in default:\S*$",
    ):
        answer(Registry(root), "nobody", "before", None)
    with pytest.raises(TeffError, match=r"^'before': no system \(there are: quick\); looked in default:\S*$"):
        answer(Registry(root), "quick", "before", None)


def test_what_can_not_be_read_of_a_compared_store_is_told_once(
    laboratory: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    root = laboratory(quick=(1e-6, "fine"), slow=(4e-6, "fine"))
    sat(root, plan("quick", "slow"), Silent(), rounds=4, name="default")
    with (root / "results" / "default" / "runs.jsonl").open("a") as runs:
        runs.write("{\n")
    for a, b in (("quick", "slow"), ("default", "default:one-of-default")):
        answer(Registry(root), a, b, None)
        said = capsys.readouterr().err
        assert re.search(r"^teff: line \d+ of .*default/runs\.jsonl can't be read and counts for nothing \(", said)
        assert said.count("\n") == 1

    heads = root / "results" / "default" / "sittings.jsonl"
    heads.write_bytes(heads.read_bytes()[:-40])
    with pytest.raises(TeffError, match=r"^line 1 of .*default/sittings\.jsonl can't be read .* whose runs are kept"):
        answer(Registry(root), "quick", "slow", None)


def test_a_name_that_is_no_store_is_told_so_where_the_usual_store_is_empty(laboratory: Callable[..., Path]) -> None:
    root = laboratory(quick=(1e-6, "fine"))
    sat(root, plan("quick"), Silent(), rounds=2, name="before")
    Store.create(root / "results" / "default")
    with pytest.raises(TeffError, match=r"^'nobody': no store \("):
        answer(Registry(root), "before", "nobody", None)


def test_a_sitting_of_curves_has_no_metg_to_compare(laboratory: Callable[..., Path]) -> None:
    root = laboratory(quick=(1e-6, "fine"), slow=(4e-6, "fine"))
    sat(root, plan("quick", "slow", kind="curve"), Silent(), rounds=2, name="curves")
    with pytest.raises(
        TeffError, match=r"^quick and slow are .*: measure .*; no value of both in curves:one-of-curves \(METG\)$"
    ):
        answer(Registry(root), "quick", "slow", "curves")


def test_after_a_sitting_that_was_interrupted_the_form_of_an_older_one_s_name_is_said(
    laboratory: Callable[..., Path],
) -> None:
    root = laboratory(quick=(1e-6, "fine"), slow=(4e-6, "fine"))
    wanted = plan("quick", "slow")
    for name in ("before", "after"):
        sat(root, wanted, Silent(), rounds=2, name=name)
    head = Store.open(root / "results" / "after").sitting()
    later = head.model_copy(update={"sitting": "two-of-after", "started_at": head.started_at + timedelta(hours=1)})
    Store.open(root / "results" / "after").append("sittings", later)
    with pytest.raises(TeffError, match=r"; an earlier sitting is named STORE:SITTING$"):
        answer(Registry(root), "before", "after", None)
    assert answer(Registry(root), "before", "after:one-of-after", None)[0]
    with pytest.raises(TeffError, match=r"; an earlier sitting is named STORE:SITTING; no value of both in after:two-"):
        answer(Registry(root), "quick", "slow", "after")


@pytest.mark.parametrize("place", ["default", "below/another", "{root}/else/where", "{root}/else/results/where"])
def test_a_store_is_called_what_finds_it_again(laboratory: Callable[..., Path], place: str) -> None:
    root = laboratory(quick=(1e-6, "fine"), slow=(4e-6, "fine"))
    place = place.format(root=root)
    sat(root, plan("quick", "slow"), Silent(), rounds=2, name=place)
    _repeat_without(Store.open(root / "results" / place), "slow")
    with pytest.raises(TeffError, match=r"^'slow': no system \(there are: quick\); looked in "):
        answer(Registry(root), "quick", "slow", place)
    store = Store.open(root / "results" / place)
    earlier = full_name(Registry(root), store, store.sittings()[0])
    answer(Registry(root), "quick", "slow", earlier)
    (labelled,) = answer(Registry(root), place, earlier, None)[0]
    (again,) = answer(Registry(root), labelled.a, labelled.b, None)[0]
    assert (again.a, again.b) == (labelled.a, earlier)


def _repeat_without(store: Store, system: str) -> None:
    """The runs of its sitting once more, an hour later, without this system."""
    head = store.sitting()
    kept = [each for each in head.plan["variants"] if each["id"] != system]
    later = {"sitting": "later", "started_at": head.started_at + timedelta(hours=1)}
    store.append("sittings", head.model_copy(update=later | {"plan": head.plan | {"variants": kept}}))
    for run in list(store.runs(GraphRecord, head.sitting)):
        store.append("runs", run.model_copy(update={"sitting": "later"}))
    store.close()


@pytest.mark.parametrize("stranger", ["slow", "nobody"])
def test_of_many_sittings_that_can_not_be_compared_three_are_named(
    laboratory: Callable[..., Path], stranger: str
) -> None:
    root = laboratory(quick=(1e-6, "fine"), slow=(4e-6, "fine"))
    sat(root, plan("quick", "slow", kind="curve"), Silent(), rounds=2, name="default")
    store = Store.open(root / "results" / "default")
    for kind in benchmarks():
        if kind.name in ("wake", "micro", "messages", "apps"):
            case = {"name": "one", "flags": "", "workers": 2}
            wanted = {"title": "", "cases": [case], "variants": store.sitting().plan["variants"]}
            head = {"sitting": kind.name, "benchmark": kind.name, "plan": wanted}
            store.append("sittings", store.sitting().model_copy(update=head))
    with pytest.raises(TeffError) as refused:
        answer(Registry(root), "quick", stranger, None)
    said = str(refused.value)
    assert said.endswith(" and 2 more")
    assert said.count("default:") == 3
    assert said.index("--s") < said.index("default:"), "the way out comes first"


def test_a_systems_name_stands_for_its_way_that_was_measured(laboratory: Callable[..., Path]) -> None:
    root = laboratory(quick=(1e-6, "fine"), slow=(4e-6, "fine"))
    sat(root, plan("quick", "slow"), Silent(), rounds=2, name="before")
    for file in (root / "results" / "before").glob("*.jsonl"):
        file.write_text(file.read_text().replace('"slow"', '"slow/way"'))
    (found,) = answer(Registry(root), "slow", "quick", "before")[0]
    assert {each.a.id for each in found.comparisons} == {"slow/way"}
