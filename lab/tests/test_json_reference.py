"""The reference of JSON against the commands' output."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

from cases import troubled
from simulated_sitting import Silent, plan, sat
from tefflab import project_root
from tefflab.analysis.comparison import Answer, Comparison
from tefflab.analysis.rows import Verdict
from tefflab.analysis.shift import Shift
from tefflab.analysis.statistics import Interval
from tefflab.benchmarks.apps import BENCHMARK as APPS
from tefflab.benchmarks.cases import CaseBenchmark
from tefflab.benchmarks.messages import BENCHMARK as MESSAGES
from tefflab.benchmarks.micro import BENCHMARK as MICRO
from tefflab.benchmarks.programs import BENCHMARK as PROGRAMS
from tefflab.benchmarks.spawn import BENCHMARK as SPAWN
from tefflab.benchmarks.wake import BENCHMARK as WAKE
from tefflab.cli.systems import to_objects
from tefflab.host.doctor import governor
from tefflab.systems.probing import Probe
from tefflab.systems.registry import Registry

PAGE = (project_root() / "docs" / "reference" / "json.md").read_text(encoding="utf-8")
FACTS = "After these it has what its kind says"
ENDS = {"value", "low", "high"}


def said(section: str, before: str = "\0") -> set[str]:
    """The keys of the tables of a section, as far as this line."""
    text = re.split(rf"^(?:## |`teff ){re.escape(section)}.*$", PAGE, flags=re.MULTILINE)[1]
    text = re.split(r"^(?:## |`teff )", text, flags=re.MULTILINE)[0]
    firsts = (line.split("|")[1] for line in text.partition(before)[0].splitlines() if line.startswith("| `"))
    return {key for first in firsts for key in re.findall(r"`([^`]+)`", first)}


def paths(value: Any, before: str = "") -> Iterator[str]:
    """The keys of objects; the keys of inner objects after a dot."""
    for each in value if isinstance(value, list) else [value]:
        for key, inner in each.items() if isinstance(each, dict) else ():
            yield f"{before}{key}"
            yield from paths(inner, f"{before}{key}.")


def test_the_keys_of_rows() -> None:
    common = troubled().rows[0].to_json().keys() - troubled().rows[0].facts.keys()
    assert common | {"sitting"} == said("Rows", before=FACTS)
    kinds: list[CaseBenchmark[Any]] = [SPAWN, WAKE, PROGRAMS, MESSAGES, MICRO, APPS]
    facts = {fact.key for kind in kinds for fact in kind.facts}
    assert facts <= said("Rows") - common


@pytest.mark.parametrize("kind", ["metg", "curve"])
def test_the_facts_of_task_graphs(laboratory: Callable[..., Path], kind: str) -> None:
    """test_contention checks the facts of contention."""
    estimates = sat(laboratory(quick=(1e-6, "fine")), plan("quick", kind=kind), Silent(), rounds=1)
    facts = {fact for row in estimates.rows for fact in row.facts}
    assert facts
    assert facts <= said("Rows")


def test_the_verdicts_of_cases_are_all_said() -> None:
    line = next(line for line in PAGE.splitlines() if line.startswith("| `verdict`"))
    assert set(re.findall(r'`"(\w+)"`', line)) == set(get_args(Verdict))


def test_the_keys_of_comparisons() -> None:
    row = next(each for each in troubled().rows if each.relation == "=" and each.value)
    found = Comparison(row, row, Interval(1.0, 0.9, 1.1), "=", Interval(1.0, 0.9, 1.1))
    shift = Shift(Interval(1.0, 0.9, 1.1), 0.02, 8)
    told = Answer("metg", "configuration", "a", "b", (found,), True, False, machine=shift).to_json()
    assert [each["a"]["source"] for each in told] == ["a"]
    known = {path for path in paths(told) if path[:2] not in ("a.", "b.") and path.rpartition(".")[2] not in ENDS}
    assert known == said("compare")


def test_the_keys_of_systems() -> None:

    systems = Registry(project_root()).systems
    absent = Probe(found=False, version=None, reason="", how_to_install="")
    probes = {each.id: absent for system in systems for each in system.listed}
    found = set(paths(to_objects(systems, probes)))
    assert {path for path in found if not path.startswith("variants.why.")} == said("systems")


@pytest.mark.parametrize("key", governor([]).__dataclass_fields__)
def test_the_keys_of_the_doctor(key: str) -> None:
    assert f"`{key}`" in next(line for line in PAGE.splitlines() if line.startswith("| `teff systems doctor`"))
