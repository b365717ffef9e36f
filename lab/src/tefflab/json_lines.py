"""The lines that --json prints: an object each."""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, is_dataclass
from typing import Any


def json_lines(objects: Iterable[Mapping[str, Any]]) -> str:
    """Without the end of the last line."""
    return "\n".join(json.dumps(each, ensure_ascii=False, allow_nan=False) for each in objects)


def finite(value: Any) -> Any:
    """As JSON has it: of a dataclass its fields by name, and None for each infinite number."""
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, dict):
        return {name: finite(each) for name, each in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value
