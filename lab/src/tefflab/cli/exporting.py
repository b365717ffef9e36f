"""`teff export`: the values of a store for other programs."""

from pathlib import Path

import typer

from tefflab.benchmarks.benchmark import find_benchmark
from tefflab.errors import BAD_INPUT, TeffError
from tefflab.host.terminal import say
from tefflab.measure.measurement import estimated
from tefflab.output.exports import DASHBOARDS, FORMATS, PARQUET, TEXTS, Value, to_parquet, values_of
from tefflab.records.stored import open_sittings


def export(root: Path, name: str, form: str, file: Path | None) -> None:
    """Writes the values of `name` (of `STORE` the last sitting of each kind) to `file`, else prints them. TeffError
    for an unknown format, and where there is no value."""
    if form not in FORMATS:
        raise TeffError(f"--as {form}: there are {', '.join(FORMATS)}", exit_code=BAD_INPUT)
    if form == PARQUET and file is None:
        raise TeffError(f"--as {PARQUET}: it is no text; name a file, as -o values.parquet", exit_code=BAD_INPUT)
    values = _values(root, name)
    if form in DASHBOARDS and (left_out := [each for each in values if each.relation != "="]):
        values = [each for each in values if each.relation == "="]
        say(f"{len(left_out)} bound{'s' * (len(left_out) > 1)} left out, for {form} has no sign for one")
    if not values:
        raise TeffError(f"{name} has no value to export; `teff report {name}` says why", exit_code=BAD_INPUT)
    try:
        if file is None:
            typer.echo(TEXTS[form](values), nl=False)
        elif form == PARQUET:
            to_parquet(values, file)
        else:
            file.write_text(TEXTS[form](values), encoding="utf-8")
    except OSError as error:
        raise TeffError(f"-o {file}: {error.strerror}; name a file that can be written", exit_code=BAD_INPUT) from None


def _values(root: Path, name: str) -> list[Value]:
    store, sittings = open_sittings(root, name)
    for sentence in store.unreadable():
        say(sentence)
    known = [(head, estimated(store, find_benchmark(head.benchmark), head)) for head in sittings.values()]
    return [value for head, estimates in known for value in values_of(head, estimates.sides())]
