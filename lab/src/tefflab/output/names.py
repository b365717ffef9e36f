"""The names of files, from their contents."""

import re


def slug(text: str) -> str:
    """`Very uneven, radix 5` as `very-uneven-radix-5`."""
    return re.sub(r"[^a-z0-9_]+", "-", text.lower()).strip("-")
