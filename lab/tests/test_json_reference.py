"""The reference of JSON against the commands' output."""

import json
import re
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from tefflab.analysis.results import Verdict
from tefflab.benchmarks.task_graph.tables import to_json

from cases import troubled
from simulated_sitting import variant
from tefflab import project_root
from tefflab.analysis.comparison import Answer, Comparison, Side
from tefflab.analysis.shift import Shift
from tefflab.analysis.statistics import Interval
from tefflab.benchmarks.apps import BENCHMARK as APPS
from tefflab.benchmarks.cases import CaseBenchmark
from tefflab.benchmarks.contention.estimates import Curve, Point
from tefflab.benchmarks.messages import BENCHMARK as MESSAGES
from tefflab.benchmarks.micro import BENCHMARK as MICRO
from tefflab.benchmarks.programs import BENCHMARK as PROGRAMS
from tefflab.benchmarks.spawn import BENCHMARK as SPAWN
from tefflab.benchmarks.task_graph.estimates import metg_side
from tefflab.benchmarks.wake import BENCHMARK as WAKE
from tefflab.cli.systems import to_object
from tefflab.host.findings import governor
from tefflab.output.systems_table import to_json as systems_to_json
from tefflab.systems.probing import Probe
from tefflab.systems.registry import Registry

PAGE = (project_root() / "docs" / "reference" / "json.md").read_text(encoding="utf-8")
ENDS = {"value", "low", "high"}


def said(section: str) -> set[str]:
    """The keys of the tables of a section."""
    text = re.split(rf"^(?:## |`teff ){re.escape(section)}.*$", PAGE, flags=re.MULTILINE)[1]
    text = re.split(r"^(?:## |`teff )", text, flags=re.MULTILINE)[0]
    firsts = (line.split("|")[1] for line in text.splitlines() if line.startswith("| `"))
    return {key for first in firsts for key in re.findall(r"`([^`]+)`", first)}


def paths(value: Any, before: str = "") -> Iterator[str]:
    """The keys of objects; the keys of inner objects after a dot."""
    for each in value if isinstance(value, list) else [value]:
        for key, inner in each.items() if isinstance(each, dict) else ():
            yield f"{before}{key}"
            yield from paths(inner, f"{before}{key}.")


def test_the_keys_of_task_graphs() -> None:

    assert set(paths(to_json(troubled()) | {"others": []})) == said("metg, sweep, report")


def rows() -> Iterator[dict[str, Any]]:
    one = Interval(1.0, 0.9, 1.1)
    kinds: list[CaseBenchmark[Any]] = [SPAWN, WAKE, PROGRAMS, MESSAGES, MICRO, APPS]
    for kind in kinds:
        facts = dict.fromkeys((fact.key for fact in kind.facts), 1.0)
        yield kind.row_type(variant("a"), "c", 2, one, one, "first", facts, 3, 0.0, "", kind.keys).to_json()


def test_the_keys_of_cases() -> None:
    found = {key for row in rows() for key in row} | {"sitting"}
    assert found == said("spawn, wake, programs, messages, micro, apps")


def test_the_keys_of_contention() -> None:
    one = Interval(1.0, 0.9, 1.1)
    curve = Curve(variant("a"), "c", [Point(share, share, one, one, 1.0) for share in (0.0, 0.5)], one)
    found = {path for path in paths(curve.to_json()) if path.rpartition(".")[2] not in ENDS}
    assert found | {"sitting"} == said("contention") - ENDS


def test_the_verdicts_of_cases_are_all_said() -> None:
    line = next(line for line in PAGE.splitlines() if line.startswith("| `verdict`"))
    assert set(re.findall(r'`"(\w+)"`', line)) == set(get_args(Verdict))


def test_the_keys_of_comparisons() -> None:
    case = troubled()
    row = next(each for each in case.rows if each.metg and each.metg.relation == "=")
    side: Side = metg_side(case, row, [])
    found = Comparison(side, side, Interval(1.0, 0.9, 1.1), "=", Interval(1.0, 0.9, 1.1))
    shift = Shift(Interval(1.0, 0.9, 1.1), 0.02, 8)
    told = Answer("metg", "configuration", "a", "b", (found,), True, False, machine=shift).to_json()
    inner = re.compile(r"comparisons\.([ab]|overhead_ratio)\.")
    known = {path for path in paths(told) if not inner.match(path) and path.rpartition(".")[2] not in ENDS}
    assert known == said("compare")


def test_the_keys_of_systems() -> None:

    systems = Registry(project_root()).systems
    absent = Probe(found=False, version=None, reason="", how_to_install="")
    probes = {each.id: absent for system in systems for each in system.listed}
    found = set(paths([json.loads(line) for line in systems_to_json(systems, probes).splitlines()]))
    assert {path for path in found if not path.startswith("variants.why.")} == said("systems")
    assert set(to_object(systems[0])) == said("install --list --json`")


@pytest.mark.parametrize("key", governor([]).__dataclass_fields__)
def test_the_keys_of_the_doctor(key: str) -> None:
    assert f"`{key}`" in next(line for line in PAGE.splitlines() if line.startswith("| `teff systems doctor`"))
