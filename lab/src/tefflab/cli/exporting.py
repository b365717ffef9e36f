"""`teff export`: the values and pictures of a store for other programs."""

from collections.abc import Sequence
from pathlib import Path

from tefflab.analysis.comparison import comparable
from tefflab.analysis.rows import ByRound
from tefflab.benchmarks.benchmark import Estimates, find_benchmark
from tefflab.errors import InputError
from tefflab.host.terminal import say
from tefflab.measure.measurement import estimated
from tefflab.output.charts.sheet import save_pages
from tefflab.output.exports import DASHBOARDS, TEXTS, Exported, to_parquet
from tefflab.records.store import open_sittings
from tefflab.systems.registry import Registry
from tefflab.whole_files import write_whole

_PARQUET, _PDF = "parquet", "pdf"
FORMATS = (*TEXTS, _PARQUET, _PDF)


def export(registry: Registry, store: str, form: str, file: Path | None) -> None:
    """Writes the values of `store` (of `STORE` the last sitting of each kind), or its pictures, to `file`, else prints
    them. TeffError for an unknown format, and where there is nothing to export."""
    ending = file.suffix[1:].lower() if file else ""
    form = form or (ending if ending in FORMATS else "csv")
    if form not in FORMATS:
        raise InputError(f"--as {form}: there are {', '.join(FORMATS)}")
    if form not in TEXTS and file is None:
        raise InputError(f"--as {form}: it is no text; name a file, as -o measured.{form}")
    known = _estimates(registry, store)
    try:
        if file is None:
            print(TEXTS[form](_rows(store, form, known)), end="")
            return
        file.parent.stat()  # no folder is made for a name that was mistyped
        if form == _PDF:
            save_pages([picture for each in known for picture in each.drawn.values()], file)
        elif form == _PARQUET:
            to_parquet(_rows(store, form, known), file)
        else:
            write_whole(file, TEXTS[form](_rows(store, form, known)))
    except OSError as error:
        raise InputError(f"-o {file}: {error.strerror}; name a file that can be written") from None


def _estimates(registry: Registry, name: str) -> list[Estimates]:
    store, sittings = open_sittings(registry, name)
    for sentence in store.warnings():
        say(sentence)
    return [estimated(store, find_benchmark(head.benchmark), head) for head in sittings.values()]


def _rows(name: str, form: str, known: Sequence[Estimates]) -> list[Exported]:
    rows = [Exported(each.sitting, row) for each in known for row in comparable(each.rows)]
    if form == "hyperfine":
        rows = [each for each in rows if isinstance(each.row.samples, ByRound) and not each.row.is_beside]
    if form in DASHBOARDS and (left_out := [each for each in rows if each.row.relation != "="]):
        rows = [each for each in rows if each.row.relation == "="]
        say(f"{len(left_out)} bound{'s' * (len(left_out) > 1)} left out, for {form} has no sign for one")
    if form in DASHBOARDS:  # of a case that was measured at several distances of the cores, the first
        first: dict[str, Exported] = {}
        for each in rows:
            first.setdefault(each.name, each)
        rows = list(first.values())
    if not rows:
        raise InputError(f"{name} has no value to export; `teff report {name}` says why")
    return rows
