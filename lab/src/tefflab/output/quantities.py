"""How a quantity is written for a person: three digits, one unit, an honest sign of a bound.

Every table, plot and report takes its text from here, so one number never has two spellings.
"""

import math
from collections.abc import Callable, Sequence

from tefflab.analysis.rows import Row
from tefflab.analysis.statistics import Interval, is_told

TOO_FEW = "too few runs"  # stands for an interval that says nothing

_TIMES: Sequence[tuple[float, str]] = (
    (1.0, "s"),
    (1e-3, "ms"),
    (1e-6, "µs"),
    (1e-9, "ns"),
)
_DECIMALS: Sequence[tuple[float, str]] = (
    (1e15, "P"),
    (1e12, "T"),
    (1e9, "G"),
    (1e6, "M"),
    (1e3, "k"),
    (1.0, ""),
)


def digits(value: float, significant: int = 3) -> str:
    """`value` with so many significant digits and no exponent: 0.0123, 1.23, 12.3, 123, 1230."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    rounded = float(f"{value:.{significant - 1}e}")
    decimals = max(0, significant - 1 - math.floor(math.log10(abs(rounded))))
    return f"{rounded:.{decimals}f}"


def _unit_of(value: float, units: Sequence[tuple[float, str]]) -> tuple[float, str]:
    """The largest unit in which `value`, as it will be rounded, is at least one."""
    for size, name in units:
        if abs(value) >= size * 0.9995:
            return size, name
    return units[-1]


def duration(seconds: float) -> str:
    """A time in the unit that suits it: `1.23 µs`."""
    size, name = _unit_of(seconds, _TIMES)
    return f"{digits(seconds / size)} {name}"


def duration_range(low: float, high: float) -> str:
    """An interval of times in one unit: `1.18 – 1.27 µs`. Open at one end it is a bound: `< 1.27 µs`. Open at both, or
    as good as that, it says nothing: `too few runs`."""
    if not is_told(low, high):
        return TOO_FEW
    if not math.isfinite(high):
        return bound(">", duration(low))
    if low <= 0:
        return bound("<", duration(high))
    size, name = _unit_of(high, _TIMES)
    return f"{digits(low / size)} – {digits(high / size)} {name}"


def rate(value: float, unit: str) -> str:
    """A rate with a decimal prefix: `92.1 GFLOP/s`."""
    size, prefix = _unit_of(value, _DECIMALS)
    return f"{digits(value / size)} {prefix}{unit}"


def percent(share: float) -> str:
    """A share of one in per cent: `0 %`, `0.4 %`, `12 %`."""
    if share and abs(share) < 0.0995:
        return f"{share * 100:.1f} %"
    return f"{share * 100:.0f} %"


def brief(quantity: str) -> str:
    """A quantity as it stands at an axis, without trailing zeros: `1 µs` for `1.00 µs`."""
    number, space, unit = quantity.partition(" ")
    if "." in number:
        number = number.rstrip("0").rstrip(".")
    return f"{number}{space}{unit}"


def counted_minutes(count: int) -> str:
    """`1 minute`, `2 minutes`."""
    return f"{count} minute{'s' * (count != 1)}"


def bound(relation: str, text: str) -> str:
    """`text` as it stands for `=`, with the sign of the bound before it for `<` and `>`."""
    return text if relation == "=" else f"{relation} {text}"


def doubtful(text: str, *, is_known: bool) -> str:
    """`text`, with a question mark where the value's interval says too little."""
    return text if is_known else f"{text} ?"


def size(count: int) -> str:
    """Bytes with a binary prefix where it is exact: `16 B`, `64 KiB`."""
    value, prefixes = count, ("B", "KiB", "MiB", "GiB", "TiB")
    for prefix in prefixes[:-1]:
        if value < 1024 or value % 1024:
            return f"{value} {prefix}"
        value //= 1024
    return f"{value} {prefixes[-1]}"


def interval_text(interval: Interval, unit: str = "s") -> str:
    """`1.18 – 1.27 µs`, `1.18 – 1.27` of a ratio, `91.0 GFLOP/s – 93.2 GFLOP/s`; or `too few runs`."""
    if unit == "s" and interval.is_told:
        return duration_range(interval.low, interval.high)
    return range_text(interval, lambda value: quantity_text(value, unit))


def range_text(interval: Interval, text: Callable[[float], str]) -> str:
    """`46 % – 51 %`, with each end as `text` writes it; `> 46 %` or `< 51 %` where one is open."""
    if not interval.is_told:
        return TOO_FEW
    if interval.low <= 0 < interval.high:
        return bound("<", text(interval.high))
    low = text(interval.low)
    return f"{low} – {text(interval.high)}" if math.isfinite(interval.high) else bound(">", low)


def quantity_text(value: float, unit: str) -> str:
    """A value in its unit: `1.23 µs`, `1.23` of a ratio, `92.1 GFLOP/s`."""
    if unit == "s":
        return duration(value)
    return digits(value) if unit in ("", "1") else rate(value, unit)


def noise_text(row: Row) -> str:
    """The share of a row's runs that were noisy: `4 %`; `-` where none is called so."""
    return percent(row.noisy_share) if row.runs and row.counts_noise else "-"


def value_text(row: Row | None) -> str:
    """A row's value, with the sign of a bound; `-` where there is none."""
    if row is None or row.value is None:
        return "-"
    return bound(row.relation, quantity_text(row.value.value, row.unit))
