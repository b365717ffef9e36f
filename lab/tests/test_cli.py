"""The command line: its output and its exit codes."""

import inspect
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from conftest import write_system
from tefflab import __version__, project_root
from tefflab.benchmarks import declared, graph_flags
from tefflab.benchmarks.graphs import answer_of_core, core_program
from tefflab.cli import completion
from tefflab.cli import main as cli
from tefflab.cli.grammar import Command, Former, Number, Text, Tree
from tefflab.cli.options import MINUTES, PERCENT
from tefflab.cli.tree import FORMER, measuring
from tefflab.errors import BAD_INPUT, TeffError
from tefflab.host.machine import read_revision
from tefflab.systems.registry import Registry


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    """The exit code of `teff WORDS`."""
    monkeypatch.setattr("sys.argv", ["teff", *words])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert isinstance(ended.value.code, int)
    return ended.value.code


def test_the_version_is_said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, "--version") == 0
    revision = read_revision(project_root()).short
    assert capsys.readouterr().out == f"teff {__version__} ({revision})\n"


def test_without_memory_one_line_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def use_all() -> int:
        raise MemoryError

    monkeypatch.setattr(cli, "_run", use_all)
    assert run(monkeypatch) == 1
    assert capsys.readouterr().err.startswith("teff: there is no memory left, or ulimit -v allows no more: ")


def test_without_a_command_a_short_screen_says_what_to_begin_with(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert run(monkeypatch) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 32
    assert max(map(len, lines)) <= 80
    for command in ("teff systems", "teff metg", "teff report"):
        assert any(line.startswith(f"  {command} ") for line in lines)
    for name in cli.app.list_commands(click.Context(cli.app)):
        assert any(name in line.split() for line in lines), name


def completed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *words: str) -> list[str]:
    """Bash's completions of the last of the words."""
    monkeypatch.setenv("_TEFF_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", " ".join(("teff", *words)))
    monkeypatch.setenv("COMP_CWORD", str(len(words)))
    assert run(monkeypatch) == 0
    return [line.removeprefix("plain,") for line in capsys.readouterr().out.splitlines()]


def test_a_shell_completes_commands_systems_and_experiments(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    systems = Registry(project_root()).systems
    ids = {name for system in systems for program in system.programs for name in (program.id, program.long_name)}
    assert completed(capsys, monkeypatch, "exp") == ["experiment", "explain", "export"]
    assert "fig7" in completed(capsys, monkeypatch, "experiment", "fig")
    offered = set(completed(capsys, monkeypatch, "run", ""))
    assert offered <= ids | {system.name for system in systems}
    assert "std_thread" in offered
    for command in (("metg",), ("measure", "spawn"), ("explain", "spawn"), ("spawn",)):
        assert completed(capsys, monkeypatch, *command, "--systems", "serial,std_") == ["serial,std_thread"]
    assert "spawn" in completed(capsys, monkeypatch, "measure", "sp")
    assert completed(capsys, monkeypatch, "systems", "d") == ["doctor"]
    assert "teff" not in completed(capsys, monkeypatch, "run", "teff,te")
    for words in (("metg",), ("metg", "--minutes", "1"), ("run", "openmp"), ("graph",)):
        asked = (*words, "-type", "stencil_1d_")
        assert completed(capsys, monkeypatch, *asked) == ["stencil_1d_periodic"]
    assert completed(capsys, monkeypatch, "metg", "-width", "3", "-kernel", "busy") == ["busy_wait"]


def test_a_shell_completes_stores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Registry, "results", tmp_path)
    for name in ("before", "behind", "empty"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "sittings.jsonl").write_text("" if name == "empty" else "{}\n")
    for words in (("show",), ("report",), ("export",), ("compare",), ("compare", "before"), ("metg", "--store")):
        assert completed(capsys, monkeypatch, *words, "be") == ["before", "behind"]


@pytest.mark.parametrize(
    ("shell", "file", "line"),
    [
        ("/bin/bash", ".bashrc", 'command -v teff >/dev/null && eval "$(_TEFF_COMPLETE=bash_source teff)"'),
        ("zsh", ".zshrc", 'command -v teff >/dev/null && eval "$(_TEFF_COMPLETE=zsh_source teff)"'),
        ("/usr/bin/fish", ".config/fish/completions/teff.fish", "_TEFF_COMPLETE=fish_source teff | source"),
    ],
)
def test_a_shell_learns_once_to_ask_for_completions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: str, file: str, line: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SHELL", shell)
    for _ in range(2):
        assert run(monkeypatch, "--install-completion") == 0
    assert (tmp_path / file).read_text().splitlines() == [line]
    monkeypatch.setenv("SHELL", "/bin/dash")
    assert run(monkeypatch, "--install-completion") == BAD_INPUT


def test_a_first_program_that_is_not_the_best_is_offered_by_its_long_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(completion, "project_root", lambda: tmp_path)
    for best in ("", "best = true"):
        name = "lake" if best else "pond"
        row = '[[program]]\nbenchmark = "task_graph"\nname = "{}"\nprogram = "a.py"\n'
        write_system(tmp_path, name, row.format("one") + row.format("two") + best)
        (tmp_path / "bench/systems" / name / "a.py").touch()
    assert completion.systems("") == ["lake", "lake/one", "lake/two", "pond", "pond/one", "pond/two"]


def test_what_completes_reads_no_more_than_names() -> None:
    heavy = "pydantic", "numpy", "polars"
    asks = "import sys; from tefflab.cli import completion, main; assert completion.systems('')"
    said = subprocess.check_output([sys.executable, "-c", f"{asks}; print(*sys.modules)"], text=True)
    assert not {module.split(".")[0] for module in said.split()}.intersection(heavy)


def test_what_is_known_of_the_commands_completes_them_without_loading_the_kinds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(declared, "project_root", lambda: tmp_path)
    measuring.cache_clear()
    assert completed(capsys, monkeypatch, "measure", "programs", "--sc") == ["--scale"]
    asks = (
        "import sys, pathlib; from tefflab.benchmarks import declared; from tefflab.cli.main import main;"
        f"declared.project_root = lambda: pathlib.Path({str(tmp_path)!r})\n"
        "try: main()\nexcept SystemExit: print(*sys.modules)"
    )
    said = subprocess.check_output([sys.executable, "-c", asks], text=True).splitlines()
    assert said[0] == "plain,--scale"
    assert not {"numpy", "altair", "scipy", "polars"}.intersection(said[-1].split())
    (file,) = (tmp_path / ".teff/stamps").iterdir()
    file.write_text('{"of": []}')
    measuring.cache_clear()
    assert completed(capsys, monkeypatch, "measure", "programs", "--sc") == ["--scale"], "of other kinds: made again"


def test_a_shell_that_completes_sets_nothing_up(tmp_path: Path) -> None:
    shutil.copy(project_root() / "teff", tmp_path)
    (tmp_path / "lab").mkdir()
    for name in ("pyproject.toml", "constraints.txt"):
        (tmp_path / "lab" / name).touch()
    asked = {**os.environ, "_TEFF_COMPLETE": "bash_complete"}
    done = subprocess.run([tmp_path / "teff"], env=asked, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")
    assert not (tmp_path / ".teff").exists()


def paths(group: Tree, *before: str) -> list[tuple[str, ...]]:
    """The words of every command that stands in a help."""
    context = click.Context(group)
    found: list[tuple[str, ...]] = []
    for name in group.list_commands(context):
        one = group.get_command(context, name)
        found += [(*before, name)] if not isinstance(one, Tree) else [(*before, name), *paths(one, *before, name)]
    return found


PATHS = paths(cli.app)


def test_the_commands_that_measure_are_among_all() -> None:
    assert {("metg",), ("measure", "graph"), ("measure", "spawn"), ("compare",), ("systems", "add")} <= set(PATHS)


@pytest.mark.parametrize("words", PATHS, ids=" ".join)
def test_help_begins_with_an_example_and_fits_a_screen(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert run(monkeypatch, *words, "--help") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Example:  teff ")
    assert words[0] in lines[0]
    assert len(lines) <= 32
    assert max(map(len, lines)) <= 80


def test_the_help_of_all_is_a_line_for_each_command_and_fits_a_screen(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert run(monkeypatch, "--help") == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) < 40
    assert max(map(len, lines)) <= 80
    assert "…" not in "".join(lines)
    first = [line.split()[0] for line in lines if line.startswith("  ")]
    assert [name for (name, *more) in PATHS if not more] == [name for name in first if not name.startswith("-")]


@pytest.mark.parametrize("name", FORMER)
def test_a_former_name_says_the_new_one_and_works(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert run(monkeypatch, name, "--help") == 0
    told = capsys.readouterr()
    assert told.err == f"teff: teff {name} is now teff {FORMER[name]}\n"
    assert f"Usage: teff {FORMER[name]} " in told.out
    assert run(monkeypatch, "--help") == 0
    assert f"  {name} " not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["export", "--store", "none"], "teff export --store is now an argument: name the store without --store"),
        (["simulate", "--store", "none"], "teff simulate --store is now an argument: name the store without --store"),
        (["compare", "a", "b", "--store", "c"], "teff compare --store is now an argument: teff compare a b c"),
        (["run", "openmp", "--benchmark", "none"], "teff run --benchmark is now teff run SYSTEM KIND"),
        (["contention", "--shares", "x"], "teff contention --shares is now --load spin:P,Q"),
        (["contention", "--cores", "x"], "teff contention --cores is now --load spin:P,Q@CORES"),
        (["measure", "spawn", "--patterns", "x", "--no-install", "--install-missing"], "--patterns is now --cases"),
    ],
)
def test_a_former_option_says_the_new_form(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert run(monkeypatch, *words) != 0
    assert said in capsys.readouterr().err.splitlines()[0]


def test_a_former_option_and_what_has_taken_its_place_name_one_store(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "report", "a", "--store", "b") == BAD_INPUT
    assert "a and --store b: give one of them" in capsys.readouterr().err


def test_what_follows_two_dashes_is_another_program_s(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "explain", "--cases", "serial", "--", "prog", "-h", "--json") == BAD_INPUT
    assert "--cases: is not for a program behind --" in capsys.readouterr().err


@pytest.mark.parametrize("words", [[], ["compare"], ["metg", "-width", "4"], ["run"]])
def test_help_is_asked_for_by_one_letter_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    assert run(monkeypatch, *words, "-h") == 0
    said = capsys.readouterr().out
    assert run(monkeypatch, *words, "--help") == 0
    assert capsys.readouterr().out == said
    assert any(line.startswith("  --help ") for line in said.splitlines()), "named alike everywhere"


@pytest.mark.parametrize("name", ["graph", "run", "metg", "measure graph"])
def test_help_of_what_takes_a_graphs_flags_says_them_and_where_all_are(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert run(monkeypatch, *name.split(), "--help") == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "docs/reference/flags.md" in said
    assert all(flag in said for flag in ("-type", "-width", "-radix", *graph_flags.values()["type"]))


def test_the_values_of_flags_are_those_of_the_reference() -> None:
    page = (project_root() / "docs/reference/patterns-and-kernels.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\w+) \|", page, re.MULTILINE)
    there = [row for row in rows if row not in ("pattern", "kernel")]
    assert sorted(there) == sorted((*graph_flags.values()["type"], *graph_flags.values()["kernel"]))


@pytest.mark.parametrize("flag", ["type", "kernel"])
def test_the_values_of_flags_are_those_of_the_core(flag: str) -> None:
    if not core_program(project_root()).is_file():
        pytest.skip("the core is not built")
    with pytest.raises(TeffError) as refused:
        answer_of_core(project_root(), [f"-{flag}", "nobody"])
    assert str(refused.value).endswith(f"choose one of {', '.join(graph_flags.values()[flag])}")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nonsense"], "No such command 'nonsense'; see teff --help"),
        (["compare", "a"], "Missing argument 'B'; see teff compare --help"),
        (["measure", "spawn", "extra"], "Got unexpected extra argument (extra); see teff measure spawn --help"),
        (["measure", "nonsense"], "No such command 'nonsense'; see teff measure --help"),
        (["graph", "--svg"], "Option '--svg' requires an argument; see teff graph --help"),
        (["systems", "doctor", "--nope"], "No such option '--nope'; see teff systems doctor --help"),
        (["metg", "--minuts", "3"], "no option is called --minuts; did you mean --minutes?"),
        (["measure", "spawn", "-workers", "2"], "-workers: an option has two dashes; say --workers"),
        (["metg", "-minutes=1"], "-minutes: an option has two dashes; say --minutes"),
        (["run", "openmp", "-ranks", "2", "-type", "fft"], "-ranks: an option has two dashes; say --ranks"),
        (["metg", "-iter", "5"], "-iter can't be given here: the iterations are what is searched for"),
        (["metg", "-steps", "0"], "-steps 0: must be a whole number from 1, as -steps 1000"),
        (["metg", "-steps", "²"], "-steps ²: must be a whole number from 1, as -steps 1000"),
        (["measure", "graph", "--longest", "soon"], "soon"),
        (["measure", "programs", "--scale", "huge"], "no scale is called 'huge'; there are: tiny usual large"),
        (["measure", "spwan"], "No such command 'spwan'. Did you mean 'spawn'? See teff measure --help"),
        (["simulate", "--picture", ""], "'--picture': it names nothing; leave it out for the usual"),
        (["explain", "--picture", "-", "--", "true"], "'--picture': - is no file's name here; name a file"),
        (["simulate", "--picture", "/"], "--picture /: is a folder; name the picture in it"),
        (
            ["simulate", "--picture", "x.json"],
            "--picture x.json: would be a timeline; teff explain makes it of a program",
        ),
        (["simulate", "--picture", "/nowhere/a"], "--picture /nowhere/a: No such file or directory; name a file that"),
        (["export", "-o", "rows.json"], "-o rows.json: no format ends so; say one by --as: csv, md, gbench"),
        (["compare", "a", "b", "--minutes", "1"], "--minutes: is for what is measured now, with --fail-if-slower"),
        (["metgg"], "No such command 'metgg'. Did you mean 'metg'? See teff --help"),
        (["metg", "--systems", "openmpp"], "no system is called 'openmpp'; did you mean openmp?"),
        (["metg", "--systems", ""], "Invalid value for '--systems': it names nothing; leave it out for the usual"),
        (
            ["measure", "spawn", "--workers", ""],
            "Invalid value for '--workers': it names nothing; leave it out for the usual",
        ),
        *(
            (
                [*command.split(), option, names],
                f"Invalid value for '{option}': it names nothing; leave it out for the usual",
            )
            for command, option in [
                ("measure spawn", "--cases"),
                ("measure wake", "--cases"),
                ("measure programs", "--cases"),
                ("measure programs", "--scale"),
                ("measure micro", "--against"),
                ("explain spawn", "--cases"),
            ]
            for names in ("", ",")
        ),
        (["watch", "--system", "a", "--against", "b", "--workers", ""], "'--workers': it names nothing"),
        (
            ["measure", "spawn", "--workers", "0"],
            "--workers 0: give numbers from 1 to 1048576, by commas; leave it out for the cores",
        ),
        (
            ["measure", "spawn", "--workers", "²"],
            "--workers ²: give numbers from 1 to 1048576, by commas; leave it out for the cores",
        ),
        (
            ["measure", "spawn", "--workers", "1,٢²"],
            "--workers 1,٢²: give numbers from 1 to 1048576, by commas; leave it out for",
        ),
        (
            ["metg", "--workers", "9999999"],
            "--workers 9999999: give a whole number from 1 to 1048576, as --workers 2",
        ),
        (
            ["experiment", "fig7", "--workers", "0"],
            "--workers 0: give numbers from 1 to 1048576, by commas; leave it out for the cores",
        ),
        (["metg", "--minutes", "abc"], "--minutes abc: give a number from 0.1 on, as --minutes 5"),
        (["metg", "--minutes", "0.05"], "--minutes 0.05: give a number from 0.1 on, as --minutes 5"),
        (["explain", "spawn", "--seconds", "50%"], "--seconds 50%: give a number from 0.01 to 600, as --seconds 3"),
        (["explain", "--fail-below", "0.8"], "--fail-below 0.8: say 80% if it is a share of one, else 0.8%"),
        (["explain", "--fail-below", "101%"], "--fail-below 101%: give a number from 0.1 to 100, as --fail-below 5%"),
        (["metg", "--minutes", "inf"], "--minutes inf: give a number from 0.1 on, as --minutes 5"),
        (["metg", "--threshold", "2"], "--threshold 2: give a number from 0.05 to 0.95, as --threshold 0.5"),
        (["measure", "spawn", "--rounds", "2.5"], "--rounds 2.5: give a whole number from 2 on, as --rounds 25"),
        (["run", "openmp", "--ranks", "0"], "--ranks 0: give a whole number from 1 to 1048576, as --ranks 2"),
        (["explain", "spawn", "--seconds", "700"], "--seconds 700: give a number from 0.01 to 600, as --seconds 3"),
        (
            ["metg", "-type", "stencil_2d"],
            "-type: there is no 'stencil_2d' (did you mean stencil_1d?); choose one of trivial, no_comm, stencil_1d",
        ),
        (["metg", "-type"], "flag '-type' needs a value"),
        (["run", "openmp", "-type", "stencil"], "-type: there is no 'stencil' (did you mean stencil_1d?); choose"),
        (["metg", "-type", "stencil_1d", "-radix", "x"], "-radix: 'x' is not a number; for example -radix 1"),
        (["measure", "graph", "-output", "1k"], "-output: '1k' is not a number"),
        (["measure", "graph", "--kernel=fast"], "-kernel: there is no 'fast'; choose one of empty, busy_wait"),
        (["run", "openmp", "-type", "foo"], "-type: there is no 'foo'; choose one of trivial"),
        (["run", "all", "-type", "foo"], "-type: there is no 'foo'; choose one of trivial"),
        (["graph", "-type", "fft", "-and", "-type", "foo"], "-type: there is no 'foo'; choose one of trivial"),
        (["metg", "--systems", "std_thread/nope"], "no system is called 'std_thread/nope'; there are: "),
        (["explain", "spawn", "--systems", "openmp/nope"], "no system is called 'openmp/nope'; there are: "),
        (["measure", "spawn", "--systems", "openmp,openmp/nope"], "no system is called 'openmp/nope'; there are: "),
        (["run", "scalapack", "-type", "fft"], "scalapack has no adapter for task_graph; there is one for: "),
        (["metg", "--systems", "scalapack"], "scalapack has no adapter for METG; there is one for: "),
        (["experiment", "fig7", "--systems", ""], "Invalid value for '--systems': it names nothing"),
        (["explain", "spawn", "--systems", ""], "Invalid value for '--systems': it names nothing"),
        (["metg", "--store", "caf\udce9"], "--store 'caf\\udce9': give a name in UTF-8"),
        (["metg", "--store", "a" * 256], f"--store {'a' * 20}…{'a' * 19}: longer than 255 bytes; give a shorter name"),
        (["metg", "--store", ""], "Invalid value for '--store': it names nothing"),
        (["metg", "--store", "../x"], "--store '../x': give the name"),
        (
            ["graph", "--json", "-type", "fft", "-width", "100000", "-steps", "100000"],
            "-width 100000 -steps 100000: 10,000,000,000 tasks are too many to list, at most 1,000,000; give less",
        ),
        (
            ["graph", "-width", "2", "-and", "-width", "1001", "-steps", "1000"],
            "-width 1001 -steps 1000: 1,001,008",
        ),
        (["graph", "--svg", "fft.png"], "--svg fft.png: the picture is SVG; give a name that ends in .svg"),
        (["systems", "add", "nobody"], "no system is called 'nobody'"),
        (["systems", "add", "dask", "--all"], "dask and --all: one of them"),
    ],
)
def test_a_bad_command_line_is_told_in_one_line_before_anything_is_set_up(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    for user in ("measure.presence", "cli.single_runs", "cli.graphs", "systems.programs", "systems.setup"):
        monkeypatch.setattr(f"tefflab.{user}.ensure", lambda *_, **__: pytest.fail("set up"))
    assert run(monkeypatch, *words) == BAD_INPUT
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("teff: ")
    assert said in told.err
    assert told.err.count("\n") == 1


CORE = """#!/bin/sh
case "$*" in
  *--widht*) echo "error: there is no flag '--widht' (did you mean -width?); see --help" >&2; exit 2 ;;
  *widht*) echo "error: there is no flag '-widht' (did you mean -width?); see --help" >&2; exit 2 ;;
  *--bogus*) echo "error: there is no flag '--bogus'; see --help" >&2; exit 2 ;;
  *) echo "error: there is no flag '-bogus'; see --help" >&2; exit 2 ;;
esac
"""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["metg", "-widht", "4"], "there is no flag '-widht' (did you mean -width?); see teff metg --help"),
        (
            ["measure", "graph", "-widht", "4"],
            "there is no flag '-widht' (did you mean -width?); see teff measure graph --help",
        ),
        (["metg", "--widht", "4"], "there is no flag '--widht' (did you mean -width?); see teff metg --help"),
        (["metg", "--bogus"], "there is no flag '--bogus'; see teff metg --help"),
        (["graph", "--svg", "x.svg", "-bogus"], "there is no flag '-bogus'; see teff graph --help"),
    ],
)
def test_an_unknown_flag_leads_to_the_help_of_the_command_that_was_typed_and_to_the_flag_that_was_meant(
    commanded: Path,
    laboratory: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    said: str,
) -> None:
    core_program(laboratory(lake=(1e-6, "fine"))).write_text(CORE)
    monkeypatch.setattr("tefflab.cli.graphs.ensure", lambda *_, **__: {})
    monkeypatch.chdir(commanded)
    assert run(monkeypatch, *words) == BAD_INPUT
    assert capsys.readouterr().err.splitlines()[-1].endswith(said)


def test_json_is_alone_on_stdout(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, "systems", "--json") == 0
    systems = [json.loads(line)["name"] for line in capsys.readouterr().out.splitlines()]
    assert systems == sorted(systems)


@pytest.mark.parametrize(
    ("raised", "code", "said"),
    [
        (TeffError("width 0: give at least 1", exit_code=BAD_INPUT), 2, "teff: width 0: give at least 1\n"),
        (TeffError("no compiler"), 1, "teff: no compiler\n"),
        (KeyboardInterrupt(), 130, "teff: interrupted\n"),
    ],
)
def test_what_is_expected_to_go_wrong_is_told_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    raised: BaseException,
    code: int,
    said: str,
) -> None:
    def fail(*_: object) -> None:
        raise raised

    monkeypatch.setattr("tefflab.systems.registry.readable", fail)
    assert run(monkeypatch, "systems") == code
    assert capsys.readouterr().err == said


def test_a_request_to_end_is_an_interrupt(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("tefflab.systems.registry.load_system", lambda _: signal.raise_signal(signal.SIGTERM))
    before = signal.getsignal(signal.SIGTERM)
    try:
        assert run(monkeypatch, "systems") == 130
    finally:
        signal.signal(signal.SIGTERM, before)
    assert capsys.readouterr().err == "teff: interrupted\n"


def test_numbers_may_have_units_and_lists_blanks() -> None:
    said = ("2", "1.5m", "2 min", "90s", "1h")
    assert [MINUTES.type.convert(each, MINUTES, None) for each in said] == [120, 90, 120, 90, 3600]
    threshold = Number(0.5, 0.05, 0.95, units=PERCENT)
    assert [threshold.convert(each, None, None) for each in ("0.5", "50%", "5 %")] == [0.5, 0.5, 0.05]
    assert Text(of_each=str).convert("std_thread, openmp ,tbb,", None, None) == ("std_thread", "openmp", "tbb")


def test_the_list_of_commands_loads_no_kind_of_benchmark() -> None:
    words = (
        "import sys; from tefflab.cli.main import main; sys.argv = ['teff', '--help']\n"
        "try:\n    main()\n"
        "except SystemExit:\n    print([each for each in ('numpy', 'pydantic', 'altair') if each in sys.modules])"
    )
    for _ in range(2):  # the first one keeps what the kinds declare
        told = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True).stdout
    assert told.splitlines()[-1] == "[]"
    assert "metg" in told


@pytest.mark.parametrize("words", PATHS, ids=" ".join)
def test_what_a_command_calls_takes_its_parameters(words: tuple[str, ...]) -> None:
    command: click.Command | None = cli.app
    for word in words:
        assert isinstance(command, Tree)
        command = command.get_command(click.Context(command), word)
    if isinstance(command, Command):
        told = {each.name: None for each in command.params if not isinstance(each, Former)}
        told |= {"programs": ()} if command.takes_programs else {}
        inspect.signature(command.function).bind(None, **command.given, **told)
