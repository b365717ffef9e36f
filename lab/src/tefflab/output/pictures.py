"""The pictures of a sitting, as its plan says: of each configuration one, or one of several configurations."""

import re
from collections.abc import Iterator, Sequence

from matplotlib.figure import Figure

from tefflab.analysis.results import Judgement
from tefflab.measure.measurement import ChartKind, Plan, Question
from tefflab.output.plots import efficiency_chart, metg_chart, metg_dots_chart, metg_lines_chart, rate_chart

_USUAL: dict[str, tuple[ChartKind, ...]] = {"metg": ("metg", "efficiency"), "curve": ("efficiency", "rate")}
_OF_ONE = {"efficiency": efficiency_chart, "rate": rate_chart, "metg": metg_chart}


def pictures(plan: Plan, judgements: Sequence[Judgement], footer: str) -> Iterator[tuple[str, Figure]]:
    """Each picture with the name of its files. What holds nothing is not drawn.

    The name is what is drawn; an experiment's first picture has the experiment's name, the others begin with it.
    Where one kind of chart gives several pictures, each name ends with what it is of.
    """
    asked = list(zip(plan.questions, judgements, strict=True))
    for number, kind in enumerate(plan.charts or _USUAL[plan.kind]):
        title = plan.title if plan.experiment and not number else ""
        drawn = list(_drawn(kind, plan, asked, footer, title))
        for part, figure in drawn:
            words = [plan.experiment or "", "" if plan.experiment and not number else kind]
            words += [part] if len(drawn) > 1 else []
            yield "-".join(_slug(word) for word in words if word), figure


def _drawn(
    kind: ChartKind, plan: Plan, asked: Sequence[tuple[Question, Judgement]], footer: str, title: str
) -> Iterator[tuple[str, Figure]]:
    """The pictures of one kind, each with the part of the plan that it shows. Without a title, each says what it is."""

    def titled(part: str) -> str:
        return f"{title} – {part}" if title and part else title

    if draw := _OF_ONE.get(kind):
        for question, judgement in asked:
            if _has_metg(judgement) if kind == "metg" else judgement.curves:
                yield question.name, draw(judgement, footer, titled(question.name if len(asked) > 1 else ""))
        return
    for group in dict.fromkeys(question.group for question, _ in asked):
        members = [(question, each) for question, each in asked if question.group == group and _has_metg(each)]
        if not members:
            continue
        judged = [judgement for _, judgement in members]
        if kind == "metg_dots":
            yield group, metg_dots_chart(judged, titled(group), footer)
        else:
            texts = {question.x or 0.0: question.x_text for question, _ in members}
            yield group, metg_lines_chart(judged, plan.x_label, list(texts), footer, titled(group), texts.__getitem__)


def _has_metg(judgement: Judgement) -> bool:
    return any(row.metg for row in judgement.rows)


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9_]+", "-", text.lower()).strip("-")
