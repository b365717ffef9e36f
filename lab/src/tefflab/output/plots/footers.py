"""The line at the foot of a picture: machine, date, source and noise of the measurement."""

from datetime import UTC

from tefflab.records.run import Sitting


def signature(sitting: Sitting, *remarks: str) -> str:
    """`Sample CPU, 2 cores, Linux 6.1 · 2026-11-20 22:00 UTC · teff 1a2b3c4d5e · REMARK`."""
    parts = [
        sitting.machine.summary,
        f"{sitting.started_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC",
        f"teff {sitting.revision.short}",
        *remarks,
    ]
    return " · ".join(part.replace(" ", "\N{NO-BREAK SPACE}") for part in parts)  # lines end between two parts
