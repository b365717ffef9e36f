"""`teff predict`, and pictures and tables of programs over nodes, of a sitting that a model has written."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import pictures
from conftest import teff
from samples import good_record, run
from simulated_sitting import begun, graphs, variant
from tefflab.analysis.prediction import Program
from tefflab.benchmarks.graphs import GraphCase
from tefflab.benchmarks.task_graph.estimates import GraphEstimates
from tefflab.benchmarks.task_graph.plan import GraphPlan
from tefflab.measure.measurement import estimated
from tefflab.output.charts.sheet import save
from tefflab.records.run import Sitting
from tefflab.records.store import Store
from test_json_reference import said

CORES = 4  # of a node
ITERATION = 3.24e-9  # seconds of a core
NODES = (1, 4, 16, 64)
Overheads = Mapping[str, Mapping[int, float]]  # of a task [s], by system and nodes

STEEP = {"swift": {1: 2e-6, 4: 3e-6, 16: 6e-6, 64: 24e-6}, "calm": dict.fromkeys(NODES, 9e-6)}


def written(
    root: Path, overheads: Overheads = STEEP, name: str = "cluster", graphs: Sequence[str] = ("stencil",), **how: Any
) -> tuple[Store, Sitting]:
    """A sitting of METG of a stencil: granularity is overhead and work, but for a per cent. METG(50 %) is twice the
    overhead."""
    numbers = sorted({each for own in overheads.values() for each in own})
    cases = [
        GraphCase(
            name=f"{graph}, {nodes} nodes",
            flags=f"-type {graph} -width {nodes * CORES} -kernel compute_bound",
            workers=nodes * CORES,
            nodes=nodes,
            x=nodes,
            x_text=str(nodes),
            group=graph,
        )
        for graph in graphs
        for nodes in numbers
    ]
    wanted = {"asks": "metg", "title": "a stencil", "charts": ("metg_lines",), "x_label": "nodes"} | how
    plan = GraphPlan(cases=tuple(cases), variants=tuple(map(variant, overheads)), **wanted)
    store, head = begun(root, plan, name)
    with store:
        for system, own in overheads.items():
            for case in cases:
                if case.nodes in own:
                    _append(store, head, system, case, own[case.nodes])
    return store, head


def _append(store: Store, head: Sitting, system: str, case: GraphCase, overhead: float) -> None:
    steps, width = 1000, case.width
    for number in range(5):
        for size in (1 / 16, 1 / 4, 1 / 2, 0.8, 1.25, 2.0, 3.2, 5.0, 8.0, 64.0):
            iterations = max(1, round(size * overhead / ITERATION))
            granularity = (overhead + iterations * ITERATION) * (1 + 0.002 * (number - 2))
            graph = good_record()["graphs"][0] | {"steps": steps, "width": width, "iterations": iterations}
            told = good_record(
                graphs=[graph],
                workers=case.workers,
                tasks=steps * width,
                flops=128 * iterations * steps * width,
                elapsed_seconds=granularity * steps * width / case.workers,
            )
            ceiling = case.workers * 128 / ITERATION
            made = run(
                record=told,
                round=number,
                sitting=head.sitting,
                system_id=system,
                configuration=case.configuration,
                workers=case.workers,
                flags=case.line(steps, iterations),
                ceilings=(ceiling, ceiling),
            )
            store.append("runs", made)


def rows(text: str) -> dict[tuple[str, str], dict[str, Any]]:
    told = [json.loads(line) for line in text.splitlines()]
    return {(each["system_id"], each["quantity"]): each for each in told}


def test_the_limit_of_each_system_is_where_its_metg_meets_the_program(
    commanded: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The overhead of swift grows as the nodes at last, so its limit is among them. The limit of calm is beyond."""
    written(commanded)
    words = ("predict", "cluster", "--time", "1.28s", "--tasks", "1000")
    assert teff(monkeypatch, *words, "--json") == 0
    told = rows(capsys.readouterr().out)
    assert list(told) == [
        ("calm", "nodes at 50 %"),
        ("calm", "time at 50 %"),
        ("swift", "nodes at 50 %"),
        ("swift", "time at 50 %"),
    ], "most nodes first"
    swift, time = told["swift", "nodes at 50 %"], told["swift", "time at 50 %"]
    # There METG is 12 us * (N / 16).
    assert swift["value"] == pytest.approx((2 * 1.28e-3 * 16 / 12e-6) ** 0.5, rel=0.02)
    assert swift["low"] < swift["value"] < swift["high"] < 1.1 * swift["low"]
    assert (swift["unit"], swift["relation"], swift["is_beside"]) == ("nodes", "=", False)
    assert time["value"] == pytest.approx(2 * 1.28 / swift["value"])
    assert swift["task_seconds"] == pytest.approx(2 * 1.28e-3 / swift["value"])
    assert swift["nodes_to_ideal"] * swift["time_to_ideal"] == pytest.approx(2)
    assert swift["nodes_to_ideal"] == pytest.approx(2**0.5, rel=0.03), "METG grows as the nodes there"
    assert swift["source"] == "cluster:one-of-cluster"
    calm = told["calm", "nodes at 50 %"]
    assert (calm["relation"], calm["nodes_to_ideal"], calm["time_to_ideal"]) == (">", None, None), "of bounds"
    assert swift.keys() - (said("Rows") - {"threshold"}) - {"simulated"} <= said("predict")

    assert teff(monkeypatch, *words) == 0
    text = capsys.readouterr().out
    assert "Nodes at which 50 % of the cores' time is left to the program" in text
    assert "on one node 1.28 s, 1000 tasks a core of 1.28 ms" in text
    assert "> 64" in text
    assert "assumed: a core has as many tasks on more nodes, of less work each" in text
    assert "calm: >: the program keeps more nodes busy than METG was measured on" in text


def test_one_system_and_another_threshold_are_told_from_the_same_runs(
    commanded: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """METG(80 %) is five times the overhead."""
    written(commanded)
    words = ("predict", "cluster", "--time", "1.28s", "--tasks", "1000", "--systems", "swift", "--threshold", "80%")
    assert teff(monkeypatch, *words, "--json") == 0
    (nodes, time) = rows(capsys.readouterr().out).values()
    assert (nodes["system_id"], nodes["quantity"]) == ("swift", "nodes at 80 %")
    assert nodes["value"] == pytest.approx((1.28e-3 / 0.8 * 16 / 30e-6) ** 0.5, rel=0.03)
    assert nodes["nodes_to_ideal"] * nodes["time_to_ideal"] == pytest.approx(1.25)
    assert time["value"] == pytest.approx(1.28 / 0.8 / nodes["value"])


def test_the_run_is_read_from_what_explain_printed(
    commanded: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written(commanded)
    assert teff(monkeypatch, "predict", "cluster", "--time", "1.28s", "--tasks", "1000", "--json") == 0
    typed = capsys.readouterr().out
    program = {"of": "program", "seconds": 1.28, "threads": 4}
    kinds = {"task": 3000, "chunk": 1000, "region": 8}
    sites = [{"of": "site", "kind": kind, "count": count} for kind, count in kinds.items()]
    report = commanded / "mine.json"
    report.write_text("".join(f"{json.dumps(line)}\n" for line in (program, *sites, {"of": "try", "seconds": 9.0})))
    assert teff(monkeypatch, "predict", "cluster", "--run", str(report), "--json") == 0
    assert capsys.readouterr().out == typed


def test_a_program_that_is_slow_on_one_node_already_is_told(
    commanded: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written(commanded)
    assert teff(monkeypatch, "predict", "cluster", "--time", "20ms", "--tasks", "1000") == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "so much of the run on one node is not work, and the limit is at fewer nodes: swift (10 %), calm (4" in text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "which program? say --time and --tasks of a run on one node, or --run with what `teff explain --json`"),
        (("--time", "1s"), "--time 1s is half of a run; say --time and --tasks"),
        (("--tasks", "10"), "--tasks 10 is half of a run; say --time and --tasks"),
        (("--time", "0s", "--tasks", "10"), "'0s' is no duration: say it like 3ms"),
        (("--time", "-1s", "--tasks", "10"), "'-1s' is no duration"),
        (("--time", "1s", "--tasks", "0"), "--tasks 0: give a number from 0.001 on, as --tasks 4000"),
        (("--time", "1s", "--tasks", "9", "--threshold", "1.2"), "--threshold 1.2: give a number from 0.05 to 0.95"),
        (("--time", "1s", "--tasks", "9", "--systems", "none"), "--systems none: cluster has swift calm"),
        (("--run", "missing.json"), "--run missing.json: No such file or directory"),
    ],
)
def test_what_can_not_be_predicted_is_refused_in_one_line(
    commanded: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    said: str,
) -> None:
    written(commanded)
    assert teff(monkeypatch, "predict", "cluster", *words) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"of": "program", "seconds": 1, "threads": 0}', '{"ranks": [], "command": ["./a"]}']
)
def test_a_file_that_is_no_report_of_a_traced_run_is_refused_with_the_way_out(
    commanded: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    written(commanded)
    (commanded / "mine.json").write_text(text)
    assert teff(monkeypatch, "predict", "cluster", "--run", str(commanded / "mine.json")) == 2
    assert "it does not say the time, tasks and workers of a run; write it by" in capsys.readouterr().err


def test_several_graphs_have_headings_and_a_picture_each(
    commanded: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written(commanded, graphs=("stencil", "fft"))
    words = ("predict", "cluster", "--time", "1.28s", "--tasks", "1000")
    assert teff(monkeypatch, *words, "--picture", str(commanded / "limits")) == 0
    lines = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert lines[lines.index("stencil") :][:6] == ["stencil", "calm", "swift", "fft", "calm", "swift"]
    assert {each.name for each in commanded.glob("*.png")} == {"limits-stencil.png", "limits-fft.png"}


def test_a_store_without_metg_over_nodes_says_how_to_measure_it(
    commanded: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run_of = ("--time", "1s", "--tasks", "10")
    written(commanded, {"swift": {1: 2e-6}}, "one")
    assert teff(monkeypatch, "predict", "one", *run_of) == 2
    assert "one: it has METG(50 %) of 1 node only; it takes two; measure it: " in capsys.readouterr().err
    assert teff(monkeypatch, "predict", "nowhere", *run_of) == 2
    assert "no store at" in capsys.readouterr().err


def estimates_of(root: Path, **how: Any) -> GraphEstimates:
    store, head = written(root, **how)
    found = estimated(store, graphs(), head)
    assert isinstance(found, GraphEstimates)
    return found


def test_a_sitting_with_a_program_has_its_limits_in_table_and_picture(commanded: Path) -> None:
    found = estimates_of(commanded, program=Program(seconds=1.28, tasks=1000), charts=("limits",))
    assert found.sections()[1].title == "Nodes at which 50 % of the cores' time is left to the program"
    ((name, picture),) = found.pictures()
    assert name == "limits"
    words = pictures.words(picture)
    assert "tasks of the program, 50 % of them work" in words
    large = [each for each in pictures.data(picture, "fill", "value") if each["size"] == 130]
    assert [each["said"] for each in large] == ["swift"], "calm's limit is a bound"
    (at,) = large
    assert at["value"] == pytest.approx(2 * 1.28e-3 / at["x"])
    itself = {each["x"]: each["value"] for each in pictures.data(picture, "series") if each["series"] == "swift itself"}
    # On 16 nodes: 80 us of work, and 6 us.
    assert itself[16.0] == pytest.approx(86e-6, rel=0.03)


@pytest.mark.parametrize("kind", ["weak", "strong"])
def test_scaling_draws_a_line_for_each_amount_of_work(commanded: Path, kind: str) -> None:
    found = estimates_of(commanded, asks="curve", charts=(kind,))
    drawn = dict(found.pictures())
    assert list(drawn) == [f"{kind}-swift", f"{kind}-calm"]
    data = pictures.data(drawn[f"{kind}-swift"], "series")
    line = {each["x"]: each["value"] for each in data if each["name"] == "100 µs of work"}
    assert line[1.0] == pytest.approx(102e-6, rel=0.03)
    work = 100e-6 if kind == "weak" else 100e-6 / 16
    assert line[16.0] == pytest.approx(work + 6e-6, rel=0.05)
    metg = {each["x"]: each["value"] for each in data if each["name"] == "METG(50 %)"}
    assert metg == pytest.approx({1.0: 4e-6, 4.0: 6e-6, 16.0: 12e-6, 64.0: 48e-6}, rel=0.05)


if __name__ == "__main__":  # draws them, for the eye
    import sys
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        drawn = {}
        for number, (asks, kind) in enumerate([("metg", "limits"), ("curve", "weak"), ("curve", "strong")]):
            root = Path(folder) / str(number)
            root.mkdir()
            drawn |= dict(
                estimates_of(root, asks=asks, program=Program(seconds=1.28, tasks=1000), charts=(kind,)).pictures()
            )
        for name, picture in drawn.items():
            print(*save(picture, Path(sys.argv[1]) / name))
