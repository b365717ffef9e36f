"""The words that a task graph's flags take, from the schema of records, for help and completion."""

import json
from functools import cache

from tefflab import project_root

_TYPES = "(all: docs/reference/flags.md): -width, -steps, -radix and more take numbers; -type {type}"
HELP = f"Flags of graphs and their tasks {_TYPES}; -kernel {{kernel}}."  # with a flag where `values` are to stand
HELP_OF_MEASURING = f"Flags of graphs {_TYPES}."


@cache
def values() -> dict[str, tuple[str, ...]]:
    """Of the flags that take words."""
    schema = json.loads((project_root() / "bench" / "task_graph" / "record.schema.json").read_text(encoding="utf-8"))
    graph = schema["$defs"]["graph"]["properties"]
    return {flag: tuple(graph[flag]["enum"]) for flag in ("type", "kernel")}


def filled(text: str) -> str:
    """HELP or HELP_OF_MEASURING with the values."""
    return text.format_map({flag: ", ".join(words) for flag, words in values().items()})
