"""Every program that is built answers bad flags with one line and exit code 2: no abort, no usage text, no hang."""

import os
import subprocess

import pytest

from conftest import skip_unless_there
from tefflab import project_root
from tefflab.errors import BAD_INPUT
from tefflab.systems.registry import Registry
from tefflab.systems.systems import Program

ROOT = project_root()
BENCH = [variant for system in Registry(ROOT).systems for variant in system.programs_for("task_graph")]
SPAWN = [program for system in Registry(ROOT).systems for program in system.programs_for("spawn")]
OF_ALL = ["--workers 0", "--workers two", "--workers 99999999999", "--workers 5000", "--workers", "--nonsense", "word"]
OF_BENCH = [
    "-type stensil",
    "-steps 0",
    "-width 99999999999999999999",
    "-radix 3x",
    "-kernel fast",
    "-output 3",
    "-type spread -width 4 -radix 9",
    "-width 9223372036854775807",
]
OF_SPAWN = [
    "-pattern sireal",
    "-pattern serial -tasks -1",
    "-pattern fibonacci -n 9999",
    "-pattern fibonacci -spawn none",
    "-pattern tree -tree T9",
    "-tasks 5",
]


def _check(program: Program, lines: list[str], number: int) -> None:
    """All programs read flags by the same code, and each line takes a start. So a program gets every fourth line, and
    the next program gets others. Launchers and interpreters take long to start, and may add a word of their own."""
    skip_unless_there(program)
    command = program.command_line(2)
    is_direct = command[0] == str(program.program_path)
    every = 4 if is_direct else 12
    for line in lines[number % every :: every]:
        finished = subprocess.run(
            [*command, *line.split()],
            env={**os.environ, **program.environment_for(2)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        said = [each for each in finished.stderr.splitlines() if is_direct or each.startswith("error: ")]
        assert finished.returncode == BAD_INPUT, f"{line}: {finished.returncode}: {finished.stderr}"
        assert len(said) == 1, f"{line}: {finished.stderr}"
        assert said[0].startswith("error: "), line
        assert not finished.stdout, line


@pytest.mark.slow
@pytest.mark.parametrize(("number", "program"), list(enumerate(BENCH)), ids=[program.id for program in BENCH])
def test_a_program_says_in_one_line_what_is_wrong_with_its_flags(number: int, program: Program) -> None:
    _check(program, OF_ALL + OF_BENCH, number)


@pytest.mark.parametrize(("number", "program"), list(enumerate(SPAWN)), ids=[program.executable for program in SPAWN])
def test_a_spawn_program_says_in_one_line_what_is_wrong_with_its_flags(number: int, program: Program) -> None:
    _check(program, OF_ALL + OF_SPAWN, number)
