"""The pictures of a sitting of spawn patterns: one a pattern, after figures 4.1 to 4.4 of SAND2012-10594."""

import re
from collections.abc import Iterator, Sequence

from matplotlib.figure import Figure

from tefflab.benchmarks.spawn_judge import SpawnRow
from tefflab.output.plots import signature, spawn_chart
from tefflab.output.quantities import percent
from tefflab.records.store import Sitting


def spawn_pictures(stem: str, title: str, rows: Sequence[SpawnRow], head: Sitting) -> Iterator[tuple[str, Figure]]:
    """Each picture with the name of its files, which begins with `stem`. What nobody was measured at is not drawn."""
    for question in dict.fromkeys(row.question for row in rows):
        alike = [row for row in rows if row.question == question]
        if any(row.seconds_per_task for row in alike):
            worst = max(row.disturbed_share for row in alike)
            foot = signature(head, f"at most {percent(worst)} of a system's runs noisy")
            yield (
                re.sub(r"[^a-z0-9]+", "-", f"{stem} {question}".lower()),
                spawn_chart(alike, f"{title} – {question}", foot),
            )
