"""The simulation of workers on shared cores: its invariants, measured curves that it predicts, and its command."""

import json
from pathlib import Path

import pytest

from conftest import teff
from tefflab.analysis.sharing import ideal_slowdown
from tefflab.analysis.simulation import DEPENDENCES, Cores, Dependences, Outcome, Policy, Work, policies, simulate

POLICIES = {each.name: each for each in policies(takeover=1e-3)}
every_policy = pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)


def slowdown(work: Work, policy: str, cores: Cores, seed: int = 0) -> float:
    alone = simulate(work, POLICIES[policy], Cores(cores.number), seed)
    return simulate(work, POLICIES[policy], cores, seed).seconds / alone.seconds


@every_policy
def test_without_a_competitor_a_step_takes_its_work_divided_by_the_workers_within_a_task(policy: Policy) -> None:
    for workers in (1, 3, 8):
        outcome = simulate(Work(40 * workers, 1, 1e-4), policy, Cores(workers))
        assert 0 <= outcome.seconds - outcome.worked / workers < 1.02e-4


@every_policy
@pytest.mark.parametrize("dependences", DEPENDENCES)
def test_every_task_runs_once_whatever_the_cores_lose(policy: Policy, dependences: Dependences) -> None:
    work = Work(24, 30, 3e-4, dependences)
    worked = set()
    for seed in range(10):
        for loaded in (0, 1, 4):
            cores = Cores(4, loaded, 0.6, 5e-3)
            outcome = simulate(work, policy, cores, seed)
            assert outcome.tasks == work.total, seed
            # No policy uses more than is left; the run may end just before a burst of each loaded core.
            least = outcome.worked / 4 * ideal_slowdown(4, loaded, 0.6)
            assert outcome.seconds > least - loaded * 0.6 * 5e-3, seed
            worked.add((seed, round(outcome.worked, 12)))
    assert len(worked) == 10, "the work depends on the seed alone"


def test_one_seed_gives_one_time_and_another_seed_another() -> None:
    def run(seed: int) -> Outcome:
        return simulate(Work(64, 20, 1e-4), POLICIES["flow"], Cores(4, 2, 0.3), seed)

    assert run(1) == run(1)
    assert run(1) != run(2)


@pytest.mark.parametrize("share", [0.25, 0.5, 0.9])
def test_fine_tasks_that_any_worker_takes_use_all_that_is_left(share: float) -> None:
    cores = Cores(4, 2, share, period=1e-3)
    assert slowdown(Work(32_000, 1, 1e-5), "dynamic", cores) < 1.02 * ideal_slowdown(4, 2, share)
    assert slowdown(Work(32_000, 1, 1e-5, "tree"), "flow", cores) < 1.02 * ideal_slowdown(4, 2, share)


@pytest.mark.parametrize("policy", ["static", "placed"])
@pytest.mark.parametrize("share", [0.25, 0.5, 0.75])
def test_tasks_that_stay_with_their_worker_are_as_slow_as_the_slowest_worker(policy: str, share: float) -> None:
    assert slowdown(Work(32, 600, 1e-4), policy, Cores(4, 1, share)) == pytest.approx(1 / (1 - share), rel=0.03)


def test_a_barrier_waits_for_the_task_in_flight_unless_its_worker_gives_way_before_it() -> None:
    work, cores = Work(32, 600, 1e-4), Cores(4, 1, 0.5)
    assert slowdown(work, "dynamic", cores) > 1.7
    assert slowdown(work, "yielding", cores) < 1.05 * ideal_slowdown(4, 1, 0.5)


def test_a_worker_begins_nothing_while_the_competitor_has_its_core() -> None:
    """One task of a millisecond, in a period of a second: either the worker has its core, or it waits for the burst."""
    outcomes = [simulate(Work(1, 1, 1e-3), POLICIES["static"], Cores(1, 1, 0.5, 1.0), seed) for seed in range(20)]
    waits = [each.seconds - each.worked for each in outcomes]
    assert 2 < sum(each > 1e-3 for each in waits) < 18
    assert max(waits) <= 0.5


def test_an_idle_worker_takes_a_ready_task_over_in_time() -> None:
    """Two tasks of a millisecond: the second runs in its place at once, or 3 ms later elsewhere."""
    takes_over = Policy("", "", False, 3e-3)
    runs = [simulate(Work(2, 1, 1e-3, "none"), takes_over, Cores(2, 1, 0.5, 1.0), seed).seconds for seed in range(20)]
    assert {round(each, 3) for each in runs} == {1e-3, 4e-3}


def test_a_place_is_left_after_the_time_of_takeover() -> None:
    """The whole graph waits for the task in flight, but no longer for those that are ready behind it."""
    work, cores = Work(64, 200, 1e-4), Cores(2, 1, 0.5)
    never, late, soon, at_once = (
        simulate(work, Policy("", "", False, after), cores).seconds for after in (1.0, 3e-3, 1e-3, 0.0)
    )
    assert never == simulate(work, POLICIES["placed"], cores).seconds
    assert never > 1.2 * late > 1.2 * soon > 1.2 * 0.95 * at_once


# Slowdowns of a stencil of 64 chunks of 28 us a step on two cores. docs/results/shared-cores.md says how they were
# measured.
MEASURED = {
    ("static", 0.25): 1.17 / 0.88,
    ("dynamic", 0.25): 1.17 / 0.87,
    ("dynamic", 0.50): 1.90 / 0.87,
}


@pytest.mark.parametrize(("policy", "share"), MEASURED)
def test_a_measured_curve_is_predicted_within_a_tenth(policy: str, share: float) -> None:
    predicted = slowdown(Work(64, 960, 28e-6), policy, Cores(2, 1, share, 0.1))
    assert predicted == pytest.approx(MEASURED[policy, share], rel=0.1)


def test_the_command_prints_a_curve_for_each_policy_and_draws_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    words = ("simulate", "--cores", "3", "--shares", "50,20", "--steps", "10", "--takeover", "2ms")
    assert teff(monkeypatch, *words, "--json", "--picture", str(tmp_path / "one.svg")) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert list(dict.fromkeys(row["system_id"] for row in rows)) == list(POLICIES)
    for policy in POLICIES:
        *points, left, even = (row for row in rows if row["system_id"] == policy)
        assert [(point["x"], point["share_got"]) for point in points] == [(0.0, 0.0), (0.2, 0.2), (0.5, 0.5)]
        assert points[1]["ideal_slowdown"] == pytest.approx(3 / 2.8)
        assert left["x"] is None
        assert left["value"] == pytest.approx(1.5, rel=0.1)
        assert even["quantity"] == "break-even"
    assert (tmp_path / "one.png").is_file()
    assert teff(monkeypatch, *words) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "3 cores, 1 shared in periods of 10 ms; 10 steps of 24 tasks of 250 µs" in told


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--shares", "100"), "--shares 100: give percentages above 0 and below 100"),
        (("--shares", "half"), "--shares half: give percentages"),
        (("--dependences", "grid"), "--dependences grid: there are stencil, tree, none"),
        (("--loaded", "3"), "--loaded 3: at most --cores, 2"),
        (("--cores", "0"), "--cores 0: give a whole number from 1 to 1024"),
        (("--task", "long"), "'long' is no duration"),
        (("one", "--cores", "2"), "teff: one: --cores, --loaded, --shares and --period are those"),
    ],
)
def test_what_can_not_be_simulated_is_refused_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    assert teff(monkeypatch, "simulate", *words) == 2
    assert said in capsys.readouterr().err
