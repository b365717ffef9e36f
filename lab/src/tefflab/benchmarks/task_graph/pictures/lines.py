"""METG against a parameter, as dependencies per task or bytes."""

from collections.abc import Callable, Sequence

from matplotlib.figure import Figure

from tefflab.analysis.results import MeasuredCase
from tefflab.benchmarks.task_graph.pictures.dots import legend_entries
from tefflab.benchmarks.task_graph.readings import absences, metg_name, variants_of
from tefflab.output.plots.lines import Head, Line, lines_chart
from tefflab.output.plots.looks import looks


def metg_lines_chart(
    cases: Sequence[MeasuredCase],
    x_label: str,
    xs: Sequence[float],
    footer: str = "",
    title: str = "",
    x_text: Callable[[float], str] = "{:g}".format,
) -> Figure:
    """METG of every system at each of `xs` (rising, one a case), with bands; bounds have arrows.

    A line breaks where a system could not be measured. Raises ValueError where `xs` and `cases` differ in length.
    """
    if len(xs) != len(cases):
        raise ValueError(f"{len(xs)} values of {x_label} for {len(cases)} cases")
    look_of = looks(variants_of(cases).values())
    found = [{row.variant.id: row.metg for row in case.rows if row.metg} for case in cases]
    name = metg_name(cases[0].threshold) if cases else "METG"
    meaning = f"{name} with 95 % intervals; smaller is better. An arrow leads from a bound to where the value lies."
    head = Head(title or f"{name} against {x_label}", [meaning], footer, absences(cases))
    lines = {id_: Line(look, [each.get(id_) for each in found]) for id_, look in look_of.items()}
    return lines_chart(head, legend_entries(cases, look_of), lines.values(), xs, x_label, x_text)
