"""A sitting of the spawn patterns: for each pattern and number of workers, the systems in turn, round after round.

A launch is one process that runs one pattern: memory that another pattern left behind is in no peak. A system that
fails at a pattern is out of that one only. Which launches are made again is decided for a pattern and a number of
workers as a whole, so that each round has all systems beside each other.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from tefflab.analysis.results import Contender
from tefflab.analysis.statistics import is_known
from tefflab.benchmarks.spawn_judge import SpawnCell
from tefflab.benchmarks.spawn_stored import Launch, launches, planned_cells
from tefflab.errors import BAD_INPUT, TeffError
from tefflab.measure.allowance import Allowance
from tefflab.measure.batch import BatchProgram
from tefflab.records.spawn_record import SpawnRecord, parse_spawn_line
from tefflab.records.store import Failure, SpawnRun, Store
from tefflab.systems.systems import Variant

TREES = ("T1", "T1L", "T2", "T3", "T5")
TIMEOUT = 300.0  # seconds for one answer; the largest tree has 10^8 nodes
REPEATS = 3  # measured runs a launch, after one that warms it up
_MOST_RUNS = 2 * REPEATS  # of one launch, where some are disturbed


@dataclass(frozen=True, slots=True)
class SpawnQuestion:
    """One pattern with its parameters."""

    name: str
    flags: str


def questions(patterns: Sequence[str], trees: Sequence[str]) -> list[SpawnQuestion]:
    """The patterns asked for (all where none is), in the report's order. TeffError names what is unknown."""
    known = {
        "serial": SpawnQuestion("serial", "--pattern serial"),
        "parallel": SpawnQuestion("parallel", "--pattern parallel"),
        "fib-both": SpawnQuestion("fib-both", "--pattern fibonacci --spawn both"),
        "fib-one": SpawnQuestion("fib-one", "--pattern fibonacci --spawn one"),
    }
    for name in patterns:
        if name not in (*known, "tree"):
            raise TeffError(f"no pattern is called {name!r}; there are: {' '.join(known)} tree", exit_code=BAD_INPUT)
    for name in trees:
        if name not in TREES:
            raise TeffError(f"no tree is called {name!r}; there are: {' '.join(TREES)}", exit_code=BAD_INPUT)
    chosen = [question for name, question in known.items() if not patterns or name in patterns]
    if not patterns or "tree" in patterns:
        chosen += [SpawnQuestion(f"tree {name}", f"--pattern tree --tree {name}") for name in trees]
    return chosen


@dataclass(frozen=True)
class Spawner:
    """A system that takes part. A sequential one is the floor: it is asked with one worker only, and beats nobody."""

    contender: Contender
    variant: Variant
    is_floor: bool


class SpawnAudience(Protocol):
    """Whoever wants to see how it goes. Called between launches, never during one."""

    def begins(self, turn: int, cell: SpawnCell) -> None:
        """A system is launched."""

    def learned(self, cell: SpawnCell) -> None:
        """A launch is over, well or not."""


@dataclass
class SpawnSitting:
    """What is to be measured, with what, and for how long (`budget` in seconds, `rounds` at most)."""

    root: Path
    store: Store
    sitting: str
    spawners: Sequence[Spawner]
    questions: Sequence[SpawnQuestion]
    workers: Sequence[int]
    audience: SpawnAudience
    budget: float
    rounds: int
    cells: list[SpawnCell] = field(default_factory=list)
    _allowance: Allowance = field(init=False)
    _known: dict[Launch, list[SpawnRecord]] = field(init=False)

    def __post_init__(self) -> None:
        self._allowance = Allowance(self.budget)
        self.cells = planned_cells(
            [each.contender for each in self.spawners],
            {each.contender.id for each in self.spawners if each.is_floor},
            [each.name for each in self.questions],
            self.workers,
            self.store.failures(self.sitting),
        )
        self._known = launches(self.store, self.sitting)

    def run(self) -> None:
        """Until all is known, the budget is spent, or Ctrl-C."""
        groups = [[cell for cell in self.cells if cell.group == group] for group in self._groups()]
        for turn in range(self.rounds):
            left = [group for group in groups if not self._is_settled(group, turn)]
            if not left:
                return
            for group in left:
                order = [cell for cell in group if not cell.failure]
                random.Random(f"{turn} {group[0].group}").shuffle(order)
                for cell in order:
                    if self._allowance.is_spent(rounds=turn):
                        return
                    self._launch(cell, turn)

    def _groups(self) -> list[tuple[str, int]]:
        return list(dict.fromkeys(cell.group for cell in self.cells))

    def _is_settled(self, group: Sequence[SpawnCell], turn: int) -> bool:
        alive = [cell for cell in group if not cell.failure]
        return not alive or (turn > 2 and all(is_known(cell.seconds_per_task()) for cell in alive))

    def _launch(self, cell: SpawnCell, turn: int) -> None:
        """One launch, out of the store where it has a whole one."""
        known = self._known.get((turn, cell.contender.id, *cell.group), [])
        if len(known) == _MOST_RUNS or sum(not record.is_disturbed for record in known) == REPEATS:
            for record in known:
                cell.add(turn, record)
            return
        self.audience.begins(turn, cell)
        spawner = next(each for each in self.spawners if each.contender == cell.contender)
        flags = next(each.flags for each in self.questions if each.name == cell.question)
        try:
            self._ask(spawner.variant, cell, turn, flags)
        except TeffError as failure:
            cell.failure = str(failure).removeprefix(f"{spawner.variant.id}: ")  # whose it is stands beside it
            self.store.append_failure(
                Failure(
                    sitting=self.sitting,
                    round=turn,
                    system_id=cell.contender.id,
                    reason=cell.failure,
                    question=cell.question,
                    workers=cell.workers,
                )
            )
        self.audience.learned(cell)

    def _ask(self, variant: Variant, cell: SpawnCell, turn: int, flags: str) -> None:
        words = [*variant.command_line(self.root, cell.workers), "--workers", str(cell.workers)]
        environment = variant.environment_for(self.root, cell.workers)
        with BatchProgram(variant.id, words, environment) as program:
            calm = 0
            for attempt in range(1 + _MOST_RUNS):
                record = parse_spawn_line(program.ask_for_text(flags, TIMEOUT))
                self._keep(cell, turn, attempt, program.command, flags, record)
                if record.error is not None:
                    raise TeffError(record.error)
                if attempt == 0:
                    continue
                cell.add(turn, record)
                calm += not record.is_disturbed
                if calm == REPEATS:
                    break

    def _keep(self, cell: SpawnCell, turn: int, attempt: int, command: str, flags: str, record: SpawnRecord) -> None:
        self.store.append_spawn(
            SpawnRun(
                sitting=self.sitting,
                round=turn,
                system_id=cell.contender.id,
                question=cell.question,
                workers=cell.workers,
                attempt=attempt,
                command=command,
                flags=flags,
                record=record,
            )
        )
