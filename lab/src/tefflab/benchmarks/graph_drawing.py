"""The task graphs that flags describe, as the program `task_graph` lists them. Nothing is run.

A picture (SVG) is like Figure 1 of the paper: a column a point, a row a timestep.

Each task is a circle, each dependence a line from the task that wrote to the task that reads; time
runs down the page. Several graphs stand side by side, as they run side by side.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from tefflab.benchmarks.graphs import Flag, answer_of_core, read_flags
from tefflab.errors import InputError

MOST_LISTED = 1_000_000  # tasks: some 50 MB of text in a few seconds
_OF_PATTERNS = ("radix", "period", "fraction")  # what a title says besides the pattern's name
_USUAL = {"type": "trivial", "width": "4", "steps": "4"}  # the core's own
LARGEST = 64  # points a side: beyond it lines merge to a grey field that shows nothing

_NUMBERED = 32  # rows or columns up to which each bears its number
_MARGIN = 28.0
_TOP = _MARGIN + 52.0  # the first row, under titles and the numbers of points
_SIDE = 40.0  # the word "timestep" and its numbers
_BETWEEN = 48.0
_STYLE = """
svg { background: #fff; font: 12px system-ui, 'Segoe UI', Helvetica, Arial, sans-serif; }
.edge { stroke: #5b6b7b; stroke-linecap: round; fill: none; }
.task { fill: #0072b2; stroke: #fff; }
.title { fill: #1a1a1a; font-weight: 600; }
.mark { fill: #5b6b7b; font-size: 10px; text-anchor: middle; }
@media (prefers-color-scheme: dark) {
  svg { background: #16181c; }
  .edge { stroke: #8a97a5; } .task { fill: #56b4e9; stroke: #16181c; }
  .title { fill: #e8e8e8; } .mark { fill: #9aa7b4; }
}
"""


class DrawingError(InputError):
    """A graph that is too large to be drawn."""


class Task(BaseModel):
    """One task as a program lists it: its graph, and the points of the timestep before that it reads."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)

    graph: int = Field(default=0, ge=0)  # where several run at once
    timestep: int = Field(ge=0)
    point: int = Field(ge=0)
    dependencies: tuple[int, ...] = ()


_TASKS = TypeAdapter(tuple[Task, ...])


@dataclass(frozen=True, slots=True)
class Graph:
    """A graph to draw, with the words above it."""

    title: str
    tasks: tuple[Task, ...]

    @property
    def columns(self) -> int:
        return max(task.point for task in self.tasks) + 1

    @property
    def rows(self) -> int:
        return max(task.timestep for task in self.tasks) + 1


@dataclass(frozen=True, slots=True)
class _Scale:
    """Where a task of a graph stands on the page [px]."""

    left: float
    across: float
    down: float
    radius: float

    def centre(self, timestep: int, point: int) -> tuple[float, float]:
        return self.left + point * self.across, _TOP + timestep * self.down


def draw(graphs: Sequence[Graph]) -> str:
    """The SVG text of `graphs` side by side."""
    down = max(_row_height(graph) for graph in graphs)  # one for all, so that timesteps stand level
    body = [_timesteps(max(graph.rows for graph in graphs), down)]
    left = _MARGIN + _SIDE
    for graph in graphs:
        scale = _scale(graph, left, down)
        body.append(_graph(graph, scale))
        # Words over a narrow graph may be wider than the graph: 6.6 px a letter is about right.
        wide = max((graph.columns - 1) * scale.across, 6.6 * len(graph.title))
        left += wide + 2 * scale.radius + _BETWEEN
    width = left - _BETWEEN + _MARGIN
    height = _TOP + (max(graph.rows for graph in graphs) - 1) * down + 2 * _MARGIN
    names = "; ".join(graph.title for graph in graphs)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" role="img">'
        f"<title>Task graphs: {escape(names)}</title><style>{_STYLE}</style>"
        f"{''.join(body)}</svg>\n"
    )


def _check_size(title: str, points: int, timesteps: int) -> None:
    if points > LARGEST or timesteps > LARGEST:
        raise DrawingError(
            f"{title}: {points} points x {timesteps} timesteps is too large to draw; "
            f"at most {LARGEST} x {LARGEST} can be told apart: lower -width or -steps"
        )


def _row_height(graph: Graph) -> float:
    """Roomy where the graph is small; lines that reach far want room to fall."""
    reach = max((abs(task.point - source) for task in graph.tasks for source in task.dependencies), default=0)
    return min(40.0 + 8.0 * min(reach, 6), max(13.0, 640.0 / graph.rows))


def _scale(graph: Graph, left: float, down: float) -> _Scale:
    """Never under 11 px a column: circles stay circles."""
    across = min(44.0, max(11.0, 640.0 / graph.columns))
    radius = min(9.0, 0.24 * min(across, down))
    return _Scale(left + radius, across, down, radius)


def _timesteps(rows: int, down: float) -> str:
    """The side of the picture: which way time runs, and the number of each row."""
    middle = _TOP + (rows - 1) * down / 2
    word = f'<text class="mark" transform="translate({_MARGIN:.1f} {middle:.1f}) rotate(90)">timestep →</text>'
    if rows == 1 or rows > _NUMBERED:
        return word if rows > 1 else ""
    numbers = (
        f'<text class="mark" x="{_MARGIN + 20:.1f}" y="{_TOP + row * down + 3.5:.1f}">{row}</text>'
        for row in range(rows)
    )
    return word + "".join(numbers)


def _graph(graph: Graph, scale: _Scale) -> str:
    """Title, then all edges in one path (one element, however many), then the circles over them."""
    edges: list[str] = []
    circles: list[str] = []
    for task in graph.tasks:
        x, y = scale.centre(task.timestep, task.point)
        circles.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{scale.radius:.1f}"/>')
        for source in task.dependencies:
            above, top = scale.centre(task.timestep - 1, source)
            edges.append(f"M{above:.1f} {top:.1f}L{x:.1f} {y:.1f}")
    crowd = len(edges) / max(1, len(graph.tasks))  # dependencies a task: many lines want to be thin
    thickness = max(0.35, min(1.6, 0.28 * scale.radius) / max(1.0, crowd / 4) ** 0.5)
    faint = max(0.3, min(1.0, (8 / crowd) ** 0.5)) if crowd else 1.0
    x, y = scale.centre(0, 0)
    points = "".join(
        f'<text class="mark" x="{x + column * scale.across:.1f}" y="{y - scale.radius - 8:.1f}">{column}</text>'
        for column in range(graph.columns if graph.columns <= _NUMBERED else 0)
    )
    return (
        f'<text class="title" x="{x - scale.radius:.1f}" y="{_MARGIN + 4:.1f}">{escape(graph.title)}</text>'
        f"{points}"
        f'<path class="edge" stroke-width="{thickness:.2f}" opacity="{faint:.2f}" d="{"".join(edges)}"/>'
        f'<g class="task" stroke-width="{scale.radius * 0.16:.2f}">{"".join(circles)}</g>'
    )


def describe_graphs(root: Path, words: Sequence[str]) -> list[Graph]:
    """The graphs of a command line, in order. DrawingError where one is too large to be drawn; TeffError with the
    core's words for flags that are wrong."""
    segments = _segments(read_flags(words))
    titles = [_title(segment) for segment in segments]
    for title, segment in zip(titles, segments, strict=True):
        if _has_size(segment):  # before the core lists a million tasks
            _check_size(title, int(segment["width"]), int(segment["steps"]))
    tasks = _TASKS.validate_json(answer_of_core(root, ["--json", *words]))
    return [Graph(title, tuple(task for task in tasks if task.graph == number)) for number, title in enumerate(titles)]


def listed_tasks(root: Path, words: Sequence[str]) -> list[dict[str, Any]]:
    """The tasks of the graphs of a command line, as the core has them. TeffError with the core's words for flags that
    are wrong."""
    found: list[dict[str, Any]] = json.loads(answer_of_core(root, ["--json", *words]))
    return found


def expect_listable(words: Sequence[str]) -> None:
    """TeffError for graphs of more tasks than anyone reads: before the core, silently, lists them for hours."""
    sizes = [(int(each["width"]), int(each["steps"])) for each in _segments(read_flags(words)) if _has_size(each)]
    tasks = sum(width * steps for width, steps in sizes)
    if tasks > MOST_LISTED:
        width, steps = max(sizes, key=math.prod)
        raise InputError(
            f"-width {width} -steps {steps}: {tasks:,} tasks are too many to list, at most {MOST_LISTED:,}; give less"
        )


def _has_size(flags: dict[str, str]) -> bool:
    """The core gives the fault of other flags."""
    return flags["width"].isdecimal() and flags["steps"].isdecimal()


def _segments(flags: Sequence[Flag]) -> list[dict[str, str]]:
    segments = [dict(_USUAL)]
    for name, *value in flags:
        if name == "and":
            segments.append(dict(_USUAL))
        else:
            segments[-1][name] = " ".join(value)
    return segments


def _title(flags: dict[str, str]) -> str:
    return ", ".join([flags["type"], *(f"{name} {flags[name]}" for name in _OF_PATTERNS if name in flags)])
