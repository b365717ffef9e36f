"""What came of a sitting, for people: the table on the terminal, pictures and the report beside the runs."""

from pathlib import Path

from rich.console import Console

from tefflab.measurement import Results
from tefflab.plots import efficiency_chart, footer, metg_chart, rate_chart, save
from tefflab.report import write_report
from tefflab.store import Store
from tefflab.tables import MetgTable, to_json

REPORT = "report.html"


def folder_of(store: Store, results: Results) -> Path:
    """Where the pictures and the report of a sitting lie."""
    return store.folder / results.sitting.sitting


def publish(store: Store, results: Results, console: Console, as_json: bool) -> Path:
    """Prints table or JSON on `console` and writes pictures and report; returns the report's path."""
    if as_json:
        console.out(to_json(results.judgements), highlight=False)
    else:
        for judgement in results.judgements:
            if judgement.rows:
                console.print(MetgTable(judgement))
                console.print()
    folder = folder_of(store, results)
    draw(folder, results)
    write_report(folder / REPORT, results.sitting, results.judgements, store.damage(), f"Teff: {results.plan.title}")
    return folder / REPORT


def draw(folder: Path, results: Results) -> None:
    """The pictures of each configuration, numbered where there are several."""
    foot = footer(results.sitting, results.judgements)
    for number, judgement in enumerate(results.judgements, start=1):
        ending = f"-{number}" if len(results.judgements) > 1 else ""
        charts = {"metg": metg_chart} if judgement.rows else {"rate": rate_chart}
        if judgement.curves:
            charts["efficiency"] = efficiency_chart
        for name, chart in charts.items():
            save(chart(judgement, foot), folder / f"{name}{ending}")
