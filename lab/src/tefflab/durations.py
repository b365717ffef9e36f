"""Durations as a user types them: `3ms`, `50us`, `1.5s`."""

import re

from tefflab.errors import InputError

# Unicode has two letters for micro, which look the same: the micro sign, and the Greek letter.
_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ns": 1e-9}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*([a-zµμ]+)")


def seconds(text: str) -> float:
    """TeffError where it is no duration, or none at all."""
    found = _DURATION.fullmatch(text.strip())
    if not found or found[2] not in _UNITS or not float(found[1]):
        raise InputError(f"{text!r} is no duration: say it like 3ms or 50us (s ms us µs ns)")
    return float(found[1]) * _UNITS[found[2]]
