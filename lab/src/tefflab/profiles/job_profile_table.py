"""The table of a program's profile: a column a rank."""

from collections.abc import Sequence

from rich.console import Group
from rich.table import Table
from rich.text import Text

from tefflab.host.terminal import titled_table
from tefflab.output.quantities import digits, duration, percent, rate
from tefflab.profiles.job_profile import PATHS, SPENT, JobProfile, RankProfile
from tefflab.records.plan import counted_workers

_MOST_COLUMNS = 8  # of ranks: of more, the table has the sum only
_WHERE = {"own": "to itself", "near": "by shared memory", "far": "by the network"}


def to_table(profile: JobProfile) -> Group:
    """Worker time by activity, then the messages; without messages the first only."""
    whole = profile.whole()
    columns = [whole, *profile.ranks] if 1 < len(profile.ranks) <= _MOST_COLUMNS else [whole]
    many = f"{len(profile.ranks)} ranks, " if len(profile.ranks) > 1 else ""
    title = f"{' '.join(profile.command)}: {many}{counted_workers(whole.workers)}"
    table = titled_table("", "worker time", *("" if len(columns) == 1 else each.name for each in columns))
    table.add_row("in all", *(duration(rank.seconds) for rank in columns))
    for what in SPENT:
        if whole.spent[what] > 0:
            shares = (percent(rank.spent[what] / rank.seconds) if rank.seconds else "" for rank in columns)
            table.add_row(what, *shares)
    if whole.handled or whole.all_sent("sent"):
        _add_messages(table, columns, whole)
    lines = []
    if profile.lost_events:
        lines.append(
            f"{profile.lost_events} events were lost: the times are those of the last ones (TEFF_TRACE_EVENTS sets how "
            "many a worker keeps); messages are counted all the same"
        )
    if profile.exit_status:
        lines.append(f"the program ended with status {profile.exit_status}")
    return Group(Text(title, style="bold"), table, *(Text(line, style="dim") for line in lines))


def _add_messages(table: Table, columns: Sequence[RankProfile], whole: RankProfile) -> None:
    table.add_row()
    table.add_row("[dim]messages[/]")
    table.add_row("handled", *(f"{rank.handled}" for rank in columns))
    table.add_row("sent", *(f"{rank.all_sent('sent')}" for rank in columns))
    for path in PATHS:
        if whole.sent[path]["sent"]:
            sent = [rank.sent[path] for rank in columns]
            table.add_row(f"  {_WHERE[path]}", *(f"{each['sent']}" for each in sent))
            table.add_row("    bytes", *(rate(each["bytes"], "B") for each in sent))
            packets = (digits(each["sent"] / each["packets"]) if each["packets"] else "" for each in sent)
            table.add_row("    a packet", *packets)
            if whole.sent[path]["large"]:
                table.add_row("    large", *(f"{each['large']}" for each in sent))
                table.add_row("      bytes", *(rate(each["large_bytes"], "B") for each in sent))
    table.add_row("waits for room", *(f"{rank.waits}" for rank in columns))
