"""How commands tell their results: to people, or as JSON."""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from tefflab.host.terminal import output
from tefflab.json_lines import json_lines

if TYPE_CHECKING:
    from rich.console import RenderableType


def tell(
    as_json: bool, objects: Callable[[], Iterable[Mapping[str, Any]]], shown: "Callable[[], RenderableType]"
) -> None:
    """Prints the objects, one a line, or what people are shown."""
    if as_json:
        print(json_lines(objects()))
    else:
        output().print(shown())
