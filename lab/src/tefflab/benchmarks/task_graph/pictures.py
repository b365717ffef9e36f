"""The pictures of a sitting, as its plan says: of each case one, or one of several cases."""

from collections.abc import Iterator, Sequence

from tefflab.benchmarks.task_graph.curves_chart import efficiency_chart, rate_chart
from tefflab.benchmarks.task_graph.measured import Measured, is_roughly_known, metg_name
from tefflab.benchmarks.task_graph.plan import GraphPlan
from tefflab.benchmarks.task_graph.tables import ends_text, value_text
from tefflab.output.charts.lines import values_chart
from tefflab.output.charts.rows import rows_chart
from tefflab.output.charts.sheet import Head, Picture, slug
from tefflab.output.quantities import percent
from tefflab.output.sections import absences, warnings

_USUAL: dict[str, tuple[str, ...]] = {"metg": ("metg", "efficiency"), "curve": ("efficiency", "rate")}
_ARROW = "An arrow leads from a bound to where the value lies."


def pictures(plan: GraphPlan, cases: Sequence[Measured], footer: str) -> Iterator[tuple[str, Picture]]:
    """Each picture with the name of its files. What holds nothing is not drawn.

    The name is the chart's; an experiment's first picture has the experiment's name, the others begin with it. If one
    kind of chart gives several pictures, each name ends with its case.
    """
    for number, kind in enumerate(plan.charts or _USUAL[plan.asks]):
        title = plan.title if plan.experiment and not number else ""
        drawn = list(_drawn(kind, plan, cases, footer, title))
        for part, picture in drawn:
            words = [plan.experiment or "", "" if plan.experiment and not number else kind]
            words += [part] if len(drawn) > 1 else []
            yield "-".join(slug(word) for word in words if word), picture


def _drawn(
    kind: str, plan: GraphPlan, cases: Sequence[Measured], footer: str, title: str
) -> Iterator[tuple[str, Picture]]:
    """The pictures of one kind, each with the part of the plan that it shows. Without a title, each gives its
    subject."""

    def titled(part: str, otherwise: str) -> str:
        return " – ".join(filter(None, (title, part))) if title else otherwise

    name = metg_name(plan.threshold)
    if kind in ("metg", "efficiency", "rate"):
        for case in cases:
            part = case.case.name
            own = titled(part if len(cases) > 1 else "", "")
            if kind == "metg" and any(row.value for row in case.rows):
                yield part, metg_chart(case, own, footer)
            elif kind != "metg" and case.curves:
                yield part, (efficiency_chart if kind == "efficiency" else rate_chart)(case, own, footer)
        return
    for group in dict.fromkeys(case.case.group for case in cases):
        members = [each for each in cases if each.case.group == group]
        rows = [row for each in members for row in each.rows]
        if not any(row.value for row in rows):
            continue
        if kind == "metg_dots":
            head = Head(titled(group, group or name), [_meaning(plan.threshold)], footer, absences(rows))
            yield group, rows_chart({each.case.name: each.rows for each in members}, "METG (log scale)", head)
        else:
            texts = {each.case.x or 0.0: each.case.x_text for each in members}
            meaning = f"{name} with 95 % intervals; smaller is better. {_ARROW}"
            head = Head(titled(group, f"{name} against {plan.x_label}"), [meaning], footer)
            yield group, values_chart(rows, texts, plan.x_label, head)


def metg_chart(case: Measured, title: str = "", footer: str = "") -> Picture:
    """METG of every system: a row each, the smallest on top, with interval, overhead (hollow) and value."""
    name = metg_name(case.threshold)
    head = Head(
        title or f"{name} – {case.case.name}",
        [_meaning(case.threshold), case.case.configuration],
        footer,
        [*absences(case.rows), *warnings(case.rows)],
    )
    overheads = {row.id: each for row in case.rows if (each := case.overhead(row)) and is_roughly_known(each)}
    return rows_chart(
        {row.id: [*([overheads[row.id]] if row.id in overheads else []), row] for row in case.rows},
        "granularity: time × cores / tasks (log scale)",
        head,
        columns={name: value_text, "95 % interval": lambda row: ends_text(row) if row.value else ""},
    )


def _meaning(threshold: float) -> str:
    share = percent(threshold)
    return f"The smallest task with which a system still reaches {share} of what the cores can do; smaller is better."
