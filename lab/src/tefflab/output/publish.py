"""What came of a sitting, for people: tables on the terminal, pictures and the report beside the runs.

Everything is made from the store, so it can be made again (`teff report`).
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console, RenderableType

from tefflab.analysis.results import Judgement
from tefflab.measure.measurement import RESULTS_FOLDER, Plan, Results
from tefflab.output.closing import Closing
from tefflab.output.pictures import pictures
from tefflab.output.plots import footer, save
from tefflab.output.readings import placed_name
from tefflab.output.remarks import OFTEN
from tefflab.output.report import write_report
from tefflab.output.series_tables import curve_table, series_table
from tefflab.output.tables import MetgTable, to_json
from tefflab.records.store import Store

REPORT = "report.html"


def folder_of(store: Store, results: Results) -> Path:
    """Where the pictures and the report of a sitting lie."""
    return store.folder / results.sitting.sitting


def publish(store: Store, results: Results, console: Console, as_json: bool) -> Path:
    """Prints table or JSON on `console` and writes pictures and report; returns the report's path."""
    everything = placed(results.judgements)
    if as_json:
        console.out(to_json(everything), highlight=False)
    else:
        for table in tables(results.plan, everything):
            console.print(table)
            console.print()
        if results.plan.kind == "metg" and len(results.plan.questions) == 1:
            console.print(Closing(everything[0], _again(results.plan), _name(store)))
            console.print()
    folder = folder_of(store, results)
    foot = footer(results.sitting, everything)
    for name, figure in pictures(results.plan, results.judgements, foot):
        save(figure, folder / name)
    write_report(folder / REPORT, results.sitting, everything, store.damage(), f"Teff: {results.plan.title}")
    return folder / REPORT


def _again(plan: Plan) -> str:
    return f"./teff experiment {plan.experiment}" if plan.experiment else "./teff metg"


def _name(store: Store) -> str:
    """As --store takes it."""
    return store.folder.name if store.folder.parent.name == RESULTS_FOLDER.name else str(store.folder)


def placed(judgements: Sequence[Judgement]) -> list[Judgement]:
    """What is to be shown: of one configuration all distances of the cores, named; of several their first alone."""
    if len(judgements) > 1:
        return list(judgements)
    return [
        replace(each, name=placed_name(each)) for judgement in judgements for each in (judgement, *judgement.others)
    ]


def tables(plan: Plan, judgements: Sequence[Judgement]) -> list[RenderableType]:
    """METG of one configuration at each distance of the cores that was frequent, METG of several configurations in
    one table, or the points of each curve."""
    if plan.kind == "curve":
        return [curve_table(each) for each in judgements if each.curves]
    if len(plan.questions) > 1:
        return [series_table(judgements)]
    return [MetgTable(each) for number, each in enumerate(judgements) if not number or each.share >= OFTEN]
