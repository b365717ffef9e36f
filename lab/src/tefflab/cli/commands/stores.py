"""What was measured: `teff show`, `teff compare`, `teff report` and `teff export`."""

from pathlib import Path
from typing import Any

import click

from tefflab.cli import completion, options
from tefflab.cli.grammar import FLAGS, Former, Text, command

_SIDE = Text(completion.systems)
_FORMER_STORE = Former("--store", "store", now="an argument: name the store without --store", type=Text())


class Share(click.ParamType[float]):
    """`5%` as 0.05."""

    name = "share"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        from tefflab.errors import InputError

        del ctx
        text = str(value)
        try:
            found = float(text.removesuffix("%")) / 100
        except ValueError:
            found = 0.0
        if not (text.endswith("%") and 0 < found <= 1):
            raise InputError(f"{param.opts[0] if param else ''} {text}: a percentage above 0 and up to 100, as 5%")
        return found


KIND = click.Option(
    ["--kind"], type=Text(), metavar="KIND", help="What is measured, as spawn; an unknown one lists them. [metg]"
)
KIND_FORMER = Former("--benchmark", "kind", now="--kind", type=Text())


@command("show", options.STORED, options.JSON)
def show(store: str, as_json: bool) -> None:
    """Show the tables of a sitting again, from its store; nothing is measured.

    Example:  teff show default
    """
    from tefflab import project_root
    from tefflab.cli.publishing import show as shown
    from tefflab.systems.registry import Registry

    shown(Registry(project_root()), store, as_json=as_json)


@command("report", options.STORED, _FORMER_STORE, Former("--json", "as_json", now="teff show --json", is_flag=True))
def report(store: str, as_json: bool = False) -> None:
    """Make pictures and report of a sitting again, from its store, and say where they are; nothing is measured.

    Example:  teff report default
    """
    from tefflab import project_root
    from tefflab.cli.publishing import report as made
    from tefflab.systems.registry import Registry

    made(Registry(project_root()), store, as_json=as_json)


@command(
    "export",
    options.STORED,
    _FORMER_STORE,
    click.Option(
        ["--as", "form"],
        default="",
        metavar="FORMAT",
        help="csv, md, parquet, gbench, github, bencher, hyperfine or pdf. [by the ending of FILE, or csv]",
    ),
    click.Option(["--output", "-o", "file"], type=options.FILE, metavar="FILE", help="Write it here. [print]"),
)
def export(store: str, form: str, file: Path | None) -> None:
    """Give measured values to other programs: a row for each variant and case, with its interval, rounds and noise.

    csv, md and parquet are tables. gbench is the JSON of Google Benchmark, github what github-action-benchmark
    reads (customSmallerIsBetter), bencher the Bencher Metric Format, hyperfine what hyperfine's scripts read. pdf has
    the pictures.

    Example:  teff export default --as github -o benchmarks.json
    """
    from tefflab import project_root
    from tefflab.cli.exporting import export as exported
    from tefflab.systems.registry import Registry

    exported(Registry(project_root()), store, form, file)


@command(
    "compare",
    click.Argument(["a"], type=_SIDE, metavar="A", help="A store below results/, STORE:SITTING, or a system."),
    click.Argument(["b"], type=_SIDE, metavar="B", help="Another, or the same."),
    click.Argument(["words"], nargs=-1, type=FLAGS, metavar="[STORE] [FLAGS]..."),
    options.AGAINST,
    click.Option(
        ["--fail-if-slower", "threshold"],
        type=Share(),
        metavar="SHARE",
        help="Measure A and B now, in turns; end with 3 if A is slower than B by this share, with 4 if unknown.",
    ),
    KIND,
    KIND_FORMER,
    options.CASES,
    options.MINUTES,
    options.ROUNDS,
    options.WORKERS,
    click.Option(["--store"], type=Text(), metavar="NAME", help="Keep what is measured now here. [watch]"),
    options.JSON,
)
def compare(a: str, b: str, words: tuple[str, ...], against: str | None, as_json: bool, **measuring: Any) -> None:
    """Say whether two systems of a sitting differ, or each system between two sittings, in whatever was measured.

    A and B are two systems of STORE, or two stores: of each, its last sitting of each kind of benchmark. Systems are
    compared round by round, so the machine's drift cancels. Between stores it says what the machine did, by the rows
    of at least four other systems; with fewer, compare --against one that did not change. With --fail-if-slower it
    measures two systems, for continuous integration; FLAGS say what graph.

    Example:  teff compare before after

    Example:  teff compare mine baseline --fail-if-slower 5%
    """
    from tefflab import project_root
    from tefflab.cli.comparing import answer
    from tefflab.errors import InputError
    from tefflab.host.terminal import output, progress, say
    from tefflab.json_lines import json_lines
    from tefflab.output.comparison_table import to_tables
    from tefflab.systems.registry import Registry

    if measuring["threshold"] is not None:
        if against:
            raise InputError(f"--against {against}: is for two stores; A and B are measured beside each other")
        fail_if_slower(a, b, flags=words, as_json=as_json, **measuring)
        return
    if former_store := measuring.pop("store"):
        say(f"teff compare --store is now an argument: teff compare {a} {b} {former_store}")
    store, *more = [*([former_store] if former_store else []), *words] or [None]
    if beside := more or [name for name, value in measuring.items() if value]:
        raise InputError(f"{beside[0]}: is for what is measured now, with --fail-if-slower")
    found = answer(Registry(project_root()), a, b, store, against)
    for reason in found.left_out:
        progress().print(f"teff: {reason}", soft_wrap=True, markup=False)
    if as_json:
        print(json_lines(line for each in found.answers for line in each.to_json()))
    else:
        output().print(to_tables(found.answers))


def fail_if_slower(
    a: str,
    b: str,
    *,
    flags: tuple[str, ...],
    threshold: float,
    kind: str | None,
    cases: tuple[str, ...],
    store: str | None,
    as_json: bool,
    **limits: Any,
) -> None:
    """Measures A and B in turns, and says by the exit code whether A is slower."""
    from tefflab import project_root
    from tefflab.cli.session import Options
    from tefflab.cli.watching import watch
    from tefflab.systems.naming import canonical
    from tefflab.systems.registry import Registry

    own = {"cases": cases} if cases else {}
    asked = Options(store=store or "watch", as_json=as_json, own=own, flags=flags, **limits)
    watch(Registry(project_root()), kind or "graph", canonical(a), canonical(b), threshold, asked)
