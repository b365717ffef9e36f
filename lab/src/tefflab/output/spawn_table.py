"""The spawn patterns' results for people: a table a pattern and number of workers, and the High/Low matrix."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from tefflab.benchmarks.spawn_judge import HIGH, SpawnRow
from tefflab.output.quantities import digits, duration, duration_range, percent
from tefflab.output.table import Column, Table

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
    measured = [(row, row.seconds_per_task) for row in rows if row.seconds_per_task is not None]
    return Table(
        [
            Column("system", [row.contender.id for row, _ in measured], "left"),
            Column("a task", [duration(each.value) for _, each in measured]),
            Column("95 % interval", [duration_range(each.low, each.high) for _, each in measured]),
            Column("to the first", [verdict(row) for row, _ in measured]),
            Column("RSS,\nMiB", [_mebibytes(row.peak_rss_bytes) for row, _ in measured], priority=1),
            Column("above\nempty", [_mebibytes(row.peak_rss_above_empty_bytes) for row, _ in measured], priority=2),
        ],
        rows[0].place,
    )


def _notes(rows: Sequence[SpawnRow]) -> list[Text]:
    """What went wrong or has to be known, a line each."""
    lines = [Text(f"{row.contender.id}: {row.note}", style="dim") for row in rows if row.note]
    measured = [row for row in rows if row.seconds_per_task is not None]
    if measured:
        noisy = max(row.disturbed_share for row in measured)
        runs = f"{min(row.rounds for row in measured)} rounds; at most {percent(noisy)} of a system's runs noisy"
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
    known = {(row.contender.id, row.question, row.workers): row.high or "-" for row in rows}
    ids = list(dict.fromkeys(row.contender.id for row in rows if row.verdict != "floor"))

    def cell(id_: str, pattern: str) -> Text:
        return Text(" ").join(_shown(known.get((id_, pattern, count), "-")) for count in workers)

    columns = [Column(pattern, [cell(id_, pattern) for id_ in ids], "left") for pattern in patterns]
    title = f"who is High, who is Low: with {counts} worker{'s' * (workers != [1])}"
    return Table([Column("system", ids, "left"), *columns], title)


def _shown(word: str) -> Text:
    """In columns: the longest word is `High?`."""
    return Text(f"{word:5}", "green" if word == "High" else "")


def _mebibytes(count: int | None) -> str:
    return "" if count is None else f"{count / _MIB:.1f}"
