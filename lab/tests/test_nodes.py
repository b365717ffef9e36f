"""Measuring over several nodes: places, the start of ranks, and what nodes are. A script stands for the launcher."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import PROGRAM, printed_rows, teff, write_program, write_system
from samples import MACHINE
from simulated import QUIET, Noise, SimulatedSystem
from tefflab import project_root
from tefflab.analysis.statistics import mean_metg, metg
from tefflab.benchmarks.graphs import parse
from tefflab.benchmarks.task_graph.plan import GraphExperiment
from tefflab.benchmarks.task_graph.record import GraphRecord
from tefflab.benchmarks.task_graph.tables import mean_name
from tefflab.errors import BAD_INPUT, FAILED
from tefflab.host.node import Node, differences
from tefflab.host.ranks import last_words, lost_node, why_fewer
from tefflab.records.store import Store
from tefflab.systems.registry import Registry
from tefflab.systems.systems import BUILD_FOLDER

OVERHEAD = 1e-6
MESSAGES = Path(__file__).parent / "simulated_messages_program.py"
SRUN = "srun --mpi=pmix"
LAUNCHER = """\
#!/bin/sh
echo "$TEFF_LAUNCHER|$TEFF_HOSTS|$TEFF_NODES" >>{root}/started
if [ -e {root}/lost ] && [ "$TEFF_NODES" = 2 ] && [ "$(grep -c '|2$' {root}/started)" -gt "$(cat {root}/lost)" ]; then
    echo "srun: error: Node failure on n2" >&2
    echo "srun: error: n1: task 0: Terminated" >&2
    exit 143
fi
if [ "$1" = node ]; then shift; else shift 2; fi
case "$*" in
    *tefflab.host.node*) head -n "$TEFF_NODES" {root}/nodes ;;
    *) exec "$@" ;;
esac
"""


@pytest.fixture(autouse=True)
def shell(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A shell in an allocation of four nodes that says nothing of launchers; a command's own changes are undone. It
    returns a folder of commands."""
    commands = tmp_path_factory.mktemp("commands")
    for name in ("srun", "mpirun"):
        write_command(commands, name, "exit 1")
    monkeypatch.setenv("PATH", f"{commands}:{os.environ['PATH']}")
    for name in ("TEFF_LAUNCHER", "TEFF_HOSTS", "TEFF_NODES", "SLURM_JOB_ID", "PBS_JOBID"):
        monkeypatch.setenv(name, "")
    monkeypatch.setenv("SLURM_JOB_NUM_NODES", "4")
    return commands


def write_command(folder: Path, name: str, does: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{does}\n")
    (folder / name).chmod(0o755)


@pytest.fixture
def cluster(commanded: Path, laboratory: Callable[..., Path]) -> Path:
    """A checkout with two systems that spread over nodes, `wide` and `slow`, and one that does not, `alone`."""
    root = laboratory(alone=(OVERHEAD, "fine"))
    assert root == commanded
    for name, overhead in (("wide", OVERHEAD), ("slow", 10 * OVERHEAD)):
        write_system(
            root,
            name,
            f'[[program]]\nbenchmark = "task_graph"\nname = "one"\ntitle = "{name}"\nprogram = "{PROGRAM}"\n'
            f'command = ["{{build}}/bin/start_ranks", "core", "{{workers}}", "{sys.executable}", "{{program}}", '
            f'"{name}", "{overhead}", "fine"]\n'
            f'[[program]]\nbenchmark = "messages"\nname = "two"\ntitle = "{name}"\nprogram = "{MESSAGES}"\n'
            f'command = ["{{build}}/bin/start_ranks", "core", "{{workers}}", "{sys.executable}", "{{program}}", '
            f'"{name}", "1.0"]\n',
        )
    binaries = root / BUILD_FOLDER / "bin"
    write_program(binaries / "ceiling_over_nodes", "ceiling 0 fine")
    (binaries / "start_ranks").write_text(LAUNCHER.format(root=root))
    (binaries / "start_ranks").chmod(0o755)
    write_nodes(root, *(node(number) for number in range(1, 5)))
    return root


def node(number: int, **machine: object) -> Node:
    return Node(number=number, machine=MACHINE.model_copy(update=machine), rate=1e11, gap_share=0.01, round_trip=5e-8)


def write_nodes(root: Path, *nodes: Node) -> None:
    (root / "nodes").write_text("".join(f"{each.model_dump_json()}\n" for each in nodes))


def started(root: Path) -> list[str]:
    """How programs were started since the last call."""
    file = root / "started"
    lines = file.read_text().splitlines()
    file.unlink()
    return lines


METG = ("metg", "--workers", "2", "--rounds", "3", "--minutes", "9")


def test_each_number_of_nodes_is_a_case_of_its_own(
    cluster: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert teff(monkeypatch, *METG, "--nodes", "2,1", "--launcher", SRUN, "--systems", "wide", "--json") == 0
    rows = printed_rows(capsys)
    assert [(row["nodes"], row["workers"], row["x"], row["rounds"]) for row in rows] == [(1, 2, 1, 3), (2, 4, 2, 3)]
    assert [row["configuration"] for row in rows] == [
        "-type stencil_1d -width 2 -kernel compute_bound over 1 node",
        "-type stencil_1d -width 4 -kernel compute_bound over 2 nodes",
    ]
    assert set(started(cluster)) == {f"{SRUN}||", f"{SRUN}||1", f"{SRUN}||2"}  # at first it is asked who it is
    assert teff(monkeypatch, "show", "default") == 0
    table = capsys.readouterr().out
    assert "mean run" in table
    assert "stencil_1d, compute_bound, 2 nodes" in table
    assert list((cluster / "results" / "default").rglob("metg_lines.png"))


def test_messages_go_between_two_ranks_of_one_node_or_of_two(
    cluster: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("measure", "messages", "--cases", "64KiB", "--rounds", "3", "--against", "wide")
    assert teff(monkeypatch, *words, "--nodes", "1,2,4", "--launcher", SRUN) == 0  # two ranks do not share four nodes
    tables = capsys.readouterr().out
    assert tables.index("Messages between two ranks, 1 node: times") < tables.index("two ranks, 2 nodes: times")
    assert teff(monkeypatch, "show", "default", "--json") == 0
    rows = printed_rows(capsys)
    assert {(row["nodes"], row["workers"], row["rounds"]) for row in rows} == {(1, 2, 3), (2, 2, 3)}
    assert f"{SRUN}||4" in started(cluster)  # says what the nodes are


def test_resume_starts_programs_as_the_sitting_began_whatever_the_shell_says(
    cluster: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEFF_LAUNCHER", SRUN)
    monkeypatch.setenv("TEFF_HOSTS", "n1,n2")
    assert teff(monkeypatch, *METG, "--systems", "wide") == 0
    assert set(started(cluster)) == {f"{SRUN}|n1,n2|"}
    monkeypatch.setenv("TEFF_LAUNCHER", "")
    monkeypatch.setenv("TEFF_HOSTS", "")
    assert teff(monkeypatch, "metg", "--resume", "--rounds", "4") == 0
    assert set(started(cluster)) == {f"{SRUN}|n1,n2|"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--launcher", "mpirun"), f"--launcher mpirun: the sitting's runs were started by {SRUN}; leave it out"),
        (("--hosts", "n1"), "--hosts n1: the sitting's runs were made without; leave it out"),
        (("--nodes", "2"), "--resume goes on with what its sitting measures; leave out --nodes"),
    ],
)
def test_resume_refuses_another_place(
    cluster: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    said: str,
) -> None:
    assert teff(monkeypatch, *METG, "--nodes", "1", "--launcher", SRUN, "--systems", "wide") == 0
    assert teff(monkeypatch, "metg", "--resume", "--rounds", "4", *words) == BAD_INPUT
    assert said in " ".join(capsys.readouterr().err.split())
    assert started(cluster)


def test_other_hosts_may_go_on_if_their_machines_are_alike(
    cluster: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert teff(monkeypatch, *METG, "--nodes", "2", "--hosts", "a,b", "--systems", "wide") == 0
    started(cluster)
    assert teff(monkeypatch, "metg", "--resume", "--rounds", "4", "--hosts", "c,d") == 0
    assert set(started(cluster)) == {"|c,d|2"}
    write_nodes(cluster, node(1), node(2, id="other", cpu="Another CPU"))
    assert teff(monkeypatch, "metg", "--resume", "--rounds", "5", "--hosts", "c,d") == BAD_INPUT
    assert "node 2 is another machine than those of the sitting (Another CPU" in capsys.readouterr().err


@pytest.mark.usefixtures("cluster")
def test_a_system_of_one_machine_is_refused_by_name_and_else_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert teff(monkeypatch, *METG, "--nodes", "1", "--systems", "alone") == BAD_INPUT
    refused = " ".join(capsys.readouterr().err.split())
    assert "alone: runs on one machine; there are, over nodes: slow wide" in refused
    assert teff(monkeypatch, *METG, "--nodes", "1", "--json") == 0
    printed = capsys.readouterr()
    assert {json.loads(line)["system_id"] for line in printed.out.splitlines()} == {"wide", "slow"}
    assert "teff: left out: 1 systems of one machine" in printed.err


@pytest.mark.usefixtures("cluster")
def test_a_load_runs_on_the_machine_of_the_lab_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert teff(monkeypatch, *METG, "--nodes", "1", "--load", "spin:50@0") == BAD_INPUT
    assert "--load spin:50@0: a load runs on this machine; leave out --nodes" in " ".join(
        capsys.readouterr().err.split()
    )


def test_which_systems_spread_over_nodes() -> None:
    """As the project's own files have it: a system that starts its processes itself is never run on one machine in the
    place of several."""
    spread = {
        system.name
        for system in Registry(project_root()).systems
        if any(program.spreads_over_nodes for program in system.programs if program.benchmark == "task_graph")
    }
    assert spread == {
        "charm", "itoyori", "mpi", "mpi_openmp", "ompss2", "parsec", "starpu", "tasktorrent", "teff",
    }  # fmt: skip
    teffs = next(each for each in Registry(project_root()).systems if each.name == "teff")
    app = next(each for each in teffs.programs if each.benchmark == "apps" and each.command_for_ranks)
    assert app.command_line(8, nodes=4)[1:4] == ["cores", "4", "8"]  # a rank on each node


@pytest.mark.parametrize(
    ("variables", "nodes", "why"),
    [
        ({}, None, ""),
        ({}, 1, ""),
        ({}, 2, "say by --hosts which they are, or --launcher 'srun --mpi=pmix'"),
        ({"TEFF_HOSTS": "a,b"}, 2, ""),
        ({"TEFF_HOSTS": "a,b,a"}, 3, "--hosts names 2: name more, or ask for fewer nodes"),
        ({"TEFF_LAUNCHER": SRUN}, 4, ""),
        ({"TEFF_LAUNCHER": SRUN, "SLURM_JOB_NUM_NODES": ""}, None, ""),
        ({"TEFF_LAUNCHER": SRUN, "SLURM_JOB_NUM_NODES": ""}, 1, f"{SRUN} needs an allocation: begin with salloc or"),
        ({"TEFF_LAUNCHER": "nosuch --x"}, 1, "nosuch, which is to start the ranks, is not here"),
        ({"TEFF_LAUNCHER": SRUN, "SLURM_JOB_NUM_NODES": "4"}, 8, "this allocation has 4 (SLURM_JOB_NUM_NODES)"),
        ({"TEFF_LAUNCHER": "mpirun", "SLURM_JOB_NUM_NODES": "4"}, 2, "say by --hosts which they are"),
    ],
)
def test_nodes_that_are_not_there_are_refused_before_anything_is_started(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], nodes: int | None, why: str
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert why_fewer(nodes).startswith(why)
    assert bool(why_fewer(nodes)) == bool(why)


def test_a_node_that_falls_out_is_named_and_what_was_measured_stays(
    cluster: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (cluster / "lost").write_text("6")  # so many programs over both nodes start before: those of a round of each system
    words = ("--nodes", "1,2", "--launcher", SRUN, "--systems", "wide,slow", "--json")
    assert teff(monkeypatch, *METG, *words) == FAILED
    printed = capsys.readouterr()
    rows = [row for row in map(json.loads, printed.out.splitlines()) if not row["is_beside"]]
    lost = "node n2 does not answer"
    assert {(row["system_id"], row["nodes"], row["rounds"], row["note"]) for row in rows} == {
        ("wide", 1, 3, ""),
        ("slow", 1, 3, ""),
        ("wide", 2, 1, lost),
        ("slow", 2, 1, lost),
    }
    assert all(row["value"] for row in rows)
    assert "asked for by name and not measured, or not to the end: wide, slow" in printed.err
    (cluster / "started").unlink()
    (cluster / "lost").write_text("0")
    assert teff(monkeypatch, "metg", "--resume", "--rounds", "4", "--json") == FAILED
    printed = capsys.readouterr()
    assert "asked for by name and not measured, or not to the end: wide, slow" in printed.err
    assert "0 of 2 nodes say what they are: srun: error: n1: task 0: Terminated" in printed.err
    rows = [row for row in map(json.loads, printed.out.splitlines()) if not row["is_beside"]]
    assert {(row["nodes"], row["rounds"], row["note"]) for row in rows} == {(1, 4, ""), (2, 1, lost)}
    (cluster / "lost").unlink()
    assert teff(monkeypatch, "metg", "--resume", "--rounds", "5", "--json") == 0
    assert all(row["rounds"] >= 4 and not row["note"] for row in printed_rows(capsys))


@pytest.mark.usefixtures("cluster")
def test_an_allocation_of_fewer_nodes_goes_on_with_the_cases_that_it_has(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SLURM_JOB_NUM_NODES", "4")
    assert teff(monkeypatch, *METG, "--nodes", "2,4", "--launcher", SRUN, "--systems", "wide") == 0
    monkeypatch.setenv("SLURM_JOB_NUM_NODES", "3")
    capsys.readouterr()
    assert teff(monkeypatch, "metg", "--resume", "--rounds", "4", "--json") == FAILED
    two, four = printed_rows(capsys)
    assert (two["rounds"], two["note"]) == (4, "")
    assert (four["rounds"], four["note"]) == (3, "needs 4 nodes: this allocation has 3 (SLURM_JOB_NUM_NODES)")
    assert four["value"]
    monkeypatch.setenv("SLURM_JOB_NUM_NODES", "")
    assert teff(monkeypatch, "metg", "--resume", "--rounds", "5") == BAD_INPUT
    assert f"teff: --nodes 2: {SRUN} needs an allocation: begin with salloc" in capsys.readouterr().err


@pytest.mark.parametrize("at", [1, 6])
def test_an_allocation_that_has_ended_ends_the_sitting_at_once(
    cluster: Path, shell: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], at: int
) -> None:
    """Before the first run, or while runs are made."""
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    write_command(
        shell, "scontrol", f"if [ -e {cluster}/over ]; then echo JobState=TIMEOUT; else echo JobState=RUNNING; fi"
    )
    script = cluster / BUILD_FOLDER / "bin" / "start_ranks"
    ends = f'[ "$(grep -c "|[12]$" {cluster}/started)" -le {at} ] || {{ touch {cluster}/over; exit 1; }}\n'
    script.write_text(script.read_text().replace("if [ -e", f"{ends}if [ -e", 1))
    assert teff(monkeypatch, *METG, "--nodes", "1,2", "--launcher", SRUN, "--systems", "wide,slow") == FAILED
    told = capsys.readouterr().err
    assert "teff: the allocation has ended (TIMEOUT), and another one can go on; the measured runs are kept: " in told
    assert told.count("ended") == 1, told
    assert teff(monkeypatch, "metg", "--resume", "--rounds", "5") == BAD_INPUT
    assert "teff: --nodes 1: the allocation has ended (TIMEOUT): begin another one" in capsys.readouterr().err


def test_a_case_of_more_workers_than_a_node_has_cores_is_not_tried(
    cluster: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two ranks on one core spin until each has waited for the other."""
    write_nodes(cluster, node(1), node(2, cores_usable=1))
    words = ("measure", "messages", "--cases", "64KiB", "--rounds", "3", "--systems", "wide")
    assert teff(monkeypatch, *words, "--nodes", "1,2", "--launcher", SRUN, "--json") == FAILED
    rows = {row["nodes"]: row for row in printed_rows(capsys)}
    assert rows[1]["note"] == "2 workers on 1 node need 2 cores of each; node 2 has 1"
    assert rows[2]["value"]


def test_a_system_that_is_late_in_a_sitting_that_goes_on_has_not_been_measured(
    cluster: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert teff(monkeypatch, *METG[:4], "2", *METG[5:], "--nodes", "1,2", "--launcher", SRUN, "--systems", "wide") == 0
    monkeypatch.setattr("tefflab.benchmarks.task_graph.TaskGraph.timeout", 2.0)
    script = cluster / BUILD_FOLDER / "bin" / "start_ranks"
    script.write_text(
        script.read_text().replace("*) exec", '*wide*) [ "$TEFF_NODES" != 2 ] || sleep 9; exec "$@" ;;\n    *) exec')
    )
    capsys.readouterr()
    again = ("metg", "--resume", "--rounds", "3", "--minutes", "9", "--json")
    assert teff(monkeypatch, *again) == FAILED
    printed = capsys.readouterr()
    one, two = (row for row in map(json.loads, printed.out.splitlines()) if not row["is_beside"])
    assert (one["note"], two["note"]) == ("", "did not answer within 2 s")
    assert two["value"], "its runs count"
    assert "not measured, or not to the end: wide" in printed.err


def test_a_launcher_that_fails_without_a_word_of_a_node_gives_its_last_words(
    cluster: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = cluster / BUILD_FOLDER / "bin" / "start_ranks"
    script.write_text(
        script.read_text().replace(
            'if [ "$1" = node', 'if [ -n "$TEFF_NODES" ]; then echo "no pmix" >&2; exit 7; fi\nif [ "$1" = node'
        )
    )
    assert teff(monkeypatch, *METG, "--nodes", "1", "--systems", "wide") == FAILED
    said = " ".join(capsys.readouterr().err.split())
    assert "0 of 1 nodes say what they are: no pmix" in said
    assert "ended with exit code 7 without answering: no pmix" in said


def test_noise_is_kept_over_nodes_and_repeated_on_one(cluster: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMULATED_GAPS", "0.5")
    assert teff(monkeypatch, *METG, "--nodes", "1,2", "--launcher", SRUN, "--systems", "wide") == 0
    runs = [run for run in Store.open(cluster / "results" / "default").runs(GraphRecord) if run.role == "system"]
    assert {(run.workers, run.noisy) for run in runs} == {(2, True), (4, False)}
    assert {run.attempt for run in runs if run.workers == 4} == {0}
    assert len({run.ceilings for run in runs if run.workers == 4 and run.ceilings}) > 1


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("srun: cluster configuration lacks support for cpu binding\nsrun: got SIGCONT\n", ""),
        (
            "srun: cluster configuration lacks support for cpu binding\nsrun: error: n1: task 0: Killed",
            "srun: error: n1: task 0: Killed",
        ),
        ("no space\nsrun: error: n1: task 0: Exited with exit code 1\n", "no space"),
        ("first\nlast\n\n", "last"),
    ],
)
def test_the_last_words_are_the_programs_own_and_never_harmless(said: str, words: str) -> None:
    assert last_words(said) == (f": {words}" if words else "")


@pytest.mark.parametrize(
    ("words", "node"),
    [
        ("srun: error: Node failure on n3\nsrun: error: n1: task 0: Terminated", "n3"),
        ("ORTE has lost communication with a remote daemon.\n\n  HNP daemon   : [[1,0],0] on node h1\n"
         "  Remote daemon: [[1,0],1] on node h2\n", "h2"),
        ("srun: error: n1: task 0: Exited with exit code 1", ""),
    ],
)  # fmt: skip
def test_the_words_of_launchers_name_a_lost_node(words: str, node: str) -> None:
    assert lost_node(words) == node


def test_a_node_that_differs_is_named() -> None:
    slow = node(2).model_copy(update={"rate": 4.8e10, "round_trip": 1.2e-7})
    noisy = node(4, governor="powersave").model_copy(update={"gap_share": 0.3})
    assert differences([node(1), slow, node(3, cpu="Another", id="x"), noisy]) == {
        2: ["cores 2.1 x as slow", "cores 2.4 x as far apart"],
        3: [f"CPU: Another, not {MACHINE.cpu}"],
        4: [f"governor: powersave, not {MACHINE.governor}", "30 % of its time is lost in gaps"],
    }
    assert differences([node(1), node(2)]) == {}


def test_the_table_names_nodes_that_differ(
    cluster: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = (*METG, "--nodes", "2", "--launcher", SRUN, "--systems", "wide")
    assert teff(monkeypatch, *words) == 0
    assert "\nNodes\n" not in capsys.readouterr().out
    write_nodes(cluster, node(1), node(2).model_copy(update={"rate": 5e10}))
    assert teff(monkeypatch, *words, "--store", "other") == 0
    printed = capsys.readouterr()
    assert "cores 2.0 x as slow" in printed.out
    assert "teff: node 2: cores 2.0 x as slow" in printed.err


def test_a_place_is_part_of_a_graphs_case() -> None:
    case = parse(["-type", "fft"], 8, nodes=4)
    assert (case.workers, case.nodes, case.x, case.group) == (32, 4, 4, "fft, compute_bound")
    assert case.name == "fft, compute_bound, 4 nodes"
    assert case.configuration == "-type fft -width 32 -kernel compute_bound over 4 nodes"
    assert parse(["-width", "16"], 8, nodes=1).name == "stencil_1d, width 16, compute_bound, 1 node"
    assert parse([], 8).configuration == "-type stencil_1d -width 8 -kernel compute_bound"


def test_an_experiment_varies_its_graphs_on_each_number_of_nodes() -> None:
    keys = {"title": "t", "description": "d", "rounds": 2, "minutes": 1, "kind": "metg", "charts": ["metg_lines"]}
    patterns = {"name": "pattern", "cases": {"a": "-type fft", "b": "-type tree"}}
    one = GraphExperiment.model_validate(keys | {"nodes": [1, 4], "vary": [patterns], "columns_per_worker": 2})
    cases = one.cases(8, one.nodes)
    assert [(case.name, case.group, case.x, case.width) for case in cases] == [
        ("a, 1 node", "a", 1, 16),
        ("a, 4 nodes", "a", 4, 64),
        ("b, 1 node", "b", 1, 16),
        ("b, 4 nodes", "b", 4, 64),
    ]
    numbers = {"name": "n", "values": [1, 2], "flags": "-radix {value}"}
    with pytest.raises(ValueError, match=r"metg_lines needs one .* with values, or nodes; there are 2"):
        GraphExperiment.model_validate(keys | {"nodes": [1], "vary": [numbers]})


def test_the_mean_run_has_the_same_metg_where_it_is_quiet_and_a_larger_one_with_detours() -> None:
    grid = [50, 100, 200, 400, 800, 1600]
    quiet = SimulatedSystem(OVERHEAD, (1,), QUIET, slowdown=1.0)
    runs = quiet.sweep(5, grid)
    found = mean_metg(runs)
    assert found.value == pytest.approx(quiet.metg(), rel=0.02)
    assert found.low <= found.value <= found.high
    detours = SimulatedSystem(OVERHEAD, (2,), Noise(0.01, 0.15, 0, 0, 0, 23, 0, 0), slowdown=1.0)
    disturbed = detours.sweep(20, grid)
    assert metg(disturbed).value == pytest.approx(detours.metg(), rel=0.1)
    assert mean_metg(disturbed).value > 1.5 * metg(disturbed).value


def test_a_mean_that_does_not_cross_is_a_bound() -> None:
    system = SimulatedSystem(OVERHEAD, (1,), QUIET, slowdown=1.0)
    below, above = (mean_metg(system.sweep(3, grid)) for grid in ([20, 40], [4000, 8000]))
    assert (below.relation, above.relation) == (">", "<")
    assert above.value < 8000 * 2 * 5e-9 * 2
    assert mean_metg(system.sweep(2, [100, 400])).high == float("inf")  # of two rounds
    assert mean_name(0.5) == "METG(50 %) of the mean run"
