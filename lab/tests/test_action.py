"""The action of `action.yml`: a regression is an error of the job, and its summary has the table of the watch."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from conftest import teff
from tefflab import project_root

ACTION = project_root() / "action.yml"
DESCRIBED = yaml.safe_load(ACTION.read_text(encoding="utf-8"))


@pytest.fixture
def job(tmp_path: Path) -> Callable[[str, int], subprocess.CompletedProcess[str]]:
    """Runs the action's script as GitHub does; its `teff` has the given answer and exit code."""

    def run(answer: str, code: int) -> subprocess.CompletedProcess[str]:
        place = tmp_path / "action"
        (place / ".ci").mkdir(parents=True)
        (place / ".ci/watch.py").write_bytes((ACTION.parent / ".ci/watch.py").read_bytes())
        (tmp_path / "answer").write_text(answer)
        (place / "teff").write_text(
            f'#!/bin/sh\nprintf "<%s>" "$@" >{tmp_path}/words\ncat {tmp_path}/answer\nexit {code}\n'
        )
        (place / "teff").chmod(0o755)
        (step,) = DESCRIBED["runs"]["steps"]
        inputs = {name: about.get("default", "") for name, about in DESCRIBED["inputs"].items()}
        inputs |= {"system": "mine", "against": "usual", "flags": "-type nearest -radix 5"}
        values = {f"${{{{ inputs.{name} }}}}": value for name, value in inputs.items()}
        environment = {
            **os.environ,
            **{name: values[said] for name, said in step["env"].items()},
            "GITHUB_ACTION_PATH": str(place),
            "GITHUB_OUTPUT": str(tmp_path / "output"),
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
            "RUNNER_TEMP": str(tmp_path),
        }
        return subprocess.run(
            ["bash", "-e", "-c", step["run"]], env=environment, capture_output=True, text=True, check=False
        )

    return run


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mine", "rounds", "verdict", "code", "said"),
    [
        (1.3e-6, "100", "slower", 3, "::error::mine is slower than usual: at stencil_1d"),
        (1.0e-6, "100", "not slower", 0, ""),
        (2.0e-6, "4", "unknown", 0, "::warning::whether mine is slower than usual can't be told"),
    ],
)
def test_a_regression_is_an_error_and_an_unknown_verdict_a_warning(
    laboratory: Callable[..., Path],
    commanded: Path,
    job: Callable[[str, int], subprocess.CompletedProcess[str]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    mine: float,
    rounds: str,
    verdict: str,
    code: int,
    said: str,
) -> None:
    laboratory(mine=(mine, "fine"), usual=(1e-6, "fine"))
    words = ("compare", "mine", "usual", "--fail-if-slower", "5%", "--workers", "2", "--rounds", rounds, "--json")
    ended = teff(monkeypatch, *words)
    done = job(capsys.readouterr().out, ended)
    assert done.returncode == code, done.stderr
    assert done.stdout.startswith(said)
    assert bool(done.stdout) == bool(said)
    assert f"verdict={verdict}\n" in (commanded / "output").read_text()
    summary = (commanded / "summary").read_text()
    assert summary.startswith(f"### Teff watch: {verdict}\n")
    assert "|  | A: mine | B: usual | A / B | 95 % interval |  | rounds |\n" in summary
    assert f"| {verdict} |" in summary
    asked = (commanded / "words").read_text()
    assert f"<compare><mine><usual><--json><--store><{commanded}/teff-watch><--fail-if-slower><5%>" in asked
    assert asked.endswith("<-type><nearest><-radix><5>")


def test_a_watch_that_fails_is_an_error_with_its_exit_code(
    job: Callable[[str, int], subprocess.CompletedProcess[str]],
) -> None:
    done = job("", 2)
    assert done.returncode == 2
    assert done.stdout == "::error::teff compare failed with exit code 2; the log of this step says why\n"


def test_a_watch_without_a_place_that_was_measured_on_both_is_a_warning(
    job: Callable[[str, int], subprocess.CompletedProcess[str]],
) -> None:
    done = job("\n", 4)
    assert done.returncode == 0
    assert done.stdout.startswith("::warning::whether mine is slower than usual can't be told")


@pytest.mark.parametrize("verdict", ["unknown", "not slower", "slower"])
@pytest.mark.parametrize(("code", "how"), [(130, "was interrupted"), (1, "failed")])
def test_a_watch_that_did_not_end_is_an_error_whatever_its_verdict(
    job: Callable[[str, int], subprocess.CompletedProcess[str]], verdict: str, code: int, how: str
) -> None:
    pair = {"verdict": verdict, "verdict_of_all": verdict, "rounds": 2, "place": "here", "threshold": 0.05}
    pair |= {"ratio": {"value": 1.2, "low": 1.1, "high": 1.3}, "a": {"value": 1.2e-6}, "b": {"value": 1e-6}}
    done = job(json.dumps(pair), code)
    assert done.returncode == code, done.stderr
    assert done.stdout == f"::error::teff compare {how} (exit code {code}): its verdict is of the rounds before that\n"


def test_every_input_reaches_the_script() -> None:
    (step,) = DESCRIBED["runs"]["steps"]
    assert set(step["env"].values()) == {f"${{{{ inputs.{name} }}}}" for name in DESCRIBED["inputs"]}
