"""The pictures of a sitting, as its plan says: of each case one, or one of several cases."""

from collections.abc import Iterator, Sequence

from matplotlib.figure import Figure

from tefflab.analysis.results import MeasuredCase
from tefflab.benchmarks.task_graph.pictures.curves import efficiency_chart, rate_chart
from tefflab.benchmarks.task_graph.pictures.metg import metg_chart, metg_dots_chart, metg_lines_chart
from tefflab.benchmarks.task_graph.plan import GraphCase, GraphPlan
from tefflab.benchmarks.task_graph.readings import apart, noisy_runs
from tefflab.output.plots.sheet import signature, slug
from tefflab.records.run import Sitting

_USUAL: dict[str, tuple[str, ...]] = {"metg": ("metg", "efficiency"), "curve": ("efficiency", "rate")}
_OF_ONE = {"efficiency": efficiency_chart, "rate": rate_chart, "metg": metg_chart}


def pictures(plan: GraphPlan, cases: Sequence[MeasuredCase], footer: str) -> Iterator[tuple[str, Figure]]:
    """Each picture with the name of its files. What holds nothing is not drawn.

    The name is the chart's; an experiment's first picture has the experiment's name, the others begin with it. If one
    kind of chart gives several pictures, each name ends with its case.
    """
    asked = list(zip(plan.cases, cases, strict=True))
    for number, kind in enumerate(plan.charts or _USUAL[plan.asks]):
        title = plan.title if plan.experiment and not number else ""
        drawn = list(_drawn(kind, plan, asked, footer, title))
        for part, figure in drawn:
            words = [plan.experiment or "", "" if plan.experiment and not number else kind]
            words += [part] if len(drawn) > 1 else []
            yield "-".join(slug(word) for word in words if word), figure


def _drawn(
    kind: str, plan: GraphPlan, asked: Sequence[tuple[GraphCase, MeasuredCase]], footer: str, title: str
) -> Iterator[tuple[str, Figure]]:
    """The pictures of one kind, each with the part of the plan that it shows. Without a title, each gives its
    subject."""

    def titled(part: str) -> str:
        return f"{title} – {part}" if title and part else title

    if draw := _OF_ONE.get(kind):
        for planned, case in asked:
            if _has_metg(case) if kind == "metg" else case.curves:
                yield planned.name, draw(case, footer, titled(planned.name if len(asked) > 1 else ""))
        return
    for group in dict.fromkeys(planned.group for planned, _ in asked):
        members = [(planned, each) for planned, each in asked if planned.group == group and _has_metg(each)]
        if not members:
            continue
        measured = [case for _, case in members]
        if kind == "metg_dots":
            yield group, metg_dots_chart(measured, titled(group), footer)
        else:
            texts = {planned.x or 0.0: planned.x_text for planned, _ in members}
            yield group, metg_lines_chart(measured, plan.x_label, list(texts), footer, titled(group), texts.__getitem__)


def _has_metg(case: MeasuredCase) -> bool:
    return any(row.metg for row in case.rows)


def footer(sitting: Sitting, cases: Sequence[MeasuredCase]) -> str:
    """The line at the foot of each picture of these cases."""
    noisy, runs = noisy_runs(*cases)
    return signature(sitting, *(text for first in cases[:1] for text in apart(first)), f"{noisy} of {runs} runs noisy")
