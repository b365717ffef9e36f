"""Every system that is built runs every program at its smallest scale, validated, and its records match the schema."""

import json

import pytest

from conftest import answers
from schemas import validator
from tefflab import project_root
from tefflab.benchmarks.programs import ProgramRecord
from tefflab.records.record import parse_record
from tefflab.systems.registry import Registry
from tefflab.systems.systems import Program

ROOT = project_root()
PROGRAMS = [program for system in Registry(ROOT).systems for program in system.programs_for("programs")]
SCHEMA = validator("programs")


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("program", PROGRAMS, ids=[program.executable for program in PROGRAMS])
def test_a_system_runs_every_program_validated(program: Program, workers: int) -> None:
    cases = [case["flags"] for case in answers(program, workers, "--cases")]
    lines = tuple(f"{flags} -scale tiny" for flags in cases for _ in range(2))
    records = answers(program, workers, "--batch", lines=lines)
    assert len(records) == len(lines)
    ran = 0
    for line, record in zip(lines, records, strict=True):
        SCHEMA.validate(record)
        parse_record(json.dumps(record), ProgramRecord)
        if record.get("error", "").startswith("it has no "):
            continue  # the system lacks the means for this, and says so
        assert "error" not in record, f"{line}: {record['error']}"
        assert record["validation"]["checksum"] == record["validation"]["expected"], line
        assert record["workers"] == workers
        ran += 1
    assert ran


def test_a_wrong_line_in_a_batch_is_answered_and_the_batch_goes_on() -> None:
    wrong, none, right = answers(
        PROGRAMS[0], 1, "--batch", lines=("-program surt", "-program sort -size 0", "-program sort -scale tiny")
    )
    assert "surt" in wrong["error"]
    assert "--size 0" in none["error"]
    assert right["program"] == "sort"
    for record in (wrong, none, right):
        SCHEMA.validate(record)
