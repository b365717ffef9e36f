"""The report on a program: its sites, where the time of its threads goes, and what another grain would give."""

from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from tefflab.analysis.statistics import Interval
from tefflab.errors import shortened
from tefflab.host.terminal import titled_table
from tefflab.output.quantities import digits, duration, percent, rate
from tefflab.profiles.collecting import Collected
from tefflab.profiles.granularity import Metg
from tefflab.profiles.pricing import KEPT, Price
from tefflab.profiles.states import KINDS, OUTSIDE, SHARED, STATES, Site
from tefflab.profiles.trace_accounts import messages_table

_MOST_SITES = 12  # in the table
_MOST_LETTERS = 40  # of a site
_WORTH_A_LINE = 0.005  # of the threads' time
_WORTH_A_SENTENCE = 0.1  # of the program's or of its threads' time
_WORTH_ADVICE = 1 - KEPT  # of the threads' time: what the number of a site's bodies may cost
_SHORT = 0.1  # seconds: starting a program takes milliseconds of it
_TIMES = {2: "Twice", 4: "Four times", 8: "Eight times"}
_CAUSES = {  # what to do, where much time is in a state that the number of bodies does not explain
    "imbalance": "Threads wait at barriers in {}: work is uneven. Shorter chunks, or schedule(dynamic), even it out.",
    "dependences": "Threads wait for tasks of others in {}: more tasks have to be ready at a time.",
    "message": "Messages take {}.",
    "lock": "Threads wait for locks and critical sections in {}.",
}


def price_of(run: Collected) -> Price:
    return Price(run.observed, run.seconds, run.collected.seconds)


def report(command: str, run: Collected, metg: Metg | None) -> Group:
    """What people are shown."""
    price = price_of(run)
    observed = run.observed
    parts: list[RenderableType] = [Text(f"{command}: {_what_ran(run)}", "bold")]
    sites = titled_table("", "line", "what", "number", "median", "80 % between", "time", "costs")
    for site in observed.sites[:_MOST_SITES]:
        share = site.seconds / price.observed.in_regions
        ends = f"{duration(site.quantile(0.1))} – {duration(site.quantile(0.9))}" if site.lengths else ""
        middle = duration(site.quantile(0.5)) if site.lengths else ""
        costs = percent(price.share_of(site)) if site in price.overheads else ""
        number = rate(site.count, "").strip() if site.count >= 1000 else str(site.count)
        place = Text(shortened(site.place, _MOST_LETTERS))
        sites.add_row(place, KINDS.get(site.kind, site.kind), number, middle, ends, percent(share), costs)
    spent = titled_table("", "where the threads' time in parallel regions went", "share")
    for state, text in STATES.items():
        share = observed.seconds[state] / observed.in_regions
        if state not in OUTSIDE and share >= _WORTH_A_LINE:
            spent.add_row(text, percent(share))
    parts += [sites, Text(), spent]
    if table := messages_table(observed.processes):
        parts += [Text(), table]
    parts += [Text(), *(Text(each) for each in advice(price, metg))]
    return Group(*parts, *(Text(each, "dim") for each in remarks(run, price)))


def _what_ran(run: Collected) -> str:
    count, threads = len(run.observed.processes), run.observed.number_of_threads
    many = f"{count} processes, " if count > 1 else ""
    return f"{many}{threads} thread{'s' * (threads != 1)}, {duration(run.seconds)}"


def advice(price: Price, metg: Metg | None) -> Iterator[str]:
    """The sentences, the most important one first."""
    yield f"Efficiency now: {percent(price.efficiency)} of the threads' time in parallel regions is the program's own."
    site = price.dearest
    if site and price.share_of(site) >= _WORTH_ADVICE:
        yield _about(price, site)
    scale = price.observed.in_regions
    for state, text in _CAUSES.items():
        share = price.observed.seconds[state] / scale
        share -= price.barriers / scale if state == "imbalance" else 0.0
        if share >= _WORTH_A_SENTENCE:
            yield text.format(f"{percent(share)} of their time")
    if price.serial >= _WORTH_A_SENTENCE:
        yield f"{percent(price.serial)} of the program's time is outside of parallel regions: no grain changes that."
    if site and metg and price.share_of(site) < _WORTH_ADVICE:
        yield f"Shorter ones: at {duration(metg.seconds)} half of the time is the runtime's here (by {metg.source})."
    elif site and not metg:
        yield "How short they may be on this machine is measured by: teff metg"


def _about(price: Price, site: Site) -> str:
    what = KINDS.get(site.kind, site.kind)
    counted = rate(site.count, "").strip() if site.count >= 1000 else str(site.count)
    cost = f"{percent(price.share_of(site))} of the time is {site.runtime}'s"
    begin = f"{site.place} makes {counted} {what} of {duration(site.mean)}; {cost}."
    if not price.forecasts:
        return f"{begin} Fewer would leave threads without work: the parallel region itself is short."
    best = price.forecasts[-1]
    words = _TIMES.get(int(best.factor), f"{digits(best.factor, 2)} times")
    longer = "as much work in a region" if site.kind in SHARED else "as coarse"
    if best.speedup.is_told:
        return f"{begin} {words} {longer}: {_speedup(best.speedup)}."
    why = f"at an efficiency of {percent(price.efficiency)} nobody can say by how much"
    return f"{begin} {words} {longer} is faster: {why}; try it (--apply)."


def _speedup(value: Interval) -> str:
    low, high = (digits(each, 2) for each in (value.low, value.high))
    return f"{digits(value.value, 2)} x as fast ({low} to {high})"


def remarks(run: Collected, price: Price) -> Iterator[str]:
    """What the runs were, what they cost, and what is not known."""
    if run.plain:
        added = percent(max(0.0, price.added))
        cpu = run.plain[0].cpu_seconds
        runs = f"{len(run.plain)} plain run{'s' * (len(run.plain) > 1)}"
        yield f"The time is of {runs} ({duration(cpu)} of CPU time). Collecting took {added} more."
    else:
        yield "The time is that of the collected run (--runs 1): what collecting cost is not known."
    if run.seconds < _SHORT:
        yield f"A run of {duration(run.seconds)} is short: starting the program is a part of it. Give it more work."
    codes = {each.exit_code for each in (*run.plain, run.collected)}
    if codes != {0}:
        yield f"The program ended with exit code {' and '.join(map(str, sorted(codes)))}."
    for process in run.observed.processes:
        yield from (f"{process.name}: {each}." for each in process.remarks)
    yield from (f"{each}." for each in run.faults)
    if len(run.observed.sites) > _MOST_SITES:
        yield f"{len(run.observed.sites) - _MOST_SITES} more lines have less time."


def rows(command: Sequence[str], run: Collected) -> Iterator[dict[str, Any]]:
    """What --json prints: the program, then its sites."""
    price, observed = price_of(run), run.observed
    yield {
        "of": "program",
        "command": list(command),
        "exit_status": run.exit_code,
        "seconds": run.seconds,
        "collected_seconds": run.collected.seconds,
        "plain_runs": len(run.plain),
        "threads": observed.number_of_threads,
        "efficiency": price.efficiency,
        "serial_share": price.serial,
        "seconds_by_state": {state: observed.seconds[state] for state in STATES if observed.seconds[state]},
        "processes": [{"name": each.name, "messages": dict(each.messages)} for each in observed.processes],
        "forecasts": [each.to_json() for each in price.forecasts],
        "site": price.dearest.place if price.forecasts and price.dearest else None,
        "remarks": list(remarks(run, price)),
    }
    for site in observed.sites:
        yield {"of": "site", **site.to_json(), "cost_seconds": price.cost_of(site)}
