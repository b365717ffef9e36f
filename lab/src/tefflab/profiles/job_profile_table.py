"""The table of a program's profile: a column a rank."""

from collections.abc import Callable, Sequence
from functools import partial

from rich.console import Group
from rich.table import Table
from rich.text import Text

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
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("worker time")
    for each in columns:
        table.add_column("" if len(columns) == 1 else each.name, justify="right", no_wrap=True)
    _add(table, columns, "in all", lambda rank: duration(rank.seconds))
    for what in SPENT:
        if whole.spent[what] > 0:
            _add(table, columns, what, partial(_share, what))
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
    _add(table, columns, "handled", lambda rank: f"{rank.handled}")
    _add(table, columns, "sent", lambda rank: f"{rank.all_sent('sent')}")
    for path in PATHS:
        if whole.sent[path]["sent"]:
            _add(table, columns, f"  {_WHERE[path]}", partial(_count, path, "sent"))
            _add(table, columns, "    bytes", partial(_bytes, path, "bytes"))
            _add(table, columns, "    a packet", partial(_a_packet, path))
            if whole.sent[path]["large"]:
                _add(table, columns, "    large", partial(_count, path, "large"))
                _add(table, columns, "      bytes", partial(_bytes, path, "large_bytes"))
    _add(table, columns, "waits for room", lambda rank: f"{rank.waits}")


def _share(what: str, rank: RankProfile) -> str:
    return percent(rank.spent[what] / rank.seconds) if rank.seconds else ""


def _count(path: str, what: str, rank: RankProfile) -> str:
    return str(rank.sent[path][what])


def _bytes(path: str, what: str, rank: RankProfile) -> str:
    return rate(rank.sent[path][what], "B")


def _a_packet(path: str, rank: RankProfile) -> str:
    sent = rank.sent[path]
    return digits(sent["sent"] / sent["packets"]) if sent["packets"] else ""


def _add(table: Table, columns: Sequence[RankProfile], what: str, cell: Callable[[RankProfile], str]) -> None:
    table.add_row(what, *(cell(each) for each in columns))
