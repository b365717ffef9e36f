"""The spawn patterns' results for people: a table a pattern and number of workers, and the High/Low matrix."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from tefflab.benchmarks.spawn_judge import HIGH, SpawnRow
from tefflab.host.terminal import titled_table
from tefflab.output.quantities import digits, duration, duration_range, percent

_MIB = 1 << 20


def to_tables(rows: Sequence[SpawnRow]) -> Group:
    """All of it: patterns in their order, then the matrix and what its words mean."""
    parts: list[RenderableType] = []
    for place in dict.fromkeys(row.place for row in rows):
        alike = [row for row in rows if row.place == place]
        parts += [_table(alike), *_notes(alike), Text()]
    return Group(
        *parts, _matrix(rows), Text(f"High: at most {HIGH:g} times the first system's time; Low: more. ?: undecided")
    )


def verdict(row: SpawnRow) -> str:
    """`first`, `level`, or how far behind: `x 1.8`. The floor competes with nobody: its ratio is in brackets."""
    if row.ratio is None:
        return row.verdict
    times = f"x {digits(row.ratio.value, 2)}"
    return {"first": "first", "level": f"level ({times})", "floor": f"({times})"}.get(row.verdict, times)


def _table(rows: Sequence[SpawnRow]) -> Table:
    table = titled_table(rows[0].place)
    table.add_column("system", overflow="fold")
    for name in ("a task", "95 %", "to the first", "RSS,\nMiB", "above\nempty"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        if row.seconds_per_task is not None:
            table.add_row(
                escape(row.contender.id),
                duration(row.seconds_per_task.value),
                duration_range(row.seconds_per_task.low, row.seconds_per_task.high),
                verdict(row),
                _mebibytes(row.peak_rss_bytes),
                _mebibytes(row.peak_rss_above_empty_bytes),
            )
    return table


def _notes(rows: Sequence[SpawnRow]) -> list[Text]:
    """What went wrong or has to be known, a line each."""
    lines = [Text(f"{row.contender.id}: {row.note}", style="dim") for row in rows if row.note]
    measured = [row for row in rows if row.seconds_per_task is not None]
    if measured:
        disturbed = max(row.disturbed_share for row in measured)
        runs = (
            f"{min(row.rounds for row in measured)} rounds; at most {percent(disturbed)} of a system's runs disturbed"
        )
        lines.append(Text(runs, style="dim"))
    generator = [row.generator_seconds for row in rows if row.generator_seconds is not None]
    if generator:
        lines.append(Text(f"of which the generator alone: {duration(min(generator))} a node", style="dim"))
    return lines


def _matrix(rows: Sequence[SpawnRow]) -> Table:
    """Figure 5.1: a row a system, a column a pattern; in it a word for each number of workers."""
    patterns = list(dict.fromkeys(row.question for row in rows))
    workers = sorted({row.workers for row in rows})
    counts = " and ".join(map(str, workers))
    table = titled_table(f"who is High, who is Low: with {counts} worker{'s' * (workers != [1])}")
    table.add_column("system", overflow="fold")
    for pattern in patterns:
        table.add_column(escape(pattern), overflow="fold")
    known = {(row.contender.id, row.question, row.workers): row.high or "-" for row in rows}
    for id_ in dict.fromkeys(row.contender.id for row in rows if row.verdict != "floor"):
        words = ([known.get((id_, pattern, count), "-") for count in workers] for pattern in patterns)
        table.add_row(escape(id_), *(" ".join(_shown(word) for word in each) for each in words))
    return table


def _shown(word: str) -> str:
    """In columns: the longest word is `High?`."""
    return f"[green]{word:5}[/]" if word == "High" else f"{word:5}"


def _mebibytes(count: int | None) -> str:
    return "" if count is None else f"{count / _MIB:.1f}"
