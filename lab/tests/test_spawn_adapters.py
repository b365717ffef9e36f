"""Every system that is built runs every spawn pattern, validated, and its records match the schema."""

from typing import Any

import pytest

from conftest import answers
from schemas import validator
from tefflab import project_root
from tefflab.systems.registry import Registry
from tefflab.systems.systems import Program

ROOT = project_root()
PROGRAMS = [program for system in Registry(ROOT).systems for program in system.programs_for("spawn")]
SCHEMA = validator("spawn")
LINES = (
    "-pattern serial -tasks 20000",
    "-pattern serial -tasks 1",
    "-pattern parallel -tasks 20001",
    "-pattern fibonacci -n 18 -spawn both",
    "-pattern fibonacci -n 18 -spawn one",
    "-pattern tree -tree T1 -depth 6",
    "-pattern tree -tree T2 -depth 4",
    "-pattern tree -tree T5 -depth 5",
)


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("program", PROGRAMS, ids=[program.executable for program in PROGRAMS])
def test_a_system_runs_every_spawn_pattern_validated(program: Program, workers: int) -> None:
    records = answers(program, workers, "--batch", lines=LINES)
    assert len(records) == len(LINES)
    for line, record in zip(LINES, records, strict=True):
        SCHEMA.validate(record)
        if record.get("error", "").startswith("it has no "):
            continue  # the system lacks the means for this, and says so
        assert "error" not in record, f"{line}: {record['error']}"
        assert record["validation"]["found"] == record["validation"]["expected"], line
        assert record["workers"] == workers


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS, ids=[program.executable for program in PROGRAMS])
def test_a_system_survives_a_tree_that_is_1572_nodes_deep(program: Program) -> None:
    (record,) = answers(program, 2, "--batch", lines=("-pattern tree -tree T3",))
    assert "error" not in record
    assert record["validation"]["found"]["depth"] == 1572


def test_a_wrong_line_in_a_batch_is_answered_and_the_batch_goes_on() -> None:
    wrong, right = answers(PROGRAMS[0], 1, "--batch", lines=("-pattern sireal", "", "-pattern serial -tasks 5"))
    assert "sireal" in wrong["error"]
    SCHEMA.validate(wrong)
    assert right["tasks"] == 5


@pytest.mark.parametrize(
    "change",
    [
        {"tasks": -1},
        {"pattern": "other"},
        {"schema": "teff-record-1"},
        {"elapsed_seconds": None},
        {"surplus": 1},
        {"validation": {"passed": False, "found": {"tasks": 4}, "expected": {"tasks": 5}}},
    ],
    ids=lambda change: next(iter(change)),
)
def test_the_schema_refuses_what_is_no_record(change: dict[str, Any]) -> None:
    (record,) = answers(PROGRAMS[0], 1, "--batch", lines=("-pattern serial -tasks 5",))
    assert SCHEMA.is_valid(record)
    assert not SCHEMA.is_valid({**record, **change})
