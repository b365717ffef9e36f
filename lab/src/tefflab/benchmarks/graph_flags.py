"""The values of a task graph's flags, for help and completion, from the schema of records; the program `task_graph`
decides which are right."""

import json

from tefflab import project_root

_SCHEMA = json.loads((project_root() / "bench" / "task_graph" / "record.schema.json").read_text(encoding="utf-8"))
_GRAPH = _SCHEMA["$defs"]["graph"]["properties"]
VALUES: dict[str, tuple[str, ...]] = {flag: tuple(_GRAPH[flag]["enum"]) for flag in ("type", "kernel")}

_TYPES = f"-width, -steps, -radix and more take numbers; -type {', '.join(VALUES['type'])}"
_ALL = "all of them in docs/reference/flags.md"
HELP = f"Flags of graphs and their tasks, {_ALL}: {_TYPES}; -kernel {', '.join(VALUES['kernel'])}."
HELP_OF_MEASURING = f"Further flags say what graph, {_ALL}: {_TYPES}."
