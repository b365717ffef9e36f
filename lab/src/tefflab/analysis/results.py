"""The results of a sitting: METG rows and efficiency curves of task graphs, rows of cases of other kinds of benchmark.
Tables, plots and reports read these.

One object of each kind is one line of a table or one curve of a picture; nothing here measures or draws.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tefflab.analysis.statistics import FEWEST_ROUNDS, Interval, MetgEstimate
from tefflab.json_lines import finite
from tefflab.records.plan import Variant, counted_workers

NO_TURN = "no turn in the time"  # why nothing is known of a system:
ELSEWHERE = "measured at another distance of the cores only"
BUSY = "the machine was so busy that runs beat the ceiling beside them"  # anything else is how it failed
BEYOND = 1.25  # times the ceiling beside it, from which a run says that the ceiling was disturbed, and nothing else

_ROUGH = 2.0  # METG(50 %) is about twice the overhead: one that may be twice as long may be METG itself


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One size of task on one system: medians over the rounds, with their 95 % intervals."""

    iterations: int
    granularity: Interval  # seconds
    efficiency: Interval  # share of the adjacent ceiling; value 0 where the kernel has no rate (empty tasks)
    rate: Interval  # in the curve's rate_unit
    work_per_task: float  # FLOPs or bytes of a task, by rate_unit: the published figures' problem size
    runs: int
    noisy: int  # runs among them that stayed noisy after all repeats


@dataclass(frozen=True, slots=True)
class TracePoint:
    """A place on the line that is drawn through a system's points (`trace.py`)."""

    ideal: float  # seconds that the task takes at the ceiling's rate
    efficiency: float
    band: tuple[float, float] | None = None  # efficiencies; None where METG was not read from this part of the line

    @property
    def granularity(self) -> float:
        return self.ideal / self.efficiency


@dataclass(frozen=True, slots=True)
class Curve:
    """A system's points, by rising iterations."""

    variant: Variant
    rate_unit: str  # "FLOP/s", "B/s" or "task/s"
    points: tuple[CurvePoint, ...]
    ceiling: Interval | None = None  # in rate_unit, over the ceiling runs beside its own
    trace: tuple[TracePoint, ...] = ()  # from left to right


@dataclass(frozen=True, slots=True)
class MetgRow:
    """A line of the METG table. `metg` is None if nothing could be measured, or if the system failed, even after some
    runs; `note` then says why."""

    variant: Variant
    threshold: float
    metg: MetgEstimate | None
    overhead: Interval | None  # seconds: the granularity of empty tasks
    ceiling: Interval | None  # in ceiling_unit, over the ceiling runs beside this system's
    ceiling_unit: str
    rounds: int
    runs: int  # all, repeats included
    noisy_share: float  # of all runs: those found noisy (each was repeated)
    timesteps: int  # the fewest of its runs
    note: str = ""

    @property
    def known_overhead(self) -> Interval | None:
        """The overhead, where enough rounds tell it to a factor of two each way."""
        is_known = self.overhead and self.rounds >= FEWEST_ROUNDS and self.overhead.is_within(_ROUGH)
        return self.overhead if is_known else None

    def to_json(self) -> dict[str, Any]:
        """As the store keeps it and `--json` prints it: plain values, infinite ends as None."""
        return {
            "system_id": self.variant.id,
            "title": self.variant.title,
            "version": self.variant.version,
            "threshold": self.threshold,
            "metg": finite(self.metg),
            "overhead": finite(self.overhead),
            "ceiling": finite(self.ceiling) | {"unit": self.ceiling_unit} if self.ceiling else None,
            "rounds": self.rounds,
            "repeats": self.runs,
            "noisy_share": self.noisy_share,
            "timesteps": self.timesteps,
            "note": self.note,
        }


@dataclass(frozen=True, slots=True)
class MeasuredCase:
    """Everything a sitting says about one case while the cores were so far apart (`distance.py`)."""

    name: str  # "stencil_1d", or what the varied parameter is: "radix 5"
    flags: str  # of the case, without steps and iterations
    threshold: float
    rows: tuple[MetgRow, ...]  # the smallest METG first; empty where only curves were measured
    curves: tuple[Curve, ...]
    round_trip: float | None = None  # seconds: the distance of the cores, if it is known
    missing: tuple[tuple[Variant, str], ...] = ()  # if only curves were measured: variants without a curve, and why
    share: float = 1.0  # of the sitting's runs that were made at this distance
    others: tuple["MeasuredCase", ...] = ()  # the same case at other distances
    steps: int | None = None  # of every run, if the user gave a number
    minutes: int | None = None  # that variants without a turn need, about; None if there are none, or it is unknown


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a variant at one case, from so many rounds. A sitting shows it and chooses rounds by it."""

    case: str
    value: Interval
    foreseen: float  # the half-width that foretells how many more rounds it needs: that of an open interval, too
    rounds: int

    @property
    def half_width(self) -> float:
        """Relative; infinite if the rounds are too few for an interval."""
        return self.value.relative_half_width if self.rounds >= FEWEST_ROUNDS else math.inf


Verdict = Literal["floor", "first", "level", "behind", "unknown", "failed"]  # unknown: of too few rounds


@dataclass(frozen=True)
class CaseRow:
    """A line of a case's table. Numbers are None where the system failed; `note` then says why.

    `keys`: the JSON keys of the case and of its value, which is a time: the less, the better.
    """

    variant: Variant
    case: str
    workers: int
    value: Interval | None  # seconds
    ratio: Interval | None  # to the first system's value
    verdict: Verdict
    facts: Mapping[str, float | None]  # its other numbers, as JSON calls them
    rounds: int
    noisy_share: float
    note: str
    keys: tuple[str, str] = ("case", "seconds")

    @property
    def is_told(self) -> bool:
        """Whether the value has an interval that says anything."""
        return self.value is not None and self.value.is_told

    @property
    def place(self) -> str:
        """`short, 2 workers`."""
        return f"{self.case}, {counted_workers(self.workers)}"

    def to_json(self) -> dict[str, Any]:
        return {
            "system_id": self.variant.id,
            "title": self.variant.title,
            "version": self.variant.version,
            self.keys[0]: self.case,
            "workers": self.workers,
            self.keys[1]: finite(self.value),
            "ratio_to_first": finite(self.ratio),
            "verdict": self.verdict,
            **self.facts,
            "rounds": self.rounds,
            "noisy_share": self.noisy_share,
            "note": self.note,
        }
