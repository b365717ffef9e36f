"""Messages between ranks that only simulate: records, the table, the measure, and the command as a whole."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from conftest import answers, teff, write_system
from pictures import words
from samples import sitting
from schemas import validator
from simulated_messages_program import CASES, record
from simulated_sitting import variant
from tefflab import project_root
from tefflab.benchmarks.compared import ComparedPlan
from tefflab.benchmarks.messages import BENCHMARK, MessagesEstimates, MessagesRecord
from tefflab.measure.measurement import estimated
from tefflab.records.plan import Case
from tefflab.records.record import RecordError, parse_record
from tefflab.records.run import Run
from tefflab.records.store import open_sitting
from tefflab.systems.registry import Registry
from tefflab.systems.systems import Program

PROGRAM = Path(__file__).parent / "simulated_messages_program.py"
SCHEMA = validator("messages")
PROGRAMS = [program for system in Registry(project_root()).systems for program in system.programs_for("messages")]
PARADIGMS = {"plain": "message passing", "quick": "task-based", "lossy": "task-based"}
FACTORS = {"plain": 1.0, "quick": 0.5, "lossy": 0.1}


@pytest.fixture
def root(commanded: Path) -> Path:
    for name, factor in FACTORS.items():
        write_system(
            commanded,
            name,
            f'[[program]]\nbenchmark = "messages"\nname = "one"\ntitle = "{name.title()}"\nprogram = "{PROGRAM}"\n'
            f'command = ["{sys.executable}", "{{program}}", "{name}", "{factor}"]\n',
        )
        toml = commanded / "bench" / "systems" / name / "system.toml"
        said = toml.read_text()
        toml.write_text(said.replace('paradigm = "none"', f'paradigm = "{PARADIGMS[name]}"'))
    return commanded


def last(root: Path) -> MessagesEstimates:
    store, head = open_sitting(Registry(root), "default")
    found = estimated(store, BENCHMARK, head)
    assert isinstance(found, MessagesEstimates)
    return found


def test_messages_are_held_against_plain_message_passing(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert teff(monkeypatch, "messages", "--rounds", "4") == 0
    capsys.readouterr()
    estimates = last(root)
    assert estimates.measure is not None
    assert estimates.measure.id == "plain", "though another is quicker"
    console = Console(record=True, width=80, file=open("/dev/null", "w"))  # noqa: SIM115, PTH123
    for section in estimates.sections():
        console.print(section)
    lines = console.export_text().splitlines()
    assert all(len(line) <= 80 for line in lines[1:4])
    (long,) = (line for line in lines if line.startswith("64KiB"))
    (many,) = (line for line in lines if line.startswith("flood "))
    assert "GB/s" in long
    assert "M/s" in many
    assert "0.50" in long or "0.49" in long
    assert any(line.startswith("lossy: rank 1 lost one") for line in lines)
    assert "flood: 9 before an answer; rest: CPU time in 10 s" in lines, "the name of the other says what it is"
    assert not any(line.startswith("?") for line in lines)
    (folder,) = (each for each in (root / "results" / "default").iterdir() if each.is_dir())
    assert {file.name for file in folder.iterdir()} == {"messages.png", "messages.svg", "report.html"}
    assert teff(monkeypatch, "show", "--json") == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert rows[0]["bytes_per_second"] == pytest.approx(65536 / rows[0]["value"])


def test_a_question_mark_of_the_table_is_explained_below_it(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert teff(monkeypatch, "messages", "--rounds", "2") == 0
    store, head = open_sitting(Registry(root), "default")
    runs = list(store.runs(MessagesRecord))
    first = [run for run in runs if run.round == runs[0].round]
    (section,) = BENCHMARK.estimate(head, first, []).sections()
    assert any(cell.endswith("?") for cells in section.rows for cell in cells)
    assert section.notes[0] == "?: of fewer than 3 launches, or an interval that says nothing: measure longer"


def test_cpu_time_is_in_no_picture_of_the_times_of_messages(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert teff(monkeypatch, "messages", "--rounds", "3") == 0
    ((_, picture),) = last(root).pictures()
    said = set(words(picture))
    assert {"64KiB", "flood"} <= said
    assert "rest" not in said
    assert teff(monkeypatch, "messages", "--rounds", "3", "--cases", "rest") == 0
    assert not list(last(root).pictures())
    capsys.readouterr()


def test_a_rate_is_that_of_the_time_beside_it() -> None:
    """Two launches, of which one was noisy at first: neither that run nor a median of rates makes the row's rate."""
    case = Case(name="64KiB", flags=CASES[0]["flags"], workers=2)
    head = sitting(benchmark="messages").model_copy(
        update={"plan": ComparedPlan(title="two", variants=(variant("plain"),), cases=(case,)).model_dump(mode="json")}
    )

    def run(number: int, seconds: float, *, noisy: bool = False) -> Run[MessagesRecord]:
        said = record("plain", 1.0, case.flags, number) | {"seconds": seconds}
        return Run(
            sitting="one",
            round=number,
            system_id="plain",
            role="system",
            attempt=0 if noisy else 1,
            noisy=noisy,
            command="plain",
            flags=case.flags,
            configuration=case.flags,
            record=parse_record(json.dumps(said), MessagesRecord),
            workers=2,
        )

    (row,) = BENCHMARK.estimate(head, [run(0, 10e-6), run(1, 90e-6, noisy=True), run(1, 40e-6)], []).rows
    assert row.value is not None
    assert row.value.value == pytest.approx(20e-6)
    assert row.facts["bytes_per_second"] == pytest.approx(65536 / 20e-6)


def test_who_is_not_measured_can_not_be_the_measure(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert teff(monkeypatch, "messages", "--rounds", "3", "--against", "quick") == 0
    measure = last(root).measure
    assert measure is not None
    assert measure.id == "quick"
    assert teff(monkeypatch, "messages", "--systems", "quick", "--against", "plain") == 2
    assert "'plain' is not measured" in capsys.readouterr().err
    assert teff(monkeypatch, "messages", "--workers", "3") == 2
    assert "between two ranks" in capsys.readouterr().err


@pytest.mark.parametrize(
    "change",
    [{"seconds": 0.0}, {"seconds": None}, {"parameters": None}, {"surprise": 1}, {"validation": {"passed": True}}],
)
def test_a_record_that_does_not_say_all_is_none(change: dict[str, Any]) -> None:
    good = record("plain", 1.0, CASES[0]["flags"], 0)
    SCHEMA.validate(good)
    assert parse_record(json.dumps(good), MessagesRecord).get("seconds")
    with pytest.raises(RecordError):
        parse_record(json.dumps(good | change), MessagesRecord)


def test_a_record_whose_messages_are_others_than_were_sent_is_none() -> None:
    spoilt = record("plain", 1.0, CASES[0]["flags"], 0)
    spoilt["validation"]["ranks"][1]["checksum"] = "0x0000000000000000"
    with pytest.raises(RecordError, match="not all that was sent arrived"):
        parse_record(json.dumps(spoilt), MessagesRecord)


@pytest.mark.parametrize("program", PROGRAMS, ids=[program.executable for program in PROGRAMS])
def test_a_system_exchanges_every_kind_of_message(program: Program) -> None:
    lines = (
        "-pattern one_way -bytes 8 -turns 50",
        "-pattern one_way -bytes 64 -turns 20",
        "-pattern one_way -bytes 1048576 -turns 3",
        "-pattern burst -window 1 -turns 20",
        "-pattern burst -window 20000 -turns 2",
        "-pattern chain -turns 50",
        "-pattern idle -idle 0.05",
        "-pattern one_way -bytes 12",
    )
    *records, refused = answers(program, 2, "--batch", lines=lines)
    assert "--bytes 12" in refused["error"]
    assert len(records) == len(lines) - 1
    for line, each in zip(lines, records, strict=False):
        SCHEMA.validate(each)
        assert "error" not in each, f"{line}: {each['error']}"
        assert parse_record(json.dumps(each), MessagesRecord).get("seconds"), line
        assert each["ranks"] == each["workers"] == 2


@pytest.mark.parametrize("program", PROGRAMS, ids=[program.executable for program in PROGRAMS])
def test_a_system_of_one_rank_says_that_two_are_needed(program: Program) -> None:
    (refused,) = answers(program, 1, "--batch", lines=("-pattern chain -turns 5",))
    assert "two are needed" in refused["error"]
