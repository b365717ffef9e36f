"""Contention: the cases of other kinds of benchmark beside a competitor that takes a share of chosen cores.

After Ganguly and Lange, "The effect of asymmetric performance on asynchronous task based runtimes" (ROSS 2017). With a
competitor's share c of one of n cores, a program should need n / (n - c) times as long. It should not need longer than
without that core.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from typing import Any, ClassVar, Self

from tefflab.benchmarks.benchmark import AnyBenchmark, Experiment, Option, Request, benchmarks
from tefflab.benchmarks.cases import CaseBenchmark, ListedCase, choose, listed_here, words_of
from tefflab.benchmarks.contention.estimates import ContentionEstimates, ContentionPlan
from tefflab.errors import InputError, TeffError
from tefflab.host.load import KINDS, Load
from tefflab.records.plan import Case, Plan, Variant, counted_workers
from tefflab.records.record import Record
from tefflab.systems.naming import parsed
from tefflab.systems.own_command import OwnCommand, own_texts
from tefflab.systems.programs import ask_cases
from tefflab.systems.registry import Registry
from tefflab.systems.systems import Program, System, best_of

COLUMNS = 8  # of a graph, for each worker
SHARES = "10,25,50,75,90"  # of a core, in per cent, where the user does not say them


class ContentionExperiment(Experiment):
    """The options of the command, as keys."""

    cases: tuple[str, ...] = ()
    load: str = ""

    def plan(self, request: Request) -> Plan:
        own = self.model_dump(include={"cases", "load"})
        return BENCHMARK.plan(replace(request, own=own), self.title).model_copy(update={"experiment": self.name})


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

    def check(self, registry: Registry, own: Mapping[str, Any]) -> None:
        kinds = {each.name: each for each in kinds_there()}
        for name, cases in chosen_kinds(own["cases"]).items():
            if listed := listed_here(registry, kinds[name]):
                choose(listed, cases)
        loads_of(own)

    def plan(self, request: Request, title: str, workers: Sequence[int] = ()) -> ContentionPlan:
        """TeffError where no program lists the cases, or there are more workers than cores."""
        here = sorted(os.sched_getaffinity(0))
        count = (request.workers or workers or (len(here),))[0]
        loads = loads_of(request.own)
        loaded, largest = loads[0].cores, loads[-1]
        used = here[:count]
        if count > len(here) or not set(loaded) <= set(used):
            raise InputError(
                f"{counted_workers(count)} and a load on core {','.join(map(str, loaded))}: each worker has a core, "
                f"and the load is on some of these; the cores here are {' '.join(map(str, here))}"
            )
        bound = tuple(used) if count < len(here) else ()
        left = tuple(core for core in used if core not in loaded)
        cases: list[Case] = []
        commands = own_texts(request.own)
        for each in [Case(name="run", flags="run", workers=count)] if commands else _listed(request, count):
            alone = each.model_copy(update={"cores": bound, "x": 0.0})
            beside = [alone.model_copy(update={"load": str(load), "x": load.percent}) for load in loads]
            cases += [alone, *beside]
            if left:
                cases.append(beside[-1].model_copy(update={"workers": len(left), "cores": left}))
        return ContentionPlan(
            title=f"{title}: {largest.kind} on core {','.join(map(str, loaded))}",
            variants=tuple(each for each in request.variants if not each.is_floor),
            cases=tuple(cases),
            loaded=loaded,
            period=largest.seconds,
            commands=tuple(commands),
        )

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


def chosen_kinds(said: str | Sequence[str]) -> dict[str, list[str]]:
    """The kinds that `--cases` names (the first, if none), each with its cases (the usual, if none). InputError for
    another."""
    known = {kind.word or kind.name: kind.name for kind in kinds_there()}
    chosen: dict[str, list[str]] = {}
    for word in words_of(said) or [next(iter(known))]:
        kind, _, case = word.partition(":")
        if kind not in (*known, *known.values()):
            raise InputError(
                f"no kind of benchmark is called {kind!r}: say a case as KIND:CASE, or a kind alone for its usual "
                f"cases; the kinds are {' '.join(sorted(known))}"
            )
        chosen.setdefault(known.get(kind, kind), []).extend([case] if case else [])
    return chosen


def kinds_there() -> list[AnyBenchmark]:
    """The kinds whose programs list cases of a fixed size."""
    return [kind for kind in benchmarks() if kind.runs_beside_load]


def loads_of(own: Mapping[str, Any]) -> list[Load]:
    """Of rising shares above none. InputError for no load. `shares`, `cores`, `period`: of earlier versions."""
    text = str(own["load"] or KINDS[0])
    shares = ",".join(word for word in words_of(own.get("shares") or "") if word.strip("0."))
    text += f":{shares}" if shares else ""
    text += f"@{own['cores']}" if own.get("cores") else ""
    text += f"/{own['period']}" if own.get("period") else ""
    return Load.parse_all(text, SHARES)


def _listed(request: Request, workers: int) -> list[Case]:
    """The cases that are asked for, of each kind, as its first program here lists them."""
    kinds = chosen_kinds(request.own["cases"])
    found: list[Case] = []
    for kind in kinds_there():
        if kind.name not in kinds:
            continue
        program = next((each for each in request.programs if each.measured == kind.name), None)
        if program is None:
            raise TeffError(f"no system that is asked for runs {kind.name}; see `teff systems`")
        listed = [ListedCase.model_validate(each) for each in ask_cases(program)]
        size = kind.of_fixed_size.replace("{width}", str(COLUMNS * workers))
        for each in choose(listed, kinds[kind.name]):
            flags = f"{each.flags} {size}".strip()
            named = {"name": f"{kind.name}:{each.name}", "group": kind.name, "flags": flags}
            found.append(each.case(None, workers).model_copy(update=named))
    return found


BENCHMARK = Contention()
