"""The line at the foot of a picture: machine, date, source and noise of the measurement."""

from collections.abc import Sequence
from datetime import UTC

from tefflab.analysis.results import MeasuredCase
from tefflab.output.readings import apart, noisy_runs
from tefflab.records.run import Sitting


def footer(sitting: Sitting, cases: Sequence[MeasuredCase]) -> str:
    """`Sample CPU, 2 cores, Linux 6.1 · 2026-11-20 22:00 UTC · teff 1a2b3c4d5e · 3 of 412 runs noisy`."""
    counts = [noisy_runs(case) for case in cases]
    noisy, runs = (sum(count[which] for count in counts) for which in (0, 1))
    return signature(
        sitting,
        *(text for first in cases[:1] for text in apart(first)),
        f"{noisy} of {runs} runs noisy",
    )


def signature(sitting: Sitting, *remarks: str) -> str:
    """Machine, time and source, and further remarks."""
    parts = [
        sitting.machine.summary,
        f"{sitting.started_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC",
        f"teff {sitting.revision.short}",
        *remarks,
    ]
    return " · ".join(part.replace(" ", "\N{NO-BREAK SPACE}") for part in parts)  # lines end between two parts
