"""The definition of a record; test_record_schema.py holds the programs to it."""

import copy
import json
from typing import Any

import pytest

from samples import failed_record, good_record, run
from tefflab.benchmarks.task_graph.record import GraphRecord
from tefflab.records.record import RecordError, parse_record
from tefflab.records.run import Run


def parsed(record: dict[str, Any]) -> GraphRecord:
    return parse_record(json.dumps(record), GraphRecord)


def without(name: str) -> dict[str, Any]:
    record = good_record()
    del record[name]
    return record


def test_granularity_is_wall_time_times_workers_over_tasks() -> None:
    assert parsed(good_record()).granularity == pytest.approx(0.05 * 2 / 2000)


@pytest.mark.parametrize(
    ("flops", "moved", "unit", "rate"),
    [(1000, 0, "FLOP/s", 20_000), (0, 500, "B/s", 10_000), (0, 0, "task/s", 40_000)],
)
def test_rate_is_the_one_that_suits_the_kernel(flops: int, moved: int, unit: str, rate: float) -> None:
    record = parsed(good_record(flops=flops, bytes=moved))
    assert record.rate_unit == unit
    assert record.rate == pytest.approx(rate)


def test_record_survives_writing_and_reading() -> None:
    kept = run(record=good_record())
    again = Run[GraphRecord].model_validate_json(kept.model_dump_json(exclude_unset=True))
    assert again.record.told == kept.record.told == good_record()


@pytest.mark.parametrize("name", sorted(good_record()))
def test_a_record_without_error_and_without_a_number_is_refused_by_name(name: str) -> None:
    with pytest.raises(RecordError, match=name):
        parsed(without(name))


def test_a_failed_record_needs_only_its_head_and_its_error() -> None:
    record = parsed(failed_record())
    assert not record.ok
    assert not record.proven
    assert "-width 0" in (record.error or "")


def test_no_number_can_be_had_from_a_failed_record() -> None:
    record = parsed(good_record(error="validation failed at point 3"))
    for name in ("granularity", "rate"):
        with pytest.raises(RecordError, match="validation failed at point 3"):
            getattr(record, name)


def test_failed_validation_without_an_error_is_refused() -> None:
    validation = good_record()["validation"] | {"passed": False}
    with pytest.raises(RecordError, match=r"validation\.passed"):
        parsed(good_record(validation=validation))


def test_passed_validation_with_another_checksum_is_refused() -> None:
    validation = good_record()["validation"] | {"checksum": "0x0000000000000000"}
    with pytest.raises(RecordError, match="checksum"):
        parsed(good_record(validation=validation))


def test_a_run_with_validation_switched_off_is_good_but_not_proven() -> None:
    validation = good_record()["validation"] | {"enabled": False, "passed": False}
    record = parsed(good_record(validation=validation))
    assert record.ok
    assert not record.proven


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"tasks": "2000"}, "tasks"),
        ({"tasks": -1}, "tasks"),
        ({"workers": 0}, "workers"),
        ({"elapsed_seconds": "fast"}, "elapsed_seconds"),
        ({"schema": "teff-record-1"}, "schema"),
        ({"surprise": 1}, "surprise"),
        ({"started_at": "yesterday"}, "started_at"),
    ],
)
def test_a_wrong_value_is_refused_by_the_name_of_its_field(changes: dict[str, Any], named: str) -> None:
    with pytest.raises(RecordError, match=named) as failure:
        parsed(good_record(**changes))
    assert "\n" not in str(failure.value)


def test_a_wrong_value_within_a_graph_is_named_with_its_place() -> None:
    record = copy.deepcopy(good_record())
    record["graphs"][0]["imbalance"] = 3.0
    with pytest.raises(RecordError, match=r"graphs\.0\.imbalance"):
        parsed(record)


@pytest.mark.parametrize("line", ["", "  \n", "Segmentation fault", "{", "[]", '{"tasks": NaN}'])
def test_what_is_no_record_is_refused_in_one_line(line: str) -> None:
    with pytest.raises(RecordError) as failure:
        parse_record(line, GraphRecord)
    assert "\n" not in str(failure.value)


def test_a_time_of_zero_gives_no_rate_but_an_explanation() -> None:
    with pytest.raises(RecordError, match="add timesteps"):
        _ = parsed(good_record(elapsed_seconds=0.0)).granularity
