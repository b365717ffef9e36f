"""How each variant looks in every picture: its system's colour, and besides it a dash and a shape.

Colour is never alone: readers tell a curve by its shape in print, and if they see few colours.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal
from zlib import crc32

from tefflab.records.plan import Variant

Shape = Literal["circle", "square", "triangle", "diamond", "wedge", "plus", "cross"]

SHAPES: tuple[Shape, ...] = ("circle", "square", "triangle", "diamond", "wedge", "plus", "cross")
DASHES: tuple[tuple[float, ...], ...] = ((), (5, 2), (1.5, 1.5), (7, 2, 1.5, 2), (3, 1.5), (7, 2, 1.5, 2, 1.5, 2))
PAPER, NIGHT = "#ffffff", "#15181c"  # the grounds that pictures and reports are drawn on
_CONTRAST = {PAPER: 3.0, NIGHT: 4.5}  # of a mark; WCAG 2.1 asks for 3, but thin lines fade on a dark ground


@dataclass(frozen=True, slots=True)
class Look:
    """`color` is readable on white, `night` on a dark ground; `dash` is in line widths, empty where unbroken."""

    color: str
    night: str
    dash: tuple[float, ...]
    shape: Shape


def looks(variants: Iterable[Variant]) -> dict[str, Look]:
    """The look of each, by id. The order they come in does not matter."""
    known = {each.id: each for each in variants}
    shape_of = _shapes(sorted(known.items()))
    return {
        name: Look(
            color=readable(each.color, PAPER),
            night=readable(each.color, NIGHT),
            dash=DASHES[each.variant_index % len(DASHES)],
            shape=shape_of[name],
        )
        for name, each in known.items()
    }


def _shapes(variants: Sequence[tuple[str, Variant]]) -> dict[str, Shape]:
    """A shape for each, which depends on its id, so that it is the same in most pictures. No colour has a shape twice,
    and no shape is used twice, as long as another is free."""
    shape_of: dict[str, Shape] = {}
    used = Counter[Shape]()
    in_color = Counter[tuple[str, Shape]]()
    for name, variant in variants:
        first = crc32(name.encode()) % len(SHAPES)
        free = (*SHAPES[first:], *SHAPES[:first])
        shape = shape_of[name] = min(free, key=lambda each: (in_color[variant.color, each], used[each]))
        used[shape] += 1
        in_color[variant.color, shape] += 1
    return shape_of


def readable(color: str, ground: str) -> str:
    """`color` (`#rrggbb`) as it is seen on PAPER or NIGHT: made darker or lighter only as far as that takes."""
    pole = "#000000" if _luminance(ground) > 0.5 else "#ffffff"
    for share in range(0, 101, 4):
        mixed = _mix(color, pole, share / 100)
        if contrast(mixed, ground) >= _CONTRAST[ground]:
            return mixed
    return pole


def contrast(a: str, b: str) -> float:
    """The contrast ratio of two colours by WCAG, 1 to 21."""
    dark, light = sorted((_luminance(a), _luminance(b)))
    return (light + 0.05) / (dark + 0.05)


def _channels(color: str) -> list[int]:
    return [int(color[start : start + 2], 16) for start in (1, 3, 5)]


def _mix(color: str, pole: str, share: float) -> str:
    pairs = zip(_channels(color), _channels(pole), strict=True)
    return "#" + "".join(f"{round(own + (far - own) * share):02x}" for own, far in pairs)


def _luminance(color: str) -> float:
    linear = [
        share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4
        for share in (channel / 255 for channel in _channels(color))
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
