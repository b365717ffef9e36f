"""The contents of a system.toml, the start of its programs, and the check whether they are there."""

import io
import json
import sys
from pathlib import Path

import psutil
import pytest
from rich.console import Console

from tefflab import project_root
from tefflab.cli.systems import to_objects, to_table
from tefflab.errors import BAD_INPUT, TeffError
from tefflab.systems.packages import PackageState
from tefflab.systems.probing import Probe, probe, probe_all
from tefflab.systems.registry import Registry, load_system
from tefflab.systems.systems import SKIPPED_FOLDER, System

GOOD = """
name = "lake"
title = "Lake Tasks"
paradigm = "task-based"
parallelism = "implicit"
distributed = false
language = "C++"
homepage = "https://example.org/lake"
color = "#0072B2"

[install]
apt = ["liblake-2-dev | liblake-dev"]

[[program]]
benchmark = "task_graph"
name = "tasks"
title = "tasks"
program = "lake_tasks"
command = ["{program}", "--threads={workers}"]
environment = { LAKE_HOME = "{build}/lake", LAKE_FOLDER = "{folder}" }
[program.why]
LAKE_HOME = "it looks there for its table"
LAKE_FOLDER = "and there for its chair"

[[program]]
benchmark = "task_graph"
name = "script"
title = "from Python"
program = "lake.py"
"""

FILES = sorted((project_root() / "bench/systems").glob("*/system.toml"))


def write(root: Path, text: str = GOOD, name: str = "lake") -> Path:
    file = root / "bench/systems" / name / "system.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def lake(root: Path) -> System:
    return load_system(write(root))


def script(root: Path, body: str) -> None:
    write(root).with_name("lake.py").write_text(body, encoding="utf-8")


def runs(pid: int) -> bool:
    """Whether a process is there and alive; one that has ended may wait for a parent that never asks."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_the_first_variant_has_the_systems_name_and_further_ones_add_their_own(tmp_path: Path) -> None:
    assert [variant.id for variant in lake(tmp_path).programs] == ["lake", "lake/script"]


def test_a_command_line_has_its_placeholders_filled(tmp_path: Path) -> None:
    variant = lake(tmp_path).programs[0]
    program = str(tmp_path / ".teff/build/bin/lake_tasks")
    assert variant.command_line(3) == [program, "--threads=3"]
    assert variant.environment_for(3) == {
        "LAKE_HOME": str(tmp_path / ".teff/build/lake"),
        "LAKE_FOLDER": str(tmp_path / "bench/systems/lake"),
    }


def test_a_program_that_spreads_over_ranks_has_a_command_for_so_many(tmp_path: Path) -> None:
    launched = 'command_for_ranks = ["start", "{ranks}", "{workers}", "{program}"]\nenvironment ='
    variant, alone = load_system(write(tmp_path, GOOD.replace("environment =", launched))).programs
    program = str(tmp_path / ".teff/build/bin/lake_tasks")
    assert variant.command_line(6, 3) == ["start", "3", "6", program]
    assert variant.command_line(6) == [program, "--threads=6"]
    assert not alone.command_for_ranks


def test_a_script_is_run_by_the_labs_own_python(tmp_path: Path) -> None:
    variant = lake(tmp_path).programs[1]
    assert variant.is_python
    assert variant.command_line(1) == [sys.executable, str(tmp_path / "bench/systems/lake/lake.py")]


@pytest.mark.parametrize(
    ("was", "becomes", "told"),
    [
        ('name = "lake"', 'name = "pond"', "'pond' is not the folder's name, 'lake'"),
        ('color = "#0072B2"', 'color = "blue"', "color"),
        ('parallelism = "implicit"', 'parallelism = "some"', "parallelism"),
        ("distributed = false", "distribution = false", "distributed"),
        (
            "distributed = false",
            'distributed = false\ntrace = { A = "run" }',
            "trace: {file} does not occur in it",
        ),
        ("{workers}", "{worker}", "{worker} can't stand in it; {program}, {benchmark}, "),
        ('["{program}", ', "[", "{program} does not occur"),
        ("environment =", 'command_for_ranks = ["{program}"]\nenvironment =', "{ranks} does not occur"),
        ('LAKE_HOME = "it looks', 'LAKE_HOUSE = "it looks', "environment sets LAKE_HOME"),
        ('name = "script"', 'name = "tasks"', "two programs of task_graph are named 'tasks'"),
        ('program = "lake', 'best = true\nprogram = "lake', "two programs of task_graph are the best"),
        ('homepage = "https:', 'homepage = "htps:', "homepage"),
        ('title = "Lake Tasks"', "title = Lake", "is no TOML"),
        ('language = "C++"', 'language = ""', "language"),
    ],
)
def test_what_is_wrong_is_told_with_its_file_and_key(tmp_path: Path, was: str, becomes: str, told: str) -> None:
    assert was in GOOD
    file = write(tmp_path, GOOD.replace(was, becomes))
    with pytest.raises(TeffError) as caught:
        load_system(file)
    assert str(caught.value).startswith(f"{file}: ")
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == BAD_INPUT


def test_the_environment_of_a_system_is_that_of_its_programs_unless_they_set_another(tmp_path: Path) -> None:
    head, _, programs = GOOD.partition("[[program]]")
    both = (
        '[environment]\nLAKE_HOME = "nowhere"\nLAKE_DEPTH = "{workers}"\n'
        '[why]\nLAKE_HOME = "none"\nLAKE_DEPTH = "deep"\n'
    )
    tasks, script = load_system(write(tmp_path, f"{head}{both}[[program]]{programs}")).programs
    assert script.environment_for(2) == {"LAKE_HOME": "nowhere", "LAKE_DEPTH": "2"}
    assert tasks.environment_for(2)["LAKE_DEPTH"] == "2"
    assert tasks.environment_for(2)["LAKE_HOME"].endswith("/lake")
    assert tasks.why["LAKE_HOME"] == "it looks there for its table"
    without = both.replace('LAKE_DEPTH = "deep"', "")
    with pytest.raises(TeffError, match=r"environment sets LAKE_DEPTH, and \[why\] has no reason"):
        load_system(write(tmp_path, f"{head}{without}[[program]]{programs}"))


def test_a_system_without_programs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TeffError, match="program: is missing"):
        load_system(write(tmp_path, GOOD.partition("[[program]]")[0]))


def test_a_folder_without_system_toml_is_no_system(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "bench/systems/empty").mkdir()
    assert [system.name for system in Registry(tmp_path).systems] == ["lake"]


@pytest.mark.parametrize("file", FILES, ids=[file.parent.name for file in FILES])
def test_the_file_of_each_system_can_be_read(file: Path) -> None:
    assert load_system(file).name == file.parent.name


@pytest.mark.parametrize("content", [b"\xef\xbb\xbftitle = 'Pond'", b"title =", b"\xff\xfe", None])
def test_a_file_that_can_not_be_read_costs_its_system_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes | None
) -> None:
    write(tmp_path)
    file = tmp_path / "bench/systems/pond/system.toml"
    file.parent.mkdir()
    file.write_bytes(content) if content else file.mkdir()
    assert [system.name for system in Registry(tmp_path).systems] == ["lake"]
    (said,) = capsys.readouterr().err.splitlines()
    assert said.startswith(f"teff: {file}: ")
    assert said.endswith("; it is left out")


def test_a_byte_order_mark_counts_for_nothing(tmp_path: Path) -> None:
    write(tmp_path, f"\ufeff{GOOD}")
    assert [system.name for system in Registry(tmp_path).systems] == ["lake"]


def test_a_program_that_answers_is_found_with_its_version(tmp_path: Path) -> None:
    answer = json.dumps({"system": "lake", "variant": "script", "version": "Lake 2.1", "workers": 2})
    script(tmp_path, f"import sys\nassert sys.argv[1:] == ['--identity']\nprint('hello')\nprint('''{answer}''')")
    system = lake(tmp_path)
    found = probe(system.programs[1], system)
    assert (found.found, found.version, found.reason) == (True, "Lake 2.1", None)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("raise SystemExit('no liblake.so')", "--identity ended with exit code 1: no liblake.so"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "ended by signal 9 (SIGKILL)"),
        ("print('Lake 2.1')", "answers --identity with something else: Lake 2.1"),
        ("""print('{"system": "pond", "variant": "script"}')""", "the program says it is 'pond'"),
    ],
)
def test_a_program_that_does_not_answer_is_not_found_and_says_why(tmp_path: Path, body: str, reason: str) -> None:
    script(tmp_path, body)
    system = lake(tmp_path)
    found = probe(system.programs[1], system)
    assert not found.found
    assert reason in (found.reason or "")


def test_a_program_that_hangs_is_ended_with_all_it_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tefflab.systems.probing.PYTHON_TIMEOUT", 1.0)
    child = "import os, time; os.setpgid(0, 0); open('child', 'w').write(str(os.getpid())); time.sleep(1000)"
    launcher = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    script(
        tmp_path, f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {launcher!r}], cwd={str(tmp_path)!r})"
    )
    system = lake(tmp_path)
    found = probe(system.programs[1], system)
    assert found.reason == "gave no identity within 1 s"
    assert not runs(int((tmp_path / "child").read_text()))


def test_a_system_that_was_left_out_says_why(tmp_path: Path) -> None:
    system = lake(tmp_path)
    reason = tmp_path / ".teff/build/skipped/lake"
    reason.parent.mkdir(parents=True)
    reason.write_text("liblake is older than 2\n")
    packages = PackageState(frozenset({"liblake-dev"}), known=True)
    found = probe(system.programs[0], system, packages=packages)
    assert found.reason == "liblake is older than 2"
    assert found.how_to_install == "./teff systems --set-up sets it up"


def test_a_program_that_was_left_out_says_why(tmp_path: Path) -> None:
    system = lake(tmp_path)
    reason = tmp_path / ".teff/build/skipped" / system.programs[0].executable
    reason.parent.mkdir(parents=True)
    reason.write_text("no compiler for lakes\n")
    for installed, advice in ((["liblake-dev"], ""), ([], "./teff systems --set-up sets it up")):
        packages = PackageState(frozenset(installed), known=True)
        found = probe(system.programs[0], system, packages=packages)
        assert (found.reason, found.how_to_install) == ("no compiler for lakes", advice)


def test_a_broken_adapter_is_not_told_to_be_installed(tmp_path: Path) -> None:
    system = lake(tmp_path)
    reason = tmp_path / ".teff/build/broken/lake"
    reason.parent.mkdir(parents=True)
    reason.write_text("does not compile\n")
    found = probe(system.programs[0], system)
    assert (found.reason, found.how_to_install) == ("does not compile", "")


def test_a_program_that_has_all_but_the_machine_for_it_is_not_told_to_be_installed(tmp_path: Path) -> None:
    system = lake(tmp_path)
    built = system.programs[0].program_path
    built.parent.mkdir(parents=True)
    built.write_text("#!/bin/sh\necho 'error: no lake lies near this machine' >&2\nexit 1\n")
    built.chmod(0o755)
    for installed, advice in ((["liblake-dev"], ""), ([], "./teff systems --set-up sets it up")):
        packages = PackageState(frozenset(installed), known=True)
        found = probe(system.programs[0], system, packages=packages)
        assert (found.reason or "").endswith("error: no lake lies near this machine")
        assert found.how_to_install == advice


def test_who_may_not_install_is_told_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tefflab.systems.probing.as_root", lambda: None)
    monkeypatch.setattr("tefflab.systems.probing.available", lambda _: frozenset({"liblake-dev"}))
    system = lake(tmp_path)
    found = probe(system.programs[0], system, packages=PackageState(frozenset(), known=True))
    assert found.how_to_install.endswith("apt-get install --no-install-recommends liblake-dev")


def test_a_system_no_registry_has_is_told_its_homepage_once_it_is_missed(tmp_path: Path) -> None:
    system = load_system(write(tmp_path, GOOD.replace('["liblake-2-dev | liblake-dev"]', "[]")))
    assert probe(system.programs[0], system).how_to_install == "./teff systems --set-up sets it up"
    (tmp_path / SKIPPED_FOLDER).mkdir(parents=True)
    (tmp_path / SKIPPED_FOLDER / "lake").write_text("Lake is not here\n")
    assert "https://example.org/lake" in probe(system.programs[0], system).how_to_install


def test_the_list_is_json_with_an_object_a_system(tmp_path: Path) -> None:
    script(tmp_path, """print('{"system": "lake", "variant": "script", "version": "2.1"}')""")
    systems = Registry(write(tmp_path).parents[3]).systems
    listed = to_objects(systems, probe_all(systems, lambda one: one.listed))[0]
    assert listed["found"] is True
    assert listed["version"] == "2.1"
    assert [(variant["id"], variant["found"]) for variant in listed["variants"]] == [
        ("lake", False),
        ("lake/script", True),
    ]
    assert {"name", "title", "paradigm", "parallelism", "distributed", "install"} <= listed.keys()


def printed(systems: list[System], width: int = 80) -> str:
    console = Console(width=width, file=io.StringIO(), highlight=False)
    console.print(to_table(systems, probe_all(systems, lambda one: one.listed)))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_table_has_who_is_here_and_below_it_a_line_for_who_is_not(tmp_path: Path) -> None:
    script(tmp_path, """print('{"system": "lake", "variant": "script", "version": "2.1"}')""")
    lines = printed([lake(tmp_path)]).splitlines()
    assert lines[0] == "Here, each with its colour in all pictures (●):"
    assert lines[1].split() == ["system", "version", "title", "paradigm", "parallelism", "runs", "on"]
    assert lines[2].split()[:3] == ["●", "lake/script", "2.1"]
    assert lines[4] == "Not built yet; a command builds what it measures, ./teff systems --set-up all:"
    assert lines[5].split() == ["lake", "lake"]


def test_before_a_set_up_a_python_program_without_its_packages_is_not_built_yet(tmp_path: Path) -> None:
    script(tmp_path, "import a_module_that_a_set_up_brings")
    *_, heading, row = printed([lake(tmp_path)]).splitlines()
    assert heading == "Not built yet; a command builds what it measures, ./teff systems --set-up all:"
    assert row.split() == ["lake", "lake,", "lake/script"]


def test_the_best_way_to_use_a_system_comes_first_in_the_table_and_the_others_by_name(tmp_path: Path) -> None:
    program = '[[program]]\nbenchmark = "task_graph"\nname = "{0}"\ntitle = "{0}"\nprogram = "lake.py"\n'
    head = GOOD.partition("[[program]]")[0]
    ways = "".join(program.format(name) for name in ("wide", "tasks_deep", "tasks"))
    system = load_system(write(tmp_path, head + ways))
    console = Console(file=io.StringIO(), width=100)
    here = Probe(found=True, version="2.1", reason=None, how_to_install="")
    console.print(to_table([system], dict.fromkeys((each.id for each in system.listed), here)))
    lines = [line for line in console.file.getvalue().splitlines() if line.startswith("●")]  # type: ignore[attr-defined]
    assert [line.split()[1] for line in lines] == ["lake", "lake/tasks", "lake/tasks_deep"]


@pytest.mark.parametrize("width", [60, 80])
def test_who_is_not_here_is_listed_by_how_one_gets_it(tmp_path: Path, width: int) -> None:
    head, _, rest = GOOD.partition("[install]")
    programs = rest.partition("[[program]]")[2].partition("[[program]]")[0]
    asked = '[install]\napt = ["liblake-dev"]\non_request = true\nlicence = "MIT"\nmegabytes = 79\nseconds = 9\n'
    none = '[install.elsewhere]\nspack = "pond"\nnix = "pond"\nvcpkg = "water"\n'
    lake, pond = (
        load_system(write(tmp_path, f"{head}{how}[[program]]{programs}".replace('"lake"', f'"{name}"'), name))
        for name, how in (("lake", asked), ("pond", none))
    )
    (tmp_path / SKIPPED_FOLDER).mkdir(parents=True)
    (tmp_path / SKIPPED_FOLDER / "pond").write_text("Pond is not here\n")
    text = printed([lake, pond], width)
    assert max(map(len, text.splitlines())) <= width
    assert "./teff systems add NAME... gets it:\n  lake  79 MB, MIT\n" in text
    plain = " ".join(text.split())
    assert "found by itself in an active Spack or conda environment" in plain
    assert "pond pond in Spack, nixpkgs, water in vcpkg; https://example.org/lake" in plain


def test_every_system_here_is_valid_and_has_a_colour_of_its_own() -> None:
    systems = Registry(project_root()).systems
    colors = [system.color.lower() for system in systems]
    assert len(set(colors)) == len(colors), dict(zip([system.name for system in systems], colors, strict=True))


SPAWN = """
[[program]]
benchmark = "spawn"
name = "fast"
title = "fast"
program = "lake_spawn"

[[program]]
benchmark = "spawn"
name = "slow"
title = "slow"
program = "lake_spawn_slow"
"""


def test_the_programs_of_each_benchmark_are_named_alike_and_kept_apart(tmp_path: Path) -> None:
    system = load_system(write(tmp_path, GOOD + SPAWN))
    assert [program.id for program in system.programs_for("spawn")] == ["lake", "lake/slow"]
    assert [program.executable for program in system.listed] == ["lake_tasks", "lake.py"]
    assert {program.executable for program in system.programs} == {
        "lake_tasks",
        "lake.py",
        "lake_spawn",
        "lake_spawn_slow",
    }


def test_a_system_is_listed_by_its_programs_of_the_first_benchmark(tmp_path: Path) -> None:
    head = GOOD.partition("[[program]]")[0]
    system = load_system(write(tmp_path, head + SPAWN))
    probes = probe_all([system], lambda one: one.listed)
    assert to_objects([system], probes)[0]["variants"][1]["id"] == "lake/slow"
    assert probe_all([system], lambda one: one.programs_for("task_graph")) == {}


def test_another_benchmark_runs_on_the_same_adapters_by_a_program_of_its_own(tmp_path: Path) -> None:
    kinds = SPAWN.replace("lake_spawn", "lake_{benchmark}").replace(
        'title = "fast"', 'title = "fast"\ncommand = ["{program}", "--of={benchmark}"]'
    )
    system = load_system(write(tmp_path, GOOD + kinds))
    assert [program.executable for program in system.programs_for("spawn")] == ["lake_spawn", "lake_spawn_slow"]
    fast, slow = system.programs_for("wake", "spawn")
    assert [fast.id, slow.id] == ["lake", "lake/slow"]
    assert slow.executable == "lake_wake_slow"
    assert fast.command_line(2) == [str(tmp_path / ".teff/build/bin/lake_wake"), "--of=wake"]
    with pytest.raises(TeffError, match=r"\{workers\} can't stand in it; \{benchmark\} can"):
        load_system(write(tmp_path, GOOD + SPAWN.replace("lake_spawn", "lake_{workers}")))


def test_no_row_says_the_name_of_its_system_twice() -> None:
    for system in Registry(project_root()).systems:
        words = system.title.split()
        joined = [each.title for each in system.programs if system.title.lower() not in each.title.lower()]
        for title in joined:
            assert not {words[0], words[-1]} & {word.strip(",:") for word in title.split()}, f"{system.title}: {title}"
