"""`teff export`."""

from pathlib import Path
from typing import Annotated

import typer

from tefflab.cli.commands import options


def command(
    store: Annotated[
        str,
        typer.Argument(
            metavar="[STORE[:SITTING]]", help="A folder below results/; its last sitting of each kind, or another."
        ),
    ] = "",
    named: options.StoreOfArgument = "",
    form: Annotated[
        str,
        typer.Option(
            "--as",
            metavar="FORMAT",
            help="csv, md, parquet, gbench, github, bencher or pdf. [by the ending of FILE, or csv]",
        ),
    ] = "",
    file: Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write it here. [print]")] = None,
) -> None:
    """Give measured values to other programs: a row for each variant and case, with its interval, rounds and noise.

    csv, md and parquet are tables. gbench is the JSON of Google Benchmark, github what github-action-benchmark
    reads (customSmallerIsBetter), bencher the Bencher Metric Format. pdf has the pictures.

    Example:  teff export default --as github -o benchmarks.json
    """
    from tefflab import project_root
    from tefflab.cli.exporting import export
    from tefflab.systems.registry import Registry

    export(Registry(project_root()), options.one_store(store, named), form, file)
