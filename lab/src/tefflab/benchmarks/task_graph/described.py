"""The task graphs that flags describe, as the program `task_graph` lists them, for drawing. Nothing is run."""

from collections.abc import Sequence
from pathlib import Path

from tefflab.benchmarks.task_graph.configuration import Flag, read_flags
from tefflab.benchmarks.task_graph.core import answer_of_core
from tefflab.errors import BAD_INPUT, TeffError
from tefflab.output.drawing import Graph, check_size, read_tasks

MOST_LISTED = 10**7  # tasks: half a minute, and a gigabyte
_OF_PATTERNS = ("radix", "period", "fraction")  # what a title says besides the pattern's name
_USUAL = {"type": "trivial", "width": "4", "steps": "4"}  # the core's own


def describe_graphs(root: Path, words: Sequence[str]) -> list[Graph]:
    """The graphs of a command line, in order. DrawingError where one is too large to be drawn; TeffError with the
    core's words for flags that are wrong."""
    segments = _segments(read_flags(words))
    titles = [_title(segment) for segment in segments]
    for title, segment in zip(titles, segments, strict=True):
        width, steps = segment["width"], segment["steps"]
        if width.isdigit() and steps.isdigit():  # before the core lists a million tasks
            check_size(title, int(width), int(steps))
    tasks = read_tasks(answer_of_core(root, ["--json", *words]))
    return [Graph(title, tuple(task for task in tasks if task.graph == number)) for number, title in enumerate(titles)]


def refuse_endless(words: Sequence[str]) -> None:
    """TeffError for graphs whose tasks it would take minutes to list."""
    sizes = [(each["steps"], each["width"]) for each in _segments(read_flags(words))]
    tasks = sum(int(steps) * int(width) for steps, width in sizes if steps.isdigit() and width.isdigit())
    if tasks > MOST_LISTED:
        said = " -and ".join(f"-steps {steps} -width {width}" for steps, width in sizes)
        raise TeffError(
            f"{said}: of {tasks:.0e} tasks no list is made, at most of {MOST_LISTED:.0e}; give fewer timesteps or "
            "points",
            exit_code=BAD_INPUT,
        )


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
