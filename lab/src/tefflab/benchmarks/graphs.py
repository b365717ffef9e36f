"""The subject of a measurement, as the flags that the bench programs take; the measurement chooses steps and
iterations.

The flags are the published Task Bench's. The defaults are the usual subject of METG: a stencil with one column for each
worker, compute_bound. The program `task_graph` says what flags describe, and whether they are right (`check`).
"""

import json
import math
import re
import shlex
import subprocess
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any

from tefflab.benchmarks import graph_flags
from tefflab.errors import InputError, TeffError
from tefflab.records.plan import Case, counted_nodes
from tefflab.systems.systems import BUILD_FOLDER

MOST_LISTED = 1_000_000  # tasks: some 50 MB of text in a few seconds
_USUAL = {"type": "trivial", "width": "4", "steps": "4"}  # the core's own
_NUMBER = re.compile(r"-?(\d+\.?|\.\d)\d*(e-?\d+)?")
_OURS = {  # flags that the measurement sets itself, and what to say instead
    "iter": "the iterations are what is searched for",
    "workers": "say --workers N",
    "batch": "programs are always asked in batches",
    "identity": "see `teff systems`",
    "report": "see `teff run`",
    "no-validate": "only validated runs are measured",
    "skip-graph-validation": "only validated runs are measured",
}
_OF_DEPENDENCES = {"type", "radix", "period", "fraction", "width", "output", "imbalance", "persistent-imbalance"}
_WITH_VALUE = _OF_DEPENDENCES - {"persistent-imbalance"} | {"kernel"}

Flag = tuple[str, str]  # a name without dashes, and its value; empty where it has none


def core_program(root: Path) -> Path:
    """The program that says what flags describe."""
    return root / BUILD_FOLDER / "bin" / "task_graph"


def answer_of_core(root: Path, words: Sequence[str]) -> str:
    """The core's answer about flags. TeffError with the core's words if they are wrong."""
    asked = subprocess.run([str(core_program(root)), *words], capture_output=True, errors="replace", check=False)
    if asked.returncode != 0:
        raise InputError(asked.stderr.strip().removeprefix("error: "))
    return asked.stdout


class GraphCase(Case):
    """One or several graphs that run at once, by their flags without steps and iterations."""

    steps: int | None = None  # where the user wants so many

    @property
    def question(self) -> str:
        """Its configuration with the timesteps that the user wants, of each graph."""
        graphs = [f"{_text(graph)} -steps {self.steps}" for graph in self.graphs] if self.steps else [self.flags]
        return self.configuration.replace(self.flags, " -and ".join(graphs), 1)

    @cached_property
    def graphs(self) -> list[list[Flag]]:
        return _split(read_flags(shlex.split(self.flags)))

    @property
    def width(self) -> int:
        """Points of a timestep, over all graphs."""
        return sum(int(dict(graph)["width"]) for graph in self.graphs)

    def line(self, steps: int, iterations: int) -> str:
        """The flags of one run. No iterations means empty tasks: the overhead itself."""
        lines = []
        for graph in self.graphs:
            kept = [flag for flag in graph if iterations or flag[0] != "kernel"]
            lines.append(f"{_text(kept)}{'' if iterations else ' -kernel empty'} -steps {steps} -iter {iterations}")
        return " -and ".join(lines)

    def ceiling_line(self, workers: int, steps: int, iterations: int) -> str:
        """The line for the ceiling: the same kernels on all workers, with no dependences."""
        kernels = [tuple(flag for flag in graph if flag[0] not in _OF_DEPENDENCES) for graph in self.graphs]
        return " -and ".join(
            f"-type trivial -width {workers} {_text(kernel)} -steps {steps} -iter {iterations}"
            for kernel in dict.fromkeys(kernels)
        )


def parse(words: Sequence[str], workers: int, name: str = "", nodes: int | None = None) -> GraphCase:
    """The graphs that the words of a command line describe, with so many workers of each node. By itself its name is
    short: `stencil_1d, width 2, compute_bound`, and several graphs are counted. TeffError for a flag that is not the
    user's."""
    flags: list[Flag] = []
    steps = None
    for flag, value in read_flags(words):
        if flag in _OURS:
            raise InputError(f"-{flag} can't be given here: {_OURS[flag]}")
        if flag == "steps" and (not value.isdecimal() or value == "0"):
            raise InputError(f"-steps {value}: must be a whole number from 1, as -steps 1000")
        if flag in _WITH_VALUE and not value:
            raise InputError(f"flag '-{flag}' needs a value")
        if flag == "steps":
            steps = int(value)
        else:
            flags.append((flag, value))
    graphs = _split(flags)
    total = workers * (nodes or 1)
    usual = {"type": "stencil_1d", "width": str(total), "kernel": "compute_bound"}
    is_wide = nodes is None or any("width" in dict(graph) for graph in graphs)  # else a column a worker, on all nodes
    for graph in graphs:
        graph += [own for own in usual.items() if own[0] not in dict(graph)]
    first = dict(graphs[0])
    shown = {flag: value for flag, value in first.items() if is_wide or flag != "width"}
    details = [f"{flag} {value}".strip() for flag, value in shown.items() if flag not in ("type", "kernel")]
    of_steps = [f"{steps} timesteps"] if steps else []
    counted = f"{len(graphs)} graphs: " if len(graphs) > 1 else ""
    title = counted + ", ".join([first["type"], *details, first["kernel"], *of_steps])
    case = GraphCase(name=name or title, flags=" -and ".join(map(_text, graphs)), steps=steps, workers=total)
    if nodes is None:
        return case
    over = {"nodes": nodes, "x": nodes, "x_text": str(nodes)}
    return case.model_copy(update=over | {"name": f"{case.name}, {counted_nodes(nodes)}", "group": case.name})


def _split(flags: Iterable[Flag]) -> list[list[Flag]]:
    """Graph by graph."""
    graphs: list[list[Flag]] = [[]]
    for flag in flags:
        if flag[0] == "and":
            graphs.append([])
        else:
            graphs[-1].append(flag)
    return graphs


def refuse_unknown_values(words: Sequence[str]) -> None:
    """Before the core is there to be asked. TeffError for a word that is none of those a flag takes, and for a word
    where a number belongs."""
    for name, value in read_flags(words):
        there = graph_flags.values().get(name, ())
        if there and value and value not in there:
            near = get_close_matches(value, there, 1)
            meant = f" (did you mean {near[0]}?)" if near else ""
            raise InputError(f"-{name}: there is no {value!r}{meant}; choose one of {', '.join(there)}")
        if name in _WITH_VALUE and not there and value and not _NUMBER.fullmatch(value):
            raise InputError(f"-{name}: {value!r} is not a number; for example -{name} 1")


def check(root: Path, case: GraphCase, typed: Sequence[str] = ()) -> None:
    """TeffError with the core's own words where it does not take these flags, and flags as they were typed."""
    try:
        answer_of_core(root, ["--json", *case.line(case.steps or 1, 1).split()])
    except TeffError as error:
        said = str(error)
        for word in (word.partition("=")[0] for word in typed if word.startswith("--")):
            said = said.replace(f"'{word[1:]}'", f"'{word}'")
        raise TeffError(said, exit_code=error.exit_code) from None


def read_flags(words: Sequence[str]) -> list[Flag]:
    """The words of a command line as flags. TeffError for a word that belongs to none."""
    flags: list[Flag] = []
    has_all = True  # the last flag has its value
    for word in words:
        if word.startswith("-") and not _NUMBER.match(word):
            name, sign, value = word.lstrip("-").partition("=")
            flags.append((name, value))
            has_all = bool(sign)
        elif not has_all:
            flags[-1] = (flags[-1][0], word)
            has_all = True
        else:
            raise InputError(f"{word!r} belongs to no flag; flags are like -type stencil_1d")
    return flags


def listed_tasks(root: Path, words: Sequence[str]) -> list[dict[str, Any]]:
    """Of the graphs of a command line, as the core has them. TeffError with its words for wrong flags."""
    found: list[dict[str, Any]] = json.loads(answer_of_core(root, ["--json", *words]))
    return found


def expect_listable(words: Sequence[str]) -> None:
    """TeffError for graphs of more tasks than anyone reads: before the core, silently, lists them for hours."""
    sizes = [size for _, size in described(words)]
    tasks = sum(width * steps for width, steps in sizes)
    if tasks > MOST_LISTED:
        width, steps = max(sizes, key=math.prod)
        raise InputError(
            f"-width {width} -steps {steps}: {tasks:,} tasks are too many to list, at most {MOST_LISTED:,}; give less"
        )


def described(words: Sequence[str]) -> list[tuple[dict[str, str], tuple[int, int]]]:
    """Of each graph its flags, points and timesteps; 0 and 0 where the core will give a fault."""
    segments = [_USUAL | dict(graph) for graph in _split(read_flags(words))]
    found = []
    for each in segments:
        points, timesteps = each["width"], each["steps"]
        is_known = points.isdecimal() and timesteps.isdecimal()
        found.append((each, (int(points), int(timesteps)) if is_known else (0, 0)))
    return found


def _text(flags: Sequence[Flag]) -> str:
    return " ".join(f"-{name} {value}".strip() for name, value in flags)
