"""The table of a profile."""

from rich.console import Group
from rich.markup import escape
from rich.text import Text

from tefflab.host.terminal import titled_table
from tefflab.output.quantities import duration, percent
from tefflab.profiles.spawn_profile import UNKNOWN, TimeSpent
from tefflab.records.plan import counted_workers

_WORTH_A_LINE = 0.005  # of the time: functions of a category with less are left out


def to_table(spent: TimeSpent, *, functions: bool) -> Group:
    """A row a category; where `functions`, below it where in it the workers were."""
    source = spent.source
    title = f"{spent.program}: {spent.pattern}, {counted_workers(source['threads'])}"
    table = titled_table(title, "worker time", "share", "95 %", "a task")
    total = sum(share.looks for share in spent.shares)
    for share in spent.shares:
        if share.category == UNKNOWN and not share.looks:
            continue
        interval = f"{100 * share.low:.1f} – {100 * share.high:.1f}"
        table.add_row(
            share.category.replace("_", " "), percent(share.value), interval, duration(share.seconds_per_task)
        )
        if functions or share.category == UNKNOWN:
            for name, looks in spent.functions.get(share.category, ()):
                if looks / total >= _WORTH_A_LINE:
                    table.add_row(f"  [dim]{escape(_short(name))}[/]", f"[dim]{percent(looks / total)}[/]")
    lines = [
        Text(
            f"{total} looks in {source['elapsed_seconds']:.3g} s, {source['runs']} runs of "
            f"{source['tasks'] // max(source['runs'], 1)} tasks; each run validated",
            style="dim",
        )
    ]
    if source["lost"]:
        lines.append(Text(f"{source['lost']} more looks found no room and are not counted", style="dim"))
    return Group(table, *lines)


def _short(frame: str) -> str:
    """The file's own name and the function."""
    path, _, function = frame.partition(":")
    return f"{path.rpartition('/')[2]}: {function}"
