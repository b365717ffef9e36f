"""One case once on several systems, and what flags describe."""

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.exceptions import Exit
from click.testing import CliRunner

from conftest import write_system
from simulated_apps_program import record as app_record
from tefflab import project_root
from tefflab.benchmarks.declared import described_kind
from tefflab.benchmarks.graph_drawing import describe_graphs
from tefflab.benchmarks.graphs import core_program, expect_listable
from tefflab.cli import main as cli
from tefflab.cli import single_runs
from tefflab.cli.single_runs import run_each
from tefflab.errors import InputError, TeffError
from tefflab.measure.single_runs import Launch
from tefflab.systems import logged, programs
from tefflab.systems.programs import call_program, find_program
from tefflab.systems.registry import Registry
from tefflab.systems.systems import BUILD_FOLDER, SKIPPED_FOLDER, Program, System

FLAGS = ["-type", "stencil_1d", "-steps", "100", "-width", "2", "-kernel", "compute_bound", "-iter", "1000"]


@pytest.fixture(autouse=True)
def _nothing_to_set_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(single_runs, "ensure", lambda *_, **__: {})


def test_every_system_that_is_here_runs_once_the_quickest_first(
    laboratory: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    run_each(Launch(Registry(laboratory(slow=(1e-3, "fine"), quick=(1e-6, "fine"))), FLAGS), [], as_json=False)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["system", "elapsed", "granularity", "rate", "validated"]
    assert [line.split()[0] for line in lines[1:]] == ["quick", "slow"]
    assert all(line.split()[-1] == "yes" for line in lines[1:])


def test_another_kind_of_benchmark_runs_once_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["-app", "gemm", "-size", "512", "-block", "64"]
    (tmp_path / "said").write_text(json.dumps(app_record("lake", 0.5, 2, " ".join(flags), 0)))
    row = '[[program]]\nbenchmark = "apps"\nname = "one"\ntitle = "lake"\nprogram = "/bin/sh"\n'
    write_system(tmp_path, "lake", row + f'command = ["{{program}}", "-c", "cat {tmp_path}/said"]\n')
    run_each(Launch(Registry(tmp_path), flags, 2, kind=described_kind("apps")), ["lake"], as_json=False)
    heads, line = capsys.readouterr().out.splitlines()
    assert (heads.split(), line.split()[0], line.split()[-1]) == (["system", "elapsed", "validated"], "lake", "yes")


def test_as_json_each_run_is_its_programs_own_line(
    laboratory: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    root = laboratory(a=(1e-6, "fine"), b=(1e-6, "fine"), c=(1e-6, "fine"))
    run_each(Launch(Registry(root), FLAGS), ["c", "a/one"], as_json=True)
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [record["system"] for record in records] == ["c", "a"]
    assert {record["schema"] for record in records} == {"teff-record-2"}


def test_a_run_with_fewer_workers_than_were_asked_for_is_a_failed_one(
    laboratory: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    root = laboratory(good=(1e-6, "fine"), limited=(1e-6, "is_limited"))
    with pytest.raises(Exit) as ended:
        run_each(Launch(Registry(root), [*FLAGS, "--workers", "2"]), [], as_json=False)
    assert ended.value.exit_code == 1
    assert "limited: had 1 of 2 workers: " in " ".join(capsys.readouterr().out.split())


def test_a_sign_that_is_no_number_is_left_to_the_program_to_refuse() -> None:
    expect_listable(["-width", "²", "-steps", "³"])


def test_a_system_that_refuses_is_named_and_the_others_run(
    laboratory: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(Exit) as ended:
        run_each(Launch(Registry(laboratory(good=(1e-6, "fine"), bad=(1e-6, "refuses"))), FLAGS), [], as_json=False)
    assert ended.value.exit_code == 1
    out = capsys.readouterr().out
    assert "bad: -type: there is no 'stensil'" in out
    assert any(line.startswith("good") and line.split()[-1] == "yes" for line in out.splitlines())


def test_after_ctrl_c_what_has_run_is_shown_and_who_has_not(
    laboratory: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = laboratory(a=(1e-6, "fine"), b=(1e-6, "fine"), c=(1e-6, "fine"))
    run = Launch.run

    def until_ctrl_c(launch: Launch, program: Program) -> single_runs.SingleRun:
        if program.id == "b":
            raise KeyboardInterrupt
        return run(launch, program)

    monkeypatch.setattr(Launch, "run", until_ctrl_c)
    with pytest.raises(TeffError, match=r"^interrupted; no run of b c$") as ended:
        run_each(Launch(Registry(root), FLAGS), [], as_json=False)
    assert ended.value.exit_code == 130
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["system", "a"]


def test_a_program_that_was_left_out_is_not_started_but_says_why(
    laboratory: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(programs, "ensure", lambda *_, **__: {})
    root = laboratory(quick=(1e-6, "fine"))
    launched = (
        '[[program]]\nbenchmark = "task_graph"\nname = "one"\ntitle = "lame"\nprogram = "lame"\n'
        'command = ["true", "{program}"]\n'
    )
    write_system(root, "lame", launched)
    (root / SKIPPED_FOLDER).mkdir()
    (root / SKIPPED_FOLDER / "lame").write_text("it wants another launcher\n")
    with pytest.raises(TeffError, match=r"^lame: it wants another launcher$"):
        call_program(Registry(root), "true", FLAGS, started=find_program(Registry(root), "task_graph", "lame"))
    with pytest.raises(Exit):
        run_each(Launch(Registry(root), FLAGS), ["quick", "lame"], as_json=False)
    assert "lame: it wants another launcher" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("install", "way"),
    [
        ('apt = ["lake"]\non_request = true\nlicence = "MIT"\nmegabytes = 3\nseconds = 1', "./teff systems add lake"),
        ('elsewhere = { spack = "lake" }', "lake in Spack; https://example.org"),
    ],
)
def test_a_system_that_is_not_here_is_said_to_be_absent_and_how_to_get_it(
    laboratory: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    install: str,
    way: str,
) -> None:
    monkeypatch.setattr(programs, "ensure", lambda *_, **__: {})
    root = laboratory(quick=(1e-6, "fine"))
    launched = '[[program]]\nbenchmark = "task_graph"\nname = "one"\ntitle = "lake"\nprogram = "lake_one"\n'
    write_system(root, "lake", f"{launched}[install]\n{install}\n")
    (root / SKIPPED_FOLDER).mkdir()
    (root / SKIPPED_FOLDER / "lake").write_text("Lake's compiler is not in PATH\n")
    said = f"lake: not here: Lake's compiler is not in PATH; to get it: {way}"
    with pytest.raises(TeffError) as raised:
        call_program(Registry(root), "true", FLAGS, started=find_program(Registry(root), "task_graph", "lake"))
    assert str(raised.value) == said
    with pytest.raises(Exit):
        run_each(Launch(Registry(root), FLAGS), ["quick", "lake"], as_json=False)
    assert said in " ".join(capsys.readouterr().out.split())


def test_one_program_needs_its_own_system_set_up_and_no_other(
    laboratory: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []

    def ensured(_: object, systems: Sequence[System], **__: object) -> dict[str, str]:
        asked.append([each.name for each in systems])
        return {}

    monkeypatch.setattr(programs, "ensure", ensured)
    root = laboratory(a=(1e-6, "fine"), b=(1e-6, "fine"))
    for started in (find_program(Registry(root), "task_graph", "a"), None):
        with pytest.raises(Exit):
            call_program(Registry(root), "true", FLAGS, started=started)
    assert asked == [["a"], []]


def test_what_a_program_says_of_its_help_leads_to_that_of_the_command(
    laboratory: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(programs, "ensure", lambda *_, **__: {})
    said = "echo \"error: there is no flag '-foo'; see --help\" >&2; echo 'note: it takes long' >&2; exit 2"
    with pytest.raises(Exit) as ended:
        call_program(Registry(laboratory()), "sh", ["-c", said], command_path="teff graph")
    assert ended.value.exit_code == 2
    told = "teff: there is no flag '-foo'; see teff graph --help\nteff: it takes long\n"
    assert capsys.readouterr().err == told


def test_as_json_all_but_records_goes_to_standard_error(
    laboratory: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(programs, "ensure", lambda *_, **__: {})
    registry = Registry(laboratory())
    says = "echo a map of ranks; echo '{\"one\": 1}'; echo '{a note}' >&2; printf '{\"two\": 2}'"
    for as_json, out, err in (
        (True, '{"one": 1}\n{"two": 2}\n', {"a map of ranks", "{a note}"}),
        (False, 'a map of ranks\n{"one": 1}\n{"two": 2}', {"{a note}"}),
    ):
        with pytest.raises(Exit):
            call_program(registry, "sh", ["-c", says], as_json=as_json)
        told = capfd.readouterr()
        assert told.out == out
        assert set(told.err.splitlines()) == err


def test_a_program_that_is_ended_by_a_signal_is_said_to_be_and_counts_as_failed(
    laboratory: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(programs, "ensure", lambda *_, **__: {})
    root = laboratory()
    with pytest.raises(TeffError, match=r"^sh: was ended by signal 6 \(SIGABRT\)$") as raised:
        call_program(Registry(root), "sh", ["-c", "kill -ABRT $$"])
    assert raised.value.exit_code == 1
    with pytest.raises(TeffError, match=r"^sh: ended with exit code 137 \(as where .* by SIGKILL\)$"):
        call_program(Registry(root), "sh", ["-c", "exit 137"])
    aborts = '[[program]]\nbenchmark = "task_graph"\nname = "one"\ntitle = "lame"\nprogram = "lame"\n'
    write_system(root, "lame", aborts + 'command = ["sh", "-c", "echo pool.cpp:7 >&2; kill -ABRT $$", "{program}"]\n')
    (root / BUILD_FOLDER / "bin" / "lame").touch()
    with pytest.raises(Exit):
        run_each(Launch(Registry(root), FLAGS), ["lame"], as_json=False)
    assert "lame: was ended by signal 6 (SIGABRT) without a record: pool.cpp:7" in capsys.readouterr().out


def test_a_run_that_takes_long_says_for_how_long_and_how_to_end_it(
    laboratory: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(programs, "ensure", lambda *_, **__: {})
    monkeypatch.setattr(logged, "PATIENCE", 0.0)
    with pytest.raises(Exit):
        call_program(Registry(laboratory()), "sh", ["-c", "echo its result"])
    told = capfd.readouterr()
    assert told.out == "its result\n"
    assert told.err == "teff: running sh (0 s; Ctrl-C ends it)\n"


def test_a_run_among_several_that_does_not_end_is_ended(
    laboratory: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tefflab.measure.single_runs.TIMEOUT", 0.0)
    monkeypatch.setattr(logged, "PATIENCE", 0.0)
    root = laboratory()
    hangs = '[[program]]\nbenchmark = "task_graph"\nname = "one"\ntitle = "lame"\nprogram = "lame"\n'
    write_system(root, "lame", hangs + 'command = ["sh", "-c", "exec sleep 1000", "{program}"]\n')
    (root / BUILD_FOLDER / "bin" / "lame").touch()
    with pytest.raises(Exit):
        run_each(Launch(Registry(root), FLAGS), ["lame"], as_json=False)
    told = capsys.readouterr()
    assert "lame: did not end within 0 s" in told.out
    assert "teff: running lame, for 0 s at most (0 s; Ctrl-C ends it)" in told.err


def test_flags_that_all_refuse_are_said_once(laboratory: Callable[..., Path]) -> None:
    with pytest.raises(TeffError, match=r"^-type: there is no 'stensil'$") as raised:
        run_each(
            Launch(Registry(laboratory(a=(0, "refuses"), b=(0, "refuses"))), ["-type", "stensil"]), [], as_json=False
        )
    assert raised.value.exit_code == 2


def test_a_program_is_told_how_many_workers_unless_the_user_says(laboratory: Callable[..., Path]) -> None:
    root = laboratory(a=(1e-6, "fine"))
    program = Registry(root).systems[0].programs[0]
    words, _ = Launch(Registry(root), ["-steps", "3"]).command(program)
    assert words[-4] == "--workers"
    assert int(words[-3]) >= 1
    words, _ = Launch(Registry(root), ["-steps", "3", "-workers", "5"]).command(program)
    assert words[-4:] == ["-steps", "3", "-workers", "5"]


def test_the_number_of_workers_is_an_option_of_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Any] = []
    monkeypatch.setattr(single_runs, "run_each", lambda launch, *_, **__: told.extend([launch.flags, launch.workers]))
    assert "--workers" in CliRunner().invoke(cli.app, ["run", "--help"]).output
    done = CliRunner().invoke(cli.app, ["run", "all", "-steps", "5", "--workers", "3"])
    assert done.exit_code == 0, done.output
    assert told == [("-steps", "5"), 3]
    refused = CliRunner().invoke(cli.app, ["run", "all", "--workers", "0"])
    assert str(refused.exception).startswith("--workers 0: give a whole number from 1")


def test_a_sequential_system_has_one_worker_unless_the_user_says() -> None:
    registry = Registry(project_root())
    program = find_program(registry, "apps", "serial")
    words, _ = Launch(registry, ["-app", "hpccg"], kind=described_kind("apps")).command(program)
    assert words[-4:] == ["--workers", "1", "-app", "hpccg"]
    words, _ = Launch(registry, [], 2, kind=described_kind("apps")).command(program)
    assert words[-2:] == ["--workers", "2"]


def test_ranks_are_so_many_processes_with_a_worker_each_at_least(tmp_path: Path) -> None:
    launched = '[[program]]\nbenchmark = "task_graph"\nname = "{0}"\ntitle = "{0}"\nprogram = "{0}"\n'.format
    ranks = 'command_for_ranks = ["start", "{ranks}", "{workers}", "{program}"]\n'
    write_system(tmp_path, "lake", launched("wide") + ranks + launched("narrow"))
    wide, narrow = Registry(tmp_path).systems[0].programs
    words, _ = Launch(Registry(tmp_path), ["-steps", "3"], ranks=1000).command(wide)
    assert words[:3] == ["start", "1000", "1000"]
    assert words[-4:] == ["--workers", "1000", "-steps", "3"]
    words, _ = Launch(Registry(tmp_path), [], 6, 3).command(wide)
    assert words[:3] == ["start", "3", "6"]
    with pytest.raises(TeffError, match=r"^lake/narrow takes no --ranks: .*; these take them: lake$"):
        Launch(Registry(tmp_path), [], ranks=2).command(narrow)
    with pytest.raises(TeffError, match=r"^--workers 2 --ranks 3: each rank has a worker; say --workers 3, or"):
        Launch(Registry(tmp_path), [], 2, 3).command(wide)


def test_ranks_that_can_not_be_are_refused_before_anything_is_set_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_system(tmp_path, "lake", '[[program]]\nbenchmark = "task_graph"\nname = "lake"\ntitle = "l"\nprogram = "l"\n')
    monkeypatch.setattr("tefflab.cli.single_runs.ensure", lambda *_, **__: pytest.fail("set up"))
    with pytest.raises(TeffError, match=r"^--workers 2 --ranks 3: "):
        run_each(Launch(Registry(tmp_path), [], 2, 3), [], as_json=False)
    with pytest.raises(TeffError, match=r"^lake takes no --ranks: "):
        run_each(Launch(Registry(tmp_path), [], ranks=2), ["lake"], as_json=False)


@pytest.fixture
def core(tmp_path: Path) -> Path:
    """A checkout with the real core, where it is built."""
    built = core_program(project_root())
    if not built.exists():
        pytest.skip(f"{built.name} is not built here")
    copy = tmp_path / BUILD_FOLDER / "bin" / built.name
    copy.parent.mkdir(parents=True)
    shutil.copy(built, copy)
    return tmp_path


def test_graphs_that_run_at_once_are_drawn_each_with_its_own_tasks(core: Path) -> None:
    flags = "-type stencil_1d -width 3 -steps 2 -and --type=nearest -radix 5 -width 8 -steps 5"
    first, second = describe_graphs(core, flags.split())
    assert (first.title, first.columns, first.rows) == ("stencil_1d", 3, 2)
    assert (second.title, second.columns, second.rows) == ("nearest, radix 5", 8, 5)
    assert len(second.tasks) == 40
    assert {task["graph"] for task in second.tasks} == {1}


def test_a_graph_too_large_to_draw_is_refused_before_its_tasks_are_listed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"fft: 9000000000 points x 4 timesteps is too large to draw.*-width"):
        describe_graphs(tmp_path, ["-type", "fft", "-width", "9000000000"])


def test_wrong_flags_of_a_graph_are_answered_in_the_cores_words(core: Path) -> None:
    with pytest.raises(TeffError, match=r"there is no 'stensil' \(did you mean stencil_1d\?\); choose one of trivial"):
        describe_graphs(core, ["-type", "stensil"])
