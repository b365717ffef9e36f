"""The plan of a sitting beside a competitor: each case with every share of the loaded cores, and without them."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import model_validator

from tefflab.benchmarks.benchmark import AnyBenchmark, Request, benchmarks
from tefflab.benchmarks.cases import ListedCase, choose, words_of
from tefflab.errors import InputError, TeffError
from tefflab.host.load import KINDS, Load
from tefflab.records.plan import Case, Plan, counted_workers
from tefflab.systems.own_command import own_texts
from tefflab.systems.programs import ask_cases

COLUMNS = 8  # of a graph, for each worker
SHARES = "10,25,50,75,90"  # of a core, in per cent, where the user does not say them


class ContentionPlan(Plan):
    """A case's `group` is its kind, its `x` the share in per cent; its `cores` are set if it leaves the loaded ones."""

    loaded: tuple[int, ...]  # cores
    period: float  # of the load [s]

    @model_validator(mode="before")
    @classmethod
    def _of_an_earlier_version(cls, told: Any) -> Any:
        """It had one command."""
        if not isinstance(told, dict) or "command" not in told:
            return told
        kept = {name: value for name, value in told.items() if name != "command"}
        return kept | {"commands": [command] if (command := told["command"]) else []}


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


def plan(request: Request, title: str) -> ContentionPlan:
    """TeffError where no program lists the cases, or there are more workers than cores."""
    here = sorted(os.sched_getaffinity(0))
    workers = request.workers[0] if request.workers else len(here)
    loads = loads_of(request.own)
    loaded, largest = loads[0].cores, loads[-1]
    used = here[:workers]
    if workers > len(here) or not set(loaded) <= set(used):
        raise InputError(
            f"{counted_workers(workers)} and a load on core {','.join(map(str, loaded))}: each worker has a core, and "
            f"the load is on some of these; the cores here are {' '.join(map(str, here))}"
        )
    bound = tuple(used) if workers < len(here) else ()
    left = tuple(core for core in used if core not in loaded)
    cases: list[Case] = []
    commands = own_texts(request.own)
    for each in [Case(name="run", flags="run", workers=workers)] if commands else _listed(request, workers):
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
            found.append(each.case(workers).model_copy(update=named))
    return found
