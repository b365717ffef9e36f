"""The line at the foot of a picture: what was measured on, when, of which source, and how disturbed it was."""

from collections.abc import Iterable
from datetime import UTC

from tefflab.readings import disturbed_runs
from tefflab.results import Judgement
from tefflab.store import Sitting


def footer(sitting: Sitting, judgements: Iterable[Judgement]) -> str:
    """`Sample CPU, 2 cores, Linux 6.1 · 2026-11-20 22:00 UTC · teff 1a2b3c4d5e · 3 of 412 runs disturbed`."""
    counts = [disturbed_runs(judgement) for judgement in judgements]
    disturbed, runs = (sum(count[which] for count in counts) for which in (0, 1))
    parts = [
        sitting.machine.summary,
        f"{sitting.started_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC",
        f"teff {sitting.revision.short}",
        f"{disturbed} of {runs} runs disturbed",
    ]
    return " · ".join(parts)
