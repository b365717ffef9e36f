"""Spawn patterns compared: two stores, two systems of one, and stores of both kinds."""

import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from samples import sitting
from simulated_sitting import Silent, plan, sat, variant
from simulated_spawn_program import record
from tefflab.analysis.comparison import Answer
from tefflab.analysis.rows import ByRound
from tefflab.benchmarks.spawn import SpawnRecord
from tefflab.cli import main as cli
from tefflab.errors import TeffError
from tefflab.measure.comparing import answer
from tefflab.output.comparison_table import DRIFT, to_tables
from tefflab.records.plan import Case, Plan
from tefflab.records.record import parse_record
from tefflab.records.run import Failure, Run
from tefflab.records.store import Store, StoreError
from tefflab.systems.registry import Registry

SERIAL = {"serial": "-pattern serial"}
BOTH = SERIAL | {"tree T3": "-pattern tree -tree T3"}


def spawn_store(
    root: Path,
    name: str,
    nanoseconds: Mapping[str, float],
    *,
    patterns: Mapping[str, str] = SERIAL,
    workers: Sequence[int] = (1,),
    rounds: int = 6,
    drift: float = 0.0,
    seed: int = 0,
    floor: str = "",
) -> Store:
    """A store with a sitting of systems of so many nanoseconds a task, half of it on two workers. Launches differ by 3
    %, runs by 1 %. A round's effect on all of its launches differs by `drift`, as a logarithm."""
    store = Store.create(root / "results" / name)
    wanted = Plan(
        title="made up",
        cases=tuple(
            Case(name=case, flags=flags, workers=count) for case, flags in patterns.items() for count in workers
        ),
        variants=tuple(variant(id_, is_floor=id_ == floor) for id_ in nanoseconds),
    )
    with store:
        head = sitting(f"spawn-of-{name}", "spawn").model_copy(update={"plan": wanted.model_dump(mode="json")})
        store.append("sittings", head)
        for number in range(rounds):
            for question, flags in patterns.items():
                for count in workers:
                    generator = random.Random(f"{seed} {name} {number} {question} {count}")
                    slow = 2.718 ** generator.gauss(0, drift)
                    for id_, taken in nanoseconds.items():
                        factor = slow * generator.gauss(1, 0.03)
                        launch(store, head.sitting, number, id_, flags, count, taken, [factor] * 2)
    return store


def launch(
    store: Store, head: str, number: int, id_: str, flags: str, workers: int, taken: float, factors: Sequence[float]
) -> None:
    """The runs of one launch, by the factors to the time that it takes. The first run is cold and does not count."""
    for attempt, factor in enumerate(factors):
        told = record(id_, taken * factor * (10 if attempt == 0 else 1), "fine", workers, f"{head} {number}", attempt)
        store.append(
            "runs",
            Run(
                sitting=head,
                round=number,
                system_id=id_,
                role="system" if attempt else "probe",
                attempt=max(attempt - 1, 0),
                noisy=False,
                workers=workers,
                command="made up",
                flags=flags,
                configuration=flags,
                record=parse_record(json.dumps(told), SpawnRecord),
            ),
        )


def compared(root: Path, a: str, b: str, store: str | None = None) -> Answer:
    """The one answer there is."""
    (found,) = answer(Registry(root), a, b, store)[0]
    assert found.kind == "spawn"
    return found


def shown(*answers: Answer) -> str:
    text = StringIO()
    Console(file=text, width=80, highlight=False).print(to_tables(answers))
    assert all(len(line) <= 80 for line in text.getvalue().splitlines())
    assert "…" not in text.getvalue()
    return text.getvalue()


def test_two_stores_are_compared_system_by_system_at_each_pattern_and_number_of_workers(tmp_path: Path) -> None:
    spawn_store(tmp_path, "before", {"changed": 30, "same": 10, "gone": 5}, patterns=BOTH, workers=(1, 2))
    spawn_store(tmp_path, "after", {"changed": 20, "same": 10, "new": 5}, patterns=BOTH, workers=(1, 2, 3))
    found = compared(tmp_path, "before", "after")
    assert (found.a, found.b, found.one_sitting) == ("before:spawn-of-before", "after:spawn-of-after", False)
    places = ["serial, 1 worker", "serial, 2 workers", "tree T3, 1 worker", "tree T3, 2 workers"]
    assert sorted((each.a.id, each.a.place) for each in found.comparisons) == [
        (name, place) for name in ("changed", "same") for place in places
    ]
    for each in found.comparisons:
        changed = each.a.id == "changed"
        assert each.ratio.value == pytest.approx(1.5 if changed else 1, rel=0.06)
        assert each.ratio.low < (1.5 if changed else 1) < each.ratio.high
        assert (each.ratio.significant, each.agrees) == (changed, not changed)


def test_the_comparison_is_told_as_that_of_metg_is(tmp_path: Path) -> None:
    spawn_store(tmp_path, "before", {"changed": 30, "same": 10}, workers=(1, 2))
    spawn_store(tmp_path, "after", {"changed": 20, "same": 10}, workers=(1, 2))
    found = compared(tmp_path, "before", "after")
    told = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert {(each["kind"], each["one_sitting"], each["against"]) for each in told} == {("spawn", False, None)}
    assert [each["agrees"] for each in told].count(True) == 2
    first = next(each for each in told if each["a"]["system_id"] == "changed")
    assert (first["place"], first["quantity"]) == ("serial, 1 worker", "a task")
    assert (first["a"]["case"], first["a"]["workers"], first["b"]["rounds"]) == ("serial", 1, 6)
    assert (first["a"]["source"], first["b"]["source"]) == ("before:spawn-of-before", "after:spawn-of-after")
    assert first["a"]["value"] == pytest.approx(30e-9, rel=0.05)
    assert first["ratio"]["low"] < first["ratio"]["value"] < first["ratio"]["high"]
    assert (first["ratio"]["relation"], first["significant"], first["agrees"]) == ("=", True, False)

    text = shown(found)
    assert "serial, 2 workers" in text
    assert [line.split()[-2:] for line in text.splitlines() if re.match(r"changed +\d", line)] == [["yes", "no"]] * 2
    assert [line.split()[-2:] for line in text.splitlines() if re.match(r"same +\d", line)] == [["no", "yes"]] * 2
    assert "2 of 4 agree" in text
    assert "changed at serial, 1 worker; changed at serial, 2 workers." in " ".join(text.split())
    assert " ".join(DRIFT.split()) in " ".join(text.split())


def test_fewer_systems_than_places_have_a_table_each(tmp_path: Path) -> None:
    for name in ("before", "after"):
        spawn_store(tmp_path, name, {"one": 30, "other/of_a_long_name_indeed": 1}, patterns=BOTH, workers=(1, 2))
    found = compared(tmp_path, "before", "after")
    lines = shown(found).splitlines()
    assert [line.strip() for line in lines].count("one") == 1
    assert sum(line.startswith("tree T3, 2 workers") for line in lines) == 2


def test_two_systems_of_one_store_are_compared_round_by_round(tmp_path: Path) -> None:
    """The machine's speed doubles and halves from round to round; two systems that differ by a tenth are told apart."""
    store = spawn_store(tmp_path, "one", {"quick": 10, "slow": 12}, drift=0.7, rounds=10)
    found = compared(tmp_path, "slow", "quick", "one")
    (each,) = found.comparisons
    assert each.a.value is not None
    assert each.a.value.relative_half_width > 0.2
    assert each.ratio.low < 1.2 < each.ratio.high
    assert each.ratio.significant
    assert each.ratio.relative_half_width < 0.06
    text = shown(found)
    assert "agree" not in text
    assert "two sittings" not in text
    assert compared(tmp_path, "slow", "quick", "one:spawn-of-one").comparisons == found.comparisons
    with pytest.raises(TeffError, match=r"'nobody': no system \(there are: quick slow\); looked in one:spawn-of-one$"):
        answer(Registry(tmp_path), "nobody", "quick", "one")
    with pytest.raises(StoreError, match=rf"no sitting other in {store.folder}: there is spawn-of-one$"):
        answer(Registry(tmp_path), "slow", "quick", "one:other")


def test_a_sitting_against_itself_is_exactly_one(tmp_path: Path) -> None:
    spawn_store(tmp_path, "one", {"quick": 10, "slow": 12}, drift=0.7)
    found = compared(tmp_path, "one", "one:spawn-of-one")
    assert found.one_sitting
    assert [(each.ratio.value, each.ratio.significant) for each in found.comparisons] == [(1, False), (1, False)]


def test_two_machines_are_named_first(tmp_path: Path) -> None:
    for name in ("here", "there"):
        spawn_store(tmp_path, name, {"quick": 10, "slow": 12})
    assert {str(each["machines"]) for each in compared(tmp_path, "here", "there").to_json()} == {"None"}
    sittings = tmp_path / "results" / "there" / "sittings.jsonl"
    (line,) = map(json.loads, sittings.read_text().splitlines())
    line["machine"] |= {"id": "ba9876543210", "cpu": "Other CPU"}
    sittings.write_text(json.dumps(line) + "\n")
    found = compared(tmp_path, "here", "there")
    assert [words.partition(",")[0] for words in found.machines or ()] == ["Sample CPU", "Other CPU"]
    assert shown(found).splitlines()[0] == "A and B were measured on two machines"


def test_two_sittings_of_the_same_seldom_differ(tmp_path: Path) -> None:
    systems = {f"system_{number}": 10.0 for number in range(40)}
    for name in ("before", "after"):
        spawn_store(tmp_path, name, systems, rounds=5)
    found = compared(tmp_path, "before", "after")
    assert sum(each.ratio.significant for each in found.comparisons) <= 4  # five in a hundred may
    assert all(each.ratio.relative_half_width < 0.15 for each in found.comparisons)


def test_against_a_system_that_did_not_change_the_machines_speed_cancels(laboratory: Callable[..., Path]) -> None:
    """Half as slow again was the machine in the second hour, and its speed moved from round to round in both."""
    root = laboratory(quick=(1e-6, "fine"), slow=(4e-6, "fine"))
    spawn_store(root, "before", {"changed": 30, "same": 12, "quick": 10}, rounds=9, drift=0.1)
    spawn_store(root, "after", {"changed": 30, "same": 18, "quick": 15}, rounds=9, drift=0.1)
    plain = {each.a.id: each for each in compared(root, "before", "after").comparisons}
    assert not plain["changed"].ratio.significant
    assert plain["same"].ratio.significant

    found = answer(Registry(root), "before", "after", None, "quick")[0][0]
    against = {each.a.id: each for each in found.comparisons}
    assert set(against) == {"changed", "same"}
    assert against["changed"].ratio.low < 1.5 < against["changed"].ratio.high
    assert against["changed"].ratio.significant
    assert against["changed"].ratio.relative_half_width < 0.1 < plain["changed"].ratio.relative_half_width
    assert against["same"].ratio.value == pytest.approx(1, rel=0.06)
    assert not against["same"].ratio.significant
    text = shown(found)
    assert "each in relation to quick" in text
    assert re.search(r"changed +[23]\.\d\d +[12]\.\d\d +1\.\d\d", text)
    assert "two sittings" not in text
    assert {each["against"] for each in found.to_json()} == {"quick"}

    for name in ("before", "after"):
        sat(root, plan("quick", "slow"), Silent(), rounds=4, name=name)
    (metg, spawn) = answer(Registry(root), "before", "after", None, "quick")[0]
    assert [each.a.quantity for each in metg.comparisons] == ["METG(50 %)", "overhead"]
    for each in metg.comparisons:
        assert each.a.value is not None
        assert each.a.value.value == pytest.approx(4, rel=0.05)
        assert not each.ratio.significant
    assert spawn == found

    with pytest.raises(TeffError, match=r"of no system under one configuration beside nobody; an .* beside nobody"):
        answer(Registry(root), "before", "after", None, "nobody")
    with pytest.raises(TeffError, match="--against slow: is for two stores, which quick and slow are not"):
        answer(Registry(root), "quick", "slow", "before", "slow")


def test_what_does_not_count_in_a_sitting_counts_in_no_comparison(tmp_path: Path) -> None:
    with spawn_store(tmp_path, "one", {"a": 10, "b": 20, "mortal": 1}) as store:
        launch(store, "spawn-of-one", 6, "a", SERIAL["serial"], 1, 10, [1, 1, 1, 1])
        launch(store, "spawn-of-one", 6, "b", SERIAL["serial"], 1, 20, [1, 1, 1, 1])
        failure = Failure(
            sitting="spawn-of-one",
            round=5,
            system_id="mortal",
            reason="has died",
            configuration=SERIAL["serial"],
            workers=1,
        )
        store.append("failures", failure)
    (each,) = compared(tmp_path, "a", "b", "one").comparisons
    assert each.a.rounds == 7
    assert isinstance(each.a.samples, ByRound)
    assert each.a.samples.values[6] == pytest.approx([10e-9] * 3, rel=0.05), "the cold run counts"
    with pytest.raises(TeffError, match=r"^a and mortal .* no value of both in one:spawn-of-one \(spawn patterns\)$"):
        answer(Registry(tmp_path), "a", "mortal", "one")


def test_a_pattern_of_other_parameters_is_another_pattern(tmp_path: Path) -> None:
    spawn_store(tmp_path, "before", {"a": 10})
    spawn_store(tmp_path, "after", {"a": 10}, patterns={"serial": "-pattern serial -tasks 100"})
    with pytest.raises(TeffError, match="have spawn patterns of no system with one number of workers"):
        answer(Registry(tmp_path), "before", "after", None)


def test_the_floor_stays_the_floor(tmp_path: Path) -> None:
    for name in ("before", "after"):
        spawn_store(tmp_path, name, {"a": 10, "plain": 1}, floor="plain")
    verdicts = {each.a.id: each.a.verdict for each in compared(tmp_path, "before", "after").comparisons}
    assert verdicts == {"a": "first", "plain": "floor"}


def test_stores_of_both_kinds_are_compared_in_both(laboratory: Callable[..., Path]) -> None:
    root = laboratory(quick=(1e-6, "fine"), slow=(4e-6, "fine"))
    for name in ("before", "after"):
        sat(root, plan("quick", "slow"), Silent(), rounds=2, name=name)
        spawn_store(root, name, {"quick": 10, "spawner": 20})
    found = answer(Registry(root), "before", "after", None)
    assert not found[1]
    metg, spawn = found[0]
    assert [each.a.id for each in metg.comparisons if not each.a.is_beside] == ["quick", "slow"]
    assert [each.a.id for each in spawn.comparisons] == ["quick", "spawner"]
    text = shown(*found[0])
    assert text.index("before:one-of-before") < text.index("METG(50 %)") < text.index("before:spawn-of-before")
    assert text.count("agree: their intervals overlap") == text.count("Whether they agree is not known yet") == 1
    assert text.count("two sittings") == 1

    only = answer(Registry(root), "quick", "spawner", "before")
    assert [each.kind for each in only[0]] == ["spawn"]
    assert tuple(only[1]) == (
        "quick and spawner are compared where one sitting has both: measure them in one, with --systems quick,spawner; "
        "an earlier sitting is named STORE:SITTING; no value of both in before:one-of-before (METG)",
    )
    named = answer(Registry(root), "before:one-of-before", "after", None)
    assert [each.kind for each in named[0]] == ["metg"]
    assert named[1] == ["after has spawn patterns, before:one-of-before has none"]


def test_stores_of_different_kinds_are_refused_in_one_line(
    laboratory: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = laboratory(quick=(1e-6, "fine"))
    sat(root, plan("quick"), Silent(), rounds=2, name="graphs")
    spawn_store(root, "spawns", {"quick": 10})
    monkeypatch.setattr("tefflab.project_root", lambda: root)
    monkeypatch.setattr("sys.argv", ["teff", "compare", "graphs", "spawns"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    said = capsys.readouterr()
    assert (said.out, said.err) == (
        "",
        "teff: graphs has METG, spawns has none; spawns has spawn patterns, graphs has none\n",
    )


def test_the_command_prints_an_object_for_each_comparison_of_each_kind(
    laboratory: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = laboratory(quick=(1e-6, "fine"))
    for name in ("before", "after"):
        sat(root, plan("quick"), Silent(), rounds=2, name=name)
        spawn_store(root, name, {"quick": 10})
    monkeypatch.setattr("tefflab.project_root", lambda: root)
    for words, kinds in ((["before", "after"], ["metg", "spawn"]), (["before", "after:spawn-of-after"], ["spawn"])):
        monkeypatch.setattr("sys.argv", ["teff", "compare", *words, "--json"])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        assert ended.value.code == 0
        said = capsys.readouterr()
        assert list(dict.fromkeys(json.loads(line)["kind"] for line in said.out.splitlines())) == kinds
        assert ("after:spawn-of-after has none" in said.err) == (len(kinds) == 1)
