"""The grains of a program as a picture: the time in bodies of each length, and the share that such bodies keep here."""

from collections import defaultdict
from collections.abc import Sequence

import altair as alt

from tefflab.output.charts.axes import linear_axis, log_axis
from tefflab.output.charts.looks import Datum
from tefflab.output.charts.marks import COLOR, SAID, Entry, layer, legend
from tefflab.output.charts.sheet import WIDTH, Head, Picture, sheet
from tefflab.output.quantities import duration, percent
from tefflab.profiles.measured_here import ENOUGH, Curve
from tefflab.profiles.pricing import Price
from tefflab.profiles.states import length_of

_COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#aa3377")  # of lines with much time, as of types of task
_REST = "#8d949d"
_CURVES = ("#1b1f24", "#b4530a", "#0b7a75", "#7a3e9d", "#8a6d00", "#59636e")  # of runtimes
_HEIGHT, _LEGEND, _STEPS = 300.0, 190.0, 60
_WORTH_A_LINE = 0.005  # of the time
_BARE = {"dash": (), "shape": "square"}


def draw(price: Price, title: str, curves: Sequence[Curve]) -> Picture:
    """Bars are shares of the time in bodies. Without curves of this machine, there is one by what a body costs in this
    run."""
    sites = [site for site in price.observed.sites if site.lengths and site.seconds]
    total = sum(site.seconds for site in sites)
    shown = [site for site in sites[: len(_COLOURS)] if site.seconds >= _WORTH_A_LINE * total]
    bars: list[Datum] = []
    ends: list[float] = []
    heights = defaultdict[int, float](float)
    for number, site in enumerate(sites):
        weights = {place: count * length_of(place + 0.5) for place, count in site.lengths.items()}
        scale = site.seconds / sum(weights.values()) / total
        color = _COLOURS[number] if number < len(_COLOURS) else _REST
        for place, weight in sorted(weights.items()):
            low, heights[place] = heights[place], heights[place] + scale * weight
            place_of = {"began": length_of(place), "ended": length_of(place + 1), "low": low, "high": heights[place]}
            said = f"{site.place}: {percent(scale * weight)} of the time in bodies of {duration(length_of(place))}"
            ends += [length_of(place), length_of(place + 1)]
            bars.append(place_of | {"color": color, "said": said})
    dearest = price.dearest
    cost = price.cost_of(dearest) if dearest else 0.0
    if cost and not curves:
        curves = [Curve("", f"if each costs {duration(cost)}, as here", 1, {cost: cost}, "")]
    ends += [length for each in curves for length in each.costs]
    across = log_axis(ends, duration, "length of a body")
    along = linear_axis(1.0, percent, "efficiency, and share of the time in bodies")
    lengths = [across.low * (across.high / across.low) ** (step / _STEPS) for step in range(_STEPS + 1)]
    entries = []
    for color, site in zip(_COLOURS, shown, strict=False):
        said = f"{percent(site.seconds / total)}, median {duration(site.quantile(0.5))}"
        entries.append(Entry({"color": color, **_BARE}, f"{site.place}, {site.title}", said))
    lines: list[Datum] = []
    for color, curve in zip(_CURVES, curves, strict=False):
        own: Datum = {"color": color, "said": curve.title}
        lines += [{"x": each, "y": curve.efficiency(each), **own} for each in lengths]
        said = f"{percent(ENOUGH)} from {duration(curve.enough)}"
        entries.append(Entry({"color": color, **_BARE}, curve.title, said))
    plot = alt.LayerChart(
        layer=[
            layer(bars)
            .mark_rect()
            .encode(across.of(alt.X, "began"), along.of(alt.Y, "low"), COLOR, SAID, x2="ended:Q", y2="high:Q"),
            layer(lines)
            .mark_line(strokeWidth=1.5)
            .encode(across.of(alt.X, "x"), along.of(alt.Y, "y"), COLOR, SAID, alt.Detail("said:N")),
        ],
        width=WIDTH - _LEGEND - 80,
        height=_HEIGHT,
    )
    what = dearest.title if dearest else "bodies"
    meaning = "Bars: the share of the time in bodies that bodies of this length have. "
    meaning += f"Lines: the share of the threads' time that {what} of this length keep."
    return sheet(Head(title, [meaning]), plot, legend(entries, _LEGEND, lines=False))
