"""Contention: the cases of other kinds of benchmark beside a competitor that takes a share of chosen cores.

After Ganguly and Lange, "The effect of asymmetric performance on asynchronous task based runtimes" (ROSS 2017). With a
competitor's share c of one of n cores, a program should need n / (n - c) times as long. It should not need longer than
without that core.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from typing import Any, ClassVar, Self

from tefflab.benchmarks.benchmark import Experiment, Option, Request
from tefflab.benchmarks.cases import CaseBenchmark
from tefflab.benchmarks.contention.estimates import ContentionEstimates
from tefflab.benchmarks.contention.plan import SHARES, ContentionPlan, chosen_kinds, kinds_there, loads_of, plan
from tefflab.host.load import KINDS
from tefflab.records.plan import Case, Plan, Variant
from tefflab.records.record import Record
from tefflab.systems.naming import parsed
from tefflab.systems.own_command import OwnCommand, own_texts
from tefflab.systems.systems import Program, System, best_of


class ContentionExperiment(Experiment):
    """The options of the command, as keys."""

    cases: tuple[str, ...] = ()
    load: str = ""

    def plan(self, request: Request) -> Plan:
        own = self.model_dump(include={"cases", "load"})
        return plan(replace(request, own=own), self.title).model_copy(update={"experiment": self.name})


class Contention(CaseBenchmark[Record]):
    """A variant is a system's best way to run the cases of another kind; each share is measured in the same rounds."""

    name = "contention"
    measured = "contention"
    record = Record
    plan_type = ContentionPlan
    estimates_type = ContentionEstimates
    experiment_type = ContentionExperiment
    quantity = "a run"
    meaning = "Time of a run, with 95 % intervals; smaller is better."
    title = "A shared core"
    help = (
        "Measure how systems share a core: their time beside a competitor that takes more and more of it.\n\n"
        "Beside it stand the ideal time, and the time without that core. If no load is said, it is "
        f"{KINDS[0]}:{SHARES} on the last core."
    )
    example = "teff contention --cases spawn --load spin:25,50@1 --minutes 15"
    options = (
        Option("--cases"),
        Option("--load"),
        Option("--command", now="teff contention -- COMMAND"),
        Option("--shares", now="--load spin:P,Q"),
        Option("--cores", now="--load spin:P,Q@CORES"),
        Option("--period", now="--load spin:P,Q/PERIOD"),
    )
    of_command: ClassVar = {"takes_one_number": True, "is_alone": True, "takes_programs": True}
    lesson = "a program that shares a core should use all that is left of it"

    def __init__(self, kinds: Sequence[str] = (), commands: Sequence[str] = ()) -> None:
        """With the programs of these kinds only; without any, of all. Or with the user's own commands."""
        super().__init__()
        self._kinds = kinds
        ids = ["command", *(f"command-{number}" for number in range(2, len(commands) + 1))]
        self.own_commands = [OwnCommand.of(*own) for own in zip(commands, repeat(self.name), ids, strict=False)]

    def check(self, own: Mapping[str, Any]) -> None:
        chosen_kinds(own["cases"])
        loads_of(own)

    def plan(self, request: Request, title: str, workers: Sequence[int] = ()) -> Plan:
        del workers
        return plan(request, title)

    def narrowed(self, own: Mapping[str, Any]) -> Self:
        if commands := own_texts(own):
            return type(self)(commands=commands)
        return type(self)(list(chosen_kinds(own["cases"])))

    def resumed(self, plan: Plan) -> Self:
        return type(self)(commands=plan.commands)

    def programs(self, system: System) -> list[Program]:
        """`SYSTEM/KIND` is the best one of a kind, `SYSTEM/KIND.NAME` another. Their long names are as usual."""
        return [
            each.with_id(kind.name if each is best_of(own) else f"{kind.name}.{each.name}")
            for kind in kinds_there()
            if not self._kinds or kind.name in self._kinds
            for own in [kind.programs(system)]
            for each in own
        ]

    def asks(self, variant: Variant, case: Case) -> bool:
        return not case.group or parsed(variant.id).way.partition(".")[0] == case.group

    def company(self, case: Case) -> str:
        return case.name


BENCHMARK = Contention()
