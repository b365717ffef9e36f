"""The results of a sitting as a user sees them: tables or JSON, pictures and the report; and for other programs."""

from collections.abc import Sequence
from pathlib import Path

from tefflab.analysis.rows import ByRound
from tefflab.benchmarks.benchmark import Estimates, find_benchmark
from tefflab.benchmarks.task_graph.costs import cluster_file
from tefflab.benchmarks.task_graph.estimates import GraphEstimates
from tefflab.carried import TYPED
from tefflab.errors import InputError, TeffError
from tefflab.host.terminal import output, path_text, progress, say
from tefflab.json_lines import json_lines
from tefflab.measure.measurement import estimated
from tefflab.output.charts.sheet import Picture, save, save_pages
from tefflab.output.exports import DASHBOARDS, TEXTS, Exported, to_parquet, to_text
from tefflab.profiles.timeline import TIMELINE
from tefflab.records.store import Store, open_sitting, open_sittings, store_name
from tefflab.systems.naming import parsed
from tefflab.systems.registry import Registry
from tefflab.whole_files import write_whole, writing

ALL_VARIANTS = "--all-variants"
_REPORT = "report.html"
_CLUSTER, _PARQUET, _PDF = "toml", "parquet", "pdf"
FORMATS = (*TEXTS, _CLUSTER, _PARQUET, _PDF)


def show(registry: Registry, store: str, as_json: bool) -> None:
    """Prints the tables, or rows as JSON, of a sitting again from its store."""
    opened, head = open_sitting(registry, store)
    kind = find_benchmark(head.benchmark)
    planned = kind.plan_of(head).experiment
    again = f"experiment {planned}" if planned else kind.commands[0].path
    print_results(registry, opened, estimated(opened, kind, head), as_json=as_json, again=again)


def report(registry: Registry, store: str, as_json: bool = False) -> None:
    """Makes the pictures and the report of a sitting again from its store, and says where they are."""
    opened, head = open_sitting(registry, store)
    if as_json:
        show(registry, store, as_json=True)
    file = write_files(registry, opened, estimated(opened, find_benchmark(head.benchmark), head))
    (progress() if as_json else output()).print(path_text(file), soft_wrap=True)


def draw(picture: Picture, file: Path) -> None:
    """Into the file that --picture names."""
    if file.is_dir():
        raise InputError(f"--picture {file}: is a folder; name the picture in it")
    if file.suffix == TIMELINE:
        way_out = "teff explain makes it of a program behind --, and teff run --trace of the bench's"
        raise InputError(f"--picture {file}: would be a timeline; {way_out}")
    with writing("--picture", file):
        files = save(picture, file)
    progress().print(f"teff: drew {files[0]} and {files[1]}", soft_wrap=True)


def print_results(registry: Registry, store: Store, estimates: Estimates, *, as_json: bool, again: str) -> None:
    """Prints tables or JSON. `again` is the command that measures it."""
    console = output()
    if as_json:
        console.out(json_lines(estimates.objects()), highlight=False)
    else:
        for section in estimates.all_sections:
            if not section.is_detail:
                console.print(section)
                console.print()
        if number := len(estimates.plan.others):
            ways = f"{number} other{'s are' if number > 1 else ' is'}"
            console.print(f"The best way of each system; {ways} here, too: {ALL_VARIANTS}", highlight=False)
            console.print()
        if versions := [each for each in estimates.plan.variants if parsed(each.id).version]:
            width = max(len(each.id) for each in versions)
            for each in versions:
                console.print(f"{each.id:{width}} said it is {each.version or '?'}", highlight=False, soft_wrap=True)
            console.print()
        if closing := estimates.closing(again, store_name(registry, store)):
            console.print(closing)
            console.print()
    for sentence in store.warnings():
        progress().print(f"teff: {sentence}", soft_wrap=True, markup=False)


def write_files(registry: Registry, store: Store, estimates: Estimates) -> Path:
    """Writes pictures and report; returns the report's path."""
    folder = store.folder / estimates.sitting.sitting
    try:
        for name, picture in estimates.drawn.items():
            save(picture, folder / name)
        estimates.write_report(folder / _REPORT, store.damage())
    except OSError as failure:
        why = failure.strerror or str(failure)
        raise TeffError(
            f"report and pictures can't be written to {folder} ({why}); the measured runs are kept; mend that, then "
            f"{TYPED} report {store_name(registry, store)}"
        ) from None
    return folder / _REPORT


def export(registry: Registry, store: str, form: str, file: Path | None) -> None:
    """Writes the values of `store` (of `STORE` the last sitting of each kind), or its pictures, to `file`, else prints
    them. TeffError for an unknown format, and where there is nothing to export."""
    ending = file.suffix[1:].lower() if file else ""
    if ending and ending not in FORMATS and not form:
        raise InputError(f"-o {file}: no format ends so; say one by --as: {', '.join(FORMATS)}")
    form = form or ending or "csv"
    if form not in FORMATS:
        raise InputError(f"--as {form}: there are {', '.join(FORMATS)}")
    if form in (_PARQUET, _PDF) and file is None:
        raise InputError(f"--as {form}: it is no text; name a file, as -o measured.{form}")
    opened, sittings = open_sittings(registry, store)
    for sentence in opened.warnings():
        say(sentence)
    known = [estimated(opened, find_benchmark(head.benchmark), head) for head in sittings.values()]
    with writing("-o", file):
        if file is None:
            print(_text(store, form, known), end="")
            return
        if form == _PDF:
            save_pages([picture for each in known for picture in each.drawn.values()], file)
        elif form == _PARQUET:
            to_parquet(_exported(store, form, known), file)
        else:
            write_whole(file, _text(store, form, known))


def _text(name: str, form: str, known: Sequence[Estimates]) -> str:
    if form != _CLUSTER:
        return to_text(form, _exported(name, form, known))
    of_graphs = [each for each in known if isinstance(each, GraphEstimates)]
    if not (of_graphs and (text := cluster_file(of_graphs[0]))):
        raise InputError(
            f"--as {form}: {name} knows METG of the three graphs of `{TYPED} experiment costs` for no system: it has "
            "too few runs, or is of another measurement; measure it, or go on with it by --resume"
        )
    return text


def _exported(name: str, form: str, known: Sequence[Estimates]) -> list[Exported]:
    """Tables have every value. Dashboards have one time for each name, hyperfine's scripts the times of runs."""
    rows = [Exported(each.sitting, row) for each in known for row in each.rows if row.value]
    if form in DASHBOARDS:
        rows = [each for each in rows if each.row.samples]
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
    if not rows and form == "hyperfine" and any(each.has_values for each in known):
        raise InputError(f"{name} has no times of runs, which --as {form} takes: METG comes from runs of many sizes")
    if not rows:
        raise InputError(f"{name} has no value to export; `teff report {name}` says why")
    return rows
