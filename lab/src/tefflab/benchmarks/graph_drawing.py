"""The task graphs that flags describe, as the program `task_graph` lists them. Nothing is run.

A picture is like Figure 1 of the paper: each task is a circle, each dependence a line, and time runs down the page.
Several graphs stand side by side, as they run side by side.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import altair as alt

from tefflab.benchmarks.graphs import described, listed_tasks
from tefflab.errors import InputError
from tefflab.output.charts.looks import PAPER, Datum
from tefflab.output.charts.marks import X, Y, layer, word, words
from tefflab.output.charts.sheet import SMALL, SOFT, Head, Picture, sheet, text_width

Task = Mapping[str, Any]  # by the names of the program
_OF_PATTERNS = ("radix", "period", "fraction")  # what a title says besides the pattern's name
LARGEST = 64  # points a side: beyond it lines merge to a grey field that shows nothing

_NUMBERED = 32  # rows or columns up to which each bears its number
_BETWEEN = 48.0  # pixels between two graphs
_TASK, _EDGE = "#0072b2", "#5b6b7b"
_MEANING = "A column a point, a row a timestep. A line leads from the task that wrote to the task below it that reads."


@dataclass(frozen=True, slots=True)
class Graph:
    """A graph to draw, with the words above it."""

    title: str
    tasks: Sequence[Task]

    @property
    def columns(self) -> int:
        return 1 + max(int(task["point"]) for task in self.tasks)

    @property
    def rows(self) -> int:
        return 1 + max(int(task["timestep"]) for task in self.tasks)

    @property
    def row_height(self) -> float:
        """Roomy where the graph is small; lines that reach far want room to fall."""
        reach = max((abs(task["point"] - source) for task in self.tasks for source in task["dependencies"]), default=0)
        return min(40.0 + 8.0 * min(reach, 6), max(13.0, 640.0 / self.rows))


def draw(graphs: Sequence[Graph]) -> Picture:
    """The graphs side by side."""
    down = max(graph.row_height for graph in graphs)  # one for all, so that timesteps stand level
    rows = max(graph.rows for graph in graphs)
    texts = [word(-14, row * down, str(row), SMALL, SOFT, "right") for row in range(rows) if 1 < rows <= _NUMBERED]
    texts += [word(-14, -28, "timestep ↓", SMALL, SOFT, "right")] if rows > 1 else []
    edges, tasks = [], []
    left = 0.0
    for graph in graphs:
        across = min(44.0, max(11.0, 640.0 / graph.columns))  # never less: circles stay circles
        radius = min(9.0, 0.24 * min(across, down))
        centre = left + radius
        texts.append(word(left, -48, graph.title, weight="bold"))
        for column in range(graph.columns if graph.columns <= _NUMBERED else 0):
            texts.append(word(centre + column * across, -28, str(column), SMALL, SOFT, "center"))
        edges.append(_edges(graph, centre, across, down, radius))
        tasks += [
            {"x": centre + task["point"] * across, "y": task["timestep"] * down, "size": 4 * radius**2}
            for task in graph.tasks
        ]
        wide = max((graph.columns - 1) * across + 2 * radius, 1.2 * text_width(graph.title))
        left += wide + _BETWEEN
    shape, size = alt.Shape("shape:N", scale=None), alt.Size("size:Q", scale=None)
    layers = [
        layer(edges)
        .mark_point(filled=False, color=_EDGE)
        .encode(X, Y, shape, size, alt.StrokeWidth("thick:Q", scale=None), alt.Opacity("opacity:Q", scale=None)),
        layer(tasks).mark_circle(color=_TASK, opacity=1, stroke=PAPER, strokeWidth=1).encode(X, Y, size),
        words(texts),
    ]
    plot = alt.LayerChart(layer=layers, width=left - _BETWEEN, height=max((rows - 1) * down, 1))
    return sheet(Head(f"Task graph{'s' * (len(graphs) > 1)}", [_MEANING]), plot)


def _edges(graph: Graph, centre: float, across: float, down: float, radius: float) -> Datum:
    """All edges in one path: one element of the picture, however many they are."""
    path = "".join(
        f"M{centre + source * across:.1f},{(task['timestep'] - 1) * down:.1f}"
        f"L{centre + task['point'] * across:.1f},{task['timestep'] * down:.1f}"
        for task in graph.tasks
        for source in task["dependencies"]
    )
    crowd = path.count("M") / max(1, len(graph.tasks))  # dependencies a task: many lines want to be thin
    thick = max(0.35, min(1.6, 0.28 * radius) / max(1.0, crowd / 4) ** 0.5)
    faint = max(0.3, min(1.0, (8 / crowd) ** 0.5)) if crowd else 1.0
    return {"x": 0, "y": 0, "shape": path or "M0,0", "size": 4, "thick": thick, "opacity": faint}


def describe_graphs(root: Path, words: Sequence[str]) -> list[Graph]:
    """The graphs of a command line, in order. InputError for one too large to be drawn, and for wrong flags."""
    titles = []
    for each, (points, timesteps) in described(words):
        title = ", ".join([each["type"], *(f"{name} {each[name]}" for name in _OF_PATTERNS if name in each)])
        titles.append(title)
        if max(points, timesteps) > LARGEST:  # before the core lists it
            raise InputError(
                f"{title}: {points} points x {timesteps} timesteps is too large to draw; "
                f"at most {LARGEST} x {LARGEST} can be told apart: lower -width or -steps"
            )
    tasks = listed_tasks(root, words)
    own = [[task for task in tasks if task.get("graph", 0) == number] for number in range(len(titles))]
    return [Graph(title, some) for title, some in zip(titles, own, strict=True)]
