"""A sitting: variants one after another, round after round, until all is known or the time is spent.

docs/explanation/sitting.md has the rules and their reasons. A variant that fails is left out from then on, with its
reason; the others go on, and its runs stay. A sitting that is resumed tries it once more.
"""

import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from tefflab.analysis.distance import OFTEN, alike, is_at, places
from tefflab.analysis.statistics import FEWEST_ROUNDS, Progress
from tefflab.benchmarks.benchmark import Round
from tefflab.errors import TeffError
from tefflab.measure.batch import LackingError, LateError, LostAllocationError, LostNodeError
from tefflab.measure.next_round import WIDE, Standing, least_served, lot, next_round, rounds_missing, wanted_half_widths
from tefflab.measure.runner import Runner
from tefflab.measure.time_budget import TimeBudget
from tefflab.output.live import LiveTable
from tefflab.output.quantities import counted_minutes, duration
from tefflab.records.plan import Case
from tefflab.records.run import Failure, in_time
from tefflab.records.store import UnwritableError
from tefflab.systems.systems import Program

_End = Literal["over", "cut off", "set aside", "too long"]  # of a round; too long is a run for the time that is left

_DEAR = 2  # times its share of the sitting, for three rounds of all
_TELLING = 12  # rows, which tell about how long the others take
_LATE = 1  # rounds in which a system may fail to answer in time: the machine may have been busy
_FROM_STORE = 0.01  # a round that takes no more seconds was read from the store


@dataclass(frozen=True)
class Known:
    """The state at one distance of the cores: the progress of each question, after so many rounds."""

    round_trip: float | None
    progress: Sequence[Progress | None]
    rounds: int


@dataclass
class Entry:
    """The questions to a variant, round after round, and their history."""

    round: Round[Any]
    program: Program
    failed_before: Failure | None = None  # its failure in the store, without an answer since
    foreseen: float = 0.0  # seconds of a round, before it has had one
    failure: str = ""
    too_long: float = 0.0  # seconds of its next run, if there is no time left for it
    rounds: int = 0
    seconds: list[float] = field(default_factory=list)  # of its rounds so far
    late: int = 0  # rounds that were given up because it did not answer in time
    parts: int = 0  # questions that its round has answered
    seconds_before: float = 0.0  # of its first round until it was set aside for other first rounds
    _known: list[Known] = field(default_factory=list)  # since the last of its rounds

    @property
    def is_set_aside(self) -> bool:
        """Whether its first round was cut off in favour of other first rounds, and is not over yet."""
        return self.seconds_before > 0

    @property
    def is_out(self) -> bool:
        """Whether it has no more rounds."""
        return bool(self.failure or self.too_long)

    @property
    def has_no_turn(self) -> bool:
        """Whether it waits for its first round, which was not even begun."""
        return not (self.rounds or self.is_set_aside or self.is_out)

    @property
    def turn(self) -> tuple[int, bool, bool, float]:
        """Its place in its company, the first to go first."""
        return self.rounds, self.is_set_aside, self.program.slow_start, lot(self.round.variant.id, self.rounds)

    @property
    def seconds_a_round(self) -> float:
        """The usual one, of those that were not taken from the store, which takes no time; else the foreseen one."""
        own = [each for each in self.seconds if each > _FROM_STORE]
        return statistics.median(own) if own else self.foreseen

    def at(self, round_trip: float | None) -> Known:
        """The state from its runs at this distance of the cores, for any distance at the end of their round. Several
        nodes have none."""
        round_trip = None if self.round.nodes > 1 else round_trip
        for known in self._known:
            if alike(known.round_trip, round_trip):
                return known
        runs = [run for question in self.round.questions for run in question.runs]
        rounds = {run.round for run in runs if is_at(run.round_trips, round_trip)}
        progress = [question.progress(round_trip) for question in self.round.questions]
        self._known.append(Known(round_trip, progress, len(rounds)))
        return self._known[-1]

    def add_round(self, seconds: float) -> None:
        """Another round is over: the state before it is out of date."""
        self.rounds += 1
        self.seconds.append(seconds + self.seconds_before)
        self.parts, self.seconds_before = 0, 0.0
        self._known.clear()

    def set_aside(self, seconds: float) -> None:
        """Its first round took so long as yet, and goes on after the first rounds of others."""
        self.seconds_before += seconds
        self._known.clear()


@dataclass
class Sitting:
    """The entries of a sitting, and their limits: `budget` in seconds, `rounds` of each at most."""

    entries: Sequence[Entry]
    runner: Runner[Any]
    observer: LiveTable
    budget: float
    rounds: int
    is_enough: Callable[[], bool] | None = None  # given: all have equally many rounds until it says so
    _time: TimeBudget = field(init=False)
    _latest: str | None = None  # the company that had the last round
    _is_foretold: bool = False

    def __post_init__(self) -> None:
        self._time = TimeBudget(self.budget)

    def run(self) -> None:
        """Runs until all is known, the budget is spent, or Ctrl-C, which leaves everything fit to be estimated."""
        while not self._is_over():
            self._foretell()
            company = self._next()
            if company is None:
                return
            self._measure(min(company, key=lambda each: each.turn))

    def _next(self) -> list[Entry] | None:
        """A company in the middle of a round. If all are to have equally many rounds, the company with the fewest. Else
        the company that is furthest from its wanted precision at the present distance of the cores. At a rare distance
        no precision is wanted: until the host moves the cores back, the company with the least time is next."""
        left = self._companies()
        for company in left.values():
            if len({each.rounds for each in company}) > 1:
                return company
        if self.is_enough is not None:
            over = not left or self.is_enough()
            return None if over else min(left.values(), key=lambda company: company[0].rounds)
        runs = [run for each in self.entries for question in each.round.questions for run in question.runs]
        here = self.runner.round_trip
        waiting: dict[str, list[Entry]] = {}
        main, *others = places(run.round_trips for run in in_time(runs))
        for place in (main, *(each for each in others if each is not None and each.share >= OFTEN)):
            trip, share = (place.round_trip, place.share) if place else (None, 1.0)
            standings = self._standings(trip, left)
            waiting |= {each.id: left[each.id] for each in standings if each.to_wanted}
            if alike(trip, here):
                seconds_left = (self.budget - self._time.spent) * share
                chosen = next_round(standings, seconds_left, self._latest, goes_on=self.runner.goes_on)
                if chosen is not None:
                    return left[chosen]
        served = {
            name: (sum(sum(each.seconds) for each in company), sum(each.seconds_a_round for each in company))
            for name, company in waiting.items()
        }
        chosen = least_served(served)
        return left[chosen] if chosen is not None else None

    def _companies(self) -> dict[str, list[Entry]]:
        """The companies that may have a round, by name. While any variant waits for its first round, those whose first
        round was set aside wait."""
        alive: dict[str, list[Entry]] = {}
        for each in self.entries:
            if not each.is_out:
                alive.setdefault(self._company(each), []).append(each)
        left = {name: those for name, those in alive.items() if min(each.rounds for each in those) < self.rounds}
        if any(each.has_no_turn for those in left.values() for each in those):
            left = {name: those for name, those in left.items() if not those[0].is_set_aside}
        return left

    def _company(self, entry: Entry) -> str:
        company = entry.round.company
        return f"{company}, {entry.round.variant.id}" if self._is_dear(entry) else company

    def _is_dear(self, entry: Entry) -> bool:
        """Whether a round of it takes so much more than its share of the time that it has its rounds by itself."""
        if self.is_enough is not None:
            return False
        share = self.budget / (FEWEST_ROUNDS * max(sum(not each.is_out for each in self.entries), 1))
        return entry.is_set_aside or entry.seconds_a_round > _DEAR * share

    def _foreseen(self, entry: Entry) -> float:
        """Seconds of a round: the usual ones of this entry, or of the others while nothing tells them; 0 at first."""
        known = [each.seconds_a_round for each in self.entries if each.seconds_a_round and not each.is_out]
        return entry.seconds_a_round or (statistics.fmean(known) if known else 0.0)

    def _foretell(self) -> None:
        """Says how long three rounds of all take, if the time does not suffice, once enough of them tell it."""
        left = [each for each in self.entries if not each.is_out]
        known = sum(each.seconds_a_round > 0 for each in left)
        if self._is_foretold or self.is_enough is not None or known < min(_TELLING, len(left)):
            return
        self._is_foretold = True
        missing = sum(max(FEWEST_ROUNDS - each.rounds, 0) * self._foreseen(each) for each in left)
        if self._time.spent + missing > self.budget:
            minutes = math.ceil((self._time.spent + missing) / 60)
            first = "those with the fewest rounds" if self.runner.goes_on else "the quickest rows"
            self.observer.told(
                f"an interval needs {FEWEST_ROUNDS} launches: those of all rows take about {counted_minutes(minutes)} "
                f"(--minutes {minutes}); {first} come first"
            )

    def _standings(self, round_trip: float | None, left: Mapping[str, Sequence[Entry]]) -> list[Standing]:
        """The rounds that each company lacks at a distance of the cores, by the row that lacks most."""
        tables: dict[Case, dict[str, Progress | None]] = {}
        for entry in self.entries:
            for question, seen in zip(entry.round.questions, entry.at(round_trip).progress, strict=True):
                tables.setdefault(question.case, {})[entry.round.variant.id] = seen
        wanted = {case: wanted_half_widths(table) for case, table in tables.items()}

        def standing(name: str, company: Sequence[Entry]) -> Standing:
            rows = [
                (seen, wanted[question.case][entry.round.variant.id], known.rounds)
                for entry in company
                for known in [entry.at(round_trip)]
                for question, seen in zip(entry.round.questions, known.progress, strict=True)
            ]
            return Standing(
                name,
                min(entry.at(round_trip).rounds for entry in company),
                sum(map(self._foreseen, company)),
                max(rounds_missing(seen, WIDE, rounds) for seen, _, rounds in rows),
                max(rounds_missing(seen, half, rounds) for seen, half, rounds in rows),
                any(entry.program.slow_start for entry in company),
                self._is_dear(company[0]),
            )

        return [standing(name, company) for name, company in left.items()]

    def _is_over(self) -> bool:
        return self._time.is_spent(min((each.rounds for each in self.entries if not each.is_out), default=0))

    def _measure(self, entry: Entry) -> None:
        began = time.monotonic()
        one, number = entry.round, entry.rounds
        end: _End = "cut off"
        try:
            with self.runner.begin(one, entry.program):
                end = self._ask(entry, self._time.spent + self._turn(entry))
        except (UnwritableError, LostAllocationError):
            raise
        except TeffError as failure:
            asked = one.questions[min(entry.parts, len(one.questions) - 1)]  # the last, where it failed to end
            self._give_up(entry, failure, asked.case.configuration)
            if isinstance(failure, LateError) and any(each.has_no_turn for each in self.entries):
                self._time.give_back(time.monotonic() - began)
            return
        finally:
            if end == "set aside":
                entry.set_aside(time.monotonic() - began)
            else:
                entry.add_round(time.monotonic() - began)
            self._latest = self._company(entry)
        if end == "over" and entry.failed_before and number >= entry.failed_before.round:
            self.runner.give_up(one, number, reason="", at="")
            entry.failed_before = None
        known = [each for each in entry.at(self.runner.round_trip).progress if each]
        if end == "too long" and not known:
            place = one.case.place if one.case else ""
            reason = f"left out: a run takes about {duration(entry.too_long)}, and there is no time for that"
            self.observer.failed(one.variant.id, place, reason)
            return
        self.observer.learned(one.variant.id, known, is_whole=end == "over", is_from_store=self.runner.is_from_store)

    def _ask(self, entry: Entry, turn_ends: float) -> _End:
        """The questions of a round that are not answered yet."""
        one, number = entry.round, entry.rounds
        is_first = entry.has_no_turn and any(
            each is not entry and each.rounds < FEWEST_ROUNDS and not each.is_out and not self._is_dear(each)
            for each in self.entries
        )

        def is_over(seconds: float) -> bool:
            if not entry.rounds:
                entry.foreseen = max(entry.foreseen, seconds)
            entry.too_long = seconds if self._time.lacks(seconds) else 0.0
            is_aside = self._time.spent > turn_ends or (is_first and self._is_dear(entry))
            return bool(entry.too_long) or is_aside or self._time.lacks()

        for question in one.questions[entry.parts :]:
            if self._is_over():
                return "cut off"
            self.observer.begins(one.variant.id, number, question.case.place, entry.parts + 1, len(one.questions))
            runs, is_whole = self.runner.ask(question, number, is_over)
            if not is_whole and not entry.too_long and not self._time.lacks():
                self.runner.put_back(runs)
                return "set aside"
            question.add([run for run in runs if run.role == "system"])
            if not is_whole:
                return "too long" if entry.too_long else "cut off"
            entry.parts += 1
        return "over"

    def _turn(self, entry: Entry) -> float:
        """Seconds after which a first round is set aside; infinite if no other variant waits for a first round."""
        waiting = sum(each.has_no_turn for each in self.entries)
        if self.is_enough is not None or not entry.has_no_turn or waiting < 2:
            return math.inf
        left = self.budget - self._time.spent
        others = [each.seconds[0] for each in self.entries if each.seconds and each.seconds[0] > _FROM_STORE]
        usual = statistics.median(others) if others else 0.0
        return max(min(2 * left / waiting, left / 2), 2 * usual)

    def _give_up(self, entry: Entry, failure: TeffError, at: str) -> None:
        """A round is lost; the variant is out unless it was merely late, and that is its first failure. The store keeps
        the failure of one that has too few rounds for an interval, until it answers again. Its runs count."""
        one = entry.round
        reason = str(failure).removeprefix(f"{one.variant.id}: ")  # the owner of the time stands beside it
        entry.late += isinstance(failure, LateError)
        is_out = not isinstance(failure, LateError) or entry.late > _LATE or entry.failed_before is not None
        if is_out:
            entry.failure = reason
        if is_out or entry.rounds < FEWEST_ROUNDS:
            is_lost = isinstance(failure, LostNodeError) or not is_out
            why = {"lacks": isinstance(failure, LackingError), "lost": is_lost}
            entry.failed_before = self.runner.give_up(one, entry.rounds, reason, at, **why)
        self.observer.failed(one.variant.id, one.case.place if one.case else "", reason)
        if isinstance(failure, LostNodeError):  # nor would it answer the others
            for other in self.entries:
                if not other.is_out and other.round.nodes >= one.nodes:
                    other.failure = reason
                    self.runner.give_up(other.round, other.rounds, reason, at="", lost=True)
