"""Commands of the user: the time, the CPU time and the memory of each, and the ratio of each two.

A run is one start of a command. The sitting runs all commands in turns. In each turn it runs the first command once
more, under another name. This command seems to differ from itself by some per cent, and the machine can't tell smaller
differences apart.
"""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar, Self

from tefflab.analysis.pairs import paired_ratio
from tefflab.analysis.rows import ByRound, Row, Verdict
from tefflab.analysis.statistics import Interval
from tefflab.benchmarks.benchmark import Ask, Request
from tefflab.benchmarks.case_rows import Fact
from tefflab.benchmarks.cases import ATTEMPTS, CaseBenchmark, CaseEstimates, RepeatedQuestion
from tefflab.errors import InputError
from tefflab.output.last_words import LastWords
from tefflab.output.quantities import digits, duration, percent
from tefflab.output.sections import Section
from tefflab.output.table import Column
from tefflab.records.plan import Case, Plan, Variant
from tefflab.records.record import AnyRecord, Record
from tefflab.records.run import Run
from tefflab.systems.own_command import WORKERS, OwnCommand, own_texts
from tefflab.systems.registry import Registry

_AGAIN = " again"  # behind the first command's id
_MEBIBYTE = 1 << 20


class CommandQuestion(RepeatedQuestion[AnyRecord]):
    """A round is one run. Before the first one the command is run once to warm up what it reads."""

    def round(self) -> Generator[Ask, Sequence[Run[AnyRecord]], None]:
        seconds = self.runs[-1].record.wall_seconds if self.runs else 0.0
        if not self.runs:
            (cold,) = yield Ask(self.case.flags, role="probe")
            seconds = cold.record.wall_seconds
        yield Ask(self.case.flags, attempts=ATTEMPTS, seconds=seconds)


class CommandEstimates(CaseEstimates):
    """A table of each case, one of its pairs of commands, and what can't be told apart here."""

    @property
    def variants(self) -> Sequence[Variant]:
        return [each for each in self.plan.variants if not each.id.endswith(_AGAIN)]

    @cached_property
    def rows(self) -> Sequence[Row]:
        """Of the commands; and of each pair the ratio of their times."""
        return [row for case, rows in self.groups.items() for row in (*rows, *self._pairs(case, rows))]

    def sections(self) -> Sequence[Section]:
        found: list[Section] = []
        for case, rows in self.groups.items():
            where = f", {case.where}" if len(self.groups) > 1 else ""
            known = [row for row in rows if row.value]
            runs = Column("runs", [str(row.rounds) for row in known])
            columns = self.columns(known, runs, "command") if known else []
            found.append(Section(f"{self.plan.title}{where}", columns, self.notes(rows)))
            if pairs := self._pairs(case, rows):
                title = "Each two of them" if len(pairs) > 1 else "Beside itself"
                least = [self._least(case, each) for each in pairs if each.case.endswith(_AGAIN)]
                found.append(Section(f"{title}{where}", _columns_of(pairs), least))
        return found

    def closing(self, again: str, store: str) -> LastWords | None:
        del again, store
        return None

    def _pairs(self, case: Case, rows: Sequence[Row]) -> list[Row]:
        """Of each two commands the ratio of their times, of the runs of the same turns; and of the first to itself."""
        known = sorted((row for row in rows if row.value), key=lambda row: self.variants.index(row.variant))
        again = [self.row(each, case) for each in self.plan.variants if each.id.endswith(_AGAIN)]
        itself = [(row, other) for row in known for other in again if other.value and other.id == f"{row.id}{_AGAIN}"]
        return [
            replace(
                a,
                case=f"beside {b.id}",
                quantity="A / B",
                value=ratio,
                ratio=None,
                unit="1",
                rounds=min(a.rounds, b.rounds),
                noisy_share=max(a.noisy_share, b.noisy_share),
                verdict=_verdict(ratio),
                facts={},
                samples=None,
            )
            for a, b in (*combinations(known, 2), *itself)
            for ratio in [_ratio(a, b)]
        ]

    def _least(self, case: Case, itself: Row) -> str:
        """The difference that can't be seen here, by the ratio of the first command to itself."""
        ratio = itself.value
        if ratio is None or not ratio.is_told:
            return f"What can't be told apart here is not known after {itself.rounds} turns: measure longer"
        every = [run for variant in self.plan.variants for run in self.runs(variant, case)]
        return (
            f"Differences below {percent(max(1 - ratio.low, ratio.high - 1))} can't be seen here in {itself.rounds} "
            f"turns ({duration(sum(run.record.wall_seconds for run in every))} of runs): so much {itself.id} may "
            "differ from itself"
        )


def _ratio(a: Row, b: Row) -> Interval:
    assert isinstance(a.samples, ByRound)
    assert isinstance(b.samples, ByRound)
    ratios = a.samples.ratios_to(b.samples)
    found = paired_ratio(ratios)  # which takes six turns
    return found if found.is_told else a.samples.over(b.samples).after(len(ratios))


def _verdict(ratio: Interval) -> Verdict:
    """The place of the first command of the two."""
    if not ratio.is_told:
        return "unknown"
    return "level" if not ratio.significant else "first" if ratio.value < 1 else "behind"


def _columns_of(pairs: Sequence[Row]) -> list[Column]:
    words = {"first": "significant", "behind": "significant", "level": "not significant", "unknown": "too few runs"}
    values = [row.value for row in pairs if row.value]
    ends = [f"{digits(each.low)} – {digits(each.high)}" if each.is_told else "-" for each in values]
    return [
        Column("A", [row.id for row in pairs], "left"),
        Column("B", [row.case.removeprefix("beside ") for row in pairs], "left"),
        Column("A / B", [digits(each.value) for each in values]),
        Column("95 % interval", ends),
        Column("", [words[row.verdict] for row in pairs], "left"),
    ]


class Commands(CaseBenchmark[Record]):
    name = "command"
    measured = "commands"
    row_word = "command"
    record = Record
    question_type = CommandQuestion
    estimates_type = CommandEstimates
    quantity = "a run"
    meaning = "Time of a run, with 95 % intervals; smaller is better."
    title = "Commands in turns"
    help = "Measure commands of yours, with --- between them, in turns: time, CPU, memory, and which is quicker."
    example = "teff measure -- ./a --threads {workers} --- ./b"
    lesson = "a command costs what it costs"
    options = ()
    of_command: ClassVar = {"minutes": 2, "rounds": 100, "takes_programs": True, "measures_systems": False}
    facts = (
        Fact("cpu_seconds", "CPU", duration, "noise.cpu_seconds"),
        Fact(
            "peak_rss_bytes",
            "peak,\nMiB",
            lambda count: f"{count / _MEBIBYTE:.1f}",
            meaning="empty where it is no more than starting any process takes",
            stays=True,
        ),
        Fact("system_seconds", "of CPU\nsystem", duration),
    )

    def __init__(self, texts: Sequence[str] = ()) -> None:
        ids = [(each, each) for each in texts] + [(each, f"{each}{_AGAIN}") for each in texts[:1]]
        super().__init__()
        self.own_commands = [OwnCommand.of(text, self.name, id_) for text, id_ in ids]
        self.enough = lambda _: False  # each has as many runs as there is time for

    def check(self, registry: Registry, own: Mapping[str, Any]) -> None:
        del registry
        if not own_texts(own):
            raise InputError("name a command behind --, as teff measure -- ./a --- ./b")

    def narrowed(self, own: Mapping[str, Any]) -> Self:
        return type(self)(own_texts(own))

    def resumed(self, plan: Plan) -> Self:
        return type(self)(plan.commands)

    def plan(self, request: Request, title: str, workers: Sequence[int] = ()) -> Plan:
        texts = own_texts(request.own)
        if request.workers and not any(WORKERS in each for each in texts):
            raise InputError(f"--workers: no command has {WORKERS} in it")
        counts = request.workers or workers or (request.cores,)
        cases = tuple(Case(name="run", flags="run", workers=count) for count in counts)
        return Plan(title=title, variants=request.variants, cases=cases, commands=tuple(texts))


BENCHMARK = Commands()
