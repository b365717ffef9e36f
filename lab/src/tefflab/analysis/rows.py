"""The row: one value of one variant at one case. Tables, pictures, reports, exports and comparisons read rows alone.

An estimate of a sitting is its rows (`tefflab.benchmarks.benchmark.Estimates`); nothing here measures or draws.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self

import numpy as np

from tefflab.analysis.crossing import Relation
from tefflab.analysis.statistics import Interval, ratio_interval
from tefflab.records.plan import Variant

Verdict = Literal["floor", "first", "level", "behind", "unknown", "failed"]  # unknown: of too few rounds

NO_TURN = "no turn in the time"  # why nothing is known of a system:
ELSEWHERE = "measured at another distance of the cores only"
BUSY = "the machine was so busy that runs beat the ceiling beside them"  # anything else is how it failed


class Samples(ABC):
    """What a value was estimated from, round by round."""

    @property
    @abstractmethod
    def rounds(self) -> int:
        """How many it is known from."""

    @abstractmethod
    def over(self, other: Self) -> Interval:
        """The ratio of the value to another system's in the same sitting."""

    def ratios_to(self, other: Self) -> Sequence[float]:
        """The same ratio in each round that both have; none if it is not known by rounds."""
        del other
        return []


@dataclass(frozen=True, slots=True)
class ByRound(Samples):
    """Measurements of the value itself, by round."""

    values: Mapping[int, Sequence[float]]

    @property
    def rounds(self) -> int:
        return len(self.values)

    def over(self, other: Self) -> Interval:
        return ratio_interval(self.values, other.values)

    def ratios_to(self, other: Self) -> Sequence[float]:
        common = sorted(self.values.keys() & other.values.keys())
        return [float(np.median(self.values[each]) / np.median(other.values[each])) for each in common]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One value of one variant at one case. `value` is None where there is none; `note` then says why."""

    kind: str  # of benchmark
    variant: Variant
    case: str  # its name
    where: str = ""  # what tells it from rows of the same case, as people read it: "2 workers"
    configuration: str  # flags of the case, and what else tells its runs from those of other cases
    quantity: str  # of which this is the value: "a task", "METG(50 %)"
    is_beside: bool = False  # a further number of the same runs, not the one that the case is about
    value: Interval | None = None  # in `unit`; the less, the better, if it is a time
    unit: str = "s"
    workers: int = 1  # of all nodes together
    nodes: int | None = None  # None: the machine of the lab
    x: float | None = None  # the case's place on the axis of the varied parameter
    group: str = ""  # of cases that share a picture
    ratio: Interval | None = None  # to the first system's value
    verdict: Verdict = "unknown"  # its place among the rows of the case
    rounds: int = 0
    runs: int = 0  # all, repeats included
    noisy_share: float = 0.0  # of its runs
    round_trip: float | None = None  # how far apart the cores were [s], where that is known
    note: str = ""
    facts: Mapping[str, float | None] = field(default_factory=dict)  # further numbers, by name
    samples: Samples | None = field(default=None, compare=False, repr=False)

    @property
    def id(self) -> str:
        """Of its variant."""
        return self.variant.id

    @property
    def place(self) -> str:
        """`short, 2 workers`."""
        return ", ".join(filter(None, (self.case, self.where)))

    @property
    def counts_noise(self) -> bool:
        """Whether a run of it may be noisy. Over several nodes and where nodes are simulated, detours are a part of the
        result."""
        return (self.nodes or 1) == 1 and not self.variant.simulated

    @property
    def competes(self) -> bool:
        """Whether it is compared with others."""
        return not self.variant.is_floor

    @property
    def question(self) -> tuple[str, str, int, str]:
        """Rows of two systems or sittings may be compared if these are equal, and the distances of the cores alike. The
        last one is the simulated cluster, without the model of its noise."""
        return self.quantity, self.configuration, self.workers, self.variant.cluster

    @property
    def number_of_rounds(self) -> int:
        """That the value is known from."""
        return self.samples.rounds if self.samples else self.rounds

    @property
    def relation(self) -> Relation:
        """Of what is measured to the value, which may be a bound."""
        return self.value.relation if self.value else "="

    @property
    def is_told(self) -> bool:
        """Whether there is a value with an interval that says anything."""
        return self.value is not None and self.value.is_told

    def to_json(self) -> dict[str, Any]:
        """What every row has, then its facts. An open end of an interval is None."""
        return {
            "benchmark": self.kind,
            "system_id": self.variant.id,
            "title": self.variant.title,
            "version": self.variant.version,
            "simulated": self.variant.simulated,
            "case": self.case,
            "configuration": self.configuration,
            "workers": self.workers,
            "nodes": self.nodes,
            "x": self.x,
            "group": self.group,
            "quantity": self.quantity,
            "is_beside": self.is_beside,
            **(self.value.to_json() if self.value else {"value": None, "low": None, "high": None}),
            "relation": self.relation,
            "unit": self.unit,
            "ratio_to_first": self.ratio and self.ratio.to_json(),
            "verdict": self.verdict,
            "rounds": self.rounds,
            "runs": self.runs,
            "noisy_share": self.noisy_share,
            "round_trip": self.round_trip,
            "note": self.note,
            **{name: each if each is None or math.isfinite(each) else None for name, each in self.facts.items()},
        }
