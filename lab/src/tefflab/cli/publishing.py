"""The results of a sitting as a user sees them: tables or JSON, pictures and the report."""

from pathlib import Path

from tefflab.benchmarks.benchmark import Estimates, find_benchmark
from tefflab.carried import TYPED
from tefflab.errors import InputError, TeffError
from tefflab.host.terminal import output, path_text, progress
from tefflab.json_lines import json_lines
from tefflab.measure.measurement import estimated
from tefflab.output.charts.sheet import Picture, save
from tefflab.records.store import Store, open_sitting, store_name
from tefflab.systems.naming import parsed
from tefflab.systems.registry import Registry

ALL_VARIANTS = "--all-variants"
_REPORT = "report.html"


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
    try:
        files = save(picture, file)
    except OSError as failure:
        raise InputError(f"--picture {file}: {failure.strerror}; name a file that can be written") from None
    progress().print(f"teff: drew {files[0]} and {files[1]}", soft_wrap=True)


def publish(registry: Registry, store: Store, estimates: Estimates, *, as_json: bool, again: str) -> Path:
    """Prints the results, and writes pictures and report; returns the report's path."""
    print_results(registry, store, estimates, as_json=as_json, again=again)
    return write_files(registry, store, estimates)


def print_results(registry: Registry, store: Store, estimates: Estimates, *, as_json: bool, again: str) -> None:
    """Prints tables or JSON. `again` is the command that measures it."""
    console = output()
    if as_json:
        console.out(json_lines(estimates.objects()), highlight=False)
    else:
        for section in estimates.sections():
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
