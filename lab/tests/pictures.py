"""The data of a picture's marks, and its words, read from its chart."""

import json
from collections.abc import Iterator
from typing import Any

from tefflab.output.charts.sheet import Picture

_SPECS: dict[int, tuple[Picture, dict[str, Any]]] = {}  # by the picture's id, which it keeps as long as it is here


def spec_of(picture: Picture) -> dict[str, Any]:
    """The chart as Vega-Lite has it. It is held against Vega-Lite's schema, which takes long, once for each picture."""
    if id(picture) not in _SPECS:
        _SPECS[id(picture)] = picture, picture.chart.to_dict()
    return _SPECS[id(picture)][1]


def parts(picture: Picture) -> Iterator[dict[str, Any]]:
    """Every layer, as Vega-Lite has it; its data are read."""
    spec = spec_of(picture)

    def inside(of: dict[str, Any]) -> Iterator[dict[str, Any]]:
        for key in ("vconcat", "hconcat", "layer"):
            for each in of.get(key, ()):
                yield from inside(each)
        if "mark" in of:
            yield of | {"data": json.loads(spec["datasets"][of["data"]["name"]])}

    return inside(spec)


def data(picture: Picture, *fields: str) -> list[dict[str, Any]]:
    """The data that have these fields."""
    found = [each for part in parts(picture) for each in part["data"] if all(field in each for field in fields)]
    return [each for number, each in enumerate(found) if each not in found[:number]]


def words(picture: Picture) -> list[str]:
    """Every text: title, meaning, notes, footer, and what is written in the chart."""
    spec = spec_of(picture)
    titles = [each.get("title") for each in (spec, *spec["vconcat"])]
    lines = [line for each in titles if isinstance(each, dict) for key in ("text", "subtitle") for line in each[key]]
    return [*lines, *(each["text"].replace("\n", " ") for each in data(picture, "text"))]


def axis(picture: Picture, channel: str) -> dict[str, Any]:
    """The scale and the axis of a channel."""
    return next(
        own
        for part in parts(picture)
        if isinstance(own := part["encoding"].get(channel), dict) and own.get("scale", {}) and own.get("axis")
    )
