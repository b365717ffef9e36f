"""The store keeps its lines, through crashes and crowds, and answers in SQL."""

import multiprocessing
import os
import re
import socket
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from samples import estimate, failed_record, good_record, run, sitting
from tefflab.benchmarks.task_graph.record import GraphRecord
from tefflab.errors import FAILED
from tefflab.records.run import Run, RunKey, minutes_for
from tefflab.records.store import (
    Store,
    StoreError,
    UnwritableError,
    measured_alone,
    new_sitting_name,
    open_sittings,
    stores_in,
)
from tefflab.systems.registry import Registry

RUNS = "runs.jsonl"


def runs(store: Store, sitting: str | None = None) -> list[Run[GraphRecord]]:
    return list(store.runs(GraphRecord, sitting))


def test_a_sitting_is_measured_by_one_process_at_a_time(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from tefflab.records.store import measured_alone\n"
        "with measured_alone(Path(sys.argv[1]), 'monday'): pass"
    )
    with measured_alone(tmp_path, "monday"), measured_alone(tmp_path, "tuesday"):
        other = subprocess.run(
            [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=False
        )
        assert other.returncode != 0
        assert f"TeffError: process {os.getpid()} on " in other.stderr
        assert " measures the sitting monday of " in other.stderr
    assert not list(tmp_path.iterdir())
    (tmp_path / ".monday.lock").write_text("process 1 on a machine that was switched off, which is a long word")
    with measured_alone(tmp_path, "monday"):
        assert (tmp_path / ".monday.lock").read_text() == f"process {os.getpid()} on {socket.gethostname()}"


def test_a_store_gives_back_what_was_appended(tmp_path: Path) -> None:
    first, second = run(flags="-iter 64"), run(flags="-iter 32", record=failed_record())
    with Store.create(tmp_path / "s") as store:
        store.append("sittings", sitting())
        store.append("runs", first)
        store.append("runs", second)
    again = Store.open(tmp_path / "s")
    assert runs(again, "one") == [first, second]
    assert again.sitting() == sitting()
    assert again.damage() == []


def test_a_line_is_readable_as_soon_as_append_returns(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "s")
    store.append("runs", run())
    assert len(runs(Store.open(tmp_path / "s"))) == 1
    store.close()


def test_the_runs_of_a_sitting_come_in_order_each_with_its_question_and_attempt(tmp_path: Path) -> None:
    with Store.create(tmp_path / "s") as store:
        store.append("runs", run(noisy=True))
        store.append("runs", run(attempt=1))
        store.append("runs", run(round=1))
        store.append("runs", run(sitting="other"))
        kept = [(each.key, each.attempt, each.noisy) for each in store.runs(GraphRecord, "one")]
    key, later = (RunKey(number, "system", "sample", "", 2, "-iter 64") for number in (0, 1))
    assert kept == [(key, 0, True), (key, 1, False), (later, 0, False)]


@pytest.mark.parametrize("cut", [1, 40, 200])
def test_a_torn_last_line_is_reported_and_the_next_line_is_whole(tmp_path: Path, cut: int) -> None:
    with Store.create(tmp_path / "s") as store:
        store.append("runs", run(flags="-iter 1"))
        store.append("runs", run(flags="-iter 2"))
    file = tmp_path / "s" / RUNS
    file.write_bytes(file.read_bytes()[:-cut])
    lost = cut > 1  # with only the line's end missing, the record itself is whole

    torn = Store.open(tmp_path / "s")
    assert len(runs(torn)) == 2 - lost
    assert len(torn.damage()) == int(lost)
    if lost:
        assert "torn" in str(torn.damage()[0])
        assert f"{RUNS}:2" in str(torn.damage()[0])

    with Store.create(tmp_path / "s") as store:
        store.append("runs", run(flags="-iter 3"))
        assert [found.flags for found in runs(store)][-1] == "-iter 3"
        assert len(store.damage()) == int(lost)


def _write_many(folder: Path, writer: int) -> None:
    with Store.create(folder) as store:
        for number in range(100):
            store.append("runs", run(flags=f"-iter {number}", system_id=f"writer{writer}"))


def test_writers_in_several_processes_never_mix_their_lines(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_write_many, args=(tmp_path / "s", number)) for number in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    store = Store.open(tmp_path / "s")
    assert store.damage() == []
    for number in range(4):
        flags = [line.flags for line in runs(store) if line.system_id == f"writer{number}"]
        assert flags == [f"-iter {count}" for count in range(100)]


def test_a_store_that_is_not_there_is_refused_with_those_that_are(tmp_path: Path) -> None:
    with Store.create(tmp_path / "monday") as store:
        store.append("sittings", sitting())
    with pytest.raises(StoreError, match="monday"):
        Store.open(tmp_path / "tuesday")
    assert not (tmp_path / "tuesday").exists()


def test_what_failed_before_its_sitting_began_leaves_no_store(tmp_path: Path) -> None:
    Store.create(tmp_path / "monday").close()
    assert not (tmp_path / "monday").exists()
    (tmp_path / "monday").mkdir()
    (tmp_path / "monday" / "sittings.jsonl").touch()
    assert stores_in(tmp_path) == [], "as older ones have left it"


def test_a_sitting_of_the_same_name_is_refused(tmp_path: Path) -> None:
    with Store.create(tmp_path / "s") as store:
        store.append("sittings", sitting())
        with pytest.raises(StoreError, match="already"):
            store.append("sittings", sitting())


def test_a_sitting_that_is_not_there_is_refused_with_those_that_are(tmp_path: Path) -> None:
    with Store.create(tmp_path / "s") as store:
        store.append("sittings", sitting("one"))
        with pytest.raises(StoreError, match="there is one"):
            store.sitting("two")


def test_the_last_sitting_is_the_one_that_was_written_last_whatever_the_clock_said(tmp_path: Path) -> None:
    now = datetime.now(UTC)
    times = {"ahead": now + timedelta(days=3), "right": now, "behind": now - timedelta(days=3)}
    for name, time in times.items():
        with Store.create(tmp_path / "s") as store:
            store.append("sittings", sitting(name).model_copy(update={"started_at": time}))
        assert store.sitting().sitting == name
    assert open_sittings(Registry(tmp_path), str(tmp_path / "s"))[1]["task_graph"].sitting == "behind"
    (said,) = store.warnings()
    assert said.startswith(
        f"ahead has a time in the future ({times['ahead']:%Y-%m-%d %H:%M}): a clock is wrong, or was"
    )


def test_a_store_that_can_not_be_written_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"^no store can be written at .*file \(Not a directory\): name a folder"):
        Store.create(tmp_path / "file")
    with Store.create(tmp_path / "s") as store:
        (tmp_path / "s" / RUNS).mkdir(parents=True)
        with pytest.raises(
            UnwritableError, match=r"runs\.jsonl can't be written \(Is a directory\); the measured runs .* --resume$"
        ) as full:
            store.append("runs", run())
    assert full.value.exit_code == FAILED


def test_a_file_that_vanishes_while_it_is_written_is_told(tmp_path: Path) -> None:
    with Store.create(tmp_path / "s") as store:
        store.append("runs", run())
        (tmp_path / "s" / RUNS).unlink()
        with pytest.raises(UnwritableError, match=r"/s/runs\.jsonl has vanished, and with it what it held: put it"):
            store.append("runs", run(attempt=1))


def test_lines_that_can_not_be_read_are_counted_for_each_file(tmp_path: Path) -> None:
    with Store.create(tmp_path / "s") as store:
        store.append("sittings", sitting())
        store.append("runs", run())
    newer = (tmp_path / "s" / RUNS).read_text().replace("teff-record-2", "teff-record-9")
    (tmp_path / "s" / RUNS).write_text(newer * 2)
    said = Store.open(tmp_path / "s").warnings()
    assert len(said) == 1
    assert said[0].startswith(
        f"2 lines of {tmp_path}/s/runs.jsonl can't be read and count for nothing; the first is line 1 (record"
    )
    (tmp_path / "s" / RUNS).write_text(newer)
    (said_of_one,) = Store.open(tmp_path / "s").warnings()
    assert said_of_one.startswith(f"line 1 of {tmp_path}/s/runs.jsonl can't be read and counts for nothing (record")
    (tmp_path / "s" / RUNS).write_text(newer[:-40] + "\n")
    (said_of_one,) = Store.open(tmp_path / "s").warnings()
    assert re.search(r"counts for nothing \(Invalid JSON: .* at column \d+\)$", said_of_one)


def test_a_sitting_whose_line_is_torn_is_not_taken_for_one_that_is_not_there(tmp_path: Path) -> None:
    with Store.create(tmp_path / "s") as store:
        store.append("sittings", sitting("one"))
        store.append("sittings", sitting("two"))
    file = tmp_path / "s" / "sittings.jsonl"
    file.write_bytes(file.read_bytes()[:-40])
    with pytest.raises(StoreError, match=r"^line 2 of .*sittings\.jsonl can't be read .* else there is one$"):
        Store.open(tmp_path / "s").sitting("two")


def test_an_estimate_that_could_not_be_found_again_is_refused(tmp_path: Path) -> None:
    line = estimate()
    del line["configuration"]
    with Store.create(tmp_path / "s") as store, pytest.raises(StoreError, match="configuration"):
        store.append("estimates", line)


def test_names_of_sittings_sort_by_time_and_differ_within_a_second() -> None:
    early, late = datetime(2026, 1, 2, tzinfo=UTC), datetime(2026, 11, 20, tzinfo=UTC)
    assert new_sitting_name(early) < new_sitting_name(late)
    assert len({new_sitting_name(early) for _ in range(8)}) > 1


def test_what_more_launches_take_is_foretold_from_the_middle_of_those_that_there_were() -> None:
    def launch(name: str, seconds: int) -> list[Run[GraphRecord]]:
        began = [
            datetime(2026, 11, 20, 22, tzinfo=UTC) + timedelta(seconds=each) for each in (0, seconds // 2, seconds)
        ]
        return [run(system_id=name, record=good_record(started_at=f"{each:%Y-%m-%dT%H:%M:%S}Z")) for each in began]

    made = [*launch("quick", 2), *launch("usual", 50), *launch("slow", 1000)]
    assert minutes_for(3, made) == 3
    assert minutes_for(0, made) is None
    assert minutes_for(3, []) is None
