"""The JSON schemas of records, as the lab reads them."""

import json
from typing import Any

from jsonschema_rs import Validator

from tefflab import project_root
from tefflab.records import record

ROOT = project_root()


def schema(kind: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ROOT / "bench" / kind / "record.schema.json").read_text(encoding="utf-8"))
    return found


def validator(kind: str) -> Validator:
    return record.validator(ROOT, kind)
