"""The pictures of the lab: every one a matplotlib figure, written as SVG and PNG by `save`, as PDF by
`save_pages`.

All time and rate axes are logarithmic, and all intervals hold with 95 % confidence. A variant looks the same in every
picture of the same variants, and no text covers data.
"""

from tefflab.output.plots.lines import (
    SHARE,
    TIME,
    Quantity,
    Varied,
    efficiency_lines_chart,
    varied_chart,
    workers_chart,
)
from tefflab.output.plots.ratios import RatioRow, ratios_chart
from tefflab.output.plots.sheet import save, save_pages, signature, slug

__all__ = [
    "SHARE",
    "TIME",
    "Quantity",
    "RatioRow",
    "Varied",
    "efficiency_lines_chart",
    "ratios_chart",
    "save",
    "save_pages",
    "signature",
    "slug",
    "varied_chart",
    "workers_chart",
]
