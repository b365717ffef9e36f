"""The lines that --json prints: an object each."""

import json
from collections.abc import Iterable, Mapping
from typing import Any


def json_lines(objects: Iterable[Mapping[str, Any]]) -> str:
    """Without the end of the last line."""
    return "\n".join(json.dumps(each, ensure_ascii=False, allow_nan=False) for each in objects)
