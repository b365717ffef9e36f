"""The task graphs that flags describe, as the program `task_graph` lists them, for drawing. Nothing is run."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tefflab.benchmarks.task_graph.configuration import Flag, read_flags
from tefflab.benchmarks.task_graph.core import answer_of_core
from tefflab.benchmarks.task_graph.drawing import Graph, check_size, read_tasks
from tefflab.errors import BAD_INPUT, TeffError

MOST_LISTED = 1_000_000  # tasks: some 50 MB of text in a few seconds
_OF_PATTERNS = ("radix", "period", "fraction")  # what a title says besides the pattern's name
_USUAL = {"type": "trivial", "width": "4", "steps": "4"}  # the core's own


def describe_graphs(root: Path, words: Sequence[str]) -> list[Graph]:
    """The graphs of a command line, in order. DrawingError where one is too large to be drawn; TeffError with the
    core's words for flags that are wrong."""
    segments = _segments(read_flags(words))
    titles = [_title(segment) for segment in segments]
    for title, segment in zip(titles, segments, strict=True):
        if _has_size(segment):  # before the core lists a million tasks
            check_size(title, int(segment["width"]), int(segment["steps"]))
    tasks = read_tasks(answer_of_core(root, ["--json", *words]))
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
        raise TeffError(
            f"-width {width} -steps {steps}: {tasks:,} tasks are too many to list, at most {MOST_LISTED:,}; give less",
            exit_code=BAD_INPUT,
        )


def _has_size(flags: dict[str, str]) -> bool:
    """The core gives the fault of other flags."""
    return flags["width"].isdigit() and flags["steps"].isdigit()


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
