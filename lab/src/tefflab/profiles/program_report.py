"""The report on a program: its sites, where the time of its threads goes, and what another grain would give."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from tefflab.analysis.statistics import Interval
from tefflab.errors import shortened
from tefflab.output.quantities import TOO_FEW, digits, duration, duration_range, percent, rate
from tefflab.output.table import Column, Table
from tefflab.profiles.collecting import Collected
from tefflab.profiles.measured_here import ENOUGH, Curve
from tefflab.profiles.pricing import KEPT, MOST, SHORTER, Price
from tefflab.profiles.states import MANAGED, OF_RANKS, SAMPLE, SHARED, STATES, WAITS, Observed, Site
from tefflab.profiles.trace_accounts import messages_table
from tefflab.records.plan import counted_workers

_MOST_SITES = 12  # rows of the table
_MOST_LETTERS = 34  # of a site's name
_WORTH_A_ROW = 0.0005  # share of the threads' time that gets a row of the first table
_WORTH_A_LINE = 0.005  # share of the threads' time that gets a line
_WORTH_A_SENTENCE = 0.1  # share of the program's time, or of its threads', that gets a sentence
_WORTH_ADVICE = 1 - KEPT  # share of the threads' time that the number of a site's bodies may cost
_WORTH_A_REMARK = 0.05
_MUCH_LEFT_OUT = 0.25  # share of the time in which other programs had the cores
_SEEM_LONGER = 0.2e-6  # seconds of a body: a processor runs shorter ones beside the runtime's work, if not collected
_SEEM_LONGER_OF = {"oneTBB": 3e-6}  # a thread that makes tasks by `task_group::run` seems to be in one
_SHORT = 0.1  # seconds: starting a program takes milliseconds of it
_SHORTER = {0.5: "half", 0.25: "a quarter"}
_TIMES = {2: "Twice", 4: "Four times", 8: "Eight times"}
_CAUSES = {  # what to do, where much time is in a state that the number of bodies does not explain
    "imbalance": "Threads have nothing left to do in {}: work is uneven{}.",
    "dependences": "Threads wait for tasks of others in {}{}.",
    "message": "Messages take {}{}.",
    "lock": "Threads wait for locks and critical sections in {}{}.",
}
_EVEN = {  # what evens out work, by the kind of bodies
    "chunk": "Shorter chunks even it out",
    "share": "schedule(dynamic) evens it out",
    "region": "In a loop, schedule(dynamic) evens it out",
}


def report(command: str, run: Collected, curves: Sequence[Curve]) -> Group:
    """The tables, and the sentences below them."""
    price = run.price
    shown = _shown(price)
    columns = [
        Column("line", [shortened(site.place, _MOST_LETTERS) for site in shown], "left"),
        Column("", [site.title for site in shown], "left"),
        Column("number", [_number(site) for site in shown]),
        Column("median", [duration(site.quantile(0.5)) if site.lengths else "" for site in shown]),
        Column("80 % of them", [_spread(site) for site in shown], priority=2),
        Column("time", [percent(price.time_in(site) / price.in_regions) for site in shown]),
        Column("costs", [percent(price.share_of(site)) if site in price.overheads else "" for site in shown]),
    ]
    spent = [(text, price.seconds.get(state, 0.0) / price.in_regions) for state, text in STATES.items()]
    told = [(text, share) for text, share in spent if share >= _WORTH_A_LINE]
    where = [
        Column(f"where {_of_whom(run.observed)[0]} goes", [text for text, _ in told], "left"),
        Column("share", [percent(share) for _, share in told]),
    ]
    parts: list[RenderableType] = [Table(columns, title=f"{command}: {_what_ran(run)}"), Text(), Table(where), Text()]
    if messages := messages_table(run.observed.processes):
        parts += [messages, Text()]
    if any(process.waits for process in run.observed.processes):
        parts += [Table(_waits(run)), Text()]
    parts += [Text(each) for each in advice(price, curves)]
    if curves and price.dearest:
        parts += [Text(), _kept_by(price, price.dearest, curves)]
    return Group(*parts, *(Text(each, "dim") for each in remarks(run)))


def _waits(run: Collected) -> list[Column]:
    """The longest waits for messages, of all ranks."""
    every = [(process, site) for process in run.observed.processes for site in process.waits]
    every = sorted(every, key=lambda pair: -pair[1].seconds)[:_MOST_SITES]
    return [
        Column("waits in", [shortened(site.place, _MOST_LETTERS) for _, site in every], "left"),
        Column("for", [WAITS[site.kind] for _, site in every], "left"),
        Column("of", [process.name for process, _ in every], "left"),
        Column("number", [_number(site) for _, site in every]),
        Column("median", [duration(site.quantile(0.5)) for _, site in every]),
        Column("of its time", [percent(site.seconds / process.elapsed) for process, site in every]),
    ]


def _shown(price: Price) -> list[Site]:
    """The sites with the rows of the table."""
    sites = price.observed.sites[:_MOST_SITES]
    least = _WORTH_A_ROW * price.in_regions
    return [site for site in sites if price.time_in(site) + price.overheads.get(site, 0.0) >= least] or list(sites)


def _number(site: Site) -> str:
    return "" if site.kind == SAMPLE else _counted(site.count)


def _counted(count: int) -> str:
    return rate(count, "").strip() if count >= 1000 else str(count)


def _spread(site: Site) -> str:
    low, high = site.quantile(0.1), site.quantile(0.9)
    told = duration_range(low, high) if site.lengths else ""
    return f"{duration(low)} – {duration(high)}" if told == TOO_FEW else told


def _what_ran(run: Collected) -> str:
    count, threads = len(run.observed.processes), len(run.observed.threads)
    many = f"{count} processes, " if count > 1 else ""
    return f"{many}{threads} thread{'s' * (threads != 1)}, {duration(run.seconds)}"


def _kept_by(price: Price, site: Site, curves: Sequence[Curve]) -> Table:
    """The shares of the time that bodies of this shape have on this machine, now and if they are shorter."""
    lengths = [factor * price.length for factor in (1.0, *SHORTER)]
    columns = [
        Column("on", [each.title for each in curves], "left"),
        *(Column(f"of {duration(each)}", [percent(curve.efficiency(each)) for curve in curves]) for each in lengths),
        Column(f"{percent(ENOUGH)} from", [duration(each.enough) for each in curves]),
        Column("measured", [each.source for each in curves], "left", priority=2),
    ]
    many = counted_workers(curves[0].workers)
    return Table(columns, f"The time that {site.title} as those of {site.place} keep here, with {many}")


def advice(price: Price, curves: Sequence[Curve]) -> Iterator[str]:
    """The sentences, the most important one first."""
    time, outside = _of_whom(price.observed)
    tells = ", as far as a busy machine tells" if price.disturbed > _MUCH_LEFT_OUT else ""
    yield f"Efficiency now: {percent(price.efficiency)} of {time} is the program's own{tells}."
    site, cost = price.dearest, price.share_of(*price.alike)
    shares = {state: price.seconds[state] / price.in_regions for state in _CAUSES}
    causes = [state for state, share in shares.items() if share >= _WORTH_A_SENTENCE]
    remedies = {} if price.serialized or (cost >= _WORTH_ADVICE and not price.starved) else _remedies(price)
    if site and (cost >= _WORTH_ADVICE or price.serialized):
        yield _about(price, site, wants_more=any(state in remedies for state in causes))
    if price.observed.has_more_threads_than_cores:
        remedies = remedies | {"imbalance": ", or there are more threads than cores"}
    for state in causes:
        yield _CAUSES[state].format(f"{percent(shares[state])} of their time", remedies.get(state, ""))
        yield from _longest_wait(price.observed) if state == "message" else ()
    if price.serial >= _WORTH_A_SENTENCE:
        fixed = "" if site and site.kind in SHARED and price.forecasts else ": no grain changes that"
        yield f"{percent(price.serial)} of the program's time is {outside}{fixed}."
    if shorter := [each for each in price.shorter(curves) if math.isfinite(each.speedup.high)]:
        told = "; ".join(f"{_SHORTER[each.factor]} as long, {_speedup(each.speedup)}" for each in shorter)
        yield f"Shorter ones cost: {told}."
    elif site and site.kind in {*MANAGED} - {OF_RANKS} and cost < _WORTH_ADVICE and not (curves or price.serialized):
        yield "How short they may be here: --curve measures it, in two minutes."


def _of_whom(observed: Observed) -> tuple[str, str]:
    """The time that the shares are of, and what lies outside of it."""
    if all(site.kind == OF_RANKS for site in observed.sites):
        return "the ranks' time with MPI", "before MPI_Init or after MPI_Finalize"
    if observed.is_sampled:
        return "the threads' time", "outside of the samples"
    return "the threads' time in parallel regions", "outside of parallel regions"


def _remedies(price: Price) -> dict[str, str]:
    """What ends waits for other threads. More tasks than many do not even out work."""
    found, longest = {"dependences": ": more tasks have to be ready at a time"}, price.observed.sites[0]
    if price.count <= MOST * price.observed.width * price.observed.regions:
        more = _EVEN.get(longest.kind) if "omp" in longest.runtime else None
        found["imbalance"] = f". {more or 'More tasks even it out'}"
    return found


def _longest_wait(observed: Observed) -> Iterator[str]:
    every = [(site.seconds, process, site) for process in observed.processes for site in process.waits]
    if every:
        _, process, site = max(every, key=lambda each: each[0])
        name = site.place.replace(", most for", ": most of it for")
        yield f"The longest waits are those of {process.name} in {name}."


def _about(price: Price, site: Site, *, wants_more: bool) -> str:
    """The number of bodies, and what a coarser grain gains, unless more bodies gain more."""
    others = sum(price.share_of(each) >= _WORTH_A_LINE for each in price.alike if each is not site)
    them = f"{site.place} and {others} more line{'s' * (others > 1)} make" if others else f"{site.place} makes"
    many = f"{_counted(price.count)} {site.title} of {duration(price.length)}"
    cost = f"{percent(price.share_of(*price.alike))} of the time is {site.runtime}'s"
    begin = f"{them} {many}; {cost}."
    if price.serialized:
        begin = f"{them} {many}. libgomp runs a taskloop of more than 64 tasks a thread in the thread that makes it."
    if wants_more:
        return begin
    if not price.forecasts:
        return f"{begin} Fewer would leave threads without work: the parallel region itself is short."
    best = price.forecasts[-1]
    if best.speedup.value < 1 + _WORTH_ADVICE:
        return f"{begin} Longer ones would gain next to nothing."
    words = _TIMES.get(int(best.factor), f"{best.factor:.0f} times")
    longer = "as much work in a region" if site.kind in SHARED else "as coarse"
    return f"{begin} {words} {longer}{', all of them' * (others > 0)}: {_speedup(best.speedup)}."


def _speedup(value: Interval) -> str:
    low, high = (digits(each, 2) for each in (value.low, value.high))
    if not math.isfinite(value.high):
        return f"at least {low} x as fast" if value.low > 1 else "faster, and nobody can say by how much"
    return f"{digits(value.value, 2)} x as fast ({low} to {high})"


def remarks(run: Collected) -> Iterator[str]:
    """The runs, the cost of collecting, and the gaps in the accounts."""
    price = run.price
    if run.collected.interrupted:
        yield "The collected run was interrupted: the time is that until then."
    elif run.plain and price.added <= 0:
        plain = duration(min(each.seconds for each in run.plain))
        yield f"The time is of the collected run, which was quicker than a plain one ({plain})."
    elif run.plain:
        added = percent(price.added)
        cpu = min(run.plain, key=lambda each: each.seconds).cpu_seconds
        many = f"the quickest of {len(run.plain)} plain runs" if len(run.plain) > 1 else "a plain run"
        yield f"The time is of {many} ({duration(cpu)} of CPU time). Collecting took {added} more."
    else:
        yield "The time is that of the collected run: what collecting cost is not known."
    if price.stretched > _WORTH_A_SENTENCE:
        longer = f"{percent(price.stretched)} longer than the plain run leaves room for"
        yield f"Collecting made bodies {longer}: efficiency and costs are guesses."
    if price.dearest and price.length < _SEEM_LONGER_OF.get(price.dearest.runtime, _SEEM_LONGER):
        yield "Bodies as short as these seem longer than they are: the efficiency is at most that."
    if run.disturbed > _WORTH_A_REMARK:
        way_out = "--runs 5 finds a quick run on a busy machine" if run.plain else "run it while the machine is quiet"
        share = f"Other programs had the cores for {percent(run.disturbed)} of the time"
        yield f"{share}, which is left out. Forecasts are less certain by that: {way_out}."
    if (crowded := run.observed.crowded) > _WORTH_A_SENTENCE * run.observed.in_regions:
        yield f"The program's threads waited for each other's cores for {duration(crowded)}: there are more of them."
    if run.seconds < _SHORT and price.serial >= _WORTH_A_SENTENCE:
        yield f"A run of {duration(run.seconds)} is short: starting the program is a part of it. Give it more work."
    if run.observed.is_sampled:
        yield "By samples: shares of time only. How many tasks there are, and how long, can't be seen here."
        yield "Threads that only sleep are left out. Threads that spin, or that make threads, seem to be at work."
    if (codes := {each.exit_code for each in (*run.plain, run.collected)}) != {0}:
        yield f"The program ended with exit code {' and '.join(map(str, sorted(codes)))}."
    for process in run.observed.processes:
        yield from (f"{process.name}: {each}." for each in process.remarks)
    yield from (f"{each}." for each in run.faults)
    if hidden := len(run.observed.sites) - len(_shown(price)):
        yield f"{hidden} more line{'s have' if hidden > 1 else ' has'} less time."


def rows(command: Sequence[str], run: Collected, curves: Sequence[Curve]) -> Iterator[dict[str, Any]]:
    """The lines of --json: the program, its sites, then the curves of the dearest one's shape."""
    price, observed = run.price, run.observed
    yield {
        "of": "program",
        "command": list(command),
        "exit_status": run.exit_code,
        "seconds": run.seconds,
        "collected_seconds": run.collected.seconds,
        "plain_runs": len(run.plain),
        "threads": len(observed.threads),
        "efficiency": price.efficiency,
        "serial_share": price.serial,
        "disturbed": run.disturbed,
        "seconds_by_state": price.seconds,
        "processes": [
            {"name": each.name, "messages": dict(each.messages), "waits": [site.to_json() for site in each.waits]}
            for each in observed.processes
        ],
        "forecasts": [each.to_json() for each in (*price.forecasts, *price.shorter(curves))],
        "site": price.dearest and price.dearest.place,
        "remarks": list(remarks(run)),
    }
    for site in observed.sites:
        yield {"of": "site", **site.to_json(), "cost_seconds": price.cost_of(site)}
    yield from ({"of": "curve", **each.to_json()} for each in curves)
