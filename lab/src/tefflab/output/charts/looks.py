"""How each variant looks in every picture: its system's colour, and besides it a dash and a shape.

Colour is never alone: readers tell a curve by its shape in print, and if they see few colours.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any
from zlib import crc32

from tefflab.records.plan import Variant

Datum = dict[str, Any]  # of a chart

SHAPES = (
    "circle",
    "square",
    "triangle-up",
    "diamond",
    "triangle-down",
    "M-.37,-1.1H.37V-.37H1.1V.37H.37V1.1H-.37V.37H-1.1V-.37H-.37Z",  # a plus
    "M-.5,-1.05L0,-.55L.5,-1.05L1.05,-.5L.55,0L1.05,.5L.5,1.05L0,.55L-.5,1.05L-1.05,.5L-.55,0L-1.05,-.5Z",  # a cross
)
DASHED, DOTTED = 1, 2  # places in
_DASHES = ((), (5, 2), (1.5, 1.5), (7, 2, 1.5, 2), (3, 1.5), (7, 2, 1.5, 2, 1.5, 2))
PAPER, NIGHT = "#ffffff", "#15181c"  # the grounds that pictures and reports are drawn on
_CONTRAST = {PAPER: 3.0, NIGHT: 4.5}  # of a mark; WCAG 2.1 asks for 3, but thin lines fade on a dark ground


def looks(variants: Iterable[Variant]) -> dict[str, Datum]:
    """The look of each by its id, in fields of a datum: colour on white, dash and shape. The shape depends on the id,
    so that it is the same in most pictures. No colour has a shape twice, and no shape is used twice, as long as another
    is free."""
    found: dict[str, Datum] = {}
    used = Counter[str]()
    in_color = Counter[tuple[str, str]]()
    for name, variant in sorted({each.id: each for each in variants}.items()):
        first = crc32(name.encode()) % len(SHAPES)
        free = (*SHAPES[first:], *SHAPES[:first])
        shape = min(free, key=lambda each: (in_color[variant.color, each], used[each]))
        used[shape] += 1
        in_color[variant.color, shape] += 1
        dash = _DASHES[variant.variant_index % len(_DASHES)]
        found[name] = {"color": readable(variant.color, PAPER), "dash": dash, "shape": shape}
    return found


def readable(color: str, ground: str) -> str:
    """`color` (`#rrggbb`) as it is seen on PAPER or NIGHT: made darker or lighter only as far as that takes."""
    pole = "#000000" if _luminance(ground) > 0.5 else "#ffffff"
    for share in range(0, 101, 4):
        pairs = zip(_channels(color), _channels(pole), strict=True)
        mixed = "#" + "".join(f"{round(own + (far - own) * (share / 100)):02x}" for own, far in pairs)
        if contrast(mixed, ground) >= _CONTRAST[ground]:
            return mixed
    return pole


def contrast(a: str, b: str) -> float:
    """The contrast ratio of two colours by WCAG, 1 to 21."""
    dark, light = sorted((_luminance(a), _luminance(b)))
    return (light + 0.05) / (dark + 0.05)


def _channels(color: str) -> list[int]:
    return [int(color[start : start + 2], 16) for start in (1, 3, 5)]


def _luminance(color: str) -> float:
    linear = [
        share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4
        for share in (channel / 255 for channel in _channels(color))
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
