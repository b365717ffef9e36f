"""Where worker time goes: from stacks to categories, and once for real on every system that says how."""

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from jsonschema_rs import validator_for
from rich.console import Console

from simulated_sitting import variant
from tefflab import project_root
from tefflab.cli import main as cli
from tefflab.errors import TeffError
from tefflab.measure.presence import Present, Selection
from tefflab.profiles.spawn_profile import (
    CATEGORIES,
    TAKEN,
    UNKNOWN,
    Frame,
    attribute,
    base_name,
    category_of,
    parse_profile,
    take_profile,
    to_table,
)
from tefflab.systems.registry import Registry
from tefflab.systems.systems import Attribution, Program

ROOT = project_root()
PROFILED = [
    program
    for system in Registry(ROOT).systems
    for program in system.programs_for("spawn")
    if program.profile is not None
]
SCHEMA = json.loads((ROOT / "bench/spawn/profile.schema.json").read_text(encoding="utf-8"))

PATTERN = "/home/x/bench/spawn/src/null_task.cpp:null_task"
PUSH = "/home/x/rt/deque.hpp:push"
OTHER = "/home/x/rt/deque.hpp:other"
SYSCALL = "/lib/libc.so.6:syscall"
RULES = [
    ("spawning", "rt/deque.hpp:push"),
    ("scheduler", "rt/deque.hpp:p*"),
    ("yielding", "rt/sleep.cpp"),
    ("task", "bench/spawn/*"),
]


def answer(**changed: Any) -> dict[str, Any]:
    places = [{"module": "m", "offset": offset, "symbol": ""} for offset in range(3)]
    told: dict[str, Any] = {
        "schema": "teff-spawn-profile-1",
        "system": "one",
        "variant": "only",
        "version": "1",
        "workers": 2,
        "pattern": "serial",
        "parameters": {"tasks": 10},
        "tasks": 100,
        "runs": 10,
        "elapsed_seconds": 1.0,
        "period_seconds": 0.01,
        "threads": 2,
        "missed": 20,
        "lost": 0,
        "places": places,
        "stacks": [{"count": 120, "places": [0, 2]}, {"count": 50, "places": [1]}, {"count": 10, "places": [2]}],
        "started_at": "2026-11-21T12:00:00.000Z",
    }
    return told | changed


@pytest.mark.parametrize(
    ("frames", "category"),
    [
        ([PUSH, PATTERN], "spawning"),  # the longer rule of two
        ([PATTERN, PUSH], "task"),
        ([SYSCALL, "/home/x/rt/sleep.cpp:park", PATTERN], "yielding"),  # the caller of the C library
        (["/usr/include/c++/12/atomic:load", PUSH], "spawning"),
        ([OTHER, PATTERN], UNKNOWN),  # a function of the system without a category: not its caller's
        ([SYSCALL], UNKNOWN),
    ],
    ids=["in line", "task", "system call", "header", "unnamed", "nobody's"],
)
def test_the_innermost_function_that_a_rule_names_decides(frames: list[Frame], category: str) -> None:
    assert category_of(frames, RULES)[1] == category


@pytest.mark.parametrize(
    ("function", "name"),
    [
        ("push", "push"),
        ("operator()", "operator()"),
        ("run_stolen<ns::f(int)::<lambda()>&>", "run_stolen"),
        ("std::pair<a<b>, c>::type ns::(anonymous namespace)::join_all<x(y)::{lambda()#1}&>(z<w>, v*)", "join_all"),
        ("void ns::queue<int>::push(int&&) [clone .isra.0]", "push"),
        ("operator new(unsigned long)", "operator new"),
        ("ns::scope::~scope()", "~scope"),
        ("ns::f(int)::{lambda(char)#2}::operator()(char) const", "f"),
    ],
)
def test_a_function_is_known_by_its_own_name(function: str, name: str) -> None:
    assert base_name(function) == name


def test_shares_are_of_all_looks_and_have_intervals() -> None:
    source = answer()
    spent = attribute(
        "one", "serial", source, Attribution(spawning=["rt/deque.hpp:push"]), [[PUSH], [PATTERN], [OTHER]]
    )
    shares = {share["category"]: share for share in spent["shares"]}
    assert [share["category"] for share in spent["shares"]] == [*CATEGORIES, UNKNOWN, TAKEN]
    looks = {name: share["looks"] for name, share in shares.items() if share["looks"]}
    assert looks == {"spawning": 120, "task": 50, UNKNOWN: 10, TAKEN: 20}
    assert sum(share["value"] for share in spent["shares"]) == pytest.approx(1)
    assert shares["spawning"]["value"] == pytest.approx(0.6)
    assert shares["spawning"]["low"] == pytest.approx(0.531, abs=0.001)  # Wilson, 120 of 200
    assert shares["spawning"]["high"] == pytest.approx(0.665, abs=0.001)
    assert shares["spawning"]["seconds_per_task"] == pytest.approx(0.6 * 1.0 * 2 / 100)
    assert shares["context_swap"]["low"] == 0
    assert 0 < shares["context_swap"]["high"] < 0.03
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(to_table(spent, functions=False))
    text = console.export_text()
    assert "context swap" in text
    assert "deque.hpp: other" in text, "what nobody named is said"


def test_an_answer_that_is_an_error_or_nonsense_is_told() -> None:
    for line, words in (
        ('{"schema": "teff-spawn-profile-1", "error": "it has no fork-join of two"}', "no fork-join"),
        ("nonsense", "nonsense"),
        (json.dumps(answer(missed=-1)), "missed"),
    ):
        with pytest.raises(TeffError, match=words):
            parse_profile("one", line)
    nobody = answer(stacks=[], missed=0)
    with pytest.raises(TeffError, match="no worker was sampled"):
        attribute("one", "serial", nobody, Attribution(), [])


def test_the_schema_and_the_model_agree_on_what_a_profile_is() -> None:
    validator = validator_for(SCHEMA)
    validator.validate(answer())
    for change in ({"missed": -1}, {"surprise": 1}, {"stacks": [{"count": 0, "places": [1]}]}, {"places": None}):
        assert not validator.is_valid(answer(**change)), change
        with pytest.raises(TeffError):
            parse_profile("one", json.dumps(answer(**change)))


def test_the_command_prints_what_it_found_and_which_pattern_could_not_be_profiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "program.py"
    cases = "\n".join(json.dumps({"name": name, "flags": f"-pattern {name}"}) for name in ("serial", "parallel"))
    script.write_text(
        "import sys\n"
        f"print({cases!r} if '--cases' in sys.argv else {json.dumps(answer())!r} if 'serial' in sys.argv\n"
        '      else \'{"error": "it has no loop"}\')\n'
    )
    program = Program(
        benchmark="spawn",
        name="one",
        title="One",
        program=str(script),
        command=[sys.executable, "{program}"],
        profile=Attribution(),
    )
    program.folder = tmp_path / "bench/systems/one"
    here = Present(variant("one"), program)
    monkeypatch.setattr(Selection, "set_up", lambda _: [here])
    done = CliRunner().invoke(cli.app, ["explain", "spawn", "--cases", "serial,spawn:parallel", "--json"])
    assert done.exit_code == 1
    (line,) = done.stdout.splitlines()
    told = json.loads(line)
    assert told["pattern"] == "serial"
    assert {share["category"]: share["looks"] for share in told["shares"] if share["looks"]} == {
        UNKNOWN: 180,
        TAKEN: 20,
    }
    assert "it has no loop" in done.stderr


@pytest.mark.parametrize("program", PROFILED, ids=[program.executable for program in PROFILED])
def test_a_system_is_profiled_and_its_rules_name_what_it_does(program: Program) -> None:
    if not program.program_path.exists():
        pytest.skip(f"{program.executable} is not built here")
    words = [*program.command_line(2), "--workers", "2", "--profile", "0.1", "-pattern", "serial"]
    told = subprocess.run(words, capture_output=True, text=True, check=True, timeout=120).stdout
    validator_for(SCHEMA).validate(json.loads(told))
    spent = take_profile(program, "fib-both", "-pattern fibonacci -n 25 -spawn both", 2, 1.0)
    looks = {share["category"]: share["looks"] for share in spent["shares"]}
    ran = sum(looks.values()) - looks[TAKEN]
    assert ran > 0
    assert looks["task"] > 0
    assert looks[UNKNOWN] < 0.1 * ran, spent["functions"].get(UNKNOWN)
