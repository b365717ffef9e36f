"""From the runs of a sitting to what they say: METG rows and curves. Pure: the same runs give the same judgement."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from tefflab.analysis.distance import Distance, at_distance
from tefflab.analysis.results import Contender, Curve, CurvePoint, Judgement, MetgRow
from tefflab.analysis.statistics import Interval, Observation, median_interval, metg, overhead
from tefflab.analysis.trace import trace
from tefflab.records.record import Record
from tefflab.records.store import Envelope


def observations(runs: Iterable[Envelope]) -> list[Observation]:
    """The runs of one system and configuration; of a run's attempts those that were not disturbed, or else all.

    Runs of empty tasks have iterations 0 and no efficiency.
    """
    return [_observation(run) for run in _counted(runs)]


def judge_row(contender: Contender, threshold: float, runs: Sequence[Envelope], note: str = "") -> MetgRow:
    """The row of one system, from all its runs of one configuration."""
    systems = [run for run in runs if run.role == "system"]
    seen = observations(systems)
    crossing = [each for each in seen if each.iterations]
    rates = [rate for run in systems if _iterations(run.record) for rate in run.ceilings or ()]
    units = [run.record.rate_unit for run in systems if _iterations(run.record)]
    return MetgRow(
        contender=contender,
        threshold=threshold,
        metg=metg(crossing, threshold) if crossing else None,
        overhead=overhead(seen) if len(crossing) < len(seen) else None,
        ceiling=median_interval(rates) if rates else None,
        ceiling_unit=units[0] if units else "",
        rounds=len({run.round for run in systems}),
        runs=len(systems),
        disturbed_share=sum(run.disturbed for run in systems) / len(systems) if systems else 0.0,
        timesteps=min((run.record.graphs[0].steps for run in systems), default=0),
        note=note,
    )


def judge_curve(contender: Contender, threshold: float, runs: Sequence[Envelope]) -> Curve | None:
    """The curve of one system, without points of a single round where half of them are of more. None without points."""
    by_iterations: dict[int, list[Envelope]] = defaultdict(list)
    for run in _counted(run for run in runs if run.role == "system"):
        if iterations := _iterations(run.record):
            by_iterations[iterations].append(run)
    if not by_iterations:
        return None
    often = {iterations: runs for iterations, runs in by_iterations.items() if len({run.round for run in runs}) > 1}
    kept = often if 2 * len(often) >= len(by_iterations) else by_iterations
    points = [_point(iterations, runs) for iterations, runs in sorted(kept.items())]
    unit = next(iter(by_iterations.values()))[0].record.rate_unit
    ceilings = [rate for point in by_iterations.values() for run in point for rate in run.ceilings or ()]
    seen = observations(run for run in runs if run.role == "system")
    line = trace(seen, points, threshold)
    return Curve(contender, unit, tuple(points), median_interval(ceilings) if ceilings else None, line)


def judge(
    name: str,
    configuration: str,
    threshold: float,
    contenders: Sequence[Contender],
    runs: Iterable[Envelope],
    *,
    with_metg: bool = True,
    notes: Mapping[str, str] | None = None,
    where: Distance | None = None,
) -> Judgement:
    """Everything that the runs say about one configuration, of those at the distance `where` if it is given.

    `notes` says by system's id what went wrong with it.
    """
    by_system: dict[str, list[Envelope]] = defaultdict(list)
    for run in runs:
        if run.configuration == configuration and run.role == "system":
            by_system[run.system_id].append(run)
    round_trip = where.round_trip if where else None
    kept = {name: at_distance(own, round_trip) for name, own in by_system.items()}
    notes = {
        each.id: "measured at another distance of the cores only"
        for each in contenders
        if by_system[each.id] and not kept[each.id]
    } | dict(notes or {})
    rows = [judge_row(each, threshold, kept.get(each.id, []), notes.get(each.id, "")) for each in contenders]
    rows.sort(key=lambda row: (row.metg is None, row.metg.value if row.metg else 0.0))
    curves = {each.id: judge_curve(each, threshold, kept.get(each.id, [])) for each in contenders}
    return Judgement(
        name=name,
        configuration=configuration,
        threshold=threshold,
        rows=tuple(rows) if with_metg else (),
        curves=tuple(each for each in curves.values() if each),
        missing=()
        if with_metg
        else tuple((each, notes.get(each.id, "was not reached")) for each in contenders if not curves[each.id]),
        round_trip=round_trip,
        share=where.share if where else 1.0,
    )


def _counted(runs: Iterable[Envelope]) -> list[Envelope]:
    """Of each question the attempts that were not disturbed, or all where every one was."""
    by_question: dict[tuple[int, str], list[Envelope]] = defaultdict(list)
    for run in runs:
        by_question[run.round, run.flags].append(run)
    kept = []
    for attempts in by_question.values():
        kept += [run for run in attempts if not run.disturbed] or attempts
    return kept


def _iterations(record: Record) -> int:
    """Of a task; 0 for empty tasks, whatever their flags say."""
    first = record.graphs[0]
    return 0 if first.kernel == "empty" else first.iterations


def _efficiency(run: Envelope) -> float:
    if run.ceilings is None or not _iterations(run.record):
        return 0.0
    return run.record.rate / max(run.ceilings)  # disturbances only ever lower a ceiling


def _observation(run: Envelope) -> Observation:
    return Observation(run.round, _iterations(run.record), run.record.granularity, _efficiency(run))


def _point(iterations: int, runs: Sequence[Envelope]) -> CurvePoint:
    record = runs[0].record
    work = (record.flops or record.bytes or 0) / (record.tasks or 1)
    return CurvePoint(
        iterations=iterations,
        granularity=median_interval([run.record.granularity for run in runs]),
        efficiency=_interval([_efficiency(run) for run in runs]),
        rate=_interval([run.record.rate for run in runs]),
        work_per_task=work,
        runs=len(runs),
        disturbed=sum(run.disturbed for run in runs),
    )


def _interval(values: list[float]) -> Interval:
    return median_interval(values) if all(value > 0 for value in values) else Interval(0.0, 0.0, 0.0)
