"""What programs print fulfils `record.schema.json`, and a record that is spoilt anywhere does not."""

import copy
import json
import os
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from conftest import skip_unless_there
from samples import failed_record, good_record
from tefflab import project_root
from tefflab.benchmarks.task_graph.record import GraphRecord
from tefflab.cli.options import most_workers
from tefflab.records.record import RecordError, parse_record
from tefflab.systems.registry import Registry
from tefflab.systems.systems import Program

ROOT = project_root()
BUILT = [
    variant
    for system in Registry(ROOT).systems
    for variant in system.programs_for("task_graph")
    if not variant.is_python and variant.program_path.exists()
]

GOOD_LINES = (
    "-type stencil_1d -kernel compute_bound -iter 8",
    "-type dom -steps 1 -width 1",
    "-type fft -nodes 2 -kernel memory_bound -scratch 4096 -iter 3",
    "-type nearest -radix 0 -kernel io_bound -iter 1",
    "-type random_nearest -radix 3 -fraction 0.5 -output 100",
    "-type spread -radix 2 -period 2 -kernel load_imbalance -iter 5 -imbalance 1.5 -and -type tree -width 3",
)
UNPROVEN_LINE = "-type stencil_1d --no-validate"
WRONG_LINES = ("-width 0", "-type stensil", "-kernel memory_bound -scratch 16")

OF_A_PROCESS = 4096  # the most workers of a process alone

Path = tuple[str | int, ...]


@pytest.mark.parametrize("variant", BUILT[:1], ids=[variant.id for variant in BUILT[:1]])
def test_the_lab_and_the_programs_take_the_same_numbers_of_workers(variant: Program) -> None:
    for ranks, most in (("1", OF_A_PROCESS), ("2", most_workers())):
        for workers in (0, most + 1):
            words = [variant.program_path, "--workers", str(workers), *GOOD_LINES[0].split()]
            environment = {**os.environ, "TEFF_RANKS": ranks}
            refused = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
            assert refused.returncode == 2
            assert f"'{workers}' is not a whole number from 1 to {most};" in refused.stderr


def is_record(record: dict[str, Any]) -> bool:
    try:
        parse_record(json.dumps(record), GraphRecord)
    except RecordError:
        return False
    return True


def printed_by(variant: Program, lines: tuple[str, ...]) -> list[dict[str, Any]]:
    finished = subprocess.run(
        [*variant.command_line(2), "--batch", "--workers", "2"],
        input="\n".join(lines),
        env={**os.environ, **variant.environment_for(2)},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    records: list[dict[str, Any]] = [json.loads(line) for line in finished.stdout.splitlines()]
    assert len(records) == len(lines), finished.stderr
    return records


def after_failed_validation(record: dict[str, Any]) -> dict[str, Any]:
    """As the core prints it of a run that did everything but the right thing."""
    why = "graph 0 timestep 1 point 0: 1 inputs where 2 are due"
    return record | {"validation": record["validation"] | {"passed": False, "error": why}, "error": why}


def places(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every value within a record, and where it is."""
    yield path, value
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(inner, (*path, key))


def changed(record: dict[str, Any], path: Path, value: Any) -> dict[str, Any]:
    """The record with `value` at `path`, or without that key if `value` is DELETED."""
    record = copy.deepcopy(record)
    holder: Any = record
    for key in path[:-1]:
        holder = holder[key]
    if value is DELETED:
        del holder[path[-1]]
    else:
        holder[path[-1]] = value
    return record


DELETED = object()


def wrong_values(value: Any) -> list[Any]:
    """Values that can't stand in the place of `value`."""
    if isinstance(value, bool):
        return [0, "true", None]
    if isinstance(value, int):
        return [-1, 0.5, str(value), True, None]
    if isinstance(value, float):
        return [-0.5, str(value), None]
    if isinstance(value, str):
        return [7, None]
    if isinstance(value, dict):
        return [[], None, value | {"surprise": 1}]
    return [{}, [], None] if isinstance(value, list) else ["0", -1]  # else: null, if not asked for


def spoilt(record: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The record with each of its values deleted, and made wrong in every way."""
    yield "surprise", record | {"surprise": 1}
    for path, value in places(record):
        if not path:
            continue
        if isinstance(path[-1], str):
            yield f"{path} deleted", changed(record, path, DELETED)
        for wrong in wrong_values(value):
            yield f"{path} = {wrong!r}"[:60], changed(record, path, wrong)


SPOILT = [
    *spoilt(good_record()),
    *((f"more of {key}", changed(good_record(), ("graphs", 0, key), 2.5)) for key in ("fraction", "imbalance")),
    ("another schema", good_record(schema="teff-record-1")),
    ("no worker", good_record(workers=0)),
    ("no error's reason", good_record(error="")),
    ("no head", {"schema": "teff-record-2", "error": "why"}),
    ("no date", good_record(started_at="yesterday")),
    ("no output", changed(good_record(), ("graphs", 0, "output_bytes"), 8)),
    ("no hexadecimal", good_record(validation=good_record()["validation"] | {"checksum": "1", "expected": "1"})),
    ("failed quietly", changed(good_record(), ("validation", "passed"), False)),
    ("passed with an error", changed(good_record(), ("validation", "error"), "why")),
    ("passed unchecked", changed(good_record(), ("validation", "enabled"), False)),
]


@pytest.mark.parametrize("variant", BUILT, ids=[variant.id for variant in BUILT])
def test_what_a_program_prints_is_a_record(variant: Program) -> None:
    skip_unless_there(variant)
    lines = [line for line in GOOD_LINES if not (variant.ceiling and "io_bound" in line)]  # files are of the cores
    *good, unproven = printed_by(variant, (*lines, UNPROVEN_LINE))
    wrong = printed_by(variant, WRONG_LINES)
    for record in (*good, unproven, *wrong, *map(after_failed_validation, good)):
        assert is_record(record)
    assert all("error" not in record for record in (*good, unproven))
    assert all("error" in record for record in wrong)
    assert [parse_record(json.dumps(record), GraphRecord).proven for record in (good[0], unproven)] == [True, False]


@pytest.mark.parametrize("record", [good_record(), failed_record(), good_record(error="killed after 10 s")])
def test_samples_are_records(record: dict[str, Any]) -> None:
    assert is_record(record)


@pytest.mark.parametrize("record", [record for _, record in SPOILT], ids=[what for what, _ in SPOILT])
def test_a_spoilt_record_is_refused(record: dict[str, Any]) -> None:
    assert not is_record(record)
