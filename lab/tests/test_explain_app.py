"""The commands `teff explain APP` and `teff explain TRACE`, and the number of tasks that the first one chooses."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from conftest import skip_unless_there
from tefflab import project_root
from tefflab.cli import explaining
from tefflab.cli import main as cli
from tefflab.cli.explaining import advised_setting, search, setting_of
from tefflab.errors import TeffError
from tefflab.profiles.pricing import Price
from tefflab.profiles.states import Observed, Process, Site, bin_of
from tefflab.systems.programs import find_program
from tefflab.systems.registry import Registry


def price(length: float, **seconds: float) -> Price:
    """Of two workers with a second in tasks of this length."""
    own = Site("row", "task", "libteff", round(1 / length), 1.0, {bin_of(length): round(1 / length)})
    of = {"body": 0.5} | seconds
    process = Process("process", (of, of), sum(of.values()), (own,))
    return Price(Observed((process,)), process.elapsed, process.elapsed)


@pytest.mark.parametrize(
    ("of", "now", "advised"),
    [
        (price(1e-6, creation=0.5), 256, 8),  # of 32 times the length they cost less than a twentieth
        (price(1e-6, creation=0.5), 16, 2),  # each worker has a task
        (price(1e-6, creation=0.5), 1, 1),
        (price(1e-6, creation=0.02), 7, 7),
        (price(1e-3, imbalance=0.4), 9, 18),
        (price(1e-3, imbalance=0.3, creation=0.2), 1, 8),  # four for each worker
        (price(1e-6, imbalance=0.1, creation=0.5), 256, 8),
    ],
)
def test_the_setting_gives_tasks_the_advised_length_or_idle_workers_more_tasks(
    of: Price, now: int, advised: int
) -> None:
    assert advised_setting(of, now) == advised


def test_the_quickest_setting_lies_between_two_slower_ones() -> None:
    for best in (1, 2, 64, 1024):
        for starts in ({1}, {500}, {8, 22246}):
            tried = search(starts, 2, lambda tasks: abs(tasks - best) + 1.0)  # noqa: B023 - called at once
            quickest = min(tried, key=lambda each: tried[each])
            assert {max(1, quickest // 2), 2 * quickest} | starts <= tried.keys()
            assert best / 2 <= quickest <= 2 * best


def test_settings_have_their_runs_in_turns() -> None:
    """A machine that is slow at first."""
    ran: list[int] = []

    def seconds(tasks: int) -> float:
        ran.append(tasks)
        return 3.0 if len(ran) < 3 else 1.0 + (tasks != 4)

    assert search([2, 4], 2, seconds) == {2: 2.0, 4: 1.0, 8: 2.0}
    assert ran == [2, 4, 2, 4, 8, 8]
    assert search([2, 4], 0, seconds) == {}


@pytest.mark.parametrize(("words", "asked"), [(["-tasks", "3"], 3), (["--tasks=3"], 3), (["-tasks=3"], 3), ([], None)])
def test_the_number_of_tasks_is_no_flag_of_the_app(
    monkeypatch: pytest.MonkeyPatch, words: list[str], asked: int | None
) -> None:
    told: list[Any] = []
    monkeypatch.setattr(explaining, "advise_app", lambda _, app, *said: told.extend([said[0], app.flags, said[1]]))
    done = CliRunner().invoke(cli.app, ["explain", "hpccg", *words, "-size", "5"])
    assert done.exit_code == 0, done.output
    assert told == [["teff/t"], ["-app", "hpccg", "-size", "5"], asked]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["apps", "-app", "hpccg"], "apps: name the app, as apps:NAME"),
        (["apps:stencil"], "no app is called 'stencil'; there are: cholesky gemm"),
        (["stencil", "-size", "3"], "no app is called 'stencil'; there are: cholesky gemm"),
    ],
)
def test_a_name_that_no_app_has_is_refused_before_anything_is_built(
    monkeypatch: pytest.MonkeyPatch, words: list[str], why: str
) -> None:
    monkeypatch.setattr(explaining, "listed_here", lambda *_: [])
    done = CliRunner().invoke(cli.app, ["explain", *words])
    assert str(done.exception).startswith(why)


@pytest.mark.parametrize("words", [["solver"], ["./solver", "1"], ["sh", "-c", "true"]])
def test_a_program_without_two_dashes_before_it_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("solver").symlink_to(sys.executable)
    done = CliRunner().invoke(cli.app, ["explain", *words])
    program = words[0]
    assert str(done.exception) == f"{program}: is a program; put -- before it: ./teff explain -- {program}"


def test_a_setting_is_as_the_record_says_it() -> None:
    assert setting_of({"parameters": {"tasks": 3}}) == 3
    with pytest.raises(TeffError, match="gemm: -tasks does not cut its loops"):
        setting_of({"parameters": {"app": "gemm"}})
    with pytest.raises(TeffError, match="lulesh: -tasks does not cut its loops"):
        setting_of({"way": "loops", "parameters": {"app": "lulesh", "tasks": 8}})


def test_the_tasks_with_priorities_of_sssp_have_no_setting() -> None:
    with pytest.raises(TeffError, match="sssp: its tasks with priorities do not read -tasks; say --systems teff/graph"):
        setting_of({"way": "tasks", "parameters": {"app": "sssp", "tasks": 8}})
    assert setting_of({"way": "graph", "parameters": {"app": "sssp", "tasks": 8}}) == 8


@pytest.mark.parametrize("words", [["--ranks", "2"], ["-ranks=2"]])
def test_a_run_that_is_advised_has_one_process(words: list[str]) -> None:
    done = CliRunner().invoke(cli.app, ["explain", "lulesh", *words])
    assert isinstance(done.exception, TeffError)
    assert str(done.exception).startswith(
        "--ranks: explain runs one process; trace ranks by teff run --ranks N --trace"
    )
    assert done.exception.exit_code == 2


def write_trace(file: Path) -> None:
    slices = [{"ts": 10 * number, "dur": 3, "name": "row", "cat": "task"} for number in range(100)]
    trace = {
        "otherData": {"lost_events": 0},
        "traceEvents": [{"pid": 1, "tid": 1, "ph": "X"} | each for each in slices],
    }
    file.write_text(json.dumps(trace))


def test_the_command_reads_the_trace_of_any_program(tmp_path: Path) -> None:
    file = tmp_path / "sort.json"
    write_trace(file)
    done = CliRunner().invoke(cli.app, ["explain", str(file), "--json"])
    assert done.exit_code == 0, done.output
    program, site = map(json.loads, done.stdout.splitlines())
    assert (program["command"], program["plain_runs"]) == (["sort.json"], 0)
    assert program["efficiency"] == pytest.approx(0.3, rel=0.05)
    assert program["forecasts"]
    assert (site["site"], site["kind"], site["count"]) == ("row", "task", 100)
    drawn = CliRunner().invoke(cli.app, ["explain", str(file), "--picture", str(tmp_path / "sort.png")])
    assert drawn.exit_code == 0, drawn.output
    assert drawn.stdout.startswith("sort.json: 1 thread, 993 µs\n")
    assert (tmp_path / "sort.svg").is_file()
    assert (tmp_path / "sort.png").is_file()
    refused = CliRunner().invoke(cli.app, ["explain", str(file), "--picture", str(tmp_path / "sort.json")])
    assert "would be a timeline" in str(refused.exception)
    assert refused.stdout.startswith("sort.json: 1 thread, 993 µs\n")  # the report does not go with its picture


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["-size", "3"], "-size 3: is for an app; a trace is of a run that has ended"),
        (["--runs", "3"], "--runs: is for an app"),
        (["--tasks", "3"], "--tasks: is for an app"),
        (["--apply"], "--apply: is for a program behind --"),
    ],
)
def test_a_trace_takes_no_word_about_runs(tmp_path: Path, words: list[str], why: str) -> None:
    write_trace(tmp_path / "sort.json")
    done = CliRunner().invoke(cli.app, ["explain", str(tmp_path / "sort.json"), *words])
    assert str(done.exception).startswith(why)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("nothing", "it is no trace"),
        ('{"traceEvents": []}', "the trace has no task"),
        ('{"traceEvents": 3}', "it is no trace"),
        (None, "no trace can be read"),
    ],
)
def test_a_file_without_tasks_is_an_error(tmp_path: Path, text: str | None, wrong: str) -> None:
    file = tmp_path / "trace.json"
    if text is not None:
        file.write_text(text)
    done = CliRunner().invoke(cli.app, ["explain", str(file)])
    assert isinstance(done.exception, TeffError)
    assert str(done.exception).startswith(f"{file}: {wrong}")
    assert done.exception.exit_code == 2


def test_a_file_with_a_trace_holds_one_run() -> None:
    done = CliRunner().invoke(cli.app, ["run", "a,b", "--trace", "run.json"])
    assert isinstance(done.exception, TeffError)
    assert str(done.exception) == "--trace run.json: a file holds one run; name one system"


def test_an_app_is_advised_from_one_traced_run_and_runs_with_other_settings(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = find_program(Registry(project_root()), "apps", "teff/t")
    skip_unless_there(program)
    monkeypatch.setattr(explaining, "ensure", lambda *_, **__: {})
    words = ["explain", "hpccg", "-grid", "10x10x10", "-tasks", "9", "--runs", "1"]
    done = CliRunner().invoke(cli.app, [*words, "--json", "--picture", str(tmp_path / "app")])
    assert done.exit_code == 0, done.output
    lines: list[dict[str, Any]] = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    whole, *rest = lines
    assert whole["command"] == ["teff/t", "-app", "hpccg", "-grid", "10x10x10", "-tasks", "9"]
    sites = {each["site"]: each["count"] for each in rest if each["of"] == "site"}
    assert sites.keys() == {"sparsemv", "waxpby", "ddot", "sum", "scalars"}
    assert sum(sites.values()) > 149 * 9
    tries = {each["setting"]: each for each in rest if each["of"] == "try"}
    assert tries["-tasks 9"]["speedup"] is None
    quickest = min(tries, key=lambda each: tries[each]["seconds"]["value"])
    tasks = int(quickest.removeprefix("-tasks "))
    assert {f"-tasks {max(1, tasks // 2)}", f"-tasks {2 * tasks}"} <= tries.keys()
    alone = CliRunner().invoke(cli.app, [*words[:-1], "0"])
    assert "\nChoose -tasks " in alone.stdout
    assert "tried" not in alone.stdout
    assert (tmp_path / "app.svg").is_file()
