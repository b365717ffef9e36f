"""The JSON schemas of records: a kind's own, which refers to the head that all kinds share."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from tefflab import project_root

ROOT = project_root() / "bench"
HEAD = "driver"


@cache
def schema(kind: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(ROOT / kind / "record.schema.json").read_text(encoding="utf-8"))
    return found


@cache
def validator(kind: str) -> Draft202012Validator:
    known: Registry[Any] = Registry().with_resources(
        (schema(each)["$id"], Resource.from_contents(schema(each))) for each in (HEAD, kind)
    )
    return Draft202012Validator(schema(kind), registry=known)
