"""From a request to judged results: finds the systems, keeps a sitting in the store, measures, judges.

A request that was interrupted goes on from the store: its plan is there, and so is every answer so far.
"""

import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from tefflab.analysis.distance import Distance, distances
from tefflab.analysis.results import Contender, Judgement
from tefflab.benchmarks.configuration import Configuration, parse
from tefflab.benchmarks.inquiry import CurveInquiry, Inquiry, MetgInquiry, curve_iterations
from tefflab.benchmarks.judge import judge
from tefflab.errors import BAD_INPUT, TeffError
from tefflab.host.machine import read_machine, read_revision
from tefflab.measure import sitting as sittings
from tefflab.measure.instruments import Instruments
from tefflab.records.store import Envelope, Sitting, Store, new_sitting_name
from tefflab.systems.systems import Probe, System, Variant, load_systems, variants_of

RESULTS_FOLDER = Path("results")
_SHOWN = 0.05  # share of the runs from which a distance of the cores is shown,
_MAIN = 0.25  # and from which it may be the one that tables are about

ChartKind = Literal["efficiency", "rate", "metg", "metg_dots", "metg_lines"]


class _Frozen(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Question(_Frozen):
    """One configuration that all systems are asked about, and its place in a picture of several."""

    name: str
    flags: str
    steps: int | None = None
    x: float | None = None  # where it stands on the axis of what is varied,
    x_text: str = ""  # and how that value is written
    group: str = ""  # questions of one group share a picture

    @classmethod
    def of(cls, configuration: Configuration, name: str | None = None) -> "Question":
        return cls(name=name or configuration.title, flags=configuration.flags, steps=configuration.steps)

    def configuration(self, workers: int) -> Configuration:
        return Configuration(parse(shlex.split(self.flags), workers).graphs, self.steps)


class Competitor(_Frozen):
    """A contender as a plan keeps it."""

    id: str
    title: str
    version: str
    color: str
    variant_index: int

    def contender(self) -> Contender:
        return Contender(**self.model_dump())


class Plan(_Frozen):
    """What a sitting is to find out. The store keeps it beside the machine, for resuming and for reports."""

    kind: Literal["metg", "curve"]
    title: str
    questions: tuple[Question, ...]
    contenders: tuple[Competitor, ...]
    workers: int
    threshold: float = 0.5
    longest_task: float = 3e-3  # seconds: where a curve ends
    points: int = 12  # of a curve
    experiment: str | None = None
    charts: tuple[ChartKind, ...] = ()  # what is drawn; where empty, what suits the kind
    x_label: str = ""  # of what is varied

    @property
    def has_curves(self) -> bool:
        """Whether any picture shows more of a system than its METG."""
        return not self.charts or bool({"efficiency", "rate"} & set(self.charts))

    def people(self) -> list[Contender]:
        return [each.contender() for each in self.contenders]


@dataclass(frozen=True)
class Results:
    """What came of a plan. `interrupted` where Ctrl-C ended it: what is there is there."""

    sitting: Sitting
    plan: Plan
    judgements: tuple[Judgement, ...]
    interrupted: bool


def contenders(
    root: Path,
    wanted: Sequence[str],
    probes: dict[str, Probe],
    programs: Callable[[System], Sequence[Variant]] = variants_of,
) -> list[Competitor]:
    """The programs that `wanted` names (by system or by id; all where it is empty) and that are here."""
    systems = [system for system in load_systems(root) if programs(system)]
    known = [name for system in systems for name in (system.name, *(variant.id for variant in programs(system)))]
    for name in wanted:
        if name not in known:
            there = " ".join(dict.fromkeys(known))
            raise TeffError(f"no system is called {name!r}; there are: {there}", exit_code=BAD_INPUT)
    chosen = [
        _competitor(system, index, variant, probes[variant.id])
        for system in systems
        for index, variant in enumerate(programs(system))
        if (not wanted or system.name in wanted or variant.id in wanted) and probes[variant.id].found
    ]
    if not chosen:
        raise TeffError(f"none of the systems asked for is here: {' '.join(wanted)}; see `teff systems`")
    return chosen


def begin(root: Path, store: Store, plan: Plan) -> Sitting:
    """A new sitting for a plan, in the store."""
    sitting = new_sitting(root, {each.id: each.version for each in plan.contenders}, plan)
    store.begin(sitting)
    return sitting


def new_sitting(root: Path, versions: Mapping[str, str], plan: BaseModel) -> Sitting:
    """The head of a sitting of the command that runs, at this machine and this revision."""
    return Sitting(
        sitting=new_sitting_name(),
        started_at=datetime.now(UTC),
        machine=read_machine(),
        revision=read_revision(root),
        versions=dict(versions),
        command=shlex.join(["teff", *sys.argv[1:]]),
        plan=plan.model_dump(mode="json"),
    )


def plan_of(sitting: Sitting) -> Plan:
    return Plan.model_validate(sitting.plan)


def measure(
    root: Path, store: Store, sitting: Sitting, audience: sittings.Audience, budget: float, rounds: int
) -> Results:
    """Measures what the store does not have yet, and judges all of it. Ctrl-C ends the measuring, not the judging."""
    plan = plan_of(sitting)
    instruments = Instruments(root, store, sitting.sitting, plan.workers)
    failures = {each.system_id: each.reason for each in store.failures(sitting.sitting)}
    interrupted = False
    try:
        entrants = _entrants(root, plan, instruments, failures)
        sittings.Sitting(entrants, instruments, audience, budget, rounds).run()
    except KeyboardInterrupt:
        interrupted = True
    finally:
        instruments.close(patiently=not interrupted)
    results = Results(sitting, plan, judged(store, sitting), interrupted)
    _keep(store, results)
    return results


def judged(store: Store, sitting: Sitting) -> tuple[Judgement, ...]:
    """What the store's runs of a sitting say, configuration by configuration."""
    plan = plan_of(sitting)
    notes = {each.system_id: each.reason for each in store.failures(sitting.sitting)}
    runs = [run for run in store.envelopes(sitting.sitting) if run.role == "system"]
    where = places(runs)

    def at(question: Question, distance: Distance | None) -> Judgement:
        return judge(
            question.name,
            question.flags,
            plan.threshold,
            plan.people(),
            runs,
            with_metg=plan.kind == "metg",
            notes=notes,
            where=distance,
        )

    return tuple(
        replace(at(question, where[0]), others=tuple(at(question, distance) for distance in where[1:]))
        for question in plan.questions
    )


def places(runs: Sequence[Envelope]) -> list[Distance | None]:
    """The distances of the cores that a sitting is judged at, first the one that its tables are about: the nearest at
    which enough runs were made, for there the machine is what it can be. [None] where none is known."""
    known = [distance for distance in distances(runs) if distance.share > _SHOWN]
    main = [distance for distance in known if distance.share > _MAIN][:1]
    return [*main, *(distance for distance in known if distance not in main)] or [None]


def _competitor(system: System, index: int, variant: Variant, probe: Probe) -> Competitor:
    title = variant.title if system.title.lower() in variant.title.lower() else f"{system.title}: {variant.title}"
    return Competitor(id=variant.id, title=title, version=probe.version or "", color=system.color, variant_index=index)


def _entrants(root: Path, plan: Plan, instruments: Instruments, failures: Mapping[str, str]) -> list[sittings.Entrant]:
    variants = {variant.id: variant for system in load_systems(root) for variant in system.variants}
    configurations = [question.configuration(plan.workers) for question in plan.questions]
    seconds = [instruments.seconds_per_iteration(configuration) for configuration in configurations]

    def inquiry(contender: Contender, configuration: Configuration, iteration: float) -> Inquiry:
        if plan.kind == "metg":
            return MetgInquiry(contender, configuration, iteration, plan.threshold, is_drawn=plan.has_curves)
        iterations = curve_iterations(iteration, plan.longest_task, plan.points)
        return CurveInquiry(contender, configuration, iteration, iterations)

    return [
        sittings.Entrant(
            variants[contender.id],
            [inquiry(contender, *each) for each in zip(configurations, seconds, strict=True)],
            failures.get(contender.id, ""),
        )
        for contender in plan.people()
    ]


def _keep(store: Store, results: Results) -> None:
    """The rows as they are shown first; those at other distances can be judged again from the runs."""
    for judgement in results.judgements:
        for row in judgement.rows:
            line: dict[str, Any] = row.to_json()
            store.append_metg(line | {"sitting": results.sitting.sitting, "configuration": judgement.configuration})
