"""`teff compare --fail-if-slower`: it finds a slowdown, invents none, and admits what it can't tell."""

import io
import json
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from conftest import teff, write_system
from simulated_sitting import variant
from tefflab.analysis.pairs import FEWEST_PAIRS, Pair, Verdict, paired_ratio, pairs_of, verdict
from tefflab.analysis.rows import ByRound, Row
from tefflab.analysis.statistics import Interval, Observation, metg, metg_ratios
from tefflab.benchmarks.task_graph.estimates import MetgSamples
from tefflab.cli.comparing import SLOWER, UNKNOWN
from tefflab.errors import BAD_INPUT, FAILED
from tefflab.output.comparison_table import Effort, pairs_table, sentence
from test_json_reference import said

# Launches of three systems, measured in three sittings on a virtual machine with its cores near to each other. By
# system and round: (iterations, granularity, efficiency) of each run.
LAUNCHES = Path(__file__).parent / "data" / "launches.json"
THRESHOLD = 0.05
ONE = Interval(1.0, 1.0, 1.0)
LOOKS = (25, 50, 100)  # rounds after which a test looks; the command looks after each

OF_TIME = Effort(62.0, 60.0, 100, interrupted=False)  # one that ended with its time,
OF_ROUNDS = Effort(30.0, 300.0, 20, interrupted=False)  # and one with its rounds

Round = list[Observation]


@cache
def noises() -> list[list[tuple[Round, Round]]]:
    """Of each system in each sitting, pairs of launches that were made one after the other."""
    found = []
    for rounds in json.loads(LAUNCHES.read_text()).values():
        launches = {int(number): [Observation(int(number), *run) for run in runs] for number, runs in rounds.items()}
        found.append([(launches[each], launches[each + 1]) for each in launches if each + 1 in launches])
    return found


def slowed(launch: Round, number: int, factor: float) -> Round:
    """Round `number` of a system whose METG is `factor` times as large, with the same noise."""
    return [
        replace(
            each,
            round=number,
            iterations=round(each.iterations * factor),
            granularity=each.granularity * round(each.iterations * factor) / each.iterations,
        )
        for each in launch
    ]


def row(name: str, seen: Sequence[Observation] = (), **changes: Any) -> Row:
    """METG of a system, of a second where nothing was seen."""
    of = Row(
        kind="task_graph",
        variant=variant(name),
        case="here",
        configuration="-type stencil_1d",
        quantity="METG(50 %)",
        value=metg(seen) if seen else ONE,
        samples=MetgSamples(seen, 0.5),
    )
    return replace(of, **changes)


def pair(ratio: Interval, pairs: int = 20, place: str = "here") -> Pair:
    one = row("mine", case=place)
    return Pair(one, one, ratio, pairs, THRESHOLD)


def watched(seed: int, factor: float) -> Verdict:
    """The verdict of a watch on a system that is `factor` times as slow as its baseline."""
    random = np.random.default_rng(seed)
    every = noises()
    pairs = every[seed % len(every)]
    mine: Round = []
    baseline: Round = []
    found = pair(ONE, 0)
    for number in range(max(LOOKS)):
        first, second = pairs[random.integers(len(pairs))]
        one, other = (first, second) if random.random() < 0.5 else (second, first)
        mine += slowed(one, number, factor)
        baseline += slowed(other, number, 1.0)
        if number + 1 in LOOKS:
            ratios = metg_ratios(mine, baseline)
            found = replace(found, ratio=paired_ratio(ratios), pairs=len(ratios))
            if found.is_clear:
                break
    return found.verdict


def test_a_slowdown_of_ten_percent_is_found_in_the_noise_of_a_virtual_machine() -> None:
    verdicts = [watched(seed, 1.1) for seed in range(20)]
    assert verdicts.count("slower") >= 19, verdicts


def test_no_slowdown_is_found_where_there_is_none() -> None:
    verdicts = [watched(seed, 1.0) for seed in range(100)]
    assert verdicts.count("slower") <= 1, verdicts
    assert verdicts.count("not slower") >= 75, verdicts


def test_an_interval_of_pairs_holds_the_ratio_as_often_as_it_says() -> None:
    random = np.random.default_rng(7)
    for pairs in (6, 12, 40, 80):
        found = [paired_ratio(np.exp(random.standard_t(3, pairs) * 0.05 + math.log(1.2)).tolist()) for _ in range(400)]
        held = sum(each.low <= 1.2 <= each.high for each in found)
        assert 0.92 * 400 <= held <= 0.99 * 400, f"{held} of 400 with {pairs} pairs"


def test_one_launch_far_out_moves_no_verdict() -> None:
    calm = [1.0, 1.01, 0.99, 1.02, 0.98] * 4
    assert paired_ratio([*calm, 50.0]).value == pytest.approx(1.0, abs=0.01)
    assert paired_ratio([*calm, 50.0]).high < 1.05


SLOWER_BY = ("--fail-if-slower", "5%")


@pytest.mark.parametrize(
    ("ratio", "pairs", "said"),
    [
        (Interval(1.08, 1.03, 1.14), 20, "slower"),
        (Interval(1.03, 1.01, 1.05), 20, "not slower"),  # so little does not count
        (Interval(1.07, 0.99, 1.15), 20, "unknown"),
        (Interval(1.02, 0.97, 1.08), 20, "not slower"),
        (Interval(1.02, 0.93, 1.12), 20, "unknown"),  # so wide that a large slowdown is in it
        (Interval(0.80, 0.75, 0.85), 20, "not slower"),
        (Interval(1.50, 1.40, 1.60), FEWEST_PAIRS - 1, "unknown"),
        (Interval(1.00, 0.0, math.inf), 20, "unknown"),
    ],
)
def test_the_verdict_is_that_of_the_interval(ratio: Interval, pairs: int, said: Verdict) -> None:
    assert pair(ratio, pairs).verdict == said


def test_one_slower_place_is_enough_and_one_unknown_place_is_too_much() -> None:
    fine = pair(Interval(1.0, 0.99, 1.01))
    slow = replace(fine, ratio=Interval(1.2, 1.1, 1.3))
    open_ = replace(fine, ratio=Interval(1.0, 0.8, 1.3))
    assert verdict(each.verdict for each in (fine, fine)) == "not slower"
    assert verdict(each.verdict for each in (fine, open_)) == "unknown"
    assert verdict(each.verdict for each in (fine, open_, slow)) == "slower"
    assert verdict([]) == "unknown"


@pytest.mark.parametrize("factor", [0.5, 0.7, 0.85, 1.15, 1.3, 3.0])
def test_systems_far_apart_have_a_ratio_in_each_round(factor: float) -> None:
    launches = [launch for pair in noises()[1] for launch in pair]
    mine = [each for number, launch in enumerate(launches) for each in slowed(launch, number, factor)]
    baseline = [each for number, launch in enumerate(launches) for each in slowed(launch, number, 1.0)]
    (found,) = pairs_of([row("mine", mine), row("baseline", baseline)], "mine", "baseline", THRESHOLD)
    assert found.pairs > 0.8 * len(launches)
    assert found.ratio.value == pytest.approx(factor, rel=0.02)


def test_only_rounds_that_both_have_are_compared() -> None:
    both = range(20)
    mine = row("mine", samples=ByRound({number: [2.0] for number in both} | {30: [900.0]}))
    baseline = row("baseline", samples=ByRound({number: [1.0, 1.0, 7.0] for number in both} | {40: [0.1]}))
    (found,) = pairs_of([mine, baseline], "mine", "baseline", THRESHOLD)
    assert found.pairs == 20
    assert found.ratio.value == pytest.approx(2.0)


def test_without_a_round_that_both_have_there_is_no_ratio() -> None:
    found = pair(paired_ratio([]), 0)
    text = io.StringIO()
    Console(file=text, width=100).print(pairs_table([found], "METG(50 %)", "mine", "usual", OF_TIME))
    (line,) = (line for line in text.getvalue().splitlines() if line.startswith("here"))
    assert line.split() == ["here", "1.00", "s", "1.00", "s", "-", "-", "unknown", "0"]
    assert found.to_json()["ratio"] is None


@pytest.mark.parametrize(
    ("ratio", "pairs", "effort", "said"),
    [
        (
            Interval(1.3, 1.2, 1.4),
            6,
            OF_TIME,
            "can't be told: 6 rounds can be compared, and 10 are needed. About 10 rounds may tell: --minutes 2; or",
        ),
        (Interval(1.3, 0.0, math.inf), 0, OF_TIME, "no round can be compared, and 10 are needed. About 10 rounds"),
        (
            Interval(1.0, 0.9, 1.2),
            20,
            OF_TIME,
            "the interval, 0.900 – 1.20, holds a slowdown of 10 % as well as no slowdown. "
            "About 74 rounds may tell: --minutes 4; or",
        ),
        (Interval(1.0, 0.9, 1.2), 20, OF_ROUNDS, "About 74 rounds may tell: --rounds 74; or"),
        (Interval(1.0, 0.8, 1.25), 20, OF_TIME, "About 110 rounds may tell: --minutes 6 --rounds 110; or"),
        (Interval(1.04, 1.01, 1.12), 20, OF_TIME, "holds a slowdown of 10 % as well as one that does not count. About"),
        (Interval(1.1, 0.9, 1.3), 20, OF_ROUNDS, "About 89 rounds may tell: --rounds 89; or"),
        (Interval(1.049, 0.5, 2.1), 20, OF_TIME, "More rounds will hardly tell: try a quieter machine"),
        (
            Interval(1.0, 0.9, 1.2),
            20,
            replace(OF_TIME, interrupted=True),
            "It was interrupted: let it go on to its end",
        ),
    ],
)
def test_where_nothing_can_be_told_the_reason_is_named_and_what_may_help(
    ratio: Interval, pairs: int, effort: Effort, said: str
) -> None:
    assert said in sentence([pair(ratio, pairs)], "mine", "usual", effort)


def test_of_several_places_the_one_that_lacks_most_says_what_may_help() -> None:
    fine = pair(Interval(1.0, 0.99, 1.01), place="a")
    wide, wider = pair(Interval(1.0, 0.9, 1.2), place="b"), pair(Interval(1.0, 0.8, 1.25), place="c")
    assert "told: at c: the interval, 0.800 – 1.25, holds" in sentence([fine, wide, wider], "mine", "usual", OF_TIME)


def test_a_bound_has_no_ratio_and_is_said_to_be_one() -> None:
    launches = [launch for pair in noises()[1] for launch in pair]
    baseline = [each for number, launch in enumerate(launches) for each in slowed(launch, number, 1.0)]
    beyond = [replace(each, efficiency=each.efficiency / 100) for each in baseline]
    (found,) = pairs_of([row("mine", beyond), row("baseline", baseline)], "mine", "baseline", THRESHOLD)
    said = sentence([found], "mine", "baseline", OF_TIME)
    assert "told: the value of mine lies beyond the tasks measured. Measure longer (--minutes 2), or" in said


# --- the command


def lab(laboratory: Callable[..., Path], commanded: Path, **systems: tuple[float, str]) -> Path:
    root = laboratory(**systems)
    assert root == commanded
    return root


@pytest.mark.parametrize(
    ("mine", "code", "said"),
    [
        (1.3e-6, SLOWER, "mine is slower than usual: at stencil_1d"),
        (1.0e-6, 0, "mine is not slower than usual"),
        (0.7e-6, 0, "mine is not slower than usual"),
    ],
)
def test_the_exit_code_says_whether_it_is_slower(
    laboratory: Callable[..., Path],
    commanded: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    mine: float,
    code: int,
    said: str,
) -> None:
    lab(laboratory, commanded, mine=(mine, "fine"), usual=(1e-6, "fine"))
    assert teff(monkeypatch, "compare", "mine", "usual", *SLOWER_BY, "--workers", "2") == code
    assert said in " ".join(capsys.readouterr().out.split())


def test_too_few_rounds_say_nothing(
    laboratory: Callable[..., Path],
    commanded: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    lab(laboratory, commanded, mine=(2e-6, "fine"), usual=(1e-6, "fine"))
    words = ("compare", "mine", "usual", *SLOWER_BY, "--workers", "2", "--rounds", "4", "--json")
    assert teff(monkeypatch, *words) == UNKNOWN
    out, errors = capsys.readouterr()
    assert "4 rounds can be compared, and 10 are needed. About 10 rounds may tell: --rounds 10; or a qu" in errors
    found = json.loads(out)
    assert (found["verdict"], found["verdict_of_all"], found["rounds"]) == ("unknown", "unknown", 4)
    assert found.keys() == said("watch")


def test_both_are_launched_in_turns(
    laboratory: Callable[..., Path],
    commanded: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    lab(laboratory, commanded, mine=(1e-6, "fine"), usual=(1e-6, "fine"))
    teff(monkeypatch, "compare", "mine", "usual", *SLOWER_BY, "--workers", "2")
    capsys.readouterr()
    runs = [json.loads(line) for line in (commanded / "results/watch/runs.jsonl").read_text().splitlines()]
    launches = list(dict.fromkeys((run["round"], run["system_id"]) for run in runs if run["role"] == "system"))
    rounds = [number for number, _ in launches]
    assert rounds == sorted(rounds)
    assert len(launches) == 2 * len(set(rounds)) >= 2 * FEWEST_PAIRS


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--system", "usual", "--against", "usual"), BAD_INPUT, "usual and usual are the same"),
        (("--system", "mine", "--against", "usual", "--slower-than", "0"), BAD_INPUT, "--slower-than 0: give a number"),
        (("--system", "none", "--against", "usual"), BAD_INPUT, "no system is called 'none'"),
        (("--system", "mine", "--against", "dead", "--workers", "2"), FAILED, "dead: "),
    ],
)
def test_what_can_not_be_watched_is_an_error(
    laboratory: Callable[..., Path],
    commanded: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    code: int,
    said: str,
) -> None:
    lab(laboratory, commanded, mine=(1e-6, "fine"), usual=(1e-6, "fine"), dead=(1e-6, "dies"))
    assert teff(monkeypatch, "watch", *words) == code
    assert said in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "program", "case", "values"),
    [
        ("spawn", "spawn", "serial", ("30", "10")),
        ("programs", "real", "", ("3.0", "1.0")),
        ("messages", "messages", "64KiB", ("3.0", "1.0")),
        ("micro", "micro", "loose", ("3000", "1000")),
        ("apps", "apps", "gemm-64", ("0.2", "0.6")),
    ],
)
def test_every_kind_of_benchmark_is_watched(
    commanded: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    kind: str,
    program: str,
    case: str,
    values: tuple[str, str],
) -> None:
    file = Path(__file__).parent / f"simulated_{program}_program.py"
    for name, value in zip(("mine", "usual"), values, strict=True):
        write_system(
            commanded,
            name,
            f'[[program]]\nbenchmark = "{kind}"\nname = "one"\ntitle = "{name}"\nprogram = "{file}"\n'
            f'command = ["{sys.executable}", "{{program}}", "{name}", "{value}", "fine"]\n',
        )
    words = ("compare", "mine", "usual", *SLOWER_BY, "--kind", kind, "--rounds", "10", "--json")
    assert teff(monkeypatch, *words, "--workers", "2", *(["--cases", case] if case else [])) == SLOWER
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {(each["verdict_of_all"], each["rounds"] >= FEWEST_PAIRS) for each in found} == {("slower", True)}


def test_a_kind_without_cases_says_so(
    commanded: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    del commanded
    assert teff(monkeypatch, "compare", "a", "b", *SLOWER_BY, "--cases", "c") == BAD_INPUT
    assert "--cases: graph has none" in capsys.readouterr().err


def test_a_report_takes_its_store_as_argument_or_option(
    commanded: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    del commanded
    assert teff(monkeypatch, "report", "a", "--store", "b") == BAD_INPUT
    assert "a and --store b: give one of them" in capsys.readouterr().err
    for words in (("report", "a"), ("report", "--store", "a"), ("export", "--store", "a")):
        assert teff(monkeypatch, *words) == BAD_INPUT
        assert "results/a: a store holds sittings.jsonl" in capsys.readouterr().err
