"""The findings about a program's granularity, as text: phase, worker time, and a row for each type of task."""

from rich.console import Group
from rich.table import Table
from rich.text import Text

from tefflab.host.terminal import titled_table
from tefflab.output.quantities import digits, duration, percent
from tefflab.profiles.granularity import Findings
from tefflab.records.plan import counted_workers

_MOST_TYPES = 12
_MOST_LETTERS = 44  # of a type's name


def to_table(found: Findings, title: str) -> Group:
    """Types with the most time first."""
    head = Text(f"{title}: {counted_workers(found.workers)}, {found.tasks} tasks, {duration(found.elapsed)}", "bold")
    phase = Text.assemble("the tasks are ", ("good" if found.phase == "good" else found.phase, "bold"))
    phase.append(f"; the bound: {found.bound}")
    lines = [f"A task costs {duration(found.cost)} here."]
    if _advises(found):
        lines[0] += f" It should last {duration(found.grain)} ({found.grain_source})."
    if len(found.types) > _MOST_TYPES:
        lines.append(f"{len(found.types) - _MOST_TYPES} more types have less time.")
    if found.lost_events:
        lines.append(
            f"{found.lost_events} events were lost: all this is of the time after them (TEFF_TRACE_EVENTS sets how "
            "many a worker keeps)."
        )
    return Group(head, phase, _times(found), Text(), _types(found), *(Text(line, "dim") for line in lines))


def _advises(found: Findings) -> bool:
    """Good tasks may stay as they are."""
    return found.has_advice and found.phase != "good"


def _times(found: Findings) -> Table:
    table = titled_table("", "worker time", "")
    times = found.times
    for name, seconds in (
        ("tasks", times.tasks),
        ("making tasks", times.making),
        ("between tasks", times.between),
        ("idle while tasks are made", times.starved),
        ("idle", times.idle),
        ("messages, and pauses", times.other),
    ):
        if seconds > 0:
            table.add_row(name, percent(seconds / times.total))
    return table


def _types(found: Findings) -> Table:
    advised = ["should last"] if _advises(found) else []
    table = titled_table("", "type of task", "tasks", "time", "a task", *advised)
    for each in found.types[:_MOST_TYPES]:
        name = each.name if len(each.name) <= _MOST_LETTERS else "…" + each.name[1 - _MOST_LETTERS :]
        factor = "as the library chooses" if each.factor is None else f"{digits(each.factor, 2)} x as long"
        advice = [factor] if _advises(found) else []
        table.add_row(Text(name), str(each.tasks), percent(each.share), duration(each.mean), *advice)
    return table
